//! Builds the merged value, part by part, and collects the conflicts.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::super::patch::Patch;
use super::super::places::{Parents, parents, step_at};
use super::super::tables::{NONE, Tables};
use super::conflict::{Conflict, Resolution};
use super::plan::{Choice, Part, Plan, Planner, ROOT, Slot, Task};
use super::sides::{Mode, Sides, View};
use super::twins::Twins;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::build;
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::AccessPath;
use crate::kernel::types::check::SchemaChecker;
use crate::kernel::value::Value;

/// Chooses the parts at the place of a conflict.
pub(super) type Choose<'c> = &'c mut dyn FnMut(&Conflict) -> Result<Resolution>;

/// The outcome of weaving two patches.
pub(super) enum Woven {
    /// The merged value, its conflicts, and the number of visits.
    Value(Value, Vec<Conflict>, u64),
    /// The combined edits of both sides do not make a value, for this reason.
    Knot(String),
}

/// A step of building.
enum Step {
    Open(Task),
    Finish(Task, Plan),
}

/// The builder of the merged value.
struct Weaver<'p, 'c> {
    planner: Planner<'p>,
    choose: Choose<'c>,
    twins: &'c mut Twins,
    done: HashMap<Task, Value, RandomState>,
    open: HashSet<Task, RandomState>,
    /// By object of the base, the object and position of its first occurrence.
    met: HashMap<u32, (u32, u32), RandomState>,
    parents: Option<Parents>,
    conflicts: Vec<Conflict>,
    checker: SchemaChecker,
    visits: u64,
}

/// Applies both patches to a base. O(n) for n parts of the base, plus the patches, plus
/// the comparison of parts at places edited by both sides.
///
/// # Errors
///
/// Errors of making objects from fields, of comparing parts, and of `choose`.
pub(super) fn weave(
    base: &Tables,
    patches: [&Patch; 2],
    twins: &mut Twins,
    choose: Choose<'_>,
) -> Result<Woven> {
    let sides = Sides::new(base, patches)?;
    let mut weaver = Weaver {
        planner: Planner { sides },
        choose,
        twins,
        done: HashMap::default(),
        open: HashSet::default(),
        met: HashMap::default(),
        parents: None,
        conflicts: Vec::new(),
        checker: SchemaChecker::default(),
        visits: 0,
    };
    let Some(value) = weaver.run()? else {
        let what = "an object would contain itself";
        return Ok(Woven::Knot(what.to_owned()));
    };
    if weaver.conflicts.is_empty()
        && let Some(lost) = weaver.lost()
    {
        return Ok(Woven::Knot(lost));
    }
    Ok(Woven::Value(value, weaver.conflicts, weaver.visits))
}

impl Weaver<'_, '_> {
    /// Builds the root; None if an object would contain itself.
    fn run(&mut self) -> Result<Option<Value>> {
        let mut stack = vec![Step::Open(Task::Root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Open(task) if self.done.contains_key(&task) => {}
                Step::Open(task) => {
                    if !self.open.insert(task) {
                        return Ok(None);
                    }
                    let plan = self.planner.plan(task)?;
                    self.meet_parts(task);
                    let parts = plan.parts();
                    self.visits += 1 + parts.len() as u64;
                    let parts: Vec<Task> = parts.into_iter().filter_map(waits).collect();
                    stack.push(Step::Finish(task, plan));
                    stack.extend(parts.into_iter().rev().map(Step::Open));
                }
                Step::Finish(task, plan) => {
                    let value = self.finish(plan)?;
                    self.note_image(task, &value);
                    self.done.insert(task, value);
                }
            }
        }
        Ok(self.done.remove(&Task::Root))
    }

    fn note_image(&mut self, task: Task, made: &Value) {
        let Task::Base(_, node) = task else { return };
        let node = self.planner.sides.base.node(node);
        if node.is_var() {
            self.twins.note_image(node.object.identity(), made);
        }
    }

    /// Notes where the parts of an object of the base are.
    fn meet_parts(&mut self, task: Task) {
        let Task::Base(_, node) = task else { return };
        let cells = self.planner.sides.base.cells(node);
        for (position, cell) in cells.iter().enumerate() {
            if let Some(part) = cell.node_number() {
                self.met.entry(part).or_insert((node, position as u32));
            }
        }
    }

    fn value(&self, part: &Part) -> Result<Value> {
        match part {
            Part::Ready(value) => Ok(value.clone()),
            Part::Right(value) => self.twins.applied(value),
            Part::Wait(task) => self.done.get(task).cloned().ok_or_else(|| {
                Error::value_error(format!("merge: a part of {task:?} was not built"))
            }),
        }
    }

    fn values(&self, parts: &[Part]) -> Result<Vec<Value>> {
        parts.iter().map(|part| self.value(part)).collect()
    }

    fn finish(&mut self, plan: Plan) -> Result<Value> {
        match plan {
            Plan::Root(slot) => self.single(slot),
            Plan::Fields(object, fields) => self.with_fields(&object, fields),
            Plan::Copy(object, fields) => match self.value(&object)?.as_object() {
                Some(object) => self.with_fields(object, fields),
                None => Err(Error::value_error("merge: expected an object".to_owned())),
            },
            Plan::Object(info, fields) => {
                let mut builder = ObjectBuilder::new(info)?;
                for (field, slot) in fields {
                    let value = self.single(slot)?;
                    builder.set(field as usize, value, &mut self.checker)?;
                }
                builder.finish(None, &mut self.checker).map(Value::from)
            }
            Plan::Items(container, slots) => {
                let mut items = Vec::with_capacity(slots.len());
                for slot in slots {
                    items.extend(self.chosen(slot)?);
                }
                container.build(items.into_iter())
            }
            Plan::Entries(container, entries) => {
                let mut parts = Vec::with_capacity(2 * entries.len());
                for (key, slot) in entries {
                    if let Some(value) = self.chosen(slot)?.pop() {
                        parts.extend([self.value(&key)?, value]);
                    }
                }
                container.build(parts.into_iter())
            }
        }
    }

    fn with_fields(&mut self, object: &Ref<Obj>, fields: Vec<(u32, Slot)>) -> Result<Value> {
        let mut changes = Vec::with_capacity(fields.len());
        for (field, slot) in fields {
            changes.push((field as usize, self.single(slot)?));
        }
        build::with_fields(object, changes).map(Value::from)
    }

    fn single(&mut self, slot: Slot) -> Result<Value> {
        let mut parts = self.chosen(slot)?;
        match (parts.pop(), parts.is_empty()) {
            (Some(part), true) => Ok(part),
            _ => Err(Error::value_error("merge: expected one part".to_owned())),
        }
    }

    /// The parts at a place.
    fn chosen(&mut self, slot: Slot) -> Result<Vec<Value>> {
        let choice = match slot {
            Slot::Part(part) => return Ok(vec![self.value(&part)?]),
            Slot::Choice(choice) => choice,
        };
        let [left, right] = &choice.sides;
        let sides = [self.values(left)?, self.values(right)?];
        if self.twins.are_equal(&sides)? {
            let [left, _] = sides;
            return Ok(left);
        }
        // A patch may rebuild parts that are equal to the base's parts.
        for side in 0..2 {
            let alone = self.values(&choice.alone[side])?;
            if !choice.before.is_empty() && self.twins.are_same(&choice.before, &alone)? {
                let [left, right] = sides;
                return Ok(if side == 0 { right } else { left });
            }
        }
        let base = self.values(&choice.base)?;
        let path = self.path(&choice);
        let conflict = Conflict::new(path, base, sides, choice.is_single);
        let resolution = (self.choose)(&conflict)?;
        let parts = conflict.resolved(resolution)?;
        self.conflicts.push(conflict);
        Ok(parts)
    }

    /// The place of a choice in the base. O(depth), and once O(n) below a moved object.
    fn path(&mut self, choice: &Choice) -> AccessPath {
        let base = self.planner.sides.base;
        if choice.node == ROOT {
            return AccessPath::root();
        }
        let mut steps = vec![choice.step.clone()];
        let mut node = choice.node;
        while base.root.node_number() != Some(node) {
            let (around, position) = match self.met.get(&node) {
                Some(met) => *met,
                None => self.parents.get_or_insert_with(|| parents(base))[node as usize],
            };
            if around == NONE {
                break;
            }
            steps.push(step_at(base, around, position));
            node = around;
        }
        steps.reverse();
        AccessPath::from_steps(steps)
    }

    /// The description of an edit that was not used, although the merge has no
    /// conflict.
    fn lost(&self) -> Option<String> {
        let sides = &self.planner.sides;
        for side in 0..2 {
            for (node, _) in &*sides.patch(side).edits {
                let others = [Mode::Verbatim, Mode::Own, Mode::Full];
                let mut views = others
                    .map(|other| View::of(side, Mode::Full, other))
                    .into_iter();
                if !views.any(|view| self.done.contains_key(&Task::Base(view, *node))) {
                    let object = Value::from(&sides.base.node(*node).object);
                    return Some(format!(
                        "the edit of {object:?} by the {} side has no place in the result",
                        ["left", "right"][side]
                    ));
                }
            }
        }
        None
    }
}

fn waits(part: &Part) -> Option<Task> {
    match part {
        Part::Ready(_) | Part::Right(_) => None,
        Part::Wait(task) => Some(*task),
    }
}
