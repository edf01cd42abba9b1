//! The objects that a walk has entered and not left. An open object met again contains
//! itself.
//!
//! Lists and dicts are always marked, other objects only once a cycle through fields is
//! possible at all. To keep messages independent of these marks, an object met again is
//! not reported if the walk entered a list or dict in between. The cycle leads through
//! that container, and is reported at the container.
//!
//! A cycle through fields is always entered at an object with two owners. As soon as
//! any write has made cycles possible, objects with two owners are therefore marked
//! while they are open, and a cycle is an error with its path.

use super::ident_map::IdentMap;
use crate::kernel::pages::Pages;

/// Words of one page; a page is one cache line.
const WORDS: usize = 8;

/// The state of an object when it is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// The object was not open, and is open after the call.
    Fresh,
    /// The object is open, and the walk has entered a list or dict since.
    Around,
    /// It is open.
    Cycle,
}

/// A set of objects, by identity number.
#[derive(Default)]
pub(super) struct OpenSet {
    words: Pages<u64, WORDS>,
    /// The number of lists and dicts that were open at the object's last entry. Absent
    /// means zero; may be stale for objects that are not open.
    containers: IdentMap,
    /// True if `containers` is not empty.
    nested: bool,
}

impl OpenSet {
    /// Enters an object inside this many open lists and dicts; zero for a list or dict
    /// itself, which is never passed over.
    #[inline]
    pub(super) fn enter(&mut self, ident: u64, containers: u32) -> Entry {
        let (word, bit) = (self.words.word(ident / 64), 1 << (ident % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        if fresh && containers == 0 && !self.nested {
            return Entry::Fresh;
        }
        self.enter_nested(ident, containers, fresh)
    }

    #[cold]
    fn enter_nested(&mut self, ident: u64, containers: u32, fresh: bool) -> Entry {
        if !fresh && containers <= self.containers.get(ident).unwrap_or(0) {
            return Entry::Cycle;
        }
        // The next round enters no new container in between, unless a write has changed
        // the cycle in the meantime.
        self.nested |= containers > 0;
        let outer = (containers > 0).then_some(containers);
        self.containers.set(ident, outer);
        if fresh { Entry::Fresh } else { Entry::Around }
    }

    /// Leaves an object.
    #[inline]
    pub(super) fn leave(&mut self, ident: u64) {
        *self.words.word(ident / 64) &= !(1 << (ident % 64));
    }

    /// Empties the set and keeps part of the memory for the next use.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.containers.clear();
        self.nested = false;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Entry, OpenSet};

    #[test]
    fn agrees_with_a_hash_set() {
        let mut open = OpenSet::default();
        let mut model = HashSet::new();
        let mut number = 1u64;
        for step in 0..20_000u64 {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let ident = if step % 2 == 0 {
                number >> 52
            } else {
                number >> 20
            };
            if step % 3 == 0 {
                open.leave(ident);
                model.remove(&ident);
            } else {
                let fresh = open.enter(ident, 0) == Entry::Fresh;
                assert_eq!(fresh, model.insert(ident), "step {step}");
            }
        }
        open.clear();
        let mut idents = model.iter();
        assert!(idents.all(|&ident| open.enter(ident, 0) == Entry::Fresh));
    }

    #[test]
    fn a_container_in_between_is_told() {
        let mut open = OpenSet::default();
        assert_eq!(open.enter(1, 0), Entry::Fresh);
        assert_eq!(open.enter(2, 1), Entry::Fresh);
        assert_eq!(open.enter(1, 1), Entry::Around);
        assert_eq!(open.enter(1, 1), Entry::Cycle);
        assert_eq!(open.enter(2, 1), Entry::Cycle);
        assert_eq!(open.enter(2, 2), Entry::Around);
        open.leave(2);
        // Its earlier state is forgotten.
        assert_eq!(open.enter(2, 0), Entry::Fresh);
        assert_eq!(open.enter(2, 1), Entry::Around);
    }

    /// An object that was left inside a container may be entered again outside.
    #[test]
    fn how_many_containers_were_open_is_known_of_the_last_visit() {
        let mut open = OpenSet::default();
        assert_eq!(open.enter(1, 1), Entry::Fresh);
        open.leave(1);
        assert_eq!(open.enter(1, 0), Entry::Fresh);
        assert_eq!(open.enter(1, 1), Entry::Around);
    }
}
