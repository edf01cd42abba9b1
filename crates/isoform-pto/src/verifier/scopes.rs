//! The variables with a value at the current place.

use hashbrown::{HashMap, HashSet};

use super::branches::exclude_each_other;
use isoform::host::{Place, Places};

/// The variables with a value on every path to the current check.
#[derive(Default)]
pub(super) struct Scopes {
    defined: HashSet<u64>,
    /// The variables in the set, in order of insertion.
    log: Vec<u64>,
    /// The last definition of every variable, even if the variable lost its value.
    last: HashMap<u64, Place>,
    /// Changes when variables lose their values.
    epoch: u64,
}

impl Scopes {
    /// True if a variable has a value.
    pub(super) fn is_defined(&self, var: u64) -> bool {
        self.defined.contains(&var)
    }

    /// Defines a variable; returns the earlier place, if any, of a definition on a path
    /// to this place.
    pub(super) fn define(&mut self, var: u64, place: Place, places: &Places) -> Option<Place> {
        self.assume(var);
        self.note(var, place, places)
    }

    /// Records a definition without a value; returns the result of
    /// [`define`](Self::define).
    pub(super) fn note(&mut self, var: u64, place: Place, places: &Places) -> Option<Place> {
        let before = self.last.insert(var, place)?;
        (!exclude_each_other(places, before, place)).then_some(before)
    }

    /// True if a variable was defined somewhere before.
    pub(super) fn was_defined(&self, var: u64) -> bool {
        self.last.contains_key(&var)
    }

    /// Assumes that a variable has a value.
    pub(super) fn assume(&mut self, var: u64) {
        if self.defined.insert(var) {
            self.log.push(var);
        }
    }

    /// The number of variables with values, as a mark to return to.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// The variables with values since a mark.
    pub(super) fn since(&self, mark: usize) -> &[u64] {
        self.log.get(mark..).unwrap_or_default()
    }

    /// Removes the values added since a mark.
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

    /// Forgets all variables, for another function.
    pub(super) fn clear(&mut self) {
        self.leave(0);
        self.last.clear();
    }

    /// A number that changes when variables lose their values.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}
