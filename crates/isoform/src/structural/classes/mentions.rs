//! The variables mentioned in fields of other variables.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

/// For each variable, the variables whose fields mention the variable directly: outside
/// of the fields of a third variable.
///
/// Direct mentions suffice to find all variables that depend on a variable. A map with
/// a variable also contains all variables mentioned in its fields, and thereby every
/// link of a chain of mentions.
#[derive(Default)]
pub(super) struct Mentions {
    pairs: HashSet<(u64, u64), RandomState>,
    by_part: HashMap<u64, Vec<u64>, RandomState>,
    by_whole: HashMap<u64, Vec<u64>, RandomState>,
}

impl Mentions {
    /// Records that the fields of `whole` mention `part`.
    pub(super) fn note(&mut self, part: u64, whole: u64) {
        if self.pairs.insert((part, whole)) {
            self.by_part.entry(part).or_default().push(whole);
            self.by_whole.entry(whole).or_default().push(part);
        }
    }

    /// The variables whose fields mention this variable.
    pub(super) fn of(&self, part: u64) -> &[u64] {
        self.by_part.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The variables mentioned by the fields of this variable.
    pub(super) fn in_fields_of(&self, whole: u64) -> &[u64] {
        self.by_whole.get(&whole).map_or(&[], Vec::as_slice)
    }

    /// True if the fields of `whole` mention `part`.
    pub(super) fn contains(&self, part: u64, whole: u64) -> bool {
        self.pairs.contains(&(part, whole))
    }
}
