//! The walk: every value below a root, with its region and path.

use std::cell::Cell;
use std::fmt;

use super::children::{self, Child, Content, Frame};
use super::marks::{Mark, Marks};
use super::options::{Sharing, WalkOptions, WalkOrder, WalkResult};
use super::recycle::recycle;
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynVisit, VisitCallback, has_traversal_hooks};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Class;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::view::{Met, ObjRef};
use crate::kernel::path::places::Step;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// Visits every value below `root`, the root included.
///
/// The callback sees declared objects, containers and plain values alike; it
/// answers whether to go on, to leave out what lies below, or to end the walk
/// with a result. The result is `None` when the walk came to its end.
///
/// * **Order.** Fields come in the order of comparison: parents' first, and
///   definition fields before the others where the type asks for it. Arrays
///   and lists go by position. Maps and dicts go by key, whatever the order of
///   insertion: plain keys by type and value, then objects by identity number;
///   the key is visited just before its value.
/// * **Sharing.** [`Sharing::Once`] visits an object once, where it is met
///   first; plain values (numbers, strings, bytes) are visited at every place.
/// * **Regions.** [`Visit::region`] tells whether a variable here is bound or
///   used. Who wants to know both of a variable asks for
///   [`Sharing::OncePerRegion`]. The keys of maps are always uses.
/// * **Mutation.** A list or dict is walked as it is when the walk enters it
///   (in pre-order: after its own callback); later changes are not seen. A
///   [mutable field](crate::set_field) is walked as it is when the walk comes
///   to it, after the fields before it.
/// * **Hooks.** Of a type with a traversal of its own
///   ([`DynVisit`](crate::DynVisit)), what its hook visits is visited in place
///   of the fields, unless the options say otherwise. A hook that is set while
///   a walk runs counts from the next walk on. Custom comparison
///   ([`StructuralEqual`](crate::StructuralEqual)) plays no part.
///
/// Depth is limited by memory only, and cost is linear in the number of visits.
///
/// # Errors
///
/// `ValueError` with the path when a value contains itself, which only lists,
/// dicts and mutable fields make possible. Errors of the callback end the walk
/// and come back unchanged.
///
/// ```
/// use isoform::{Value, WalkOptions, WalkOrder, WalkResult, structural_walk};
///
/// let root = Value::from(vec![Value::from(1), Value::from(vec![2, 3])]);
/// let mut sum = 0;
/// structural_walk(&root, WalkOptions::default(), |visit| {
///     sum += visit.value().as_int().unwrap_or(0);
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(sum, 6);
///
/// let options = WalkOptions::default().order(WalkOrder::Pre);
/// let found = structural_walk(&root, options, |visit| {
///     Ok(match visit.value().as_int() {
///         Some(3) => WalkResult::Interrupt(visit.path()),
///         _ => WalkResult::Advance,
///     })
/// })?;
/// assert_eq!(found.map(|path| path.to_string()).as_deref(), Some("<root>[1][1]"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_walk<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk_where(root, options, |_| true, callback)
}

/// What hooks of types know of the end of a walk: they are shown a value for
/// the result of a callback, and may end the walk with a value of their own.
#[derive(Debug)]
pub struct Interrupts<B> {
    /// The result of a callback as hooks see it; not None.
    pub show: fn(&B) -> Value,
    /// A result from the value of a hook; None ends the walk without one.
    pub adopt: fn(&Value) -> Option<B>,
}

impl<B> Default for Interrupts<B> {
    fn default() -> Self {
        Interrupts {
            show: |_| Value::from(true),
            adopt: |_| None,
        }
    }
}

/// [`structural_walk`] that calls back only for the types that are wanted; all
/// the others are walked through.
///
/// `wanted` is asked for each value: with the type of an object, with None for
/// a plain value that is kept inline. It is called in the middle of the walk,
/// where a callback would cost more, and must not use this library.
///
/// # Errors
///
/// As [`structural_walk`].
pub fn structural_walk_where<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: impl FnMut(Option<TypeIndex>) -> bool,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk_with(root, options, wanted, Interrupts::default(), callback)
}

/// [`structural_walk_where`] for a host language, whose hooks see and make the
/// results of a walk.
///
/// # Errors
///
/// As [`structural_walk`].
pub fn structural_walk_with<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: impl FnMut(Option<TypeIndex>) -> bool,
    interrupts: Interrupts<B>,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    let root = root.into();
    let parts = Arena::default();
    // A walk inside the callback finds nothing here and makes its own.
    let scratch = SCRATCH.try_with(Cell::take).ok().flatten();
    let scratch = scratch.unwrap_or_default();
    let mut walker = Walker {
        options,
        hooked: options.hooks && has_traversal_hooks(),
        wanted,
        callback,
        interrupts,
        parts: &parts,
        stack: recycle(scratch.stack),
        holders: 0,
        marks: scratch.marks,
        met: scratch.met,
    };
    let outcome = access::traversing(|section| walker.run(section, &root));
    let mut marks = walker.marks;
    marks.clear();
    let mut met = walker.met;
    met.clear();
    let stack = recycle(walker.stack);
    let scratch = Scratch { stack, marks, met };
    // During the end of a thread the memory is simply given back.
    let _ = SCRATCH.try_with(|cell| cell.set(Some(scratch)));
    match outcome {
        Ok(()) => Ok(None),
        Err(Stop::Result(result)) => Ok(result),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Visits the declared objects below `root`: [`structural_walk`] without
/// containers and plain values. The callback gets [`Visit::region`] as well.
///
/// # Errors
///
/// As [`structural_walk`].
///
/// ```
/// use isoform::{FieldDef, Schema, TypeDef, Value, WalkOptions, WalkResult};
/// use isoform::{construct, register_type, walk_objects};
///
/// let leaf = register_type(TypeDef::new("doc.Leaf").field(FieldDef::new("n", Schema::Int)))?;
/// let leaves = (0..3).map(|n| construct(leaf, vec![n.into()])).collect::<Result<Vec<_>, _>>()?;
/// let mut count = 0;
/// walk_objects(leaves, WalkOptions::default(), |object, _region| {
///     assert_eq!(object.type_info().key(), "doc.Leaf");
///     count += 1;
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(count, 3);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn walk_objects<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    mut callback: impl FnMut(&Ref<Obj>, RegionKind) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk(root, options, |visit| match visit.object() {
        Some(object) if !object.type_info().is_builtin() => callback(object, visit.region()),
        _ => Ok(WalkResult::Advance),
    })
}

/// What a callback sees: a value, where it is, and in which region.
#[derive(Clone, Copy)]
pub struct Visit<'a> {
    child: Child<'a>,
    ancestors: &'a [Frame<'a>],
    holders: usize,
}

impl Visit<'_> {
    /// The value. Costs an owner more for an object, so prefer
    /// [`object`](Self::object) and [`downcast`](Self::downcast) where they do.
    #[inline]
    pub fn value(&self) -> Value {
        match self.child.met {
            Met::Object(object) => Value::from_object(object.to_ref()),
            Met::Plain(plain) => plain.to_value(),
        }
    }

    /// The object: of a declared type, a container, or any other value that
    /// is not kept inline.
    #[inline]
    pub fn object(&self) -> Option<&Ref<Obj>> {
        match &self.child.met {
            Met::Object(object) => Some(object.as_ref()),
            Met::Plain(_) => None,
        }
    }

    /// The object as a `T`, if it is one. O(1).
    #[inline]
    pub fn downcast<T: Node>(&self) -> Option<&Ref<T>> {
        self.object()?.downcast_ref()
    }

    /// Whether variables are bound or used here. With [`Sharing::Once`] this is
    /// the place where the object is met first, and others are not told.
    #[inline]
    pub fn region(&self) -> RegionKind {
        self.child.region
    }

    /// Whether this is the key of a map or dict. It has the path of its value.
    #[inline]
    pub fn is_key(&self) -> bool {
        self.child.is_key
    }

    /// How many steps lead from the root to this value. O(1).
    #[inline]
    pub fn depth(&self) -> usize {
        self.ancestors.len() - self.holders
    }

    /// The steps from the root to this value. O(depth).
    pub fn path(&self) -> AccessPath {
        path_of(self.ancestors)
    }

    /// The last steps to this value, the last one first. O(1) each.
    pub(crate) fn steps_upwards(&self) -> impl Iterator<Item = Step> {
        self.ancestors.iter().rev().filter_map(Frame::step)
    }
}

impl fmt::Debug for Visit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Visit")
            .field("path", &self.path())
            .field("value", &self.value())
            .field("region", &self.region())
            .finish_non_exhaustive()
    }
}

fn path_of(ancestors: &[Frame<'_>]) -> AccessPath {
    let steps = ancestors.iter().filter_map(Frame::step);
    AccessPath::from_steps(steps.map(AccessStep::from).collect())
}

/// Why a walk ends early.
enum Stop<B> {
    /// By a callback or, without a result, by a hook.
    Result(Option<B>),
    Error(Error),
}

/// One walk.
struct Walker<'a, B, W, F> {
    options: WalkOptions,
    /// Whether types may have a traversal of their own.
    hooked: bool,
    wanted: W,
    callback: F,
    interrupts: Interrupts<B>,
    /// Owners of the parts that hooks hand in.
    parts: &'a Arena,
    stack: Vec<Frame<'a>>,
    /// How many frames of the stack are no steps of the path: lists and dicts,
    /// which have a second frame for their snapshot, and objects whose hook
    /// visits what is in none of their fields.
    holders: usize,
    /// Marks on the lists and dicts and on all objects with several owners.
    marks: Marks,
    /// Marks on the same objects for each kind of region, if these are told
    /// apart.
    met: Marks,
}

/// What to do with an object that is met.
enum Entry {
    /// It is visited. True when it has a mark now.
    Enter(bool),
    /// It was visited before.
    Pass,
}

impl<'a, B, W, F> Walker<'a, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<(), Stop<B>> {
        self.meet(section, children::root(root))?;
        self.descend(section, 0)
    }

    /// Visits what is open above a height, and closes it.
    #[inline(always)]
    fn descend(&mut self, section: &mut Section, floor: usize) -> Result<(), Stop<B>> {
        let mut poll = Poll::default();
        loop {
            poll.step(section).map_err(Stop::Error)?;
            if self.stack.len() == floor {
                return Ok(());
            }
            let Some(frame) = self.stack.last_mut() else {
                return Ok(());
            };
            match frame.next(section) {
                Some(child) => self.meet(section, child)?,
                None => self.close(section)?,
            }
        }
    }

    #[inline(always)]
    fn meet(&mut self, section: &mut Section, child: Child<'a>) -> Result<(), Stop<B>> {
        if child.is_key && !self.options.keys {
            return Ok(());
        }
        let Met::Object(object) = child.met else {
            return self.call(section, child).map(drop);
        };
        if object.info().has_children {
            prefetch_ahead(object);
        }
        let content = match object.info().class() {
            Class::Plain | Class::Node if self.options.include_ignored => Content::AllFields,
            Class::Plain | Class::Node => Content::Fields,
            Class::Array => Content::Items,
            Class::Map => Content::Entries,
            Class::List | Class::Dict => Content::Holder,
            Class::Shape | Class::Tensor | Class::Incomparable => Content::Nothing,
            // These are plain values: whether a string is long enough to be
            // an object must not show.
            Class::Str | Class::Bytes | Class::BigInt => {
                return self.call(section, child).map(drop);
            }
        };
        let Entry::Enter(marked) = self.enter(object, child.region, content)? else {
            return Ok(());
        };
        if self.options.order == WalkOrder::Pre && !self.call(section, child)? {
            if marked {
                self.marks.leave(object.ident());
            }
            return Ok(());
        }
        self.stack.push(Frame::new(object, child, content, marked));
        if content == Content::Holder {
            self.enter_snapshot(section, child, object);
        }
        if self.hooked && object.info().hooks.visit.get().is_some() {
            self.ask(section, object, child.region)?;
            return self.close(section);
        }
        Ok(())
    }

    /// Lets the hook of an object's type visit its parts. Its frame is the
    /// last one.
    #[cold]
    #[inline(never)]
    fn ask(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<(), Stop<B>> {
        let info = object.info();
        let Some(hook) = info.hooks.visit.get() else {
            return Ok(());
        };
        let mut visitor = HookVisitor {
            walker: self,
            object,
            region,
            stopped: None,
        };
        let answer = hooks::run(section, DynVisit::NAME, info.key(), || {
            hook.call(object.as_ref(), &mut visitor)
        });
        let stopped = visitor.stopped;
        match (answer, stopped) {
            (Err(error), _) => Err(Stop::Error(error)),
            (Ok(None), _) => Ok(()),
            (Ok(Some(end)), Some((shown, result))) if end == shown => Err(Stop::Result(result)),
            (Ok(Some(end)), _) => Err(Stop::Result((self.interrupts.adopt)(&end))),
        }
    }

    /// Visits a part for the hook whose frame is the last one.
    fn visit_part(
        &mut self,
        section: &mut Section,
        part: &Value,
        region: RegionKind,
        children_of: Option<ObjRef<'a>>,
    ) -> Result<(), Stop<B>> {
        let (floor, holders) = (self.stack.len(), self.holders);
        let part = self.parts.keep_value(part);
        let child = Child {
            region,
            ..children::root(part)
        };
        if let Some(frame) = self.stack.last_mut()
            && !frame.lead_to(section, child.met)
        {
            self.holders += 1;
        }
        let visited = match children_of {
            None => self.meet(section, child),
            Some(hooked) => self.open(section, child, hooked),
        };
        let visited = visited.and_then(|()| self.descend(section, floor));
        if visited.is_err() {
            // The hook may go on; what was open here no longer is.
            while self.stack.len() > floor
                && let Some(frame) = self.stack.pop()
            {
                self.leave(&frame);
            }
        }
        self.holders = holders;
        visited
    }

    /// Opens a value without its callback: by the hook of its type, unless
    /// that hook asks.
    fn open(
        &mut self,
        section: &mut Section,
        child: Child<'a>,
        hooked: ObjRef<'a>,
    ) -> Result<(), Stop<B>> {
        let Met::Object(object) = child.met else {
            return Ok(());
        };
        let content = match object.info().class() {
            Class::Plain | Class::Node if self.options.include_ignored => Content::AllFields,
            Class::Plain | Class::Node => Content::Fields,
            Class::Array => Content::Items,
            Class::Map => Content::Entries,
            Class::List | Class::Dict => Content::Holder,
            _ => return Ok(()),
        };
        let own = object.ident() == hooked.ident();
        if !own && object.info().hooks.visit.get().is_some() {
            self.stack.push(Frame::new(object, child, content, false));
            self.ask(section, object, child.region)?;
            self.stack.pop();
            return Ok(());
        }
        if content == Content::Holder {
            self.enter_snapshot(section, child, object);
            self.holders -= 1;
            return Ok(());
        }
        // No callback follows when such a frame is closed. Of the object whose
        // hook runs it is the second one; the first leads nowhere.
        self.stack.push(Frame::of_snapshot(object, child, content));
        Ok(())
    }

    /// Counts a frame that was taken off the stack as left.
    fn leave(&mut self, frame: &Frame<'a>) {
        if frame.snapshot {
            return;
        }
        if frame.marked {
            self.marks.leave(frame.object.ident());
            self.holders -= usize::from(frame.is_holder());
        }
    }

    /// Whether the object is to be visited here.
    #[inline(always)]
    fn enter(
        &mut self,
        object: ObjRef<'a>,
        region: RegionKind,
        content: Content,
    ) -> Result<Entry, Stop<B>> {
        let once = self.options.sharing == Sharing::Once;
        // An object with one owner is met only once, unless the callback
        // gives it another owner. A cycle is entered at an object with two
        // owners, or goes through lists and dicts, which are marked in any
        // case; one that the callback makes is found in its second round.
        let marked = content == Content::Holder || object.is_shared();
        // Where regions are told apart, one that has an owner with several
        // visits may be met in the same region each time.
        if !marked && self.options.sharing != Sharing::OncePerRegion {
            return Ok(Entry::Enter(false));
        }
        match self.marks.enter(object.ident(), !once) {
            Mark::Done if once => Ok(Entry::Pass),
            Mark::Open => Err(self.cycle(object)),
            Mark::Fresh | Mark::Done if self.options.sharing == Sharing::OncePerRegion => {
                Ok(self.enter_region(object, region))
            }
            Mark::Fresh | Mark::Done => Ok(Entry::Enter(true)),
        }
    }

    /// Whether an object that was just entered is to be visited in this region.
    #[cold]
    #[inline(never)]
    fn enter_region(&mut self, object: ObjRef<'a>, region: RegionKind) -> Entry {
        let place = object.ident() * 4 + region as u64;
        if self.met.enter(place, false) == Mark::Fresh {
            return Entry::Enter(true);
        }
        self.marks.leave(object.ident());
        Entry::Pass
    }

    #[cold]
    fn cycle(&self, object: ObjRef<'a>) -> Stop<B> {
        let name = object.info().key().trim_start_matches("isoform.");
        let error = Error::value_error(format!("cyclic value: the {name} contains itself"));
        Stop::Error(error.at(path_of(&self.stack)))
    }

    /// Puts what a list or dict holds now above it on the stack.
    #[cold]
    #[inline(never)]
    fn enter_snapshot(&mut self, section: &Section, child: Child<'a>, holder: ObjRef<'a>) {
        self.holders += 1;
        let content = match holder.info().class() {
            Class::List => Content::Items,
            _ => Content::Entries,
        };
        if let Some(held) = holder.held(section) {
            self.stack.push(Frame::of_snapshot(held, child, content));
        }
    }

    /// Leaves the object on top of the stack.
    #[inline(always)]
    fn close(&mut self, section: &mut Section) -> Result<(), Stop<B>> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        if frame.snapshot {
            return Ok(());
        }
        if frame.marked {
            self.marks.leave(frame.object.ident());
            self.holders -= usize::from(frame.is_holder());
        }
        if self.options.order == WalkOrder::Pre {
            return Ok(());
        }
        let child = Child {
            met: Met::Object(frame.object),
            region: frame.region,
            is_key: frame.is_key,
        };
        self.call(section, child).map(drop)
    }

    /// Calls the callback; whether to go into the children.
    #[inline(always)]
    fn call(&mut self, section: &mut Section, child: Child<'a>) -> Result<bool, Stop<B>> {
        let ty = match child.met {
            Met::Object(object) => Some(object.type_index()),
            Met::Plain(_) => None,
        };
        if !(self.wanted)(ty) {
            return Ok(true);
        }
        let visit = Visit {
            child,
            ancestors: &self.stack,
            holders: self.holders,
        };
        let callback = &mut self.callback;
        match access::outside(section, || callback(&visit)) {
            Ok(WalkResult::Advance) => Ok(true),
            Ok(WalkResult::Skip) => Ok(false),
            Ok(WalkResult::Interrupt(result)) => Err(Stop::Result(Some(result))),
            Err(error) => Err(Stop::Error(error)),
        }
    }
}

/// The walk as a hook sees it.
struct HookVisitor<'w, 'a, B, W, F> {
    walker: &'w mut Walker<'a, B, W, F>,
    /// The object whose hook runs, and where it was met.
    object: ObjRef<'a>,
    region: RegionKind,
    /// The end of the walk by a callback, and what the hook was shown for it.
    stopped: Option<(Value, Option<B>)>,
}

impl<'a, B, W, F> HookVisitor<'_, 'a, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn visit_part(
        &mut self,
        part: &Value,
        region: RegionKind,
        children_of: Option<ObjRef<'a>>,
    ) -> Result<Option<Value>> {
        let walker = &mut *self.walker;
        match access::traversing(|section| walker.visit_part(section, part, region, children_of)) {
            Ok(()) => Ok(None),
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Result(result)) => {
                let show = self.walker.interrupts.show;
                let shown = result.as_ref().map_or_else(|| Value::from(true), show);
                self.stopped = Some((shown.clone(), result));
                Ok(Some(shown))
            }
        }
    }
}

impl<B, W, F> VisitCallback for HookVisitor<'_, '_, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn region(&self) -> RegionKind {
        self.region
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        self.visit_part(value, region, None)
    }

    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        self.visit_part(value, region, Some(self.object))
    }
}

/// What a thread keeps from one walk to the next.
#[derive(Default)]
struct Scratch {
    stack: Vec<Frame<'static>>,
    marks: Marks,
    met: Marks,
}

thread_local! {
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::{SCRATCH, WalkOptions, WalkResult, structural_walk};
    use crate::kernel::container::Array;

    #[test]
    fn a_walk_leaves_its_memory_to_the_next_one() {
        let root = Array::from([1i64, 2]);
        let walk = || {
            structural_walk(root.clone(), WalkOptions::default(), |_| {
                Ok(WalkResult::<()>::Advance)
            })
        };
        let block = || {
            SCRATCH.with(|cell| {
                let scratch = cell.take();
                let block = scratch
                    .as_ref()
                    .map(|scratch| scratch.stack.as_ptr() as usize);
                cell.set(scratch);
                block
            })
        };
        walk().expect("the walk succeeds");
        let first = block();
        assert!(first.is_some());
        walk().expect("the walk succeeds");
        assert_eq!(block(), first);
    }
}
