//! How to build the right value out of the left one.

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::ignored::Ignored;
use super::sequence;
use super::tables::{Cell, IS_HOOKED, IS_IGNORED, NONE, Tables};
use super::tokens::{Tokens, of_plain, step};
use super::walk::Walk;
use crate::kernel::container::{ContainerType, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::build;
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::types::check::SchemaChecker;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// Where a part comes from.
#[derive(Clone)]
pub(crate) enum Source {
    /// An object of the left value, by number.
    Left(u32),
    /// An object that the patch makes, by number.
    Entry(u32),
    /// A value of its own.
    Value(Value),
}

/// The origin of an object that is made.
#[derive(Clone)]
pub(crate) enum Base {
    /// A copy of an object of the left value, of a type.
    Left(u32, &'static TypeInfo),
    /// A copy of an object of the right value.
    Object(Value),
    /// Nothing: all fields are given.
    Type(&'static TypeInfo),
}

/// A stretch of a list.
#[derive(Clone)]
pub(crate) enum Run {
    /// The items of the base at these positions, the last one excluded.
    Keep(u32, u32),
    Item(Source),
}

/// One object that a patch makes.
#[derive(Clone)]
pub(crate) enum Entry {
    /// An object with some fields replaced, by position in the declaration.
    Object(Base, Vec<(u32, Source)>),
    /// An object of the left value with some fields replaced, by name.
    Edited(u32, Vec<(Str, Source)>),
    /// An array or list, of the type of the base if there is one; that is a left node.
    Items(&'static ContainerType, Option<u32>, Vec<Run>),
    /// A map or dict: a left node as base, the positions of its keys that go, ascending,
    /// and the entries that are set.
    Entries(
        &'static ContainerType,
        Option<u32>,
        Vec<u32>,
        Vec<(Source, Source)>,
    ),
}

/// How to build one value out of another. Objects that are the same on both sides are taken
/// over, not copied, so the result shares them with the value that the patch is applied to.
#[derive(Clone)]
pub struct Patch {
    /// Each entry is made of earlier ones.
    pub(crate) entries: Arc<[Entry]>,
    /// None if nothing changes.
    pub(crate) root: Option<Source>,
    /// The number of distinct objects of the value that it applies to.
    pub(crate) objects: u32,
    /// The starts of the digests of both values, of a patch that was read.
    pub(crate) digests: Option<[Str; 2]>,
}

impl Patch {
    /// The patch that changes nothing.
    pub(super) fn keep_all() -> Self {
        Patch {
            entries: Arc::default(),
            root: None,
            objects: 0,
            digests: None,
        }
    }

    /// The patch that builds a value without another one.
    pub(super) fn whole(value: &Value, objects: usize) -> Self {
        Patch {
            entries: Arc::default(),
            root: Some(Source::Value(value.clone())),
            objects: objects as u32,
            digests: None,
        }
    }

    /// Builds the right value out of the left one. O(n) for n objects of the value, to number
    /// them.
    ///
    /// # Errors
    ///
    /// `ValueError` if the value is not the one that the patch was made for, or shares its
    /// parts in another way; errors of making objects from fields.
    pub fn apply(&self, value: &Value) -> Result<Value> {
        if self.root.is_none() {
            return Ok(value.clone());
        }
        if let Some([left, _]) = &self.digests {
            let found = short_digest(value)?;
            if found != *left {
                return Err(Error::value_error(format!(
                    "the patch is for a value whose digest starts with {left}, and this one \
                     starts with {found}"
                )));
            }
        }
        let tables = Tables::of(value, CompareOptions::default(), &Ignored::default())?;
        let built = self.build(&tables)?;
        match &self.digests {
            Some([_, right]) if short_digest(&built)? != *right => Err(Error::value_error(
                "the patch does not build the right value: this one is equal to the left value, \
                 but shares its parts in another way",
            )),
            _ => Ok(built),
        }
    }

    /// Builds the value from the tables of the left side. O(size of the patch, and of the
    /// containers and objects that it edits).
    ///
    /// # Errors
    ///
    /// `ValueError` if a number is out of range, and those of making objects from fields.
    pub(super) fn build(&self, left: &Tables) -> Result<Value> {
        if left.nodes.len() != self.objects as usize {
            return Err(Error::value_error(format!(
                "the patch is for a value of {} objects, got one of {}",
                self.objects,
                left.nodes.len()
            )));
        }
        let mut builder = Builder {
            left,
            made: Vec::with_capacity(self.entries.len()),
            checker: SchemaChecker::default(),
        };
        for entry in &*self.entries {
            let value = builder.entry(entry)?;
            builder.made.push(value);
        }
        match &self.root {
            Some(root) => builder.source(root),
            None => Ok(left.value_of(&left.root)),
        }
    }
}

/// The first 16 digits of the digest of a value, free variables up to renaming.
///
/// # Errors
///
/// As [`structural_digest`](crate::structural_digest).
pub(crate) fn short_digest(value: &Value) -> Result<Str> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    Ok(options.digest(value)?.to_string()[..16].into())
}

struct Builder<'t> {
    left: &'t Tables,
    made: Vec<Value>,
    checker: SchemaChecker,
}

impl Builder<'_> {
    fn source(&self, source: &Source) -> Result<Value> {
        match source {
            Source::Value(value) => Ok(value.clone()),
            Source::Left(number) => {
                let node = self.left.nodes.get(*number as usize);
                let node = node.ok_or_else(|| out_of_range("object", *number))?;
                Ok(Value::from(&node.object))
            }
            Source::Entry(number) => {
                let made = self.made.get(*number as usize);
                made.cloned().ok_or_else(|| out_of_range("entry", *number))
            }
        }
    }

    /// The type of a container that is made: that of what it is made from.
    fn container(
        &self,
        given: &'static ContainerType,
        base: Option<u32>,
    ) -> Result<&'static ContainerType> {
        let Some(base) = base else {
            return Ok(given);
        };
        let node = self.left.nodes.get(base as usize);
        let container = node.and_then(|node| node.info().container());
        container.ok_or_else(|| out_of_range("container", base))
    }

    fn base(&self, number: u32) -> Result<&[Cell]> {
        match self.left.nodes.get(number as usize) {
            Some(_) => Ok(self.left.cells(number)),
            None => Err(out_of_range("object", number)),
        }
    }

    fn entry(&mut self, entry: &Entry) -> Result<Value> {
        match entry {
            Entry::Object(base, fields) => {
                let mut changes = Vec::with_capacity(fields.len());
                for (field, source) in fields {
                    changes.push((*field as usize, self.source(source)?));
                }
                let object = match base {
                    Base::Type(info) => return self.construct(info, changes),
                    Base::Left(number, _) => self.source(&Source::Left(*number))?,
                    Base::Object(object) => object.clone(),
                };
                let Some(object) = object.as_object() else {
                    return Err(out_of_range("object with fields", 0));
                };
                build::with_fields(object, changes).map(Value::from)
            }
            Entry::Edited(number, fields) => {
                let object = self.source(&Source::Left(*number))?;
                let Some(object) = object.as_object() else {
                    return Err(out_of_range("object with fields", *number));
                };
                let info = object.type_info();
                let mut changes = Vec::with_capacity(fields.len());
                for (name, source) in fields {
                    let field = info.field_index(name).ok_or_else(|| {
                        Error::value_error(format!("patch: {} has no field '{name}'", info.key()))
                    })?;
                    changes.push((field, self.source(source)?));
                }
                build::with_fields(object, changes).map(Value::from)
            }
            Entry::Items(container, base, runs) => {
                let container = self.container(container, *base)?;
                let mut items = Vec::new();
                for run in runs {
                    match (run, base) {
                        (Run::Item(source), _) => items.push(self.source(source)?),
                        (Run::Keep(from, to), Some(base)) => {
                            let kept = self.base(*base)?.get(*from as usize..*to as usize);
                            let kept = kept.ok_or_else(|| out_of_range("item", *to))?;
                            items.extend(kept.iter().map(|cell| self.left.value_of(cell)));
                        }
                        (Run::Keep(..), None) => return Err(out_of_range("item", 0)),
                    }
                }
                container.build(items.into_iter())
            }
            Entry::Entries(container, base, removed, set) => {
                let container = self.container(container, *base)?;
                let mut parts = Vec::new();
                let mut replaced: HashMap<Key, Value, RandomState> = HashMap::default();
                let mut added = Vec::new();
                let known = self.keys_of(*base)?;
                for (key, value) in set {
                    let made = self.source(value)?;
                    match known.get(&self.source(key)?) {
                        Some(&position) => {
                            replaced.insert(position, made);
                        }
                        None => added.push((self.source(key)?, made)),
                    }
                }
                if let Some(base) = base {
                    let cells = self.base(*base)?;
                    for position in (0..cells.len()).step_by(2) {
                        if removed.binary_search(&(position as u32)).is_ok() {
                            continue;
                        }
                        parts.push(self.left.value_of(&cells[position]));
                        let changed = replaced.remove(&(position as u32));
                        let kept = || self.left.value_of(&cells[position + 1]);
                        parts.push(changed.unwrap_or_else(kept));
                    }
                }
                for (key, value) in added {
                    parts.extend([key, value]);
                }
                container.build(parts.into_iter())
            }
        }
    }

    /// The positions of the keys of the map that is edited.
    fn keys_of(&self, base: Option<u32>) -> Result<HashMap<Value, Key, RandomState>> {
        let Some(base) = base else {
            return Ok(HashMap::default());
        };
        let cells = self.base(base)?.iter().enumerate().step_by(2);
        Ok(cells
            .map(|(position, cell)| (self.left.value_of(cell), position as Key))
            .collect())
    }

    fn construct(&mut self, info: &'static TypeInfo, fields: Vec<(usize, Value)>) -> Result<Value> {
        let mut builder = ObjectBuilder::new(info)?;
        for (field, value) in fields {
            if info.fields().get(field).is_none() {
                return Err(out_of_range("field", field as u32));
            }
            builder.set(field, value, &mut self.checker)?;
        }
        builder.finish(None, &mut self.checker).map(Value::from)
    }
}

/// The position of a key among the parts of a map.
type Key = u32;

#[cold]
fn out_of_range(what: &str, number: u32) -> Error {
    Error::value_error(format!("patch: there is no {what} of the number {number}"))
}

/// The fate of a right node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Left(u32),
    /// It and everything below is taken from the right side.
    Fresh,
    Entry(u32),
}

const VARIABLE: u64 = 0x2d35_8dcc_aa6c_78a5;
const IDENTITY: u64 = 0x8bb8_4b93_962e_acc9;

/// Makes a patch of the pairs that a walk has found.
pub(super) struct Maker<'t> {
    left: &'t Tables,
    right: &'t Tables,
    partners: &'t [Vec<u32>; 2],
    /// Equal for nodes of which one can replace the other.
    tokens: [Tokens; 2],
    by_token: Option<HashMap<u64, u32, RandomState>>,
    keeps_variables: bool,
    states: Vec<State>,
    entries: Vec<Entry>,
}

impl<'t> Maker<'t> {
    /// A maker that takes partners for each other; with `keeps_variables`, only variables
    /// that are the same object on both sides.
    pub(super) fn new(walk: &'t Walk<'t>, keeps_variables: bool) -> Self {
        let (left, right, partners) = (walk.left, walk.right, &walk.partners);
        let partner_of = |number: u32| {
            let node = right.node(number);
            let label = match node.is_var() {
                true => walk.bindings.labels_right[number as usize],
                false => NONE,
            };
            let partner = match label {
                NONE => partners[1][number as usize],
                label => label,
            };
            let is_taken = partner != NONE
                && (!keeps_variables
                    || !node.is_var()
                    || left.node(partner).object.same_as(&node.object));
            if is_taken { partner } else { NONE }
        };
        let lefts = exact(left, |number, content| step(content, u64::from(number)));
        let rights = exact(right, |number, content| match partner_of(number) {
            NONE => step(content ^ IDENTITY, u64::from(number)),
            partner => step(content, u64::from(partner)),
        });
        Maker {
            left,
            right,
            partners,
            tokens: [lefts, rights],
            by_token: None,
            keeps_variables,
            states: vec![State::Unknown; right.nodes.len()],
            entries: Vec::new(),
        }
    }

    /// The patch for the whole value. O(what differs, and once O(n) if something is new).
    pub(super) fn make(mut self) -> Patch {
        let root = match self.right.root.node_number() {
            None => Source::Value(self.right.root.value.clone()),
            Some(root) => {
                self.resolve(root);
                self.source_of(root)
            }
        };
        Patch {
            entries: self.entries.into(),
            root: Some(root),
            objects: self.left.nodes.len() as u32,
            digests: None,
        }
    }

    /// Determines the states of a node and of what it depends on.
    fn resolve(&mut self, root: u32) {
        let mut stack = vec![(root, false)];
        while let Some((node, parts_done)) = stack.pop() {
            if self.states[node as usize] != State::Unknown {
                continue;
            }
            if parts_done {
                self.states[node as usize] = self.made(node);
                continue;
            }
            if let Some(known) = self.taken_over(node) {
                self.states[node as usize] = State::Left(known);
                continue;
            }
            stack.push((node, true));
            let parts = self.right.cells(node).iter().filter_map(Cell::node_number);
            stack.extend(parts.map(|part| (part, false)));
        }
    }

    /// The left node that can take the place of a right one.
    fn taken_over(&mut self, node: u32) -> Option<u32> {
        let token = self.tokens[1][node as usize];
        let partner = self.partners[1][node as usize];
        if partner != NONE && self.tokens[0][partner as usize] == token {
            return Some(partner);
        }
        if self.is_edited(partner, node) {
            return None;
        }
        let tokens = &self.tokens[0];
        let by_token = self.by_token.get_or_insert_with(|| {
            let mut map = HashMap::with_capacity_and_hasher(tokens.len(), RandomState::default());
            for (number, &token) in tokens.iter().enumerate() {
                map.entry(token).or_insert(number as u32);
            }
            map
        });
        by_token.get(&token).copied()
    }

    /// True if a right node is a left one with other parts.
    fn is_edited(&self, partner: u32, node: u32) -> bool {
        let found = self.right.node(node);
        partner != NONE
            && !found.is_singleton()
            && self.left.node(partner).info().index() == found.info().index()
    }

    fn source_of(&self, node: u32) -> Source {
        match self.states[node as usize] {
            State::Left(number) => Source::Left(number),
            State::Entry(number) => Source::Entry(number),
            State::Fresh | State::Unknown => {
                Source::Value(Value::from(&self.right.node(node).object))
            }
        }
    }

    fn source(&self, cell: &Cell) -> Source {
        match cell.node_number() {
            Some(node) => self.source_of(node),
            None => Source::Value(cell.value.clone()),
        }
    }

    /// Makes a node whose parts are known.
    fn made(&mut self, node: u32) -> State {
        let found = self.right.node(node);
        let cells = self.right.cells(node);
        let is_fresh = cells.iter().all(|cell| match cell.node_number() {
            Some(part) => self.states[part as usize] == State::Fresh,
            None => true,
        });
        let partner = self.partners[1][node as usize];
        let is_edited = self.is_edited(partner, node);
        // An edited node keeps the ignored fields of the left one.
        if self.keeps_variables && found.is_var() {
            return State::Fresh;
        }
        if found.is_singleton()
            || is_fresh && (!is_edited || cells.is_empty() || found.info().is_builtin())
        {
            return State::Fresh;
        }
        let base = is_edited.then_some(partner);
        let entry = match found.info().container() {
            Some(container) if container.is_mapping() => self.entries_of(container, base, cells),
            Some(container) => self.items_of(container, base, cells),
            None => self.fields_of(node, base, cells),
        };
        self.entries.push(entry);
        State::Entry((self.entries.len() - 1) as u32)
    }

    /// True if a part of the right side is the same as one of the left side.
    fn is_kept(&self, left: &Cell, right: &Cell) -> bool {
        match (left.node_number(), right.node_number()) {
            (Some(l), Some(r)) => self.states[r as usize] == State::Left(l),
            (None, None) => left.word == right.word,
            _ => false,
        }
    }

    fn fields_of(&self, node: u32, base: Option<u32>, cells: &[Cell]) -> Entry {
        let info = self.right.node(node).info();
        let field = |position: usize| info.visited[position].field;
        let mut fields: Vec<(u32, Source)> = Vec::new();
        for (position, cell) in cells.iter().enumerate() {
            let is_same = match base {
                Some(base) => self.is_kept(self.left.cell(base, position as u32), cell),
                // The copy of a right object has its own values.
                None => cell
                    .node_number()
                    .is_none_or(|part| self.states[part as usize] == State::Fresh),
            };
            if !is_same {
                fields.push((field(position), self.source(cell)));
            }
        }
        let base = match base {
            Some(base) => Base::Left(base, info),
            None => Base::Object(Value::from(&self.right.node(node).object)),
        };
        Entry::Object(base, fields)
    }

    fn items_of(
        &self,
        container: &'static ContainerType,
        base: Option<u32>,
        cells: &[Cell],
    ) -> Entry {
        let lefts = base.map_or(&[][..], |base| self.left.cells(base));
        let word = |state: State, part: u32| match state {
            State::Left(number) => step(VARIABLE, u64::from(number)),
            _ => step(IDENTITY, u64::from(part)),
        };
        let left_words: Vec<u64> = lefts
            .iter()
            .map(|cell| match cell.node_number() {
                Some(part) => word(State::Left(part), part),
                None => of_plain(cell.word),
            })
            .collect();
        let right_words: Vec<u64> = cells
            .iter()
            .map(|cell| match cell.node_number() {
                Some(part) => word(self.states[part as usize], part),
                None => of_plain(cell.word),
            })
            .collect();
        let mut runs: Vec<Run> = Vec::new();
        let mut kept = sequence::align(&left_words, &right_words)
            .into_iter()
            .peekable();
        for (position, cell) in cells.iter().enumerate() {
            match kept.next_if(|&(_, right)| right as usize == position) {
                Some((from, _)) => match runs.last_mut() {
                    Some(Run::Keep(_, to)) if *to == from => *to += 1,
                    _ => runs.push(Run::Keep(from, from + 1)),
                },
                None => runs.push(Run::Item(self.source(cell))),
            }
        }
        Entry::Items(container, base, runs)
    }

    fn entries_of(
        &self,
        container: &'static ContainerType,
        base: Option<u32>,
        cells: &[Cell],
    ) -> Entry {
        let lefts = base.map_or(&[][..], |base| self.left.cells(base));
        let key_of = |cell: &Cell, state: Option<State>| match (cell.node_number(), state) {
            (Some(_), Some(State::Left(number))) => step(VARIABLE, u64::from(number)),
            (Some(part), Some(_)) => step(IDENTITY, u64::from(part)),
            (Some(part), None) => step(VARIABLE, u64::from(part)),
            (None, _) => of_plain(cell.word),
        };
        let mut known: HashMap<u64, usize, RandomState> = HashMap::default();
        for position in (0..lefts.len()).step_by(2) {
            known.insert(key_of(&lefts[position], None), position);
        }
        let mut set = Vec::new();
        for position in (0..cells.len()).step_by(2) {
            let key = &cells[position];
            let state = key.node_number().map(|part| self.states[part as usize]);
            let same = known.remove(&key_of(key, state));
            let is_same =
                same.is_some_and(|same| self.is_kept(&lefts[same + 1], &cells[position + 1]));
            if !is_same {
                set.push((self.source(key), self.source(&cells[position + 1])));
            }
        }
        let mut removed: Vec<u32> = known
            .into_values()
            .map(|position| position as u32)
            .collect();
        removed.sort_unstable();
        Entry::Entries(container, base, removed, set)
    }
}

/// Tokens that are equal only for nodes that can replace each other: variables, dag nodes
/// and what can change by `of_identity`, everything else by contents.
fn exact(tables: &Tables, of_identity: impl Fn(u32, u64) -> u64) -> Tokens {
    use super::tables::{HAS_IDENTITY, HAS_VARS};
    let mut tokens: Tokens = Vec::with_capacity(tables.nodes.len());
    for (number, node) in tables.nodes.iter().enumerate() {
        let number = number as u32;
        if node.has(IS_IGNORED) || !node.has(HAS_VARS | HAS_IDENTITY | IS_HOOKED) {
            tokens.push(node.skeleton);
            continue;
        }
        let mut acc = step(node.info().seed, u64::from(node.count));
        for cell in tables.cells(number) {
            acc = step(
                acc,
                match cell.node_number() {
                    Some(part) => tokens[part as usize],
                    None => of_plain(cell.word),
                },
            );
        }
        let has_identity = node.is_var() || node.is_dag() || node.is_mutable();
        tokens.push(match has_identity {
            true => of_identity(number, acc),
            false => acc,
        });
    }
    tokens
}
