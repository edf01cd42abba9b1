//! Maps edited by both sides, entry by entry.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::patch::{Keyed, Source};
use super::entries::EditedMap;
use super::plan::{Choice, Part, Planner, Slot};
use super::sides::{Fate, Mode, View};
use crate::kernel::path::AccessStep;
use crate::kernel::value::Value;

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
        let edited = edits.map(|edit| edit.map(|keyed| EditedMap::of(base, node, keyed)));
        let edited = edited.map(Option::unwrap_or_default);
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
