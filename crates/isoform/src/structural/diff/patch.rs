//! Patches, which build the right value out of the left one.
//!
//! A patch edits objects of the left value in place. Objects around an edited object
//! are rebuilt without being mentioned. An edit deep inside of a value, or of a node
//! with many uses, is therefore as small as the edit itself.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::options::Ignored;
use super::tables::{Cell, Tables, can_change};
use crate::kernel::container::{ContainerType, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::build;
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::types::check::SchemaChecker;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// The origin of a part. Objects of the left value are numbered from zero, in the order
/// in which a visit finishes them.
#[derive(Clone, PartialEq)]
pub(crate) enum Source {
    /// An unchanged object of the left value.
    Left(u32),
    /// The new version of an object of the left value.
    Image(u32),
    /// An object made by the patch, by number.
    New(u32),
    /// A separate value.
    Value(Value),
}

/// The fate of an object of the left value.
#[derive(Clone)]
pub(crate) enum Edit {
    /// New values for fields of an object of a type, by position in the declaration.
    Fields(&'static TypeInfo, Vec<(u32, Source)>),
    /// Fields by name or entries of a map, since a text does not distinguish them.
    Keyed(Keyed),
    /// New contents for stretches of a list, ascending.
    Items(Vec<Splice>),
}

/// Fields, or changes of a map.
#[derive(Clone, Default)]
pub(crate) struct Keyed {
    pub(crate) named: Vec<(Str, Source)>,
    /// The removed entries: positions of their keys among the parts of the map,
    /// ascending.
    pub(crate) removed: Vec<u32>,
    pub(crate) set: Vec<(Source, Source)>,
}

/// A stretch of a list, and its replacement.
#[derive(Clone)]
pub(crate) struct Splice {
    pub(crate) from: u32,
    pub(crate) removed: u32,
    pub(crate) items: Vec<Source>,
}

/// An object made by a patch.
#[derive(Clone)]
pub(crate) enum New {
    /// A copy of an object of the right value, with fields replaced by position.
    Copy(Value, Vec<(u32, Source)>),
    /// An object with fields by position; all other fields have their defaults.
    Object(&'static TypeInfo, Vec<(u32, Source)>),
    Items(&'static ContainerType, Vec<Source>),
    Entries(&'static ContainerType, Vec<(Source, Source)>),
}

/// Instructions for building one value out of another. Objects that are the same on
/// both sides are taken over, not copied, and the result shares them with the original
/// value.
#[derive(Clone, Default)]
pub struct Patch {
    /// By left object, ascending.
    pub(crate) edits: Arc<[(u32, Edit)]>,
    pub(crate) news: Arc<[New]>,
    /// None for the new version of the left root.
    pub(crate) root: Option<Source>,
    /// The number of distinct objects in the value to be patched; not in files.
    pub(crate) objects: Option<u32>,
    /// The check of both values, for a patch that was read.
    pub(crate) check: Option<Str>,
}

impl Patch {
    /// The patch that builds a value from scratch.
    pub(super) fn whole(value: &Value) -> Self {
        Patch {
            root: Some(Source::Value(value.clone())),
            ..Patch::default()
        }
    }

    /// Builds the right value out of the left one. O(n) for n objects of the value.
    ///
    /// # Errors
    ///
    /// `ValueError` if the value is not the value for which the patch was made, or
    /// shares its parts in another way; errors of making objects from fields.
    pub fn apply(&self, value: impl Into<Value>) -> Result<Value> {
        self.applied(&value.into())
    }

    fn applied(&self, value: &Value) -> Result<Value> {
        let tables = Tables::of(value, CompareOptions::default(), &Ignored::default())?;
        let Some(check) = &self.check else {
            return self.build(&tables);
        };
        // An error from applying the patch to a wrong value would not explain the
        // mistake.
        let expected = check
            .split_at_checked(CHECK)
            .filter(|(_, both)| both.len() == CHECK);
        if let Some((expected, _)) = expected {
            let start = start_of(value)?;
            if start != expected {
                return Err(Error::value_error(format!(
                    "the patch is for another value: expected one whose digest begins with \
                     {expected}, got {} with {start}",
                    value.type_name()
                )));
            }
        }
        let built = self
            .build(&tables)
            .map_err(|error| error.in_context("the patch is for another value"))?;
        let actual = check_of(value, &built)?;
        if actual != *check {
            return Err(Error::value_error(format!(
                "the patch is for another value, or this one is equal and shares its parts in \
                 another way: expected the check {check}, got {actual}"
            )));
        }
        Ok(built)
    }

    /// Builds the value from the tables of the left side. O(n) for n parts of the left side,
    /// plus the size of the patch.
    ///
    /// # Errors
    ///
    /// `ValueError` if a number is out of range, and errors of making objects from
    /// fields.
    pub(super) fn build(&self, left: &Tables) -> Result<Value> {
        if let Some(objects) = self.objects
            && left.nodes.len() != objects as usize
        {
            return Err(Error::value_error(format!(
                "the patch is for a value of {objects} objects, got one of {}",
                left.nodes.len()
            )));
        }
        self.build_with(left, self.touched(left)?, false)
    }

    /// The value from which tables were read, with the contents of that time: lists,
    /// dicts and mutable objects are new objects. Variables stay the same objects, with
    /// their current fields. O(n) for n objects.
    ///
    /// # Errors
    ///
    /// Errors of making objects from fields.
    pub(super) fn value_when_read(tables: &Tables) -> Result<Value> {
        let mut touched = vec![false; tables.nodes.len()];
        for number in 0..touched.len() {
            let node = tables.node(number as u32);
            let is_copied = can_change(node.info()) || is_around(tables, number as u32, &touched);
            touched[number] = is_copied && !node.is_var() && !node.is_singleton();
        }
        Patch::default().build_with(tables, touched, true)
    }

    /// Builds the value, with other objects in place of the touched nodes; with
    /// `restores`, the new objects have the fields that the nodes had when the tables
    /// were read.
    fn build_with(&self, left: &Tables, touched: Vec<bool>, restores: bool) -> Result<Value> {
        let mut builder = Builder {
            left,
            patch: self,
            touched,
            restores,
            images: HashMap::default(),
            news: vec![None; self.news.len()],
            checker: SchemaChecker::default(),
        };
        match (&self.root, left.root.node_number()) {
            (Some(root), _) => builder.build(root),
            (None, Some(root)) => builder.build(&Source::Image(root)),
            (None, None) => Ok(left.root.value.clone()),
        }
    }

    /// The edit of a left node.
    pub(super) fn edit(&self, number: u32) -> Option<&Edit> {
        let at = self
            .edits
            .binary_search_by_key(&number, |(number, _)| *number);
        at.ok().map(|at| &self.edits[at].1)
    }

    /// Marks the left nodes that change: edited nodes, and the nodes around them.
    pub(super) fn touched(&self, left: &Tables) -> Result<Vec<bool>> {
        let mut touched = vec![false; left.nodes.len()];
        if self.edits.is_empty() {
            return Ok(touched);
        }
        for (number, _) in &*self.edits {
            let edited = touched.get_mut(*number as usize);
            *edited.ok_or_else(|| out_of_range("object", *number))? = true;
        }
        for number in 0..left.nodes.len() {
            touched[number] = touched[number] || is_around(left, number as u32, &touched);
        }
        Ok(touched)
    }
}

/// True if a node changes because of its parts. An object that is equal to itself alone
/// stays.
pub(super) fn is_around(tables: &Tables, number: u32, touched: &[bool]) -> bool {
    let mut parts = (tables.cells(number).iter()).filter_map(Cell::node_number);
    parts.any(|part| touched[part as usize]) && !tables.node(number).is_singleton()
}

/// The number of digits in a part of a check.
const CHECK: usize = 8;

/// How a check digests values: with free variables up to renaming.
const CHECKED: CompareOptions = CompareOptions {
    map_free_vars: true,
    skip_tensor_content: false,
};

/// The start of the digest of the left value, and the start of the digest of both
/// digests. The values are digested separately, since a definition in a value may
/// outlive the value.
///
/// # Errors
///
/// As [`structural_digest`](crate::structural_digest).
pub(crate) fn check_of(left: &Value, right: &Value) -> Result<Str> {
    let [left, right] = [CHECKED.digest(left)?, CHECKED.digest(right)?].map(|one| one.to_string());
    let both = start_of(&format!("{left} {right}").into())?;
    Ok(format!("{}{both}", &left[..CHECK]).into())
}

/// The start of the digest of a value.
fn start_of(value: &Value) -> Result<String> {
    let mut digits = CHECKED.digest(value)?.to_string();
    digits.truncate(CHECK);
    Ok(digits)
}

/// An object to be built once.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Task {
    Image(u32),
    New(u32),
}

/// A plan for building an object from known parts.
enum Plan<'p> {
    Fields(Ref<Obj>, Vec<(u32, Source)>),
    Parts(&'static ContainerType, Vec<Source>),
    Object(&'static TypeInfo, &'p [(u32, Source)]),
}

impl Plan<'_> {
    fn sources(&self) -> Vec<&Source> {
        match self {
            Plan::Fields(_, fields) => fields.iter().map(|(_, source)| source).collect(),
            Plan::Object(_, fields) => fields.iter().map(|(_, source)| source).collect(),
            Plan::Parts(_, parts) => parts.iter().collect(),
        }
    }
}

struct Builder<'t> {
    left: &'t Tables,
    patch: &'t Patch,
    touched: Vec<bool>,
    restores: bool,
    images: HashMap<u32, Value, RandomState>,
    news: Vec<Option<Value>>,
    checker: SchemaChecker,
}

impl<'t> Builder<'t> {
    /// The value of a source, built part by part.
    fn build(&mut self, root: &Source) -> Result<Value> {
        enum Step<'p> {
            Open(Task),
            Finish(Task, Plan<'p>),
        }
        let mut open: HashSet<Task, RandomState> = HashSet::default();
        let mut stack: Vec<Step<'t>> = self.task_of(root)?.map(Step::Open).into_iter().collect();
        while let Some(step) = stack.pop() {
            match step {
                Step::Open(task) if self.is_done(task) => {}
                Step::Open(task) => {
                    if !open.insert(task) {
                        return Err(Error::value_error(
                            "patch: an object would contain itself".to_owned(),
                        ));
                    }
                    let plan = self.plan(task)?;
                    let mut parts = Vec::new();
                    for source in plan.sources() {
                        parts.extend(self.task_of(source)?);
                    }
                    stack.push(Step::Finish(task, plan));
                    stack.extend(parts.into_iter().map(Step::Open));
                }
                Step::Finish(task, plan) => {
                    let value = self.finish(plan)?;
                    match task {
                        Task::Image(number) => {
                            self.images.insert(number, value);
                        }
                        Task::New(number) => self.news[number as usize] = Some(value),
                    }
                }
            }
        }
        self.value(root)
    }

    /// The task to do for a source; None for a source without a task.
    fn task_of(&self, source: &Source) -> Result<Option<Task>> {
        Ok(match *source {
            Source::Image(number) => match self.touched.get(number as usize) {
                Some(true) => Some(Task::Image(number)),
                Some(false) => None,
                None => return Err(out_of_range("object", number)),
            },
            Source::New(number) => Some(Task::New(number)),
            Source::Left(_) | Source::Value(_) => None,
        })
    }

    fn is_done(&self, task: Task) -> bool {
        match task {
            Task::Image(number) => self.images.contains_key(&number),
            Task::New(number) => matches!(self.news.get(number as usize), Some(Some(_))),
        }
    }

    /// The value of a source after its task.
    fn value(&self, source: &Source) -> Result<Value> {
        let left = |number: u32| {
            let node = self
                .left
                .nodes
                .get(number as usize)
                .ok_or_else(|| out_of_range("object", number))?;
            Ok(Value::from(&node.object))
        };
        match source {
            Source::Value(value) => Ok(value.clone()),
            Source::Left(number) => left(*number),
            Source::Image(number) => match self.images.get(number) {
                Some(image) => Ok(image.clone()),
                None => left(*number),
            },
            Source::New(number) => {
                let value = self.news.get(*number as usize).and_then(Clone::clone);
                value.ok_or_else(|| out_of_range("new object", *number))
            }
        }
    }

    fn plan(&self, task: Task) -> Result<Plan<'t>> {
        match task {
            Task::Image(number) => self.image(number, self.patch.edit(number)),
            Task::New(number) => {
                let new = self.patch.news.get(number as usize);
                Ok(
                    match new.ok_or_else(|| out_of_range("new object", number))? {
                        New::Copy(object, fields) => match object.as_object() {
                            Some(object) => Plan::Fields(object.clone(), fields.clone()),
                            None => return Err(out_of_range("object with fields", number)),
                        },
                        New::Object(info, fields) => Plan::Object(info, fields),
                        New::Items(container, items) => Plan::Parts(container, items.clone()),
                        New::Entries(container, entries) => {
                            let parts = entries.iter().flat_map(|(key, value)| [key, value]);
                            Plan::Parts(container, parts.cloned().collect())
                        }
                    },
                )
            }
        }
    }

    /// The plan for the new version of a left object.
    fn image(&self, number: u32, edit: Option<&'t Edit>) -> Result<Plan<'t>> {
        let node = self.left.node(number);
        let info = node.info();
        let cells = self.left.cells(number);
        if let Some(container) = info.container() {
            let parts = match edit {
                None => cells.iter().map(|cell| self.kept(cell)).collect(),
                Some(Edit::Items(splices)) if !container.is_mapping() => {
                    self.spliced(cells, splices)?
                }
                Some(Edit::Keyed(keyed)) if container.is_mapping() => self.entries(cells, keyed)?,
                Some(_) => return Err(misfit(info)),
            };
            return Ok(Plan::Parts(container, parts));
        }
        let mut fields: Vec<(u32, Source)> = match edit {
            None => Vec::new(),
            Some(Edit::Fields(_, fields)) => fields.clone(),
            Some(Edit::Keyed(keyed)) if keyed.removed.is_empty() && keyed.set.is_empty() => {
                named_fields(info, &keyed.named)?
            }
            Some(_) => return Err(misfit(info)),
        };
        let edited_count = fields.len();
        for (cell, slot) in cells.iter().zip(&info.visited) {
            let is_touched = (cell.node_number()).is_some_and(|part| self.touched[part as usize]);
            if (is_touched || self.restores && !cell.is_ignored())
                && !fields[..edited_count]
                    .iter()
                    .any(|(field, _)| *field == slot.field)
            {
                fields.push((slot.field, self.kept(cell)));
            }
        }
        Ok(Plan::Fields(node.object.clone(), fields))
    }

    /// The source of a part that no edit mentions.
    fn kept(&self, cell: &Cell) -> Source {
        match cell.node_number() {
            Some(part) => Source::Image(part),
            None => Source::Value(cell.value.clone()),
        }
    }

    fn spliced(&self, cells: &[Cell], splices: &[Splice]) -> Result<Vec<Source>> {
        let mut parts = Vec::with_capacity(cells.len());
        let mut next = 0;
        for splice in splices {
            let from = splice.from as usize;
            let to = from + splice.removed as usize;
            if from < next || to > cells.len() {
                return Err(out_of_range("item", splice.from));
            }
            parts.extend(cells[next..from].iter().map(|cell| self.kept(cell)));
            parts.extend(splice.items.iter().cloned());
            next = to;
        }
        parts.extend(cells[next..].iter().map(|cell| self.kept(cell)));
        Ok(parts)
    }

    /// The entries of a map: entries with a new value keep their places.
    fn entries(&self, cells: &[Cell], keyed: &Keyed) -> Result<Vec<Source>> {
        let mut by_node: HashMap<u32, usize, RandomState> = HashMap::default();
        let mut by_value: HashMap<Value, usize, RandomState> = HashMap::default();
        for (position, cell) in cells.iter().enumerate().step_by(2) {
            match cell.node_number() {
                Some(node) => {
                    by_node.insert(node, position);
                }
                None => {
                    by_value.insert(cell.value.clone(), position);
                }
            }
        }
        if let Some(&position) = keyed
            .removed
            .iter()
            .find(|&&position| position as usize >= cells.len())
        {
            return Err(out_of_range("key", position));
        }
        let mut replaced: HashMap<usize, &Source, RandomState> = HashMap::default();
        let mut added = Vec::new();
        let named = (keyed.named.iter())
            .map(|(name, source)| (Source::Value(Value::from(name.clone())), source));
        let set = keyed.set.iter().map(|(key, source)| (key.clone(), source));
        for (key, source) in named.chain(set) {
            let position = match &key {
                Source::Left(node) | Source::Image(node) => by_node.get(node),
                Source::Value(value) => by_value.get(value),
                Source::New(_) => None,
            };
            match position {
                Some(&position) => {
                    replaced.insert(position, source);
                }
                None => added.extend([key, source.clone()]),
            }
        }
        let mut parts = Vec::with_capacity(cells.len() + added.len());
        for position in (0..cells.len()).step_by(2) {
            if keyed.removed.binary_search(&(position as u32)).is_ok() {
                continue;
            }
            parts.push(self.kept(&cells[position]));
            let changed = replaced.get(&position).copied().cloned();
            parts.push(changed.unwrap_or_else(|| self.kept(&cells[position + 1])));
        }
        parts.extend(added);
        Ok(parts)
    }

    fn finish(&mut self, plan: Plan<'_>) -> Result<Value> {
        match plan {
            Plan::Parts(container, parts) => {
                let parts: Result<Vec<Value>> =
                    parts.iter().map(|source| self.value(source)).collect();
                container.build(parts?.into_iter())
            }
            Plan::Fields(object, fields) => {
                let mut changes = Vec::with_capacity(fields.len());
                for (field, source) in &fields {
                    changes.push((*field as usize, self.value(source)?));
                }
                build::with_fields(&object, changes).map(Value::from)
            }
            Plan::Object(info, fields) => {
                let mut builder = ObjectBuilder::new(info)?;
                for (field, source) in fields {
                    let value = self.value(source)?;
                    builder.set(*field as usize, value, &mut self.checker)?;
                }
                builder.finish(None, &mut self.checker).map(Value::from)
            }
        }
    }
}

/// Fields by position.
///
/// # Errors
///
/// `ValueError` for a field that the type does not have.
pub(crate) fn named_fields(info: &TypeInfo, named: &[(Str, Source)]) -> Result<Vec<(u32, Source)>> {
    let mut fields = Vec::with_capacity(named.len());
    for (name, source) in named {
        let field = info.field_index_in_file(name).ok_or_else(|| {
            Error::value_error(format!("patch: {} has no field '{name}'", info.key()))
        })?;
        fields.push((field as u32, source.clone()));
    }
    Ok(fields)
}

#[cold]
pub(super) fn misfit(info: &TypeInfo) -> Error {
    Error::value_error(format!(
        "patch: the edit is for another kind of object than {}",
        info.key()
    ))
}

#[cold]
fn out_of_range(what: &str, number: u32) -> Error {
    Error::value_error(format!("patch: there is no {what} of the number {number}"))
}
