//! The functional update: a new value from an old one, node by node.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::memo::Results;
use super::options::WalkOrder;
use super::parts::{Child, ChildOptions, Children, children_of};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynMutate, MutateCallback, has_traversal_hooks};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Class;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::path::AccessPath;
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// Rewrites a value: `callback` sees every value below `root`, the root
/// included, and may put another in its place.
///
/// The callback answers None to keep what it was given. Objects are never
/// changed: one with a child that was replaced is built anew, and everything
/// in which nothing was replaced is the same object in the result, the root
/// included. A list or dict that changes becomes a new list or dict.
///
/// * **Post-order** ([`WalkOrder::Post`], the default): children first. The
///   callback sees a node after its children were replaced; what it answers is
///   final.
/// * **Pre-order**: the callback sees a node first. The children of what it
///   answers are visited in turn; the answer itself is not offered again.
/// * **Children** are those of [`structural_walk`](crate::structural_walk), in
///   the same order: fields, elements, keys and values. Fields that comparison
///   ignores are taken over unless the options include them.
/// * **Sharing.** An object that is reached in several ways is rewritten once
///   in each kind of region (used, bound, bound directly), and its result is
///   shared in the same way. A variable or dag node whose own fields change is
///   built anew once for all regions, so that its uses still name its
///   definition. A callback that replaces a variable decides about each kind
///   of region on its own: give the same answer for all of them.
/// * **Hooks.** Of a type that makes the new object itself
///   ([`DynMutate`](crate::DynMutate)), the answer of its hook comes in place
///   of the rewrite of its fields. A hook that is set while a rewrite runs
///   counts from the next one on.
///
/// Depth is limited by memory only; cost is linear in the number of distinct
/// objects and of the places of plain values.
///
/// # Errors
///
/// `TypeError` with the path when a replacement does not fit its field,
/// `ValueError` when two keys of a map become one or a value contains itself;
/// errors of the callback come back unchanged.
///
/// ```
/// use isoform::{MapOptions, Value, structural_equal, structural_map};
///
/// let root = Value::from(vec![Value::from(1), Value::from(vec![2, 3])]);
/// let next = structural_map(&root, MapOptions::default(), |visit| {
///     Ok(visit.value().as_int().map(|number| Value::from(number + 1)))
/// })?;
/// assert!(structural_equal(next, vec![Value::from(2), Value::from(vec![3, 4])])?);
///
/// let same = structural_map(&root, MapOptions::default(), |_| Ok(None))?;
/// assert_eq!(same, root);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_map(
    root: impl Into<Value>,
    options: MapOptions,
    callback: impl FnMut(&MapVisit<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    structural_map_where(root, options, |_| true, callback)
}

/// [`structural_map`] that calls back only for the types that are wanted; all
/// the others are rebuilt where something below them changes.
///
/// `wanted` is asked with the type of an object, or with None for a plain value
/// that is kept inline. It is called in the middle of the traversal, where a
/// callback would cost more, and must not use this library.
///
/// # Errors
///
/// As [`structural_map`].
pub fn structural_map_where(
    root: impl Into<Value>,
    options: MapOptions,
    wanted: impl Fn(Option<TypeIndex>) -> bool,
    callback: impl FnMut(&MapVisit<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    let mut mapper = Mapper {
        options,
        plain_wanted: wanted(None),
        wanted,
        callback,
        stack: Vec::new(),
        changes: Vec::new(),
        hooked: has_traversal_hooks(),
        opened: Vec::new(),
        results: Default::default(),
        descents: Results::default(),
        remapped: HashMap::default(),
    };
    let root = root.into();
    access::traversing(|section| mapper.run(section, root, RegionKind::Use))
}

/// How to rewrite; the default is post-order, without the fields that
/// comparison ignores, and with the keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct MapOptions {
    /// Whether the callback comes before or after the children.
    pub order: WalkOrder,
    /// Which children are visited; the others are taken over.
    pub children: ChildOptions,
    /// Whether the callback is asked about a variable at each place where it
    /// stands, and not once in each kind of region. For rewrites in which a
    /// variable becomes something else from some place on.
    pub variables_each_time: bool,
}

impl MapOptions {
    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: WalkOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets whether the callback is asked about a variable at each place.
    #[must_use]
    pub fn variables_each_time(mut self, variables_each_time: bool) -> Self {
        self.variables_each_time = variables_each_time;
        self
    }

    /// Sets whether fields with the flag `ignore` are rewritten too.
    #[must_use]
    pub fn include_ignored(mut self, include_ignored: bool) -> Self {
        self.children.include_ignored = include_ignored;
        self
    }

    /// Sets whether the keys of maps and dicts are rewritten too.
    #[must_use]
    pub fn keys(mut self, keys: bool) -> Self {
        self.children.keys = keys;
        self
    }
}

/// What the callback of [`structural_map`] sees.
#[derive(Clone, Copy)]
pub struct MapVisit<'a> {
    value: &'a Value,
    region: RegionKind,
    is_key: bool,
    ancestors: &'a [Frame],
}

impl<'a> MapVisit<'a> {
    /// The value; in post-order its children are replaced already.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// The object, if the value is one.
    pub fn object(&self) -> Option<&'a Ref<Obj>> {
        self.value.as_object()
    }

    /// The object as a `T`, if it is one. O(1).
    pub fn downcast<T: Node>(&self) -> Option<&'a Ref<T>> {
        self.object()?.downcast_ref()
    }

    /// Whether variables are bound or used here.
    pub fn region(&self) -> RegionKind {
        self.region
    }

    /// Whether this is the key of a map or dict. It has the path of its value.
    pub fn is_key(&self) -> bool {
        self.is_key
    }

    /// In how many values this one lies. O(1).
    pub fn depth(&self) -> usize {
        self.ancestors.len()
    }

    /// The steps from the root to this value. In pre-order they lead through
    /// what the callback answered on the way. O(depth).
    pub fn path(&self) -> AccessPath {
        path_of(self.ancestors)
    }
}

impl std::fmt::Debug for MapVisit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MapVisit")
            .field("path", &self.path())
            .field("value", &self.value)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

fn path_of(ancestors: &[Frame]) -> AccessPath {
    let step = |frame: &Frame| frame.children.step(frame.next.checked_sub(1)?);
    AccessPath::from_steps(ancestors.iter().filter_map(step).collect())
}

/// A value some of whose children are still to be visited.
struct Frame {
    children: Children,
    next: usize,
    /// The child taken last, to tell whether its result is another.
    pending: Value,
    region: RegionKind,
    is_key: bool,
    /// Where this frame's part of the changes starts.
    first_change: usize,
    /// The object for which the result is remembered.
    remembered: Option<u64>,
    /// The variable or dag node whose descent is remembered.
    descent: Option<u64>,
}

struct Mapper<W, F> {
    options: MapOptions,
    /// What the filter says of plain values.
    plain_wanted: bool,
    wanted: W,
    callback: F,
    stack: Vec<Frame>,
    /// Children that were replaced, by position; those of the innermost open
    /// value last.
    changes: Vec<(usize, Value)>,
    /// What became of objects, for each kind of region.
    results: [Results; 3],
    /// What variables and dag nodes became before or without the callback.
    descents: Results,
    /// Whether types may have a rewrite of their own.
    hooked: bool,
    /// What was opened, and may be left open by an error that a hook catches.
    opened: Vec<(RegionKind, u64)>,
    /// What hooks recorded for variables.
    remapped: HashMap<u64, Value, RandomState>,
}

impl<W, F> Mapper<W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&MapVisit<'_>) -> Result<Option<Value>>,
{
    fn run(&mut self, section: &mut Section, root: Value, region: RegionKind) -> Result<Value> {
        let floor = self.stack.len();
        let root = Child {
            value: root,
            region,
            is_key: false,
        };
        let finished = self.meet(section, root)?;
        self.descend(section, floor, finished)
    }

    /// Rewrites what is open above a height; the result of the lowest.
    fn descend(
        &mut self,
        section: &mut Section,
        floor: usize,
        mut finished: Option<Value>,
    ) -> Result<Value> {
        let mut poll = Poll::default();
        loop {
            poll.step(section)?;
            if self.stack.len() == floor {
                return Ok(finished.unwrap_or_default());
            }
            let Some(frame) = self.stack.last_mut() else {
                return Ok(finished.unwrap_or_default());
            };
            if let Some(result) = finished.take()
                && result != frame.pending
            {
                self.changes.push((frame.next - 1, result));
            }
            finished = match frame.children.get(frame.next, frame.region) {
                Some(child) => {
                    frame.next += 1;
                    frame.pending = child.value.clone();
                    self.meet(section, child)?
                }
                None => Some(self.close(section)?),
            };
        }
    }

    /// The result for a value, or None when it was put on the stack.
    fn meet(&mut self, section: &mut Section, child: Child) -> Result<Option<Value>> {
        let Child {
            value,
            region,
            is_key,
        } = child;
        let Some(object) = value.as_object() else {
            return self.call(section, value, region, is_key).map(Some);
        };
        // Plain values that are too large to be inline.
        if let Class::Str | Class::Bytes | Class::BigInt = object.type_info().class() {
            return self.call(section, value, region, is_key).map(Some);
        }
        let ident = object.identity();
        let hook = match self.hooked {
            true => object.type_info().hooks.mutate.get(),
            false => None,
        };
        if !self.remapped.is_empty()
            && let Some(value) = self.remapped.get(&ident)
        {
            return Ok(Some(value.clone()));
        }
        // `value` and `pending` are two owners; an object with one more is
        // reached on this way only. The root has no `pending`, and may be
        // owned by nobody else although it contains itself.
        let may_return = self.stack.is_empty() || object.owners() > 3 || hook.is_some();
        if may_return {
            let is_anew = self.options.variables_each_time && object.type_info().kind == Kind::Var;
            match self.results[region as usize].get(ident) {
                Some(Some(result)) if !is_anew => return Ok(Some(result)),
                Some(None) => return Err(self.cycle(&value)),
                _ => self.remember(region, ident),
            }
        }
        let mut remembered = may_return.then_some(ident);
        let mut source = value;
        if self.options.order == WalkOrder::Pre {
            let answer = self.call(section, source.clone(), region, is_key)?;
            if answer != source {
                // The answer may contain what it replaces.
                remembered = Some(ident);
                self.remember(region, ident);
                source = answer;
            }
        }
        let descent = source.as_object().and_then(|object| {
            let kind = object.type_info().kind;
            let spread = matches!(kind, Kind::Var | Kind::Dag);
            (spread && !object.type_info().is_builtin()).then(|| object.identity())
        });
        if let Some(ident) = descent
            && let Some(Some(result)) = self.descents.get(ident)
        {
            return self
                .finish(section, result, region, is_key, remembered)
                .map(Some);
        }
        if self.hooked && source.as_object().is_some_and(has_hook) {
            let result = self.ask(section, &source, region, is_key, remembered, descent)?;
            return self
                .finish(section, result, region, is_key, remembered)
                .map(Some);
        }
        if !self.plain_wanted && is_bare(&source) {
            return self
                .finish(section, source, region, is_key, remembered)
                .map(Some);
        }
        let children = children_of(&source, self.options.children);
        if children.is_empty() {
            return self
                .finish(section, source, region, is_key, remembered)
                .map(Some);
        }
        if let Some(object) = source.object_ref() {
            prefetch_ahead(object);
        }
        self.stack.push(Frame {
            children,
            next: 0,
            pending: Value::NONE,
            region,
            is_key,
            first_change: self.changes.len(),
            remembered,
            descent,
        });
        Ok(None)
    }

    /// Notes that an object is open.
    fn remember(&mut self, region: RegionKind, ident: u64) {
        self.results[region as usize].open(ident);
        if self.hooked {
            self.opened.push((region, ident));
        }
    }

    /// What the hook of an object's type makes of it.
    #[cold]
    #[inline(never)]
    fn ask(
        &mut self,
        section: &mut Section,
        source: &Value,
        region: RegionKind,
        is_key: bool,
        remembered: Option<u64>,
        descent: Option<u64>,
    ) -> Result<Value> {
        let Some(object) = source.as_object() else {
            return Ok(source.clone());
        };
        let info = object.type_info();
        let Some(hook) = info.hooks.mutate.get() else {
            return Ok(source.clone());
        };
        let first_change = self.changes.len();
        self.stack.push(Frame {
            children: children_of(source, self.options.children),
            next: 0,
            pending: Value::NONE,
            region,
            is_key,
            first_change,
            remembered,
            descent: None,
        });
        let mut mutator = HookMutator {
            mapper: self,
            object,
            region,
        };
        let result = hooks::run(section, DynMutate::NAME, info.key(), || {
            hook.call(object, &mut mutator)
        });
        self.stack.pop();
        let result = result?;
        if let Some(ident) = descent {
            self.descents.set(ident, result.clone());
        }
        Ok(result)
    }

    /// What a part becomes, for the hook whose frame is the last one.
    fn part(
        &mut self,
        section: &mut Section,
        part: &Value,
        region: RegionKind,
        children_of: Option<&Ref<Obj>>,
    ) -> Result<Value> {
        let (floor, first_change) = (self.stack.len(), self.changes.len());
        let first_opened = self.opened.len();
        if let Some(frame) = self.stack.last_mut() {
            let field = frame.children.field_with(part);
            frame.next = field.map_or(0, |position| position + 1);
        }
        let result = match children_of {
            None => self.run(section, part.clone(), region),
            Some(hooked) => self.children(section, part, region, hooked),
        };
        if result.is_err() {
            // The hook may go on; what was open here no longer is.
            self.changes.truncate(first_change);
            self.stack.truncate(floor);
            for (region, ident) in self.opened.drain(first_opened..) {
                let results = &mut self.results[region as usize];
                if let Some(None) = results.get(ident) {
                    results.forget(ident);
                }
            }
        }
        self.opened.truncate(first_opened);
        result
    }

    /// A value with its children rewritten: by the hook of its type, unless
    /// that hook asks.
    fn children(
        &mut self,
        section: &mut Section,
        value: &Value,
        region: RegionKind,
        hooked: &Ref<Obj>,
    ) -> Result<Value> {
        if let Some(object) = value.as_object()
            && has_hook(object)
            && !object.same_as(hooked)
        {
            return self.ask(section, value, region, false, None, None);
        }
        let floor = self.stack.len();
        let children = children_of(value, self.options.children);
        let mut done = Vec::with_capacity(children.len());
        for position in 0..children.len() {
            let Some(child) = children.get(position, region) else {
                break;
            };
            let finished = self.meet(section, child)?;
            done.push(self.descend(section, floor, finished)?);
        }
        access::outside(section, || children.rebuild(done))
    }

    /// Leaves the value on top of the stack.
    fn close(&mut self, section: &mut Section) -> Result<Value> {
        let Some(frame) = self.stack.pop() else {
            return Ok(Value::NONE);
        };
        let changes = self.changes.drain(frame.first_change..).collect();
        let result = frame
            .children
            .replace_in(section, changes)
            .map_err(|error| error.at(path_of(&self.stack)))?;
        if let Some(ident) = frame.descent {
            self.descents.set(ident, result.clone());
        }
        self.finish(
            section,
            result,
            frame.region,
            frame.is_key,
            frame.remembered,
        )
    }

    /// What follows the visit of the children.
    fn finish(
        &mut self,
        section: &mut Section,
        value: Value,
        region: RegionKind,
        is_key: bool,
        remembered: Option<u64>,
    ) -> Result<Value> {
        let result = match self.options.order {
            WalkOrder::Post => self.call(section, value, region, is_key)?,
            WalkOrder::Pre => value,
        };
        if let Some(ident) = remembered {
            self.results[region as usize].set(ident, result.clone());
        }
        Ok(result)
    }

    /// Calls the callback: its answer, or the value itself.
    fn call(
        &mut self,
        section: &mut Section,
        value: Value,
        region: RegionKind,
        is_key: bool,
    ) -> Result<Value> {
        let wanted = match value.as_object() {
            Some(object) => (self.wanted)(Some(object.type_info().index())),
            None => self.plain_wanted,
        };
        if !wanted {
            return Ok(value);
        }
        let visit = MapVisit {
            value: &value,
            region,
            is_key,
            ancestors: &self.stack,
        };
        let callback = &mut self.callback;
        let answer = access::outside(section, || callback(&visit))?;
        Ok(answer.unwrap_or(value))
    }

    #[cold]
    fn cycle(&self, value: &Value) -> Error {
        cyclic(value).at(path_of(&self.stack))
    }
}

/// The rewrite as a hook sees it.
struct HookMutator<'m, W, F> {
    mapper: &'m mut Mapper<W, F>,
    /// The object whose hook runs, and where it was met.
    object: &'m Ref<Obj>,
    region: RegionKind,
}

impl<W, F> MutateCallback for HookMutator<'_, W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&MapVisit<'_>) -> Result<Option<Value>>,
{
    fn region(&self) -> RegionKind {
        self.region
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        access::traversing(|section| self.mapper.part(section, value, region, None))
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        access::traversing(|section| self.mapper.part(section, value, region, Some(self.object)))
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        self.mapper.remapped.get(&var.identity()).cloned()
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        let mapper = &mut *self.mapper;
        let ident = var.identity();
        if mapper
            .results
            .iter_mut()
            .any(|results| matches!(results.get(ident), Some(Some(_))))
        {
            // What was rewritten so far may contain the variable.
            mapper.results = Default::default();
            mapper.descents = Results::default();
            for frame in &mapper.stack {
                if let Some(ident) = frame.remembered {
                    mapper.results[frame.region as usize].open(ident);
                }
            }
        }
        mapper.remapped.insert(ident, value);
    }
}

/// Whether the type of an object has a rewrite of its own.
fn has_hook(object: &Ref<Obj>) -> bool {
    object.type_info().hooks.mutate.get().is_some()
}

/// Whether an object has no fields but numbers, bools and data types, so that
/// nothing below it is an object.
fn is_bare(value: &Value) -> bool {
    let declared = value.as_object().map(|object| object.type_info());
    declared.is_some_and(|info| !info.is_builtin() && info.drop_slots.is_empty())
}

/// The error for a value that contains itself.
pub(crate) fn cyclic(value: &Value) -> Error {
    let name = value.type_name();
    Error::value_error(format!("cyclic value: the {name} contains itself"))
}
