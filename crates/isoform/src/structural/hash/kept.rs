//! Hashes of parts, kept from walk to walk: a value that contains a part which an
//! earlier walk has hashed need not visit it again. So keys of all parts of a
//! program cost O(n) together, in any order, and an edited program costs as much
//! as the edit.
//!
//! A part has the same hash at every place where the variables that it uses from around
//! it have the same names, since the hash is made of its objects and these names alone. A
//! part without such variables has the same hash everywhere; one in which a variable is
//! met first, and so numbered, is not kept. A part is kept together with the facts that
//! a later use needs: the variables from around it and their names, by number or by
//! fields; whether it contains variables that are hashed by identity, which must be free
//! there as well; whether anything in it can change, so that a write in the meantime can
//! be detected; and the number of dag nodes in it, so that those after it get the same
//! numbers. A key has no variables from around it, so parts with such variables are kept
//! for hashers only.
//!
//! A dag node that is met elsewhere is named differently from then on, so each knows
//! the one kept part that it is in, directly or in a kept part within it. Meeting the
//! node ends that part and all around it. If one of these was used before in the same
//! walk, the walk is repeated without kept parts.
//!
//! Not every part is kept, but enough of them that the rest takes few visits.
//! Objects have no room for any of this, so it is in a table by identity number:
//! of each thread for keys, and of each
//! [`IncrementalHasher`](super::super::incremental::IncrementalHasher).
//!
//! An entry takes 80 bytes in a table of hashes and 104 bytes in a table of digests. A
//! table that reaches 262,144 entries, or two million dag nodes in its entries, is
//! emptied.

use hashbrown::{HashMap, HashSet};

use super::super::var_numbering::OuterName;
use crate::kernel::object::moment::{Watched, changed_types};

pub(super) struct Entry<Lasting> {
    pub(super) out: Lasting,
    pub(super) has_free: bool,
    /// The variables from around it.
    pub(super) outer: Box<[OuterVar]>,
    /// The number of dag nodes in it.
    pub(super) nodes: u32,
    /// The walk that made it.
    pub(super) made: u64,
    /// The last walk that used it.
    pub(super) used: u64,
    /// For a part that can change.
    pub(super) watched: Option<Watched>,
}

/// A variable that a part uses and does not bind.
#[derive(Clone, Copy)]
pub(super) struct OuterVar {
    pub(super) ident: u64,
    pub(super) name: OuterName,
}

/// True if one of the variables around a part has a number.
pub(super) fn is_numbered(outer: &[OuterVar]) -> bool {
    outer.iter().any(|var| var.name != OuterName::FIELDS)
}

/// The maximum number of kept parts in a table, which then takes 42 MB for hashes and 55 MB
/// for digests.
const LIMIT: usize = 1 << 18;

/// The maximum number of dag nodes in kept parts of a table, which take up to 71 MB more.
const MAX_OWNED: usize = 1 << 21;

/// The kept hashes, by identity number, which no later object reuses.
pub(super) struct HashCache<Lasting> {
    pub(super) entries: HashMap<u64, Entry<Lasting>, rapidhash::fast::RandomState>,
    /// The kept parts around dag nodes, and around kept parts that contain some.
    pub(super) owners: HashMap<u64, u64, rapidhash::fast::RandomState>,
    /// At least the number of entries with numbered variables.
    open: usize,
    /// See [`changed_types`].
    pub(super) types: u64,
    /// The number of the walk.
    pub(super) walk: u64,
}

impl<Lasting> HashCache<Lasting> {
    /// Forgets everything if types have changed.
    pub(super) fn renew(&mut self) {
        self.walk += 1;
        let types = changed_types();
        if self.types != types {
            self.clear();
            self.types = types;
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.owners.clear();
        self.open = 0;
    }

    /// Forgets parts if there are too many. Returns true if it forgot some.
    ///
    /// A large function has many more open parts than a module has functions, so when they
    /// fill half of the table, they alone are forgotten.
    pub(super) fn make_room(&mut self, is_open: bool) -> bool {
        if self.entries.len() >= LIMIT || self.owners.len() >= MAX_OWNED {
            self.clear();
        } else if is_open && self.open >= LIMIT / 2 {
            self.entries.retain(|_, entry| !is_numbered(&entry.outer));
            self.open = 0;
        } else {
            self.open += usize::from(is_open);
            return false;
        }
        self.open += usize::from(is_open);
        true
    }

    /// Forgets a part and all around it. Returns true if one was used in this walk.
    pub(super) fn end(&mut self, part: u64) -> bool {
        let mut was_used = false;
        let mut next = Some(part);
        while let Some(part) = next {
            let entry = self.entries.remove(&part);
            was_used |= entry.is_some_and(|entry| entry.used == self.walk);
            next = self.owners.remove(&part);
        }
        was_used
    }
}

impl<Lasting> Default for HashCache<Lasting> {
    fn default() -> Self {
        HashCache {
            entries: HashMap::default(),
            owners: HashMap::default(),
            open: 0,
            types: 0,
            walk: 0,
        }
    }
}

// With a byte of the table for each place, of which up to half are empty, this is what a
// kept part costs, besides sixteen bytes for each variable from around it.
const _: () = assert!(size_of::<(u64, Entry<u64>)>() == 80);
const _: () = assert!(size_of::<(u64, Entry<[u8; 32]>)>() == 104);
const _: () = assert!(size_of::<OuterVar>() == 16);

/// The state of a part while it is being hashed.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The visits before it.
    pub(super) visits: u64,
    /// The scope level around it.
    pub(super) level: u32,
    /// The lowest level of a binding used in it that is not among its variables; also 0
    /// if it depends on more than the part.
    pub(super) lowest: u32,
    pub(super) has_free: bool,
    pub(super) can_change: bool,
    /// The start of its variables in [`Parts::outer`].
    pub(super) outer: u32,
    /// The start of its dag nodes in [`Parts::owned`].
    pub(super) owned: u32,
    /// The number of dag nodes before it in its scope.
    pub(super) nodes: u32,
}

impl Part {
    pub(super) fn add(&mut self, inner: Part) {
        self.lowest = self.lowest.min(inner.lowest);
        self.has_free |= inner.has_free;
        self.can_change |= inner.can_change;
    }
}

/// The open parts of a walk, and the state of the walk that affects these parts.
#[derive(Default)]
pub(in super::super) struct Parts {
    pub(super) open: Vec<Part>,
    /// The bindings of variables used in open parts, outermost part first.
    pub(super) outer: Vec<u32>,
    /// The dag nodes met in open parts, and the kept parts that contain some.
    pub(super) owned: Vec<u64>,
    /// The visits of this walk within parts that are kept.
    pub(super) covered: u64,
    /// Free variables whose fields were hashed at their first occurrence, and
    /// neither use nor make bindings.
    pub(super) closed_vars: HashSet<u64, rapidhash::fast::RandomState>,
    /// True if a variable or dag node was bound by number.
    pub(super) has_numbers: bool,
    /// True if a free variable was a key of a map whose remembered hash is void once the
    /// variable is met.
    pub(super) has_free_keys: bool,
    /// True if a kept hash with free variables was used.
    pub(super) used_free: bool,
    /// True if a kept hash with dag nodes was used.
    pub(super) used_nodes: bool,
    /// True if one of those variables may have been bound afterwards, so that
    /// the part would have to be visited after all.
    pub(in super::super) in_doubt: bool,
    /// True if no kept hashes are used.
    pub(in super::super) visits_all: bool,
}
