//! Hash and digest: one walk over the contents compared by equality.
//!
//! Equal values produce the same stream of contributions. The walk therefore mirrors
//! the equality walk step by step: the same order, the same bindings at the same
//! moments. Results of shared nodes are remembered under the same conditions, and two
//! more. A node that made a binding is visited a second time: its first visit names the
//! objects bound, later visits only use these names. A node that uses a scope's
//! variables is remembered per scope level, because variables are named by distance.

mod binders;
mod cache;
mod cache_policy;
mod contents;
mod hooks;
mod memo;
mod plain;
mod report;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::CompareOptions;
use super::environments::Environments;
use super::ident_map::IdentMap;
use super::leaf;
use super::levels::{Deps, Levels, ValidUntil};
use super::open::{Entry, OpenSet};
use super::plain_values;
use super::scope::Region;
use super::sink::{Form, Part, Sink};
use super::snapshots::{Snapshots, Watch, held_by};
use super::var_numbering::VarNumbering;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::{Payload, VisitShape};
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::pages::empty;
use crate::kernel::value::Value;
use cache::{HashCache, Parts};

/// Determines how a frame uses the hash returned by the frame above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    Fields,
    /// The next hash belongs to the last field: the object is not read again, which
    /// saves a chain its second trip through memory.
    LastField,
    Items,
    /// Map values; `extra` is the start of the positions in `orders`.
    Entries,
    /// The hash is remembered. `extra` has the bits [`MARKED`] and
    /// [`WAS_VOID`].
    EndMemo,
    /// The fields of a variable or dag node are hashed; `extra` is the context
    /// outside.
    EndBinding,
    EndScope,
    /// The contents of a list or dict are hashed.
    EndMutable,
    /// The object is no longer open.
    EndOpen,
    /// The call of a custom hash, for the path only.
    HookStep,
}

/// The object of an `EndMemo` or `EndMutable` frame is marked as open.
const MARKED: u32 = 1;
/// An earlier hash of the object has become void.
const WAS_VOID: u32 = 2;

struct Frame<'a, Acc> {
    object: ObjRef<'a>,
    acc: Acc,
    next: u32,
    extra: u32,
    region: Region,
    job: Job,
}

/// A remembered result.
struct CachedHash<Out> {
    out: Out,
    needs: ValidUntil,
    date: u64,
    /// The scope level and the nesting of hooks at the object's place: bound objects
    /// are named by distance.
    level: u32,
    nesting: u32,
    /// The deepest context whose names were used.
    context: u32,
    /// True if any object inside can change.
    can_change: bool,
}

/// A use of a variable, outside of hooks, and the scope level at the use.
struct RecentUse<Out> {
    ident: u64,
    scopes: u32,
    binding: u32,
    /// The level of the binding.
    level: u32,
    out: Out,
}

/// The tables of a hash walk, reused from call to call.
pub(super) struct HashTables<Out, Lasting> {
    numbering: VarNumbering<Out>,
    known: IdentMap,
    results: Vec<CachedHash<Out>>,
    /// Hashes by the names of the variables below, together with the newest dag node on
    /// which the hash depends, as in its needs.
    environments: Environments<(Out, u32)>,
    orders: Vec<u32>,
    touched: Vec<(Deps, u32, u32)>,
    /// The number of times that the walk met an object that can change.
    changes: u32,
    /// The objects being hashed: lists, dicts and, if cycles may lead through fields,
    /// all shared objects.
    open: OpenSet,
    /// The number of open lists and dicts.
    containers: u32,
    levels: Levels,
    /// The objects named by their fields, by these.
    named: HashMap<Lasting, u64, RandomState>,
    /// Survives from walk to walk.
    kept: HashCache<Lasting>,
}

impl<Out: Copy, Lasting> HashTables<Out, Lasting> {
    pub(super) fn new() -> Self {
        HashTables {
            numbering: VarNumbering::new(),
            known: IdentMap::default(),
            results: Vec::new(),
            environments: Environments::default(),
            orders: Vec::new(),
            touched: Vec::new(),
            changes: 0,
            open: OpenSet::default(),
            containers: 0,
            levels: Levels::new(),
            named: HashMap::default(),
            kept: HashCache::default(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.numbering.clear();
        self.known.clear();
        empty(&mut self.results);
        self.environments.clear();
        self.orders.clear();
        self.touched.clear();
        self.open.clear();
        self.containers = 0;
        self.levels.reset();
        self.named.clear();
    }
}

enum Step<'a, Out> {
    /// The object's hash is known.
    Done(Out),
    /// A frame was pushed; there is no result yet.
    Open,
    /// This child comes next.
    Child(ObjRef<'a>, Region),
}

pub(super) type TablesOf<S> = HashTables<<S as Sink>::Out, <S as Sink>::Lasting>;

/// One hash walk.
pub(super) struct Hasher<'a, S: Sink> {
    arena: &'a Arena,
    options: CompareOptions,
    snapshots: Option<Snapshots<'a>>,
    sink: S,
    stack: Vec<Frame<'a, S::Acc>>,
    tables: Box<TablesOf<S>>,
    hook_depth: u32,
    /// True if a hook asked unplanned alternatives, which makes the hash void.
    pub(super) unplanned: bool,
    /// The variable that is about to be bound and named by its fields.
    naming: Option<u64>,
    /// The last use of a variable, until a new binding or the end of a scope: most uses
    /// in a row are of the same variable.
    recent: Option<RecentUse<S::Out>>,
    pub(super) visits: u64,
    poll: Poll,
    /// For a key: the objects met that can change.
    pub(super) watch: Watch,
    /// For a key: the objects searched below objects with hooks.
    below: HashSet<u64, RandomState>,
    pub(super) parts: Parts,
}

impl<'a, S: Sink> Hasher<'a, S> {
    pub(super) fn new(
        arena: &'a Arena,
        options: CompareOptions,
        snapshots: Option<Snapshots<'a>>,
        watch: Watch,
        sink: S,
        mut tables: Box<TablesOf<S>>,
    ) -> Self {
        tables.kept.renew();
        Hasher {
            arena,
            options,
            snapshots,
            sink,
            stack: Vec::new(),
            tables,
            hook_depth: 0,
            unplanned: false,
            naming: None,
            recent: None,
            visits: 0,
            poll: Poll::default(),
            watch,
            below: HashSet::default(),
            parts: Parts::default(),
        }
    }

    pub(super) fn into_tables(mut self) -> Box<TablesOf<S>> {
        self.tables.clear();
        self.tables
    }

    /// The hash of a whole value.
    pub(super) fn whole(
        &mut self,
        section: &mut Section,
        value: &'a Value,
        region: Region,
    ) -> Result<S::Hash> {
        let out = self.value(section, value, region)?;
        Ok(self.sink.finish(out))
    }

    fn value(&mut self, section: &mut Section, value: &'a Value, region: Region) -> Result<S::Out> {
        let mut acc = self.sink.open_form(Form::Root);
        match value.object_ref() {
            None => self.plain(&mut acc, value),
            Some(object) => {
                let out = self.run(section, object, region)?;
                self.sink.child(&mut acc, out);
            }
        }
        Ok(self.sink.close(acc))
    }

    fn run(&mut self, section: &mut Section, object: ObjRef<'a>, region: Region) -> Result<S::Out> {
        let base = self.stack.len();
        self.run_above(section, object, region, base)
    }

    /// Hashes an object, and continues with the frames above a height.
    fn run_above(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: Region,
        base: usize,
    ) -> Result<S::Out> {
        let (mut object, mut region) = (object, region);
        loop {
            // A keeper of hashes may hold a lock of its own.
            if self.poll.step_to_release(section, || !S::KEEPS)? {
                return access::without_host(section, |section| {
                    self.run_above(section, object, region, base)
                });
            }
            let mut finished = match self.enter(section, object, region, base)? {
                Step::Child(next, next_region) => {
                    (object, region) = (next, next_region);
                    continue;
                }
                Step::Done(out) => Some(out),
                Step::Open => None,
            };
            loop {
                if self.stack.len() == base
                    && let Some(out) = finished
                {
                    return Ok(out);
                }
                match self.advance(section, finished)? {
                    Step::Child(next, next_region) => {
                        (object, region) = (next, next_region);
                        break;
                    }
                    Step::Done(out) => finished = Some(out),
                    Step::Open => finished = None,
                }
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, job: Job, object: ObjRef<'a>, acc: S::Acc, region: Region) {
        self.stack.push(Frame {
            object,
            acc,
            next: 0,
            extra: 0,
            region,
            job,
        });
    }

    #[inline(always)]
    fn enter(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: Region,
        base: usize,
    ) -> Result<Step<'a, S::Out>> {
        self.visits += 1;
        let info = object.info();
        if let Some(out) = self.kept(object, info, region) {
            return Ok(Step::Done(out));
        }
        if info.class() == Payload::Plain && self.snapshots.is_none() {
            if info.has_children
                && object.is_shared()
                && !leaf::holds_few_leaves(section, object, info)
                && let Some(out) = self.remembered(object, region)?
            {
                return Ok(Step::Done(out));
            }
            return self.open_fields(section, object, info, region, base);
        }
        self.enter_other(section, object, info, region, base)
    }

    /// Watches an object whose fields are read, if the fields can change.
    #[inline(always)]
    pub(super) fn watch_fields(&mut self, object: ObjRef<'a>, info: &'static TypeInfo) {
        if S::KEEPS && info.comparison_may_change() {
            self.watch.meet(object);
            self.note_change();
        }
    }

    /// Returns the remembered hash; without one, begins to collect for it.
    fn remembered(&mut self, object: ObjRef<'a>, region: Region) -> Result<Option<S::Out>> {
        match self.recall(object, region) {
            Ok(out) => Ok(Some(out)),
            Err(was_void) => {
                // A cycle is entered at an object with two owners, one of them inside
                // the cycle. It is therefore enough to mark objects that are remembered
                // anyway.
                let containers = self.tables.containers;
                let marked = access::may_have_cycles() && self.open(object, containers)?;
                self.collect(object, region, marked, was_void);
                Ok(None)
            }
        }
    }

    /// The remembered hash; the error is true if a remembered hash has become void.
    #[inline]
    fn recall(&mut self, object: ObjRef<'a>, region: Region) -> std::result::Result<S::Out, bool> {
        let tables = &mut *self.tables;
        if let Some(index) = tables.known.get(object.ident()) {
            let cached = &tables.results[index as usize];
            let highest = cached.needs.used.highest();
            let holds = tables.levels.holds(cached.needs, cached.date, region)
                && (highest.is_none_or(|level| level == 0)
                    || cached.level == tables.levels.current())
                && (highest.is_none()
                    || (cached.nesting == tables.numbering.nesting()
                        && tables.numbering.knows(cached.context)));
            if holds {
                tables.levels.use_result(cached.needs, region);
                tables.numbering.use_context(cached.context);
                let out = cached.out;
                let (needs, can_change) = (cached.needs, cached.can_change);
                self.note_recalled(Some(needs), can_change, region);
                return Ok(out);
            }
            let out = tables.recall_alike(object.ident(), region);
            if out.is_some() {
                self.note_recalled(None, true, region);
            }
            return out.ok_or(true);
        }
        Err(false)
    }

    /// Begins to collect the dependencies of the object's hash.
    fn collect(&mut self, object: ObjRef<'a>, region: Region, marked: bool, was_void: bool) {
        let tables = &mut *self.tables;
        let before = tables.levels.begin();
        let context = tables.numbering.begin_use();
        tables.touched.push((before, context, tables.changes));
        let acc = self.sink.mark();
        self.stack.push(Frame {
            object,
            acc,
            next: 0,
            extra: (u32::from(marked) * MARKED) | (u32::from(was_void) * WAS_VOID),
            region,
            job: Job::EndMemo,
        });
    }

    /// Marks an object as being hashed, inside this many containers. Returns false if
    /// the object is met again around a container, which will report the error.
    #[inline(never)]
    fn open(&mut self, object: ObjRef<'a>, containers: u32) -> Result<bool> {
        match self.tables.open.enter(object.ident(), containers) {
            Entry::Fresh => Ok(true),
            Entry::Around => Ok(false),
            Entry::Cycle => {
                let text = format!("cyclic {} cannot be hashed", object.info().key());
                Err(self.error(ErrorKind::Value, text))
            }
        }
    }

    /// Marks an object that is not remembered until it is hashed, if a cycle may be
    /// entered at the object.
    #[inline(always)]
    fn open_unremembered(&mut self, object: ObjRef<'a>, region: Region) -> Result<()> {
        if access::may_have_cycles() {
            return self.open_now(object, region);
        }
        Ok(())
    }

    #[inline(never)]
    fn open_now(&mut self, object: ObjRef<'a>, region: Region) -> Result<()> {
        if object.is_shared() && self.open(object, self.tables.containers)? {
            let acc = self.sink.mark();
            self.push(Job::EndOpen, object, acc, region);
        }
        Ok(())
    }

    /// Hashes fields up to a child that needs a visit.
    #[inline(always)]
    fn fields(
        &mut self,
        section: &Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
        from: u32,
        acc: &mut S::Acc,
    ) -> Result<Option<(ObjRef<'a>, Region, u32)>> {
        let fields = object.visited_with(info);
        let mut position = from as usize;
        while let Some((slot, loaded)) = fields.get(section, position) {
            position += 1;
            let child = self.part(acc, loaded);
            let Some(child) = child else { continue };
            let region = region.of_field(slot.flag, self.tables.levels.current());
            match self.leaf(section, child, region) {
                Some(out) => self.sink.child(acc, out),
                None => return Ok(Some((child, region, position as u32))),
            }
        }
        Ok(None)
    }

    /// The hash of a node that needs no frame: plain nodes without children, and
    /// already bound variables without fields.
    #[inline(always)]
    fn leaf(&mut self, section: &Section, object: ObjRef<'a>, region: Region) -> Option<S::Out> {
        let info = object.info();
        if info.has_children {
            prefetch_ahead(object);
            return None;
        }
        if info.class() == Payload::Plain {
            if self.snapshots.is_some() {
                return None;
            }
            self.watch_fields(object, info);
            self.visits += 1;
            let mut acc = self.sink.open_type(info);
            let fields = object.visited_with(info);
            let mut position = 0;
            while let Some((_, loaded)) = fields.get(section, position) {
                position += 1;
                // A node of this shape has no children to return.
                let _ = self.part(&mut acc, loaded);
            }
            return Some(self.sink.close(acc));
        }
        if info.shape() == VisitShape::Var {
            if let Some(out) = self.used_again(object, region) {
                self.visits += 1;
                return Some(out);
            }
            let index = self.bound(object, region)?;
            self.visits += 1;
            return Some(self.occurrence(object, index, region));
        }
        None
    }

    /// Adds a field that needs no visit; otherwise returns the child.
    #[inline(always)]
    fn part(&mut self, acc: &mut S::Acc, loaded: Loaded<'a, '_>) -> Option<ObjRef<'a>> {
        plain_values::add_loaded(&mut self.sink, acc, loaded)
    }

    /// Adds a plain value to its parent. Callers visit objects instead.
    #[inline]
    fn plain(&mut self, acc: &mut S::Acc, value: &Value) {
        plain_values::add_inline(&mut self.sink, acc, value);
    }

    fn enter_other(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
        base: usize,
    ) -> Result<Step<'a, S::Out>> {
        match info.class() {
            Payload::Plain | Payload::Node => self.enter_node(section, object, info, region, base),
            Payload::Incomparable => {
                let name = Value::from(object.to_ref()).type_name();
                Err(self.error(
                    ErrorKind::Type,
                    format!("type {name} does not support structural hashing"),
                ))
            }
            Payload::Mutable => self.enter_mutable(section, object, info, region),
            Payload::Sequence | Payload::Mapping => {
                if object.is_shared()
                    && let Some(out) = self.remembered(object, region)?
                {
                    return Ok(Step::Done(out));
                }
                self.enter_content(section, object, info, region)
            }
            _ => Ok(Step::Done(self.native(object, info))),
        }
    }

    fn enter_mutable(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Step<'a, S::Out>> {
        if S::KEEPS {
            self.watch.meet(object);
            self.note_change();
        }
        let content = held_by(section, self.arena, self.snapshots, object);
        let mut acc = self.sink.open_type(info);
        self.sink.word(&mut acc, Part::Length, 0);
        if let Some(out) = self.few_plain(content)? {
            self.sink.child(&mut acc, out);
            return Ok(Step::Done(self.sink.close(acc)));
        }
        self.sink.abandon(acc);
        let shared = object.is_shared();
        let mut was_void = false;
        if shared {
            match self.recall(object, region) {
                Ok(out) => return Ok(Step::Done(out)),
                Err(void) => was_void = void,
            }
        }
        // Objects present from the start lead back only by a write to a field.
        let marked = object.may_lead_back() || shared && access::may_have_cycles();
        if marked {
            self.open(object, 0)?;
            self.tables.containers += 1;
        }
        if shared {
            self.collect(object, region, false, was_void);
        }
        self.begin_part(info);
        self.note_change();
        let mut acc = self.sink.open_type(info);
        self.sink.word(&mut acc, Part::Length, 0);
        self.stack.push(Frame {
            object,
            acc,
            next: 0,
            extra: u32::from(marked) * MARKED,
            region,
            job: Job::EndMutable,
        });
        self.enter_content(section, content, content.info(), region)
    }

    fn close_container(&mut self, object: ObjRef<'a>) {
        self.tables.open.leave(object.ident());
        self.tables.containers -= 1;
    }

    fn native(&mut self, object: ObjRef<'a>, info: &'static TypeInfo) -> S::Out {
        let skip_tensor_content = self.options.skip_tensor_content;
        plain_values::of_native(&mut self.sink, object, info, skip_tensor_content)
    }

    /// Passes a finished child to the top frame and continues with it.
    #[inline(always)]
    fn advance(&mut self, section: &Section, finished: Option<S::Out>) -> Result<Step<'a, S::Out>> {
        let Some(frame) = self.stack.last_mut() else {
            return Ok(Step::Open);
        };
        if frame.job == Job::LastField
            && let Some(out) = finished
        {
            let (object, region, mut acc) = (frame.object, frame.region, frame.acc);
            self.stack.pop();
            self.sink.child(&mut acc, out);
            let out = self.sink.close(acc);
            let info = object.info();
            return Ok(Step::Done(self.end_part(object, info, region, out)));
        }
        if frame.job != Job::Fields {
            return self.advance_other(section, finished);
        }
        let (object, region, from, mut acc) = (frame.object, frame.region, frame.next, frame.acc);
        if let Some(out) = finished {
            self.sink.child(&mut acc, out);
        }
        match self.fields(section, object, object.info(), region, from, &mut acc)? {
            None => {
                self.stack.pop();
                let out = self.sink.close(acc);
                let info = object.info();
                Ok(Step::Done(self.end_part(object, info, region, out)))
            }
            Some((child, child_region, next)) => {
                if let Some(frame) = self.stack.last_mut() {
                    (frame.acc, frame.next) = (acc, next);
                    frame.job = fields_from(object.info(), next);
                }
                Ok(Step::Child(child, child_region))
            }
        }
    }

    fn advance_other(
        &mut self,
        section: &Section,
        finished: Option<S::Out>,
    ) -> Result<Step<'a, S::Out>> {
        let Some(frame) = self.stack.last() else {
            return Ok(Step::Open);
        };
        let (job, object, region, mut acc) = (frame.job, frame.object, frame.region, frame.acc);
        let extra = frame.extra;
        match job {
            Job::Items | Job::Entries => {
                if let Some(out) = finished {
                    self.sink.child(&mut acc, out);
                }
                return self.elements(section, acc);
            }
            Job::Fields | Job::LastField | Job::HookStep => return Ok(Step::Open),
            _ => {}
        }
        // The frames that finish an object always receive a hash.
        let Some(out) = finished else {
            return Ok(Step::Open);
        };
        self.stack.pop();
        match job {
            Job::EndMemo => {
                if extra & MARKED != 0 {
                    self.tables.open.leave(object.ident());
                }
                let kept = self.sink.keep(out);
                self.tables
                    .remember(object.ident(), kept, region, extra & WAS_VOID != 0);
                Ok(Step::Done(out))
            }
            Job::EndScope => {
                self.recent = None;
                self.tables.numbering.close_scope(&mut self.tables.levels);
                Ok(Step::Done(self.sink.seal(out)))
            }
            Job::EndMutable => {
                if extra & MARKED != 0 {
                    self.close_container(object);
                }
                self.sink.child(&mut acc, out);
                let out = self.sink.close(acc);
                Ok(Step::Done(self.end_part(
                    object,
                    object.info(),
                    region,
                    out,
                )))
            }
            Job::EndOpen => {
                self.tables.open.leave(object.ident());
                Ok(Step::Done(out))
            }
            _ => {
                // The object's name may contain the fields at several places.
                let out = self.sink.seal(out);
                let out = self.sink.keep(out);
                self.sink.abandon(acc);
                Ok(Step::Done(self.bind(object, region, extra, out)))
            }
        }
    }

    /// Drops the frames above a height. After an error, which the hook may handle, all
    /// parts begun by these frames count as ended.
    fn leave_frames(&mut self, height: usize) {
        self.recent = None;
        while self.stack.len() > height {
            let Some(frame) = self.stack.pop() else {
                break;
            };
            self.sink.abandon(frame.acc);
            let tables = &mut *self.tables;
            match frame.job {
                Job::EndMemo => {
                    let nothing = (Deps::NOTHING, 0, 0);
                    let (before, context, _) = tables.touched.pop().unwrap_or(nothing);
                    tables.numbering.end_use(context);
                    tables.levels.end(before);
                    if frame.extra & MARKED != 0 {
                        tables.open.leave(frame.object.ident());
                    }
                }
                Job::EndScope => tables.numbering.close_scope(&mut tables.levels),
                Job::EndMutable if frame.extra & MARKED != 0 => self.close_container(frame.object),
                Job::EndOpen => tables.open.leave(frame.object.ident()),
                Job::Entries => tables.orders.truncate(frame.extra as usize),
                _ => {}
            }
        }
    }
}

/// Determines how a frame continues after a child; `next` is the field after the child.
#[inline(always)]
fn fields_from(info: &TypeInfo, next: u32) -> Job {
    if (next as usize) < info.visited.len() {
        Job::Fields
    } else {
        Job::LastField
    }
}
