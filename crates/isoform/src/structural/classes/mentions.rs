//! The variables that the fields of other ones mention.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

/// For each variable, those whose fields mention it outside of the fields of a third one.
///
/// These suffice to find all that depend on a variable: a map in which a variable occurs
/// has all that its fields mention, so a chain of mentions has every link in the map.
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

    /// The variables whose fields mention this one.
    pub(super) fn of(&self, part: u64) -> &[u64] {
        self.by_part.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The variables that the fields of this one mention.
    pub(super) fn in_fields_of(&self, whole: u64) -> &[u64] {
        self.by_whole.get(&whole).map_or(&[], Vec::as_slice)
    }

    /// True if the fields of `whole` mention `part`.
    pub(super) fn contains(&self, part: u64, whole: u64) -> bool {
        self.pairs.contains(&(part, whole))
    }
}
