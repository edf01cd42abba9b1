//! The edit of a map by one patch, entry by entry.

use std::borrow::Cow;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::patch::{Keyed, Source};
use super::super::tables::Tables;
use crate::kernel::value::Value;

/// The edit of a map, by its entries.
#[derive(Default)]
pub(super) struct EditedMap<'p> {
    removed: &'p [u32],
    /// The sources of the values of entries, by the positions of their keys.
    pub(super) set: HashMap<usize, &'p Source, RandomState>,
    /// New entries.
    pub(super) added: Vec<(Cow<'p, Source>, &'p Source)>,
}

impl<'p> EditedMap<'p> {
    /// The edit of a map of the base. O(n) for n entries.
    pub(super) fn of(base: &Tables, node: u32, keyed: &'p Keyed) -> Self {
        let keys = base.cells(node).iter().enumerate().step_by(2);
        let mut by_node: HashMap<u32, usize, RandomState> = HashMap::default();
        let mut by_value: HashMap<Value, usize, RandomState> = HashMap::default();
        for (position, key) in keys {
            match key.node_number() {
                Some(node) => by_node.insert(node, position),
                None => by_value.insert(key.value.clone(), position),
            };
        }
        let mut made = EditedMap {
            removed: &keyed.removed,
            ..EditedMap::default()
        };
        let named = keyed.named.iter().map(|(name, source)| {
            let key = Source::Value(Value::from(name.clone()));
            (Cow::Owned(key), source)
        });
        let set = keyed.set.iter();
        for (key, source) in named.chain(set.map(|(key, source)| (Cow::Borrowed(key), source))) {
            let known = match &*key {
                Source::Left(node) | Source::Image(node) => by_node.get(node),
                Source::Value(value) => by_value.get(value),
                Source::New(_) => None,
            };
            match known {
                Some(&position) => {
                    made.set.insert(position, source);
                }
                None => made.added.push((key, source)),
            }
        }
        made
    }

    /// True if the edit removes the entry with the key at a position.
    pub(super) fn is_removed(&self, position: usize) -> bool {
        self.removed.binary_search(&(position as u32)).is_ok()
    }

    /// True if the part at a position stays unchanged: the key of an entry, or the
    /// value.
    pub(super) fn keeps(&self, position: usize) -> bool {
        let key = position & !1;
        !self.is_removed(key) && (key == position || !self.set.contains_key(&key))
    }
}
