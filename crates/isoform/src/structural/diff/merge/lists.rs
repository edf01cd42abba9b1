//! Lists edited by both sides, element by element and gap by gap.

use std::ops::RangeInclusive;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::patch::{Source, Splice};
use super::super::tables::Cell;
use super::plan::{Choice, Part, Planner, Slot};
use super::sides::{Fate, Mode, View};
use crate::kernel::path::AccessStep;

/// The edit of a list by a side. Gap n is before element n.
struct EditedList<'p> {
    fates: HashMap<usize, Fate<'p>, RandomState>,
    unsaid: Mode,
    /// Inserted elements, by gap.
    inserted: HashMap<usize, &'p [Source], RandomState>,
    /// Elements from one gap to another that more or fewer elements replaced: the old
    /// and new elements have no pairs.
    stretches: Vec<(usize, usize, &'p [Source])>,
}

impl<'p> EditedList<'p> {
    /// The edit of a list. Elements that replaced an equal number of elements are
    /// paired in order.
    fn of(splices: &'p [Splice], unsaid: Mode) -> Self {
        let mut list = EditedList {
            fates: HashMap::default(),
            unsaid,
            inserted: HashMap::default(),
            stretches: Vec::new(),
        };
        for splice in splices {
            let (from, removed) = (splice.from as usize, splice.removed as usize);
            let items = &*splice.items;
            match items.len() {
                _ if removed == 0 => {
                    list.inserted.insert(from, items);
                }
                0 => list
                    .fates
                    .extend((from..from + removed).map(|position| (position, Fate::Gone))),
                count if count == removed => {
                    let fates = (from..).zip(items);
                    list.fates
                        .extend(fates.map(|(position, source)| (position, Fate::Is(source))));
                }
                _ => list.stretches.push((from, from + removed, items)),
            }
        }
        list
    }

    fn fate(&self, at: usize) -> Fate<'p> {
        self.fates
            .get(&at)
            .copied()
            .unwrap_or(Fate::Stays(self.unsaid))
    }

    fn inserted(&self, gap: usize) -> &'p [Source] {
        self.inserted.get(&gap).copied().unwrap_or_default()
    }
}

impl<'p> Planner<'p> {
    /// The elements of a list. O(n) for n elements of the list and both edits, and
    /// O(m log m) for m stretches.
    pub(super) fn items(&self, node: u32, edits: [&'p [Splice]; 2], view: View) -> Vec<Slot> {
        let [left, right] = edits;
        let edited = [
            EditedList::of(left, view.0[0]),
            EditedList::of(right, view.0[1]),
        ];
        let cells = self.sides.base.cells(node);
        let mut stretches = joined(&edited).into_iter().peekable();
        let mut slots = Vec::with_capacity(cells.len());
        let mut gap = 0;
        // The gap in which a stretch ends belongs to the stretch.
        let mut is_done = false;
        while gap <= cells.len() {
            if let Some((_, to)) = stretches.next_if(|(from, _)| *from == gap) {
                self.stretch(node, &edited, gap..=to, &mut slots);
                (gap, is_done) = (to, true);
                continue;
            }
            if !std::mem::take(&mut is_done) {
                self.gap(node, &edited, gap, &mut slots);
            }
            if let Some(cell) = cells.get(gap) {
                let fates = [0, 1].map(|side| self.fate_of(&edited[side], cell, gap));
                slots.extend(self.resolve(node, cell, fates, || AccessStep::ArrayItem(gap)));
            }
            gap += 1;
        }
        slots
    }

    fn fate_of(&self, list: &EditedList<'p>, cell: &Cell, at: usize) -> Fate<'p> {
        match list.fate(at) {
            Fate::Is(source) => self.sides.fate(cell, source),
            fate => fate,
        }
    }

    /// Adds the elements inserted by the sides at a gap.
    fn gap(&self, node: u32, edited: &[EditedList<'p>; 2], gap: usize, slots: &mut Vec<Slot>) {
        let inserted: [Vec<Part>; 2] = [0, 1].map(|side| {
            let items = edited[side].inserted(gap).iter();
            items
                .map(|source| self.of_side(side, source, is_alone(edited, side)))
                .collect()
        });
        match inserted {
            [parts, none] | [none, parts] if none.is_empty() => {
                slots.extend(parts.into_iter().map(Slot::Part));
            }
            sides => slots.push(Slot::Choice(Choice {
                node,
                step: AccessStep::ArrayItem(gap),
                is_single: false,
                base: Vec::new(),
                sides,
                before: Vec::new(),
                alone: [Vec::new(), Vec::new()],
            })),
        }
    }

    /// Adds the elements between two gaps, gaps included, where one side replaced
    /// elements by more or fewer elements. These are the elements of that side if the
    /// other side changed no element between the gaps, and a choice otherwise.
    fn stretch(
        &self,
        node: u32,
        edited: &[EditedList<'p>; 2],
        gaps: RangeInclusive<usize>,
        slots: &mut Vec<Slot>,
    ) {
        let (from, to) = (*gaps.start(), *gaps.end());
        let cells = self.sides.base.cells(node);
        let is_idle = |side: usize| {
            let list = &edited[side];
            let mut gaps = gaps.clone();
            let mut elements = from..to;
            list.stretches
                .iter()
                .all(|(start, end, _)| *end <= from || *start >= to)
                && gaps.all(|gap| list.inserted(gap).is_empty())
                && elements.all(|position| {
                    let fate = self.fate_of(list, &cells[position], position);
                    !self.sides.is_changed(side, &cells[position], fate)
                })
        };
        let parts = |side: usize, alone: bool| {
            self.stretch_of(side, alone, &edited[side], cells, gaps.clone())
        };
        if let Some(idle) = [0, 1].into_iter().find(|side| is_idle(*side)) {
            let side = 1 - idle;
            let parts = parts(side, is_alone(edited, side));
            slots.extend(parts.into_iter().map(Slot::Part));
            return;
        }
        let between = &cells[from..to];
        let base = between
            .iter()
            .map(|cell| self.of_base(View::CONFLICT, cell));
        let before = between.iter().map(|cell| self.sides.base.value_of(cell));
        slots.push(Slot::Choice(Choice {
            node,
            step: AccessStep::ArrayItem(from),
            is_single: false,
            base: base.collect(),
            sides: [0, 1].map(|side| parts(side, false)),
            before: before.collect(),
            alone: [0, 1].map(|side| parts(side, true)),
        }));
    }

    /// The parts of a side between two gaps.
    fn stretch_of(
        &self,
        side: usize,
        alone: bool,
        list: &EditedList<'p>,
        cells: &[Cell],
        gaps: RangeInclusive<usize>,
    ) -> Vec<Part> {
        let to = *gaps.end();
        let mut parts = Vec::new();
        let own = |source: &Source| self.of_side(side, source, alone);
        let mut gap = *gaps.start();
        while gap <= to {
            parts.extend(list.inserted(gap).iter().map(own));
            let index = list
                .stretches
                .binary_search_by_key(&gap, |(start, _, _)| *start);
            if let Ok(index) = index
                && gap < to
            {
                let (_, end, items) = list.stretches[index];
                parts.extend(items.iter().map(own));
                gap = end;
                continue;
            }
            if gap < to {
                let fate = self.fate_of(list, &cells[gap], gap);
                parts.extend(self.of_fate(side, &cells[gap], fate, alone));
            }
            gap += 1;
        }
        parts
    }
}

/// True if the other side of a list does not count.
fn is_alone(edited: &[EditedList<'_>; 2], side: usize) -> bool {
    edited[1 - side].unsaid == Mode::Absent
}

/// The stretches of both sides, ascending; adjacent stretches are joined.
fn joined(edited: &[EditedList<'_>; 2]) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = edited
        .iter()
        .flat_map(|list| &list.stretches)
        .map(|(from, to, _)| (*from, *to))
        .collect();
    all.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(all.len());
    for (from, to) in all {
        match joined.last_mut() {
            Some((_, end)) if from <= *end => *end = (*end).max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}
