//! Which variables have a value where the check is.

use hashbrown::{HashMap, HashSet};

use super::branches::exclude_each_other;
use crate::kernel::path::places::{Place, Places};

/// The variables that have a value on every path to where the check is.
#[derive(Default)]
pub(super) struct Scopes {
    defined: HashSet<u64>,
    /// The variables in the set, in the order in which they came.
    log: Vec<u64>,
    /// Where variables were defined last, whether they still have a value.
    last: HashMap<u64, Place>,
    /// Changes when variables lose their values.
    epoch: u64,
}

impl Scopes {
    /// Whether a variable has a value.
    pub(super) fn is_defined(&self, var: u64) -> bool {
        self.defined.contains(&var)
    }

    /// Gives a variable a value; where it may have got one before on a path
    /// that comes here.
    pub(super) fn define(&mut self, var: u64, place: Place, places: &Places) -> Option<Place> {
        self.assume(var);
        self.note(var, place, places)
    }

    /// Takes note of a definition, and no value; what [`define`](Self::define)
    /// answers.
    pub(super) fn note(&mut self, var: u64, place: Place, places: &Places) -> Option<Place> {
        let before = self.last.insert(var, place)?;
        (!exclude_each_other(places, before, place)).then_some(before)
    }

    /// Whether a variable was defined somewhere before.
    pub(super) fn was_defined(&self, var: u64) -> bool {
        self.last.contains_key(&var)
    }

    /// Takes it that a variable has a value.
    pub(super) fn assume(&mut self, var: u64) {
        if self.defined.insert(var) {
            self.log.push(var);
        }
    }

    /// How many variables have values, to come back to.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// The variables that got values since a mark, and still have them.
    pub(super) fn since(&self, mark: usize) -> &[u64] {
        self.log.get(mark..).unwrap_or_default()
    }

    /// Takes the values away that came since a mark.
    pub(super) fn leave(&mut self, mark: usize) -> Vec<u64> {
        let left = self.log.split_off(mark.min(self.log.len()));
        for var in &left {
            self.defined.remove(var);
        }
        if !left.is_empty() {
            self.epoch += 1;
        }
        left
    }

    /// Forgets everything, for another function.
    pub(super) fn clear(&mut self) {
        self.leave(0);
        self.last.clear();
    }

    /// A number that is another one when variables have lost their values.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}
