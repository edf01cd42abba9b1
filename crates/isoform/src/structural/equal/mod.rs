//! Equality and first mismatch: one walk, with an optional recorder.
//!
//! The walk keeps an explicit stack of frames. Iterating frames (fields, elements,
//! entries) are on top of finishing frames, which act once the iteration above has
//! succeeded (remember a proven pair, record a binding, end a scope). Without the
//! recorder, a node's last child replaces the node's frame, and a chain that leans
//! either way needs no stack at all. With the recorder, every frame stays, and the
//! frames spell the access path.

mod binders;
mod holes;
mod hooks;
mod maps;
mod plain;
mod proofs;
mod report;
mod skip;

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

pub(crate) use holes::{Filled, Holes, VarPair as FilledPair};

use super::CompareOptions;
use super::bindings::Bindings;
use super::effects::{EffectTable, Place};
use super::environments::Environments;
use super::leaf;
use super::levels::{Deps, Levels};
use super::memo::PairMemo;
use super::mismatch::{FirstDifference, Reason};
use super::open::OpenSet;
use super::plain_values::few_plain_equal;
use super::scope::Region;
use super::snapshots::{Snapshots, held_by};
use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::{Payload, VisitShape};
use crate::kernel::object::pair::{FieldPair, ObjPair};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessStep;
use crate::kernel::value::Value;

/// The sides' places in a binding.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// The result of comparing two variables.
enum VarPair {
    Equal,
    Different,
    /// Neither variable has a binding that applies at this place.
    Unbound,
}

/// The job of a frame when it is on top of the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    /// Compares the fields starting at `next`.
    Fields,
    /// As `Fields`, for plain nodes.
    Plain,
    /// Compares the elements starting at `next`.
    Items,
    /// Compares the map values starting at `next`; `extra` is the position of
    /// the matched positions in [`Tables::pairs`].
    Entries,
    /// The pair is proven. `extra` has bits of [`proofs`], `next` is the
    /// previous state of the bindings.
    EndMemo,
    /// The variables' own fields are equal. `extra` is the number of bindings of inner
    /// scopes before the fields were visited.
    EndVar,
    /// The dag nodes' fields are equal. `next` as for `EndMemo`.
    EndDag,
    EndScope,
    /// The objects are no longer open. `extra` is 1 for lists and dicts.
    EndOpen,
    /// The call of a hook: only names the path's step, by `extra`.
    HookStep,
    /// Compares the fields of a hole and of the object to fill it, starting at `next`,
    /// out of the first `extra` fields declared by their classes.
    Hole,
}

#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    l: ObjRef<'a>,
    r: ObjRef<'a>,
    next: u32,
    extra: u32,
    region: Region,
    job: Job,
}

/// The result of entering a pair of objects.
enum EntryResult<'a> {
    Equal,
    Different,
    /// A frame was pushed to continue with the pair.
    Open,
    /// This child comes next.
    Child(ObjRef<'a>, ObjRef<'a>, Region),
}

/// The remembered result of a shared pair.
enum MemoLookup {
    Equal,
    Different,
    /// No valid result; `was_void` if a result has become void.
    Unknown {
        was_void: bool,
    },
}

/// The point at which a traversal of fields stopped.
enum FieldStop<'a> {
    Done,
    Different,
    /// At a pair of children; the number is the next field's position.
    Pair(ObjRef<'a>, ObjRef<'a>, Region, u32),
}

enum Next<'a> {
    Pair(ObjRef<'a>, ObjRef<'a>, Region),
    Nothing,
    Different,
}

/// A pair that differs: for one state of the bindings, or with `u32::MAX` for all
/// states.
type Refuted = (u64, u64, Region, u32);

/// The tables of a comparison, reused from call to call.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) bindings: Bindings<2>,
    pub(super) memo: PairMemo,
    /// Proofs by the meanings of variables. A proof comes with the number after the
    /// newest dag pair used.
    environments: Environments<u32>,
    /// Pairs that differ, with region and state of the bindings; found in alternatives
    /// of custom comparisons, since any other difference ends the comparison.
    refuted: HashSet<Refuted, RandomState>,
    pairs: Vec<(u32, u32)>,
    touched: Vec<Deps>,
    /// The objects of both sides that are being compared: lists, dicts and, if cycles
    /// may lead through fields, all shared objects.
    open: [OpenSet; 2],
    /// The number of open pairs of lists and dicts.
    containers: u32,
    pub(super) levels: Option<Levels>,
    /// Survives from comparison to comparison.
    effects: EffectTable,
    /// The objects that were skipped with all objects below.
    skipped: Vec<Place>,
    /// Objects whose visit would have differed below a skipped object.
    visited: Vec<u64>,
}

impl Tables {
    fn clear(&mut self) {
        self.bindings.clear();
        self.memo.clear();
        self.environments.clear();
        self.refuted.clear();
        self.pairs.clear();
        self.touched.clear();
        self.open.iter_mut().for_each(OpenSet::clear);
        self.containers = 0;
        self.skipped.clear();
        self.visited.clear();
    }
}

/// A binding as stored by the recorder.
#[derive(Clone, Copy)]
struct RecordedBinding<'a> {
    left: ObjRef<'a>,
    right: ObjRef<'a>,
    /// True if a definition field made the binding.
    defined: bool,
}

/// One comparison.
pub(super) struct Engine<'a> {
    arena: &'a Arena,
    options: CompareOptions,
    snapshots: (Option<Snapshots<'a>>, Option<Snapshots<'a>>),
    /// True with snapshots; the fast paths read the current state of objects.
    pinned: bool,
    pub(super) stack: Vec<Frame<'a>>,
    tables: Box<Tables>,
    levels: Levels,
    hook_depth: u32,
    /// True if objects that are the same on both sides may be skipped.
    skips: bool,
    has_skipped: bool,
    /// True if a pair was known to be different from an earlier alternative, in which
    /// case the place of the difference is unknown.
    has_used_refuted: bool,
    /// Twice the number of objects visited in a search for effects that allowed no
    /// skip.
    fruitless: u64,
    pub(super) visits: u64,
    poll: Poll,
    /// True if the walk itself raised the error, which may be given a path.
    pub(super) own_error: bool,
    // The following fields are used with the recorder only.
    names: Vec<String>,
    pub(super) found: Option<FirstDifference>,
    bound: Vec<RecordedBinding<'a>>,
    /// The variables on the left that match any part of the right.
    pub(super) holes: Option<Holes<'a>>,
    /// The binding to locate, and the place of the binding.
    pub(super) watch: Option<u32>,
    pub(super) watched: Option<(Vec<AccessStep>, Vec<AccessStep>)>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        arena: &'a Arena,
        options: CompareOptions,
        snapshots: (Option<Snapshots<'a>>, Option<Snapshots<'a>>),
        mut tables: Box<Tables>,
        stack: Vec<Frame<'a>>,
    ) -> Self {
        let levels = tables.levels.take().unwrap_or_else(Levels::new);
        Engine {
            arena,
            options,
            snapshots,
            pinned: snapshots.0.is_some() || snapshots.1.is_some(),
            stack,
            tables,
            levels,
            hook_depth: 0,
            skips: false,
            has_skipped: false,
            has_used_refuted: false,
            fruitless: 0,
            visits: 0,
            poll: Poll::default(),
            own_error: false,
            names: Vec::new(),
            found: None,
            bound: Vec::new(),
            holes: None,
            watch: None,
            watched: None,
        }
    }

    /// Returns the tables, emptied, for the next comparison.
    pub(super) fn into_tables(mut self) -> (Box<Tables>, Vec<Frame<'a>>) {
        self.tables.clear();
        self.levels.reset();
        self.tables.levels = Some(self.levels);
        (self.tables, self.stack)
    }

    /// Compares two values.
    pub(super) fn compare<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: &'a Value,
        r: &'a Value,
        region: Region,
    ) -> Result<bool> {
        match self.values::<REC>(l, r)? {
            None => Ok(true),
            Some(false) => Ok(false),
            Some(true) => match (l.object_ref(), r.object_ref()) {
                (Some(l), Some(r)) => self.run::<REC>(section, l, r, region),
                _ => Ok(true),
            },
        }
    }

    /// None: equal; Some(false): different; Some(true): two objects to visit.
    #[inline(always)]
    fn values<const REC: bool>(&mut self, l: &'a Value, r: &'a Value) -> Result<Option<bool>> {
        match (l.object_ref(), r.object_ref()) {
            (Some(_), Some(_)) => Ok(Some(true)),
            (None, None) if leaf::plain_equal(l, r) => Ok(None),
            (left, right) => {
                for side in [left, right].into_iter().flatten() {
                    self.check_comparable(side)?;
                }
                let reason = if l.tag() == r.tag() {
                    Reason::Value
                } else {
                    Reason::Type
                };
                self.differ::<REC>(reason, || (Some(l.clone()), Some(r.clone())));
                Ok(Some(false))
            }
        }
    }

    fn run<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<bool> {
        let base = self.stack.len();
        self.run_above::<REC>(section, l, r, region, base)
    }

    /// Compares a pair, and continues with the frames above a height.
    fn run_above<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        base: usize,
    ) -> Result<bool> {
        let (mut l, mut r, mut region) = (l, r, region);
        loop {
            // Guards of holes may be code of the host.
            if self
                .poll
                .step_to_release(section, || self.holes.is_none())?
            {
                return access::without_host(section, |section| {
                    self.run_above::<REC>(section, l, r, region, base)
                });
            }
            match self.enter::<REC>(section, l, r, region, base)? {
                EntryResult::Child(next_l, next_r, next_region) => {
                    (l, r, region) = (next_l, next_r, next_region);
                    continue;
                }
                EntryResult::Different => return Ok(false),
                EntryResult::Equal | EntryResult::Open => {}
            }
            loop {
                if self.stack.len() == base {
                    return Ok(true);
                }
                match self.advance::<REC>(section, base)? {
                    Next::Pair(next_l, next_r, next_region) => {
                        (l, r, region) = (next_l, next_r, next_region);
                        break;
                    }
                    Next::Nothing => {}
                    Next::Different => return Ok(false),
                }
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, job: Job, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) {
        self.stack.push(Frame {
            l,
            r,
            next: 0,
            extra: 0,
            region,
            job,
        });
    }

    #[inline(always)]
    fn enter<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        base: usize,
    ) -> Result<EntryResult<'a>> {
        self.visits += 1;
        if REC && let Some(hole) = self.hole_of(l) {
            return self.enter_hole::<REC>(section, hole, l, r, region);
        }
        if l.same_as(r) && self.skips && self.skip::<REC>(section, l, region)? {
            return Ok(EntryResult::Equal);
        }
        // Any object may be a hole.
        if !self.pinned
            && (!REC || self.holes.is_none())
            && let Some(pair) = ObjPair::new(l, r)
            && pair.info().class() == Payload::Plain
        {
            let remember = pair.info().has_children
                && pair.is_shared()
                && !leaf::hold_few_leaves(section, pair);
            if remember && let Some(result) = self.is_known(l, r, region)? {
                return Ok(result);
            }
            return self.plain::<REC>(section, pair, 0, region, base);
        }
        self.enter_other::<REC>(section, l, r, l.info(), region)
    }

    /// Compares fields starting at a position, up to a child that needs a visit.
    #[inline(always)]
    fn fields<const REC: bool>(
        &mut self,
        section: &Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        from: u32,
    ) -> Result<FieldStop<'a>> {
        let Some(pair) = ObjPair::new(l, r) else {
            return Ok(FieldStop::Different);
        };
        let mut position = from as usize;
        while let Some((slot, both)) = pair.visited(section, position) {
            position += 1;
            let equal = match both {
                FieldPair::Objects(a, b) => {
                    let region = region.of_field(slot.flag, self.levels.current());
                    if REC {
                        return Ok(FieldStop::Pair(a, b, region, position as u32));
                    }
                    match self.leaf(section, a, b, region) {
                        Some(equal) => equal,
                        None => return Ok(FieldStop::Pair(a, b, region, position as u32)),
                    }
                }
                FieldPair::Values(a, b) => match (a.object_ref(), b.object_ref()) {
                    (Some(a), Some(b)) => {
                        let region = region.of_field(slot.flag, self.levels.current());
                        return Ok(FieldStop::Pair(a, b, region, position as u32));
                    }
                    (None, None) => leaf::plain_equal(&a, &b),
                    _ => false,
                },
                FieldPair::Floats(a, b) => leaf::floats_equal(a, b),
                FieldPair::Same(same) => same,
            };
            if !equal {
                self.differ_field::<REC>(section, l, r, position)?;
                return Ok(FieldStop::Different);
            }
        }
        Ok(FieldStop::Done)
    }

    /// Compares a pair in place if the pair needs no frame: plain nodes without
    /// children, and variables without fields.
    #[inline(always)]
    fn leaf(
        &mut self,
        section: &Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Option<bool> {
        let pair = ObjPair::new(l, r)?;
        match pair.info().shape() {
            VisitShape::Leaf if self.pinned => None,
            VisitShape::Leaf => {
                self.visits += 1;
                Some(leaf::fields_equal(section, pair))
            }
            VisitShape::Var => {
                self.visits += 1;
                // The main path reports a difference, with its reason.
                let equal = self.var_pair::<false>(l, r, region, true);
                Some(matches!(equal, VarPair::Equal))
            }
            VisitShape::Inner | VisitShape::Other => None,
        }
    }

    fn enter_other<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        self.check_comparable(l)?;
        if l.type_index() != r.type_index() {
            self.check_comparable(r)?;
            return Ok(self.differ_objects::<REC>(Reason::Type, l, r));
        }
        let equal = match info.class() {
            Payload::Plain | Payload::Node => {
                return self.enter_node::<REC>(section, l, r, info, region);
            }
            Payload::Sequence => {
                if few_plain_equal(l, r) {
                    return Ok(EntryResult::Equal);
                }
                if let Some(result) = self.begin_shared(l, r, region)? {
                    return Ok(result);
                }
                self.push(Job::Items, l, r, region);
                return Ok(EntryResult::Open);
            }
            Payload::Mapping => {
                if few_plain_equal(l, r) {
                    return Ok(EntryResult::Equal);
                }
                if let Some(result) = self.begin_shared(l, r, region)? {
                    return Ok(result);
                }
                return self.enter_map::<REC>(l, r, region);
            }
            Payload::Mutable => {
                return self.enter_mutable::<REC>(section, l, r, region);
            }
            Payload::Tensor => leaf::tensors_equal(l, r, self.options.skip_tensor_content),
            _ => leaf::native_equal(l, r),
        };
        if equal {
            Ok(EntryResult::Equal)
        } else {
            Ok(self.differ_objects::<REC>(Reason::Value, l, r))
        }
    }

    fn enter_mutable<const REC: bool>(
        &mut self,
        section: &Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        let left = held_by(section, self.arena, self.snapshots.0, l);
        let right = held_by(section, self.arena, self.snapshots.1, r);
        if few_plain_equal(left, right) {
            return Ok(EntryResult::Equal);
        }
        let shared = l.is_shared() || r.is_shared();
        let recalled = if shared {
            self.recall(l, r, region)
        } else {
            MemoLookup::Unknown { was_void: false }
        };
        let was_void = match recalled {
            MemoLookup::Equal => return Ok(EntryResult::Equal),
            MemoLookup::Different => return Ok(EntryResult::Different),
            MemoLookup::Unknown { was_void } => was_void,
        };
        // Objects present from the start lead back only by a write to a field.
        let by_field = shared && access::may_have_cycles();
        if by_field || l.may_lead_back() || r.may_lead_back() {
            self.open(l, r, 0)?;
            self.tables.containers += 1;
            self.stack.push(Frame {
                l,
                r,
                next: 0,
                extra: 1,
                region,
                job: Job::EndOpen,
            });
        }
        if shared {
            self.collect_proof(l, r, region, false, was_void);
        }
        if left.info().class() == Payload::Sequence {
            self.push(Job::Items, left, right, region);
            return Ok(EntryResult::Open);
        }
        self.enter_map::<REC>(left, right, region)
    }

    /// Continues with the frame on top.
    #[inline(always)]
    fn advance<const REC: bool>(&mut self, section: &mut Section, base: usize) -> Result<Next<'a>> {
        let Some(&frame) = self.stack.last() else {
            return Ok(Next::Nothing);
        };
        match frame.job {
            Job::Plain => {
                self.stack.pop();
                let Some(pair) = ObjPair::new(frame.l, frame.r) else {
                    return Ok(Next::Different);
                };
                match self.plain::<REC>(section, pair, frame.next, frame.region, base)? {
                    EntryResult::Equal | EntryResult::Open => Ok(Next::Nothing),
                    EntryResult::Different => Ok(Next::Different),
                    EntryResult::Child(l, r, region) => Ok(Next::Pair(l, r, region)),
                }
            }
            Job::Fields => {
                let info = frame.l.info();
                match self.fields::<REC>(section, frame.l, frame.r, frame.region, frame.next)? {
                    FieldStop::Done => {
                        self.stack.pop();
                        Ok(Next::Nothing)
                    }
                    FieldStop::Different => Ok(Next::Different),
                    FieldStop::Pair(l, r, region, next) => {
                        self.go_on::<REC>(next, next as usize >= info.visited.len());
                        Ok(Next::Pair(l, r, region))
                    }
                }
            }
            Job::Items => self.items::<REC>(section, frame),
            _ => self.finish::<REC>(section, frame),
        }
    }

    /// Moves the top frame forward. Drops the frame if its last child is next and the
    /// path is not needed.
    #[inline(always)]
    fn go_on<const REC: bool>(&mut self, next: u32, last: bool) {
        if last && !REC {
            self.stack.pop();
        } else if let Some(frame) = self.stack.last_mut() {
            frame.next = next;
        }
    }

    fn items<const REC: bool>(&mut self, section: &Section, frame: Frame<'a>) -> Result<Next<'a>> {
        let (Some(left), Some(right)) = (frame.l.items(), frame.r.items()) else {
            return Ok(Next::Different);
        };
        let from = frame.next as usize;
        let both = left.len().min(right.len());
        for position in from..both {
            let (l, r) = (&left[position], &right[position]);
            if let (Some(l), Some(r)) = (l.object_ref(), r.object_ref()) {
                if !REC && let Some(equal) = self.leaf(section, l, r, frame.region) {
                    if equal {
                        continue;
                    }
                    return Ok(Next::Different);
                }
                let next = position as u32 + 1;
                self.go_on::<REC>(
                    next,
                    next as usize == left.len() && left.len() == right.len(),
                );
                return Ok(Next::Pair(l, r, frame.region));
            }
            if REC && let Some(frame) = self.stack.last_mut() {
                frame.next = position as u32 + 1;
            }
            if self.values::<REC>(l, r)?.is_some() {
                return Ok(Next::Different);
            }
        }
        if left.len() == right.len() {
            self.stack.pop();
            return Ok(Next::Nothing);
        }
        if REC && let Some(frame) = self.stack.last_mut() {
            frame.next = both as u32 + 1;
        }
        self.differ_missing::<REC>(
            AccessStep::ArrayItem(both),
            AccessStep::ArrayItemMissing(both),
            left.get(both),
            right.get(both),
        );
        Ok(Next::Different)
    }

    /// The frames other than fields and elements.
    fn finish<const REC: bool>(
        &mut self,
        section: &mut Section,
        frame: Frame<'a>,
    ) -> Result<Next<'a>> {
        let Frame { l, r, region, .. } = frame;
        if frame.job == Job::Entries {
            return self.entries::<REC>(frame);
        }
        if frame.job == Job::EndMemo {
            self.end_proof();
            return Ok(Next::Nothing);
        }
        if frame.job == Job::Hole {
            return self.hole_fields::<REC>(section, frame);
        }
        self.stack.pop();
        match frame.job {
            // Handled above, while the frame is still on the stack.
            Job::EndMemo | Job::Hole => {}
            Job::EndScope => self.tables.bindings.close_scope(&mut self.levels),
            Job::EndOpen => self.close(l, r, frame.extra),
            Job::EndDag => match self.bound_pair(l, r) {
                None => {
                    let index = self.bind::<REC>(l, r, 0, false);
                    self.levels.use_dag(index);
                }
                Some(Ok(_)) => {}
                Some(Err(())) => {
                    self.differ_bound::<REC>(Reason::Sharing, l, r);
                    return Ok(Next::Different);
                }
            },
            Job::EndVar => {
                if !self.end_var::<REC>(l, r, region, frame.extra) {
                    self.differ_bound::<REC>(Reason::Bound, l, r);
                    return Ok(Next::Different);
                }
            }
            Job::Fields | Job::Plain | Job::Items | Job::Entries | Job::HookStep => {}
        }
        Ok(Next::Nothing)
    }
}
