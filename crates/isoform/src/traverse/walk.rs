//! The walk: every value below a root, with its region and path.

use std::cell::Cell;

use super::cursor::{Cursor, Part, View, cyclic, is_mutable_container, path_of};
use super::marks::{Mark, Marks};
use super::options::{Sharing, WalkOptions, WalkOrder, WalkResult};
use super::recycle::recycle;
use super::visited::Visit;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::hooks::{self, DynVisit, MAX_HOOK_DEPTH, VisitCallback, has_traversal_hooks};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Class;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::{Met, ObjRef};
use crate::kernel::types::Hook;
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
    run(root.into(), options, None, wanted, interrupts, callback)
}

/// Visits a value with callbacks that decide themselves what is visited below
/// theirs.
///
/// `wanted` says which types the callback is for: it is asked with the type of
/// an object, or with None for a plain value that is kept inline. Of values of
/// other types, what lies below is visited in the order of [`structural_walk`],
/// by the [hook](crate::DynVisit) of the type or by the fields. Below a value
/// that the callback got, nothing is visited but what it asks for:
/// [`VisitCallback::visit`] goes on with a part, and
/// [`VisitCallback::visit_children`] with all parts of a value.
///
/// An object is visited once, or once in each kind of region where
/// [`WalkOptions::sharing`] says so; visiting it again does nothing. The order
/// in the options has no meaning here. A callback that returns a value ends
/// the visit, which returns that value; one that gets a value from the visitor
/// returns it at once.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself, or whose visit
/// a callback asks for before it is over. `RecursionError` when callbacks nest
/// more than [`MAX_HOOK_DEPTH`](crate::MAX_HOOK_DEPTH) levels deep: each level
/// is a call of user code on the native stack. Errors of callbacks come back
/// unchanged.
///
/// ```
/// use std::cell::RefCell;
/// use isoform::{Value, WalkOptions, structural_visit};
///
/// // Of each array, only the last element.
/// let root = Value::from(vec![vec![1, 2], vec![3, 4]]);
/// let met = RefCell::new(Vec::new());
/// structural_visit(&root, WalkOptions::default(), &|_| true, &|value, visitor| {
///     match value.extract::<isoform::Array>() {
///         Ok(array) => visitor.visit(array.values().last().unwrap_or(&Value::NONE)),
///         Err(_) => {
///             met.borrow_mut().push(value.as_int());
///             Ok(None)
///         }
///     }
/// })?;
/// assert_eq!(met.into_inner(), [Some(4)]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_visit(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveVisit<'_>,
) -> Result<Option<Value>> {
    let driver = Driver {
        wanted,
        callback,
        max_depth: MAX_HOOK_DEPTH,
    };
    drive(root.into(), options, driver)
}

/// [`structural_visit`] for a host language that limits the depth of its own
/// calls.
///
/// # Errors
///
/// As [`structural_visit`], but for the `RecursionError`.
pub fn structural_visit_by_host(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveVisit<'_>,
) -> Result<Option<Value>> {
    let driver = Driver {
        wanted,
        callback,
        max_depth: u32::MAX,
    };
    drive(root.into(), options, driver)
}

/// A callback of [`structural_visit`].
pub type DriveVisit<'f> = dyn Fn(&Value, &mut dyn VisitCallback) -> Result<Option<Value>> + 'f;

/// Who says what is visited below the values of some types.
#[derive(Clone, Copy)]
struct Driver<'f> {
    wanted: &'f dyn Fn(Option<TypeIndex>) -> bool,
    callback: &'f DriveVisit<'f>,
    max_depth: u32,
}

fn drive(root: Value, options: WalkOptions, driver: Driver<'_>) -> Result<Option<Value>> {
    let interrupts = Interrupts {
        show: Value::clone,
        adopt: |end| Some(end.clone()),
    };
    run(
        root,
        options,
        Some(driver),
        |_| false,
        interrupts,
        |_| Ok(WalkResult::Advance),
    )
}

fn run<B>(
    root: Value,
    options: WalkOptions,
    driver: Option<Driver<'_>>,
    wanted: impl FnMut(Option<TypeIndex>) -> bool,
    interrupts: Interrupts<B>,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    let parts = Arena::default();
    // A walk inside the callback finds nothing here and makes its own.
    let scratch = SCRATCH.try_with(Cell::take).ok().flatten();
    let scratch = scratch.unwrap_or_default();
    let mut walker = Walker {
        options,
        view: View::of_compared(options.include_ignored),
        special: options.hooks && has_traversal_hooks() || driver.is_some(),
        driver,
        drives: 0,
        wanted,
        callback,
        interrupts,
        parts: &parts,
        stack: recycle(scratch.stack),
        stepless: 0,
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

/// Why a walk ends early.
enum Stop<B> {
    /// By a callback or, without a result, by a hook.
    Result(Option<B>),
    Error(Error),
}

/// One walk.
struct Walker<'a, 'f, B, W, F> {
    options: WalkOptions,
    view: View,
    /// Whether what lies below some values may be visited in another way than
    /// part by part.
    special: bool,
    driver: Option<Driver<'f>>,
    /// How many callbacks of the driver are running.
    drives: u32,
    wanted: W,
    callback: F,
    interrupts: Interrupts<B>,
    /// Owners of the parts that hooks and the driver hand in.
    parts: &'a Arena,
    stack: Vec<Cursor<'a>>,
    /// How many cursors of the stack are no steps of the path: a hook visits
    /// what is in none of the fields.
    stepless: usize,
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

impl<'a, B, W, F> Walker<'a, '_, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<(), Stop<B>> {
        self.meet(section, Part::alone(root, RegionKind::Use))?;
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
            let Some(cursor) = self.stack.last_mut() else {
                return Ok(());
            };
            match cursor.next(section) {
                Some(part) => self.meet(section, part)?,
                None => self.close(section)?,
            }
        }
    }

    #[inline(always)]
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<(), Stop<B>> {
        if part.is_key && !self.options.keys {
            return Ok(());
        }
        let Met::Object(object) = part.met else {
            return self.leaf(section, part);
        };
        if object.info().has_children {
            prefetch_ahead(object);
        }
        let class = object.info().class();
        // These are plain values: whether a string is long enough to be an
        // object must not show.
        if let Class::Str | Class::Bytes | Class::BigInt = class {
            return self.leaf(section, part);
        }
        let Entry::Enter(marked) = self.enter(object, part.region, class)? else {
            return Ok(());
        };
        if self.options.order == WalkOrder::Pre && !self.call(section, part)? {
            if marked {
                self.marks.leave(object.ident());
            }
            return Ok(());
        }
        let Some(cursor) = Cursor::open(section, object, part, self.view) else {
            return self.without_parts(section, object, part, marked);
        };
        self.stack.push(cursor.with_mark(marked));
        if self.special && self.ask(section, object, part.region)? {
            return self.close(section);
        }
        Ok(())
    }

    /// Visits a plain value.
    #[inline(always)]
    fn leaf(&mut self, section: &mut Section, part: Part<'a>) -> Result<(), Stop<B>> {
        match self.special {
            true => self.drive(section, part, false).map(drop)?,
            false => {}
        }
        self.call(section, part).map(drop)
    }

    /// Visits an object without parts, whose callback in pre-order was called.
    #[cold]
    #[inline(never)]
    fn without_parts(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        part: Part<'a>,
        marked: bool,
    ) -> Result<(), Stop<B>> {
        let driven = self.drive(section, part, false);
        if marked {
            self.settle(object.ident(), part.region, driven.is_ok());
        }
        driven?;
        match self.options.order {
            WalkOrder::Pre => Ok(()),
            WalkOrder::Post => self.call(section, part).map(drop),
        }
    }

    /// Has the driver or the hook of an object's type visit its parts; false
    /// when neither is responsible. The cursor of the object is the last one.
    #[inline]
    fn ask(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<bool, Stop<B>> {
        let part = Part {
            met: Met::Object(object),
            region,
            is_key: false,
        };
        if self.drive(section, part, true)? {
            return Ok(true);
        }
        match self.hook(object) {
            Some(hook) => self.ask_hook(section, object, region, hook),
            None => Ok(false),
        }
    }

    #[inline]
    fn hook(&self, object: ObjRef<'a>) -> Option<&'static DynVisit> {
        let hook = object.info().hooks.visit.get()?;
        self.options.hooks.then_some(hook)
    }

    #[cold]
    #[inline(never)]
    fn ask_hook(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
        hook: &DynVisit,
    ) -> Result<bool, Stop<B>> {
        let mut visitor = HookVisitor {
            walker: self,
            asker: Some(object),
            has_cursor: true,
            region,
            stopped: None,
        };
        let key = object.info().key();
        let answer = hooks::run(section, DynVisit::NAME, key, || {
            hook.call(object.as_ref(), &mut visitor)
        });
        visitor.end(answer).map(|()| true)
    }

    /// Calls the driver, if it wants values of this type. `has_cursor` says
    /// that the last cursor is that of the value.
    fn drive(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        has_cursor: bool,
    ) -> Result<bool, Stop<B>> {
        let wants = |driver: &Driver<'_>| (driver.wanted)(part.met.type_index());
        let Some(driver) = self.driver.filter(wants) else {
            return Ok(false);
        };
        if self.drives >= driver.max_depth {
            return Err(Stop::Error(self.too_deep(driver.max_depth)));
        }
        self.drives += 1;
        let value = part.met.to_value();
        let mut visitor = HookVisitor {
            walker: self,
            asker: None,
            has_cursor,
            region: part.region,
            stopped: None,
        };
        let answer = access::outside(section, || (driver.callback)(&value, &mut visitor));
        let end = visitor.end(answer);
        self.drives -= 1;
        end.map(|()| true)
    }

    #[cold]
    fn too_deep(&self, limit: u32) -> Error {
        let text = format!("structural_visit: callbacks nest deeper than {limit} levels");
        Error::new(ErrorKind::Recursion, text).at(path_of(&self.stack))
    }

    /// Visits a part for the hook or callback of the driver that is running.
    fn visit_part(
        &mut self,
        section: &mut Section,
        part: &Value,
        region: RegionKind,
        has_cursor: bool,
        children_of: Option<Option<ObjRef<'a>>>,
    ) -> Result<(), Stop<B>> {
        let (floor, stepless) = (self.stack.len(), self.stepless);
        let part = Part::alone(self.parts.keep_value(part), region);
        if has_cursor
            && let Some(cursor) = self.stack.last_mut()
            && !cursor.lead_to(section, part.met)
        {
            self.stepless += 1;
        }
        let visited = match children_of {
            None => self.meet(section, part),
            Some(asker) => self.open(section, part, asker),
        };
        let visited = visited.and_then(|()| self.descend(section, floor));
        if visited.is_err() {
            // The hook may go on; what was open here no longer is.
            while self.stack.len() > floor
                && let Some(cursor) = self.stack.pop()
            {
                if cursor.marked {
                    self.settle(cursor.object().ident(), cursor.region, false);
                }
            }
        }
        self.stepless = stepless;
        visited
    }

    /// Opens a value without its callback: by the hook of its type, unless
    /// that hook asks.
    fn open(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        asker: Option<ObjRef<'a>>,
    ) -> Result<(), Stop<B>> {
        let Met::Object(object) = part.met else {
            return Ok(());
        };
        let Some(cursor) = Cursor::open(section, object, part, self.view) else {
            return Ok(());
        };
        // No callback follows when such a cursor is closed.
        self.stack.push(cursor.silent());
        if !asker.is_some_and(|asker| asker.same_as(object))
            && let Some(hook) = self.hook(object)
        {
            self.ask_hook(section, object, part.region, hook)?;
            self.stack.pop();
        }
        Ok(())
    }

    /// Whether the object is to be visited here.
    #[inline(always)]
    fn enter(
        &mut self,
        object: ObjRef<'a>,
        region: RegionKind,
        class: Class,
    ) -> Result<Entry, Stop<B>> {
        let once = self.options.sharing == Sharing::Once;
        // An object with one owner is met only once, unless the callback
        // gives it another owner. A cycle is entered at an object with two
        // owners, or goes through lists and dicts, which are marked in any
        // case; one that the callback makes is found in its second round. The
        // driver may ask for an object and come to it once more.
        let marked = object.is_shared() || is_mutable_container(class) || self.driver.is_some();
        // Where regions are told apart, one that has an owner with several
        // visits may be met in the same region each time.
        if !marked && self.options.sharing != Sharing::OncePerRegion {
            return Ok(Entry::Enter(false));
        }
        match self.marks.enter(object.ident(), !once) {
            Mark::Done if once => Ok(Entry::Pass),
            Mark::Open => Err(Stop::Error(cyclic(object).at(path_of(&self.stack)))),
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
        if self.met.enter(in_region(object.ident(), region), false) == Mark::Fresh {
            return Entry::Enter(true);
        }
        self.marks.leave(object.ident());
        Entry::Pass
    }

    /// Ends the visit of a marked object. Where the driver asked for it and the
    /// visit failed, it may be visited again.
    fn settle(&mut self, ident: u64, region: RegionKind, visited: bool) {
        self.marks.leave(ident);
        if !visited && self.driver.is_some() {
            self.marks.forget(ident);
            self.met.forget(in_region(ident, region));
        }
    }

    /// Leaves the object on top of the stack.
    #[inline(always)]
    fn close(&mut self, section: &mut Section) -> Result<(), Stop<B>> {
        let Some(cursor) = self.stack.pop() else {
            return Ok(());
        };
        let object = cursor.object();
        if cursor.marked {
            self.marks.leave(object.ident());
        }
        if cursor.silent || self.options.order == WalkOrder::Pre {
            return Ok(());
        }
        let part = Part {
            met: Met::Object(object),
            region: cursor.region,
            is_key: cursor.is_key,
        };
        self.call(section, part).map(drop)
    }

    /// Calls the callback; whether to go into the children.
    #[inline(always)]
    fn call(&mut self, section: &mut Section, part: Part<'a>) -> Result<bool, Stop<B>> {
        if !(self.wanted)(part.met.type_index()) {
            return Ok(true);
        }
        let visit = Visit {
            part,
            ancestors: &self.stack,
            stepless: self.stepless,
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

/// An object in a region, as the number of a mark.
fn in_region(ident: u64, region: RegionKind) -> u64 {
    ident * 4 + region as u64
}

/// The walk as a hook or a callback of the driver sees it.
struct HookVisitor<'w, 'a, 'f, B, W, F> {
    walker: &'w mut Walker<'a, 'f, B, W, F>,
    /// The object whose hook runs; None for a callback.
    asker: Option<ObjRef<'a>>,
    /// Whether the last cursor is that of the value.
    has_cursor: bool,
    /// Where the value was met.
    region: RegionKind,
    /// The end of the walk by a callback, and what the hook was shown for it.
    stopped: Option<(Value, Option<B>)>,
}

impl<'a, B, W, F> HookVisitor<'_, 'a, '_, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn visit_part(
        &mut self,
        part: &Value,
        region: RegionKind,
        children_of: Option<Option<ObjRef<'a>>>,
    ) -> Result<Option<Value>> {
        let (walker, has_cursor) = (&mut *self.walker, self.has_cursor);
        let visited = access::traversing(|section| {
            walker.visit_part(section, part, region, has_cursor, children_of)
        });
        match visited {
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

    /// What the answer of the hook means for the walk.
    fn end(self, answer: Result<Option<Value>>) -> Result<(), Stop<B>> {
        match (answer, self.stopped) {
            (Err(error), _) => Err(Stop::Error(error)),
            (Ok(None), _) => Ok(()),
            (Ok(Some(end)), Some((shown, result))) if end == shown => Err(Stop::Result(result)),
            (Ok(Some(end)), _) => Err(Stop::Result((self.walker.interrupts.adopt)(&end))),
        }
    }
}

impl<B, W, F> VisitCallback for HookVisitor<'_, '_, '_, B, W, F>
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
        let asker = self.asker;
        self.visit_part(value, region, Some(asker))
    }
}

/// What a thread keeps from one walk to the next.
#[derive(Default)]
struct Scratch {
    stack: Vec<Cursor<'static>>,
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
