//! Hashes of parts, kept from walk to walk: a walk does not revisit a part hashed by an
//! earlier walk. Keys of all parts of a program therefore cost O(n) together, in any
//! order, and an edited program costs as much as the edit.
//!
//! The hash of a part is made of the part's objects and of the names of the outer
//! variables that the part uses, and of no further data. The part therefore has the
//! same hash wherever these variables have the same names, and a part without outer
//! variables has the same hash everywhere. A part in which a variable is met first, and
//! thereby numbered, is not kept.
//!
//! A part is kept together with the facts needed for a later use:
//!
//! * the outer variables and their names, by number or by fields;
//! * the presence of variables hashed by identity, which must be free at the later place
//!   as well;
//! * the presence of objects that can change, to detect a write in the meantime;
//! * the number of dag nodes inside, to give later dag nodes the same numbers.
//!
//! A key has no outer variables, so parts with outer variables are kept for hashers only.
//!
//! A dag node met outside of its part gets a different name from then on. Every dag
//! node therefore knows the one kept part around it, directly or through a kept part
//! inside. Meeting the node elsewhere ends that part and all parts around it. If the
//! same walk has already used one of these parts, the walk is repeated without kept
//! parts.
//!
//! Only some parts are kept, but enough of them that the remaining objects take few
//! visits. Objects have no room for this data, which is therefore in a table by
//! identity number: one table per thread for keys, and one for each
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

/// The maximum number of kept parts in a table, which then takes 42 MB for hashes and
/// 55 MB for digests.
const LIMIT: usize = 1 << 18;

/// The maximum number of dag nodes in kept parts of a table, which take up to 71 MB
/// more.
const MAX_OWNED: usize = 1 << 21;

/// The kept hashes, by identity number, which no later object reuses.
pub(super) struct HashCache<Lasting> {
    pub(super) entries: HashMap<u64, Entry<Lasting>, rapidhash::fast::RandomState>,
    /// The kept parts around dag nodes, and around kept parts with dag nodes.
    pub(super) owners: HashMap<u64, u64, rapidhash::fast::RandomState>,
    /// At least the number of entries with numbered variables.
    open: usize,
    /// See [`changed_types`].
    pub(super) types: u64,
    /// The number of the walk.
    pub(super) walk: u64,
}

impl<Lasting> HashCache<Lasting> {
    /// Forgets all parts after a change of types.
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

    /// Forgets parts when the table is full. Returns true if any part was forgotten.
    ///
    /// A large function has many more open parts than a module has functions. Open
    /// parts that fill half of the table are therefore forgotten alone.
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

    /// Forgets a part and all parts around it. Returns true if this walk has used one
    /// of these parts.
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

// The cost of a kept part is this size, one byte of the table for each slot, of which
// up to half are empty, and sixteen bytes for each outer variable.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<(u64, Entry<u64>)>() == 80);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<(u64, Entry<[u8; 32]>)>() == 104);
const _: () = assert!(size_of::<OuterVar>() == 16);

/// The state of a part while it is being hashed.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The visits before it.
    pub(super) visits: u64,
    /// The scope level around it.
    pub(super) level: u32,
    /// The lowest level of a binding used in the part that is not among the part's
    /// variables; also 0 if the hash depends on more than the part.
    pub(super) lowest: u32,
    pub(super) has_free: bool,
    pub(super) can_change: bool,
    /// The start of its variables in [`Parts::outer`].
    pub(super) outer: u32,
    /// The start of the part's dag nodes in [`Parts::owned`].
    pub(super) owned: u32,
    /// The number of earlier dag nodes in the part's scope.
    pub(super) nodes: u32,
}

impl Part {
    pub(super) fn add(&mut self, inner: Part) {
        self.lowest = self.lowest.min(inner.lowest);
        self.has_free |= inner.has_free;
        self.can_change |= inner.can_change;
    }
}

/// The open parts of a walk, and the state of the walk that affects open parts.
#[derive(Default)]
pub(in super::super) struct Parts {
    pub(super) open: Vec<Part>,
    /// The bindings of variables used in open parts, outermost part first.
    pub(super) outer: Vec<u32>,
    /// The dag nodes met in open parts, and the kept parts with dag nodes.
    pub(super) owned: Vec<u64>,
    /// The visits of this walk within parts that are kept.
    pub(super) covered: u64,
    /// Free variables whose fields were hashed at their first occurrence, and neither
    /// use nor make bindings.
    pub(super) closed_vars: HashSet<u64, rapidhash::fast::RandomState>,
    /// True if a variable or dag node was bound by number.
    pub(super) has_numbers: bool,
    /// True if a free variable was a key of a map. The remembered hash of such a map is
    /// void once the variable is met.
    pub(super) has_free_keys: bool,
    /// True if a kept hash with free variables was used.
    pub(super) used_free: bool,
    /// True if a kept hash with dag nodes was used.
    pub(super) used_nodes: bool,
    /// True if a variable of a used part may have been bound afterwards, in which case
    /// the part would have needed a visit.
    pub(in super::super) in_doubt: bool,
    /// True if no kept hashes are used.
    pub(in super::super) visits_all: bool,
}
