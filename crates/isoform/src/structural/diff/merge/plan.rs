//! Plans of merged objects: the parts of an object, and the places where both sides
//! want different parts.

use super::super::patch::{Edit, New, Source, misfit};
use super::super::tables::{Cell, IS_HOOKED};
use super::sides::{Fate, Mode, Sides, View};
use crate::kernel::container::ContainerType;
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::path::AccessStep;
use crate::kernel::value::Value;

/// An object to be built once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Task {
    Root,
    /// The new version of an object of the base.
    Base(View, u32),
    /// An object made by the patch of a side; true if the other side does not count.
    New(usize, u32, bool),
}

/// A part of a merged object.
#[derive(Clone)]
pub(super) enum Part {
    Ready(Value),
    /// A value of the right side, which may also use variables introduced by the left
    /// side.
    Right(Value),
    Wait(Task),
}

/// The parts at one place of a merged object.
pub(super) enum Slot {
    Part(Part),
    Choice(Choice),
}

/// A place where both sides have other parts than the base.
pub(super) struct Choice {
    /// The object of the base, with the place inside.
    pub(super) node: u32,
    pub(super) step: AccessStep,
    /// True for a place that holds exactly one part.
    pub(super) is_single: bool,
    pub(super) base: Vec<Part>,
    pub(super) sides: [Vec<Part>; 2],
    /// The same parts without the edits of the other side; empty without base parts.
    pub(super) before: Vec<Value>,
    pub(super) alone: [Vec<Part>; 2],
}

/// A plan for building an object.
pub(super) enum Plan {
    Root(Slot),
    Fields(Ref<Obj>, Vec<(u32, Slot)>),
    /// A copy of an object, itself a part, with other fields.
    Copy(Part, Vec<(u32, Slot)>),
    Object(&'static TypeInfo, Vec<(u32, Slot)>),
    Items(&'static ContainerType, Vec<Slot>),
    Entries(&'static ContainerType, Vec<(Part, Slot)>),
}

impl Slot {
    /// The parts that have to be built for a slot.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        let (part, choice) = match self {
            Slot::Part(part) => (Some(part), None),
            Slot::Choice(choice) => (None, Some(choice)),
        };
        let of_choice = choice.into_iter().flat_map(|choice| {
            let sides = choice.sides.iter().flatten();
            let alone = choice.alone.iter().flatten();
            choice.base.iter().chain(sides).chain(alone)
        });
        part.into_iter().chain(of_choice)
    }
}

impl Plan {
    /// The parts that have to be built first.
    pub(super) fn parts(&self) -> Vec<&Part> {
        match self {
            Plan::Root(slot) => slot.parts().collect(),
            Plan::Fields(_, fields) | Plan::Copy(_, fields) | Plan::Object(_, fields) => {
                fields.iter().flat_map(|(_, slot)| slot.parts()).collect()
            }
            Plan::Items(_, slots) => slots.iter().flat_map(Slot::parts).collect(),
            Plan::Entries(_, entries) => {
                let parts = |(key, slot)| std::iter::once(key).chain(Slot::parts(slot));
                entries
                    .iter()
                    .map(|(key, slot)| (key, slot))
                    .flat_map(parts)
                    .collect()
            }
        }
    }
}

/// The number of the missing object around the root.
pub(super) const ROOT: u32 = u32::MAX;

/// Makes plans.
pub(super) struct Planner<'p> {
    pub(super) sides: Sides<'p>,
}

impl<'p> Planner<'p> {
    /// The plan of a task. O(n) for n parts of the object and its edits.
    ///
    /// # Errors
    ///
    /// `ValueError` for an edit of another kind of object.
    pub(super) fn plan(&self, task: Task) -> Result<Plan> {
        match task {
            Task::Root => Ok(Plan::Root(self.root())),
            Task::Base(view, node) => self.object(view, node),
            Task::New(side, number, alone) => Ok(self.new_object(side, number, alone)),
        }
    }

    fn root(&self) -> Slot {
        let cell = &self.sides.base.root;
        let fates = [0, 1].map(|side| match &self.sides.patch(side).root {
            Some(source) => self.sides.fate(cell, source),
            None => Fate::Stays(Mode::Full),
        });
        // The step is not used: the root has no object around it.
        let slot = self.resolve(ROOT, cell, fates, || AccessStep::ArrayItem(0));
        // A root is never gone.
        slot.unwrap_or_else(|| Slot::Part(self.of_base(View::CONFLICT, cell)))
    }

    fn object(&self, view: View, node: u32) -> Result<Plan> {
        let base = self.sides.base;
        let base_node = base.node(node);
        let info = base_node.info();
        let edits = [0, 1].map(|side| match view.0[side] {
            Mode::Full => self.sides.edit(side, node),
            Mode::Own | Mode::Shared | Mode::Verbatim | Mode::Absent => None,
        });
        if let Some(container) = info.container() {
            if container.is_mapping() {
                let edits = each(edits, |edit| match edit {
                    Edit::Keyed(keyed) => Ok(keyed),
                    _ => Err(misfit(info)),
                })?;
                return Ok(Plan::Entries(container, self.entries(node, edits, view)));
            }
            let edits = each(edits, |edit| match edit {
                Edit::Items(splices) => Ok(&**splices),
                _ => Err(misfit(info)),
            })?
            .map(Option::unwrap_or_default);
            return Ok(Plan::Items(container, self.items(node, edits, view)));
        }
        let edits = each(edits, |edit| match edit {
            Edit::Fields(_, fields) => Ok(&**fields),
            _ => Err(misfit(info)),
        })?
        .map(Option::unwrap_or_default);
        let mut fields = Vec::new();
        for (cell, slot) in base.cells(node).iter().zip(&info.visited) {
            let fates = [0, 1].map(|side| {
                let said = edits[side].iter().find(|(field, _)| *field == slot.field);
                said.map_or(Fate::Stays(view.0[side]), |(_, source)| {
                    self.sides.fate(cell, source)
                })
            });
            let step = || AccessStep::Attr(info.fields()[slot.field as usize].name().to_owned());
            match self.resolve(node, cell, fates, step) {
                // The copy already has the part.
                Some(Slot::Part(Part::Ready(_)))
                    if fates.iter().all(|fate| matches!(fate, Fate::Stays(_))) => {}
                Some(resolved) => fields.push((slot.field, resolved)),
                None => {}
            }
        }
        Ok(Plan::Fields(base_node.object.clone(), fields))
    }

    fn new_object(&self, side: usize, number: u32, alone: bool) -> Plan {
        let part = |source: &Source| Slot::Part(self.of_side(side, source, alone));
        let fields = |fields: &[(u32, Source)]| -> Vec<(u32, Slot)> {
            fields
                .iter()
                .map(|(field, source)| (*field, part(source)))
                .collect()
        };
        match &self.sides.patch(side).news[number as usize] {
            New::Copy(object, sources) => {
                let object = self.of_side(side, &Source::Value(object.clone()), alone);
                Plan::Copy(object, fields(sources))
            }
            New::Object(info, sources) => Plan::Object(info, fields(sources)),
            New::Items(container, items) => {
                Plan::Items(container, items.iter().map(part).collect())
            }
            New::Entries(container, entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (self.of_side(side, key, alone), part(value)));
                Plan::Entries(container, entries.collect())
            }
        }
    }

    /// The new version of a base part in a view.
    pub(super) fn of_base(&self, view: View, cell: &Cell) -> Part {
        match cell.node_number() {
            Some(node) => self.of_node(view, node),
            None => Part::Ready(cell.value.clone()),
        }
    }

    fn of_node(&self, view: View, node: u32) -> Part {
        let view = self.sides.view_of(view, node);
        if view.is_base() {
            Part::Ready(Value::from(&self.sides.base.node(node).object))
        } else {
            Part::Wait(Task::Base(view, node))
        }
    }

    /// The part of a source of a side; `alone` if the other side does not count.
    pub(super) fn of_side(&self, side: usize, source: &Source, alone: bool) -> Part {
        let of_node = |node: u32, mode: Mode| {
            let other = if alone {
                Mode::Absent
            } else {
                self.sides.following(side, node)
            };
            self.of_node(View::of(side, mode, other), node)
        };
        match source {
            Source::Value(value) if side == 1 && !alone => Part::Right(value.clone()),
            Source::Value(value) => Part::Ready(value.clone()),
            Source::Left(node) => of_node(*node, Mode::Verbatim),
            Source::Image(node) => of_node(*node, Mode::Full),
            Source::New(number) => Part::Wait(Task::New(side, *number, alone)),
        }
    }

    /// The part of a side at a place; None if gone. `alone` if the other side does not
    /// count.
    pub(super) fn of_fate(
        &self,
        side: usize,
        cell: &Cell,
        fate: Fate<'_>,
        alone: bool,
    ) -> Option<Part> {
        let other = if alone { Mode::Absent } else { Mode::Own };
        match fate {
            Fate::Stays(mode) => Some(self.of_base(View::of(side, mode, other), cell)),
            Fate::Is(source) => Some(self.of_side(side, source, alone)),
            Fate::Gone => None,
        }
    }

    /// The slot for a part of the base with a fate on each side; None if the part is
    /// gone.
    pub(super) fn resolve(
        &self,
        node: u32,
        cell: &Cell,
        fates: [Fate<'p>; 2],
        step: impl Fn() -> AccessStep,
    ) -> Option<Slot> {
        let changed = [0, 1].map(|side| self.sides.is_changed(side, cell, fates[side]));
        let modes = fates.map(|fate| match fate {
            Fate::Stays(mode) => mode,
            Fate::Is(_) | Fate::Gone => Mode::Own,
        });
        let merged = || Some(Slot::Part(self.of_base(View(modes), cell)));
        let parts = |side: usize, alone: bool| -> Vec<Part> {
            let part = self.of_fate(side, cell, fates[side], alone);
            part.into_iter().collect()
        };
        let is_whole =
            (cell.node_number()).is_some_and(|part| self.sides.base.node(part).has(IS_HOOKED));
        match (changed, fates) {
            ([false, false], _) => merged(),
            ([true, false], [Fate::Stays(_), _]) | ([false, true], [_, Fate::Stays(_)]) => merged(),
            ([true, false], [fate, other]) => self
                .of_fate(0, cell, fate, is_absent(other))
                .map(Slot::Part),
            ([false, true], [other, fate]) => self
                .of_fate(1, cell, fate, is_absent(other))
                .map(Slot::Part),
            (_, [Fate::Stays(_), Fate::Stays(_)]) if !is_whole => merged(),
            (_, [Fate::Gone, Fate::Gone]) => None,
            _ => Some(Slot::Choice(Choice {
                node,
                step: step(),
                is_single: !fates.iter().any(|fate| matches!(fate, Fate::Gone)),
                base: vec![self.of_base(View::CONFLICT, cell)],
                sides: [0, 1].map(|side| parts(side, false)),
                before: vec![self.sides.base.value_of(cell)],
                alone: [0, 1].map(|side| parts(side, true)),
            })),
        }
    }
}

fn is_absent(fate: Fate<'_>) -> bool {
    matches!(fate, Fate::Stays(Mode::Absent))
}

/// The edits of both sides, converted to the edits of one kind of object.
fn each<'p, T>(
    edits: [Option<&'p Edit>; 2],
    as_kind: impl Fn(&'p Edit) -> Result<T>,
) -> Result<[Option<T>; 2]> {
    let [left, right] = edits;
    Ok([
        left.map(&as_kind).transpose()?,
        right.map(&as_kind).transpose()?,
    ])
}
