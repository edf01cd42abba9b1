//! Hashes of parts, kept from key to key: a key of what contains a part that
//! an earlier key of this thread has hashed need not visit it again, so keys of
//! all parts of a program cost O(n) together, whatever their order.
//!
//! A part has the same hash wherever it stands if it uses nothing that is bound
//! around it. It is kept with what else a later use must know: whether there
//! are free variables in it, which must be free there as well, and whether
//! anything in it can change, so that nobody may have written meanwhile.
//!
//! Not every part is kept, but so many that what is not covered by parts that
//! are takes few visits.

use hashbrown::{HashMap, HashSet};

use crate::kernel::object::moment::{Watched, thawed_types};

#[derive(Clone, Copy)]
pub(super) struct Entry<Out> {
    pub(super) out: Out,
    pub(super) has_free: bool,
    /// For a part that can change.
    pub(super) watched: Option<Watched>,
}

/// The hashes that are kept, by identity number, which no later object has.
pub(super) struct Kept<Out> {
    pub(super) entries: HashMap<u64, Entry<Out>, rapidhash::fast::RandomState>,
    /// The number of types that were found frozen no more by then.
    pub(super) thawed: u64,
}

impl<Out> Kept<Out> {
    /// Forgets all if objects were found frozen that are no more.
    pub(super) fn renew(&mut self) {
        let thawed = thawed_types();
        if self.thawed != thawed {
            self.entries.clear();
            self.thawed = thawed;
        }
    }
}

impl<Out> Default for Kept<Out> {
    fn default() -> Self {
        Kept {
            entries: HashMap::default(),
            thawed: 0,
        }
    }
}

/// What is known of a part while it is being hashed.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The visits before it.
    pub(super) visits: u64,
    /// The scope level around it.
    pub(super) level: u32,
    /// The lowest level of a binding used in it; 0 as well for what depends on
    /// more than the part.
    pub(super) lowest: u32,
    pub(super) has_free: bool,
    pub(super) can_change: bool,
}

impl Part {
    pub(super) fn add(&mut self, inner: Part) {
        self.lowest = self.lowest.min(inner.lowest);
        self.has_free |= inner.has_free;
        self.can_change |= inner.can_change;
    }
}

/// The parts that one walk is in, and what it has done that matters to them.
#[derive(Default)]
pub(in super::super) struct Parts {
    pub(super) open: Vec<Part>,
    /// The visits of this walk within parts that are kept.
    pub(super) covered: u64,
    /// Free variables whose fields were hashed, where the variable was met first,
    /// and neither use nor make bindings.
    pub(super) closed_vars: HashSet<u64, rapidhash::fast::RandomState>,
    /// Whether a variable or dag node was bound by number.
    pub(super) has_numbers: bool,
    /// Whether a kept hash with free variables was used,
    pub(super) used_free: bool,
    /// and one of them may have been bound afterwards, so that the part would
    /// have to be visited after all.
    pub(in super::super) in_doubt: bool,
    /// No kept hashes are used.
    pub(in super::super) visits_all: bool,
}
