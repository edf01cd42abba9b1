//! The engine of [`structural_walk`](crate::traverse::structural_walk) and
//! [`structural_visit`](crate::traverse::structural_visit): remembers the visited
//! objects, and selects callback, hook or visit of fields.

use std::cell::Cell;

use super::cursor::{Cursor, Part, View, cyclic, path_of};
use super::driver::{Asker, Driver, Request};
use super::marks::{Mark, Marks};
use super::options::{Sharing, WalkOptions, WalkOrder, WalkResult};
use super::recycle::recycle;
use super::visit::Visit;
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynVisit, TraversalHooks, VisitCallback};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Payload;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// Converts the results of callbacks for hooks of types: they are shown a value
/// for a result, and may end the walk with a value of their own.
#[derive(Debug)]
pub struct InterruptCodec<B> {
    /// Converts the result of a callback for hooks; never to None.
    pub to_value: fn(&B) -> Value,
    /// Converts the value of a hook to a result; None ends the walk without a result.
    pub from_value: fn(&Value) -> Option<B>,
}

impl<B> Default for InterruptCodec<B> {
    fn default() -> Self {
        InterruptCodec {
            to_value: |_| Value::from(true),
            from_value: |_| None,
        }
    }
}

/// A callback of [`structural_visit`](crate::traverse::structural_visit).
pub type DriveVisit<'f> = dyn Fn(&Value, &mut dyn VisitCallback) -> Result<Option<Value>> + 'f;

pub(super) fn drive(
    root: Value,
    options: WalkOptions,
    driver: Driver<'_, DriveVisit<'_>>,
) -> Result<Option<Value>> {
    let interrupts = InterruptCodec {
        to_value: Value::clone,
        from_value: |end| Some(end.clone()),
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

pub(super) fn run<B>(
    root: Value,
    options: WalkOptions,
    driver: Option<Driver<'_, DriveVisit<'_>>>,
    mut wanted: impl FnMut(Option<TypeIndex>) -> bool,
    interrupts: InterruptCodec<B>,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    let parts = Arena::default();
    // A walk inside the callback finds the cell empty and makes its own memory.
    let scratch = SCRATCH.try_with(Cell::take).ok().flatten();
    let scratch = scratch.unwrap_or_default();
    let hooks = TraversalHooks::current();
    let special = options.hooks && hooks.exist() || driver.is_some();
    let plain_wanted = special || wanted(None);
    let mut walker = Walker {
        options,
        view: View::of_compared(options.include_ignored),
        hooks,
        special,
        plain_wanted,
        skips_leaves: !plain_wanted && !options.include_ignored,
        marks_all: special || options.sharing == Sharing::OncePerRegion,
        driver,
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
    // At the end of a thread the memory is simply freed.
    let _ = SCRATCH.try_with(|cell| cell.set(Some(scratch)));
    match outcome {
        Ok(()) => Ok(None),
        Err(EarlyExit::Result(result)) => Ok(result),
        Err(EarlyExit::Error(error)) => Err(error),
    }
}

/// The reason why a walk ends early.
enum EarlyExit<B> {
    /// By a callback or, without a result, by a hook.
    Result(Option<B>),
    Error(Error),
}

/// One walk.
struct Walker<'a, 'f, B, W, F> {
    options: WalkOptions,
    view: View,
    hooks: TraversalHooks,
    /// True if hooks or the driver may control the visit below some values.
    special: bool,
    /// True if inline values are visited.
    plain_wanted: bool,
    /// True if an object without children causes no calls.
    skips_leaves: bool,
    driver: Option<Driver<'f, DriveVisit<'f>>>,
    /// True to mark objects with a single owner as well.
    marks_all: bool,
    wanted: W,
    callback: F,
    interrupts: InterruptCodec<B>,
    /// Owners of the parts passed in by hooks and the driver.
    parts: &'a Arena,
    stack: Vec<Cursor<'a>>,
    /// The number of cursors on the stack that are not steps of the path, because a
    /// hook visits a value outside of all fields.
    stepless: usize,
    /// Marks on the lists and dicts and on all objects with several owners.
    marks: Marks,
    /// Marks on the same objects for each kind of region, if regions are told
    /// apart.
    met: Marks,
}

/// The decision about an object on arrival.
enum Entry {
    /// It is visited. True if it has a mark now.
    Enter(bool),
    /// It was visited before.
    Pass,
}

impl<'a, B, W, F> Walker<'a, '_, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn run(&mut self, section: &mut Section, root: &'a Value) -> Result<(), EarlyExit<B>> {
        self.descend(section, Some(Part::alone(root, RegionKind::Use)), 0)
    }

    /// Visits a part, and visits and closes all objects open above a height. The only copy of
    /// the loop, which is large, for each callback.
    #[inline(never)]
    fn descend(
        &mut self,
        section: &mut Section,
        part: Option<Part<'a>>,
        floor: usize,
    ) -> Result<(), EarlyExit<B>> {
        let mut poll = Poll::default();
        let plain_wanted = self.plain_wanted;
        let mut first = part;
        loop {
            if let Some(part) = first.take() {
                self.meet(section, part)?;
                continue;
            }
            poll.step(section).map_err(EarlyExit::Error)?;
            if self.stack.len() == floor {
                return Ok(());
            }
            let Some(cursor) = self.stack.last_mut() else {
                return Ok(());
            };
            match cursor.next_object(section, plain_wanted) {
                Some((object, region)) => {
                    self.meet_object(section, object, Part::object(object, region))?;
                }
                None => match cursor.next(section) {
                    Some(part) => first = Some(part),
                    None => self.close(section)?,
                },
            }
        }
    }

    #[inline(always)]
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<(), EarlyExit<B>> {
        if part.is_key && !self.options.keys {
            return Ok(());
        }
        match part.met {
            PartRef::Object(object) => self.meet_object(section, object, part),
            PartRef::Plain(_) => self.leaf(section, part),
        }
    }

    /// Meets an object, which is `part`.
    #[inline(always)]
    fn meet_object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        part: Part<'a>,
    ) -> Result<(), EarlyExit<B>> {
        let info = object.info();
        if info.has_children {
            prefetch_ahead(object);
        }
        let class = info.class();
        let is_node = matches!(class, Payload::Plain | Payload::Node);
        if !is_node {
            // These are plain values: it must not be visible whether a string is
            // long enough to be an object.
            if matches!(class, Payload::Str | Payload::Bytes | Payload::BigInt) {
                return self.leaf(section, part);
            }
            // Many nodes have an empty array, not worth a mark.
            let is_empty = match class {
                Payload::Sequence => object.items().is_some_and(<[Value]>::is_empty),
                Payload::Mapping | Payload::Mutable => false,
                _ => true,
            };
            if is_empty && !self.special && !(self.wanted)(Some(info.index())) {
                return Ok(());
            }
        }
        let Entry::Enter(marked) = self.enter(object, part.region, class)? else {
            return Ok(());
        };
        let silent = self.options.order == WalkOrder::Pre;
        if silent && !self.call(section, part)? {
            if marked {
                self.marks.leave(object.ident());
            }
            return Ok(());
        }
        if is_node && !info.has_children && self.skips_leaves {
            if marked {
                self.marks.leave(object.ident());
            }
            if !silent {
                self.call(section, part)?;
            }
            return Ok(());
        }
        if is_node {
            let cursor = if self.options.include_ignored {
                Cursor::of_node(object, part, View::WithIgnored)
            } else {
                Cursor::of_compared(object, info, part)
            };
            self.stack.push(cursor.flagged(marked, silent));
        } else {
            let Some(cursor) = Cursor::of_container(section, object, part, self.view) else {
                return self.without_parts(section, object, part, marked);
            };
            self.stack.push(cursor.flagged(marked, silent));
        }
        if self.special && self.ask(section, object, part.region)? {
            return self.close(section);
        }
        Ok(())
    }

    /// Visits a plain value.
    #[inline(always)]
    fn leaf(&mut self, section: &mut Section, part: Part<'a>) -> Result<(), EarlyExit<B>> {
        if self.special {
            self.drive(section, part, false)?;
        }
        self.call(section, part).map(drop)
    }

    /// Visits an object without parts, after its callback in pre-order.
    #[cold]
    #[inline(never)]
    fn without_parts(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        part: Part<'a>,
        marked: bool,
    ) -> Result<(), EarlyExit<B>> {
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

    /// Lets the driver or the hook of an object's type visit its parts. Returns false
    /// if neither is responsible. The cursor of the object is the last cursor.
    #[inline]
    fn ask(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<bool, EarlyExit<B>> {
        let part = Part {
            met: PartRef::Object(object),
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
        let hook = self.hooks.visit(object.info())?;
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
    ) -> Result<bool, EarlyExit<B>> {
        let asker = Asker {
            hooked: Some(object),
            has_cursor: true,
            region,
        };
        let mut visitor = HookVisitor::new(self, asker);
        let key = object.info().key();
        let answer = hooks::run(section, DynVisit::NAME, key, || {
            hook.call(object.as_ref(), &mut visitor)
        });
        visitor.end(answer).map(|()| true)
    }

    /// Calls the driver, if values of this type are wanted. `has_cursor` is true if the
    /// last cursor belongs to the value.
    fn drive(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        has_cursor: bool,
    ) -> Result<bool, EarlyExit<B>> {
        let wanted = |driver: &&mut Driver<'_, _>| driver.wants(part.met.type_index());
        let Some(driver) = self.driver.as_mut().filter(wanted) else {
            return Ok(false);
        };
        driver
            .enter("structural_visit", || path_of(&self.stack))
            .map_err(EarlyExit::Error)?;
        let callback = driver.callback;
        let value = part.met.to_value();
        let asker = Asker {
            hooked: None,
            has_cursor,
            region: part.region,
        };
        let mut visitor = HookVisitor::new(self, asker);
        let answer = access::outside(section, || callback(&value, &mut visitor));
        let end = visitor.end(answer);
        if let Some(driver) = &mut self.driver {
            driver.leave();
        }
        end.map(|()| true)
    }

    /// Visits a part for the running hook or callback of the driver.
    fn visit_part(
        &mut self,
        section: &mut Section,
        part: &Value,
        region: RegionKind,
        asker: Asker<'a>,
        request: Request,
    ) -> Result<(), EarlyExit<B>> {
        let (floor, stepless) = (self.stack.len(), self.stepless);
        let part = Part::alone(self.parts.keep_value(part), region);
        if asker.has_cursor
            && let Some(cursor) = self.stack.last_mut()
            && !cursor.lead_to(section, part.met)
        {
            self.stepless += 1;
        }
        let visited = match request {
            Request::Part => self.descend(section, Some(part), floor),
            Request::Children => self
                .open(section, part, asker)
                .and_then(|()| self.descend(section, None, floor)),
        };
        if visited.is_err() {
            // The hook may continue; objects opened here are no longer open.
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

    /// Opens a value without its callback: by the hook of its type, unless this hook is
    /// asking.
    fn open(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        asker: Asker<'a>,
    ) -> Result<(), EarlyExit<B>> {
        let PartRef::Object(object) = part.met else {
            return Ok(());
        };
        let Some(cursor) = Cursor::open(section, object, part, self.view) else {
            return Ok(());
        };
        // No callback follows the closing of a silent cursor.
        self.stack.push(cursor.silent());
        if !asker.is_hook_of(object)
            && let Some(hook) = self.hook(object)
        {
            self.ask_hook(section, object, part.region, hook)?;
            self.stack.pop();
        }
        Ok(())
    }

    /// Decides whether to visit the object here.
    #[inline(always)]
    fn enter(
        &mut self,
        object: ObjRef<'a>,
        region: RegionKind,
        class: Payload,
    ) -> Result<Entry, EarlyExit<B>> {
        let once = self.options.sharing == Sharing::Once;
        // An object with one owner is reached only once, unless the callback gives the
        // object another owner. A cycle is entered at an object with two owners, or
        // leads through lists and dicts, which are always marked; a cycle created by
        // the callback is found in its second round. A hook or the driver may ask for
        // an object again.
        //
        // If regions are told apart, the owner of an object may be visited
        // several times, and the object may be met in the same region each
        // time.
        if !object.is_shared() && !class.is_mutable() && !self.marks_all {
            return Ok(Entry::Enter(false));
        }
        match self.marks.enter(object.ident(), !once) {
            Mark::Done if once => Ok(Entry::Pass),
            Mark::Open => Err(EarlyExit::Error(cyclic(object).at(path_of(&self.stack)))),
            Mark::Fresh | Mark::Done if self.options.sharing == Sharing::OncePerRegion => {
                Ok(self.enter_region(object, region))
            }
            Mark::Fresh | Mark::Done => Ok(Entry::Enter(true)),
        }
    }

    /// Decides whether to visit an object just entered in this region.
    #[cold]
    #[inline(never)]
    fn enter_region(&mut self, object: ObjRef<'a>, region: RegionKind) -> Entry {
        if self.met.enter(in_region(object.ident(), region), false) == Mark::Fresh {
            return Entry::Enter(true);
        }
        self.marks.leave(object.ident());
        Entry::Pass
    }

    /// Ends the visit of a marked object. After a failed visit on request of the
    /// driver, the object may be visited again.
    fn settle(&mut self, ident: u64, region: RegionKind, visited: bool) {
        self.marks.leave(ident);
        if !visited && self.driver.is_some() {
            self.marks.forget(ident);
            self.met.forget(in_region(ident, region));
        }
    }

    /// Leaves the object on top of the stack.
    #[inline(always)]
    fn close(&mut self, section: &mut Section) -> Result<(), EarlyExit<B>> {
        let Some(cursor) = self.stack.pop() else {
            return Ok(());
        };
        let object = cursor.object();
        if cursor.marked {
            self.marks.leave(object.ident());
        }
        if cursor.silent {
            return Ok(());
        }
        let part = Part {
            met: PartRef::Object(object),
            region: cursor.region,
            is_key: cursor.is_key,
        };
        self.call(section, part).map(drop)
    }

    /// Calls the callback. Returns true to visit the children.
    #[inline(always)]
    fn call(&mut self, section: &mut Section, part: Part<'a>) -> Result<bool, EarlyExit<B>> {
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
            Ok(WalkResult::Interrupt(result)) => Err(EarlyExit::Result(Some(result))),
            Err(error) => Err(EarlyExit::Error(error)),
        }
    }
}

/// An object in a region, as the number of a mark.
fn in_region(ident: u64, region: RegionKind) -> u64 {
    ident * 4 + region as u64
}

/// The walk as seen by a hook or a callback of the driver.
struct HookVisitor<'w, 'a, 'f, B, W, F> {
    walker: &'w mut Walker<'a, 'f, B, W, F>,
    asker: Asker<'a>,
    /// The end of the walk by a callback, and the value shown to the hook for it.
    stopped: Option<(Value, Option<B>)>,
}

impl<'w, 'a, 'f, B, W, F> HookVisitor<'w, 'a, 'f, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn new(walker: &'w mut Walker<'a, 'f, B, W, F>, asker: Asker<'a>) -> Self {
        HookVisitor {
            walker,
            asker,
            stopped: None,
        }
    }

    fn visit_part(
        &mut self,
        value: &Value,
        region: RegionKind,
        request: Request,
    ) -> Result<Option<Value>> {
        let (walker, asker) = (&mut *self.walker, self.asker);
        let visited =
            access::traversing(|section| walker.visit_part(section, value, region, asker, request));
        match visited {
            Ok(()) => Ok(None),
            Err(EarlyExit::Error(error)) => Err(error),
            Err(EarlyExit::Result(result)) => {
                let show = self.walker.interrupts.to_value;
                let shown = result.as_ref().map_or_else(|| Value::from(true), show);
                self.stopped = Some((shown.clone(), result));
                Ok(Some(shown))
            }
        }
    }

    /// Turns the result of the hook into the next step of the walk.
    fn end(self, answer: Result<Option<Value>>) -> Result<(), EarlyExit<B>> {
        match (answer, self.stopped) {
            (Err(error), _) => Err(EarlyExit::Error(error)),
            (Ok(None), _) => Ok(()),
            (Ok(Some(end)), Some((shown, result))) if end == shown => {
                Err(EarlyExit::Result(result))
            }
            (Ok(Some(end)), _) => Err(EarlyExit::Result((self.walker.interrupts.from_value)(&end))),
        }
    }
}

impl<B, W, F> VisitCallback for HookVisitor<'_, '_, '_, B, W, F>
where
    W: FnMut(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
{
    fn region(&self) -> RegionKind {
        self.asker.region
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        self.visit_part(value, region, Request::Part)
    }

    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        self.visit_part(value, region, Request::Children)
    }
}

/// Memory kept by a thread from one walk to the next.
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
    use super::SCRATCH;
    use crate::kernel::container::Array;
    use crate::traverse::{WalkResult, structural_walk};

    #[test]
    fn a_walk_leaves_its_memory_to_the_next_one() {
        let root = Array::from([1i64, 2]);
        let walk = || structural_walk(root.clone(), |_| Ok(WalkResult::<()>::Advance));
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
