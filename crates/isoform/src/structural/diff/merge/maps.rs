//! Maps edited by one patch or by both, entry by entry.

use std::borrow::Cow;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::patch::{Keyed, Source};
use super::super::tables::Tables;
use super::plan::{Choice, Part, Planner, Slot};
use super::sides::{Fate, Mode, View};
use crate::kernel::path::AccessStep;
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
        let mut edit = EditedMap {
            removed: &keyed.removed,
            ..EditedMap::default()
        };
        let named = keyed.named.iter().map(|(name, source)| {
            let key = Source::Value(Value::from(name.clone()));
            (Cow::Owned(key), source)
        });
        let set = keyed.set.iter();
        for (key, source) in named.chain(set.map(|(key, source)| (Cow::Borrowed(key), source))) {
            let position = match &*key {
                Source::Left(node) | Source::Image(node) => by_node.get(node),
                Source::Value(value) => by_value.get(value),
                Source::New(_) => None,
            };
            match position {
                Some(&position) => {
                    edit.set.insert(position, source);
                }
                None => edit.added.push((key, source)),
            }
        }
        edit
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

/// A key of both sides is the same if the key is the same object of the base, or the
/// same value.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Base(u32),
    Value(Value),
}

impl Key {
    fn of(source: &Source) -> Option<Self> {
        match source {
            Source::Left(node) | Source::Image(node) => Some(Key::Base(*node)),
            Source::Value(value) => Some(Key::Value(value.clone())),
            Source::New(_) => None,
        }
    }
}

impl<'p> Planner<'p> {
    /// The entries of a map: entries of the base, then entries added by the left side
    /// and then by the right side. O(n) for n entries of the map and both edits.
    pub(super) fn entries(
        &self,
        node: u32,
        edits: [Option<&'p Keyed>; 2],
        view: View,
    ) -> Vec<(Part, Slot)> {
        let base = self.sides.base;
        let cells = base.cells(node);
        let edited = edits
            .map(|edit| edit.map(|keyed| EditedMap::of(base, node, keyed)))
            .map(Option::unwrap_or_default);
        let mut entries = Vec::with_capacity(cells.len() / 2);
        for position in (0..cells.len()).step_by(2) {
            let (key, value) = (&cells[position], &cells[position + 1]);
            let fates = [0, 1].map(|side| match edited[side].set.get(&position) {
                _ if edited[side].is_removed(position) => Fate::Gone,
                Some(source) => self.sides.fate(value, source),
                None => Fate::Stays(view.0[side]),
            });
            let step = || AccessStep::MapItem(base.value_of(key));
            if let Some(slot) = self.resolve(node, value, fates, step) {
                let key = self.of_base(view, key);
                entries.push((key, slot));
            }
        }
        let [left, right] = edited;
        let mut rest: HashMap<Key, usize, RandomState> = HashMap::default();
        for (number, (key, _)) in right.added.iter().enumerate() {
            rest.extend(Key::of(key).map(|key| (key, number)));
        }
        let mut is_taken = vec![false; right.added.len()];
        for (key, source) in &left.added {
            let same = Key::of(key).and_then(|key| rest.get(&key));
            let part = self.of_side(0, source, is_alone(view, 0));
            let slot = match same {
                None => Slot::Part(part),
                Some(&number) => {
                    is_taken[number] = true;
                    Slot::Choice(Choice {
                        node,
                        step: AccessStep::MapItem(self.shown(key)),
                        is_single: false,
                        base: Vec::new(),
                        sides: [
                            vec![part],
                            vec![self.of_side(1, right.added[number].1, false)],
                        ],
                        before: Vec::new(),
                        alone: [Vec::new(), Vec::new()],
                    })
                }
            };
            entries.push((self.of_side(0, key, is_alone(view, 0)), slot));
        }
        for ((key, source), is_taken) in right.added.iter().zip(is_taken) {
            if !is_taken {
                let alone = is_alone(view, 1);
                let slot = Slot::Part(self.of_side(1, source, alone));
                entries.push((self.of_side(1, key, alone), slot));
            }
        }
        entries
    }

    /// The key of an entry in a path.
    fn shown(&self, key: &Source) -> Value {
        match key {
            Source::Left(node) | Source::Image(node) => {
                Value::from(&self.sides.base.node(*node).object)
            }
            Source::Value(value) => value.clone(),
            Source::New(_) => Value::NONE,
        }
    }
}

/// True if the other side of a map does not count.
fn is_alone(view: View, side: usize) -> bool {
    view.0[1 - side] == Mode::Absent
}
