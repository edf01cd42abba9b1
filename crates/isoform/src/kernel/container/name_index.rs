//! An index of a dict's keys by name, which follows the changes of the dict.
//!
//! The first lookup of a name creates the index; each later lookup adds the entries
//! inserted since the previous lookup, so n insertions and lookups cost O(n) together.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rapidhash::fast::RandomState;

use super::mapping::Entries;
use crate::kernel::value::Value;

/// Returns the name of a key, or None for a key without a name. The name of an object
/// must not change, and no user code may run.
pub(super) type NameOf = fn(&Value) -> Option<&str>;

/// Positions of keys by name; if several keys share a name, the first.
#[derive(Debug)]
pub(super) struct NameIndex {
    name_of: NameOf,
    hasher: RandomState,
    positions: HashTable<u32>,
    /// The number of entries in the index.
    covered: usize,
}

impl NameIndex {
    pub(super) fn new(name_of: NameOf) -> Self {
        NameIndex {
            name_of,
            hasher: RandomState::default(),
            positions: HashTable::new(),
            covered: 0,
        }
    }

    /// The position of the first key with a name. O(1), plus O(1) for each entry that
    /// was added since the last call.
    pub(super) fn find(&mut self, entries: &Entries, name: &str) -> Option<usize> {
        let (name_of, hasher) = (self.name_of, &self.hasher);
        let name_at = |position: u32| name_of(entries.entry(position as usize)?.0);
        while let Some((key, _)) = entries.entry(self.covered) {
            let position = self.covered as u32;
            self.covered += 1;
            let Some(name) = name_of(key) else {
                continue;
            };
            let rehash = |&position: &u32| hasher.hash_one(name_at(position));
            let entry = self.positions.entry(
                hasher.hash_one(Some(name)),
                |&position| name_at(position) == Some(name),
                rehash,
            );
            entry.or_insert(position);
        }
        let hash = hasher.hash_one(Some(name));
        let entry = self
            .positions
            .find(hash, |&position| name_at(position) == Some(name));
        entry.map(|&position| position as usize)
    }

    /// Removes the last entry from the index before the dict removes it.
    pub(super) fn forget_last(&mut self, entries: &Entries) {
        let Some(last) = entries.len().checked_sub(1) else {
            return;
        };
        if self.covered <= last {
            return;
        }
        self.covered = last;
        let name = entries.entry(last).and_then(|(key, _)| (self.name_of)(key));
        let hash = self.hasher.hash_one(name);
        let entry = self
            .positions
            .find_entry(hash, |&position| position as usize == last);
        if let Ok(entry) = entry {
            entry.remove();
        }
    }
}
