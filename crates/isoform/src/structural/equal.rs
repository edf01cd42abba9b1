//! Equality and first mismatch: one walk, with an optional recorder.
//!
//! The walk keeps an explicit stack of frames. Frames that iterate (fields,
//! elements, entries) stand on top of frames that finish something once the
//! iteration above them has succeeded (remember a proven pair, record a
//! binding, end a scope). Without the recorder a node's last child replaces
//! the node's frame, leaves are compared in place, and a chain that leans
//! either way needs no stack at all; with it, every frame stays, so that the
//! frames spell the access path.

use super::bindings::Bindings;
use super::leaf;
use super::memo::PairMemo;
use super::mismatch::{Difference, Reason};
use super::pins::{Pins, snapshot};
use super::scope::{Levels, Region, Touched};
use super::{CompareOptions, MAX_HOOK_DEPTH};
use crate::container::{ArrayObj, MapObj};
use crate::error::{Error, ErrorKind, Result};
use crate::object::arena::Arena;
use crate::object::table::{Class, TypeInfo};
use crate::object::view::{Fields, Loaded, ObjRef};
use crate::path::AccessStep;
use crate::registry::{EqualCallback, FieldFlag, Kind};
use crate::value::Value;
use crate::visit::RegionChange;

use hashbrown::HashSet;

/// The sides' places in a binding.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// What a frame does when it is on top of the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Job {
    /// Compares the fields from `next` on.
    Fields,
    /// Compares the elements from `next` on.
    Items,
    /// Compares the map values from `next` on; `extra` is the place of the
    /// matched positions in [`Engine::pairs`].
    Entries,
    /// The pair below is proven.
    EndMemo,
    /// The variables' own fields are equal.
    EndVar,
    /// The dag nodes' fields are equal.
    EndDag,
    EndScope,
    /// A mutable container is no longer being compared.
    EndMutable,
    /// A hook's call: only the name `extra` of the path's step.
    HookStep,
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

/// What became of a pair of objects.
enum Entered<'a> {
    Equal,
    Different,
    /// A frame was pushed that goes on with it.
    Open,
    /// This child comes next.
    Child(ObjRef<'a>, ObjRef<'a>, Region),
}

/// Where going over fields stopped.
enum Stop<'a> {
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

/// The tables of a comparison, reused from call to call.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) bindings: Bindings<2>,
    pub(super) memo: PairMemo,
    pairs: Vec<(u32, u32)>,
    touched: Vec<Touched>,
    open_left: HashSet<u64, rapidhash::fast::RandomState>,
    open_right: HashSet<u64, rapidhash::fast::RandomState>,
    pub(super) levels: Option<Levels>,
}

impl Tables {
    fn clear(&mut self) {
        self.bindings.clear();
        self.memo.clear();
        self.pairs.clear();
        self.touched.clear();
        self.open_left.clear();
        self.open_right.clear();
    }
}

/// One comparison.
pub(super) struct Engine<'a> {
    arena: &'a Arena,
    options: CompareOptions,
    pins: (Option<&'a Pins>, Option<&'a Pins>),
    pub(super) stack: Vec<Frame<'a>>,
    tables: Box<Tables>,
    levels: Levels,
    hook_depth: u32,
    pub(super) visits: u64,
    /// The error was raised by the walk itself and may be given a path.
    pub(super) own_error: bool,
    // What follows is used with the recorder only.
    names: Vec<String>,
    pub(super) found: Option<Difference>,
    bound: Vec<(ObjRef<'a>, ObjRef<'a>)>,
    /// The binding whose making is to be located, and where it was made.
    pub(super) watch: Option<u32>,
    pub(super) watched: Option<(Vec<AccessStep>, Vec<AccessStep>)>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        arena: &'a Arena,
        options: CompareOptions,
        pins: (Option<&'a Pins>, Option<&'a Pins>),
        mut tables: Box<Tables>,
        stack: Vec<Frame<'a>>,
    ) -> Self {
        let levels = tables.levels.take().unwrap_or_else(Levels::new);
        Engine {
            arena,
            options,
            pins,
            stack,
            tables,
            levels,
            hook_depth: 0,
            visits: 0,
            own_error: false,
            names: Vec::new(),
            found: None,
            bound: Vec::new(),
            watch: None,
            watched: None,
        }
    }

    /// Gives the tables back, emptied, for the next comparison.
    pub(super) fn into_tables(mut self) -> (Box<Tables>, Vec<Frame<'a>>) {
        self.tables.clear();
        self.levels.reset();
        self.tables.levels = Some(self.levels);
        (self.tables, self.stack)
    }

    /// Compares two values.
    pub(super) fn compare<const REC: bool>(
        &mut self,
        l: &'a Value,
        r: &'a Value,
        region: Region,
    ) -> Result<bool> {
        match self.values::<REC>(l, r)? {
            None => Ok(true),
            Some(false) => Ok(false),
            Some(true) => match (l.object_ref(), r.object_ref()) {
                (Some(l), Some(r)) => self.run::<REC>(l, r, region),
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
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<bool> {
        let base = self.stack.len();
        let (mut l, mut r, mut region) = (l, r, region);
        loop {
            match self.enter::<REC>(l, r, region)? {
                Entered::Child(next_l, next_r, next_region) => {
                    (l, r, region) = (next_l, next_r, next_region);
                    continue;
                }
                Entered::Different => return Ok(false),
                Entered::Equal | Entered::Open => {}
            }
            loop {
                if self.stack.len() == base {
                    return Ok(true);
                }
                match self.advance::<REC>()? {
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
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<Entered<'a>> {
        self.visits += 1;
        let info = l.info();
        if !REC && l.type_index() == r.type_index() && info.class == Class::Plain {
            let remember = info.has_children && (l.is_shared() || r.is_shared());
            if remember && self.is_proven(l, r, region) {
                return Ok(Entered::Equal);
            }
            // The fields of a plain node need no frame until a child is not
            // the last one.
            return match self.fields::<false>(l, r, info, region, 0)? {
                Stop::Done => Ok(Entered::Equal),
                Stop::Different => Ok(Entered::Different),
                Stop::Pair(next_l, next_r, next_region, next) => {
                    if (next as usize) < info.visited.len() {
                        self.stack.push(Frame {
                            l,
                            r,
                            next,
                            extra: 0,
                            region,
                            job: Job::Fields,
                        });
                    }
                    Ok(Entered::Child(next_l, next_r, next_region))
                }
            };
        }
        self.enter_other::<REC>(l, r, info, region)
    }

    /// Looks a shared pair up; when it is not there, begins its proof.
    fn is_proven(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        if let Some(needs) = self
            .tables
            .memo
            .find(l.ident(), r.ident(), region, &self.levels)
        {
            self.levels.use_result(needs);
            return true;
        }
        let before = self.levels.begin();
        self.tables.touched.push(before);
        self.push(Job::EndMemo, l, r, region);
        false
    }

    /// Compares fields from a position on, up to a child that needs a visit.
    #[inline(always)]
    fn fields<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
        from: u32,
    ) -> Result<Stop<'a>> {
        let (left, right) = (l.visited_with(info), r.visited_with(info));
        let mut position = from as usize;
        while let (Some((slot, a)), Some((_, b))) = (left.get(position), right.get(position)) {
            position += 1;
            let equal = match (a, b) {
                (Loaded::Object(a), Loaded::Object(b)) => {
                    let region = region.of_field(slot.flag, self.levels.current());
                    if REC {
                        return Ok(Stop::Pair(a, b, region, position as u32));
                    }
                    match self.leaf(a, b, region) {
                        Some(equal) => equal,
                        None => return Ok(Stop::Pair(a, b, region, position as u32)),
                    }
                }
                (Loaded::Value(a), Loaded::Value(b)) => match (a.object_ref(), b.object_ref()) {
                    (Some(a), Some(b)) => {
                        let region = region.of_field(slot.flag, self.levels.current());
                        return Ok(Stop::Pair(a, b, region, position as u32));
                    }
                    (None, None) => leaf::plain_equal(a, b),
                    _ => false,
                },
                (Loaded::Int(a), Loaded::Int(b)) => a == b,
                (Loaded::Float(a), Loaded::Float(b)) => leaf::floats_equal(a, b),
                (Loaded::Bool(a), Loaded::Bool(b)) => a == b,
                (Loaded::DType(a), Loaded::DType(b)) => a == b,
                (Loaded::None, Loaded::None) => true,
                _ => false,
            };
            if !equal {
                self.differ_field::<REC>(a, b, position)?;
                return Ok(Stop::Different);
            }
        }
        Ok(Stop::Done)
    }

    /// Compares a pair in place if that needs no frame: plain nodes without
    /// children, and variables without fields.
    #[inline(always)]
    fn leaf(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> Option<bool> {
        if l.type_index() != r.type_index() {
            return None;
        }
        let info = l.info();
        if info.has_children {
            return None;
        }
        if info.class == Class::Plain {
            self.visits += 1;
            return Some(leaf::fields_equal(
                l.visited_with(info),
                r.visited_with(info),
            ));
        }
        if info.kind == Kind::Var && info.visited.is_empty() && info.hooks.is_empty() {
            self.visits += 1;
            // A difference is reported by the main path, with its reason.
            return match self.var_pair::<false>(l, r, region, true) {
                VarPair::Equal => Some(true),
                VarPair::Different | VarPair::Unbound => Some(false),
            };
        }
        None
    }

    #[cold]
    fn differ_field<const REC: bool>(
        &mut self,
        l: Loaded<'a>,
        r: Loaded<'a>,
        position: usize,
    ) -> Result<()> {
        if REC && let Some(frame) = self.stack.last_mut() {
            frame.next = position as u32;
        }
        for side in [l, r] {
            let object = match side {
                Loaded::Object(object) => Some(object),
                Loaded::Value(value) => value.object_ref(),
                _ => None,
            };
            if let Some(object) = object {
                self.check_comparable(object)?;
            }
        }
        let (left, right) = (l.to_value(), r.to_value());
        let reason = if left.type_name() == right.type_name() {
            Reason::Value
        } else {
            Reason::Type
        };
        self.differ::<REC>(reason, || (Some(left), Some(right)));
        Ok(())
    }

    fn enter_other<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Entered<'a>> {
        self.check_comparable(l)?;
        if l.type_index() != r.type_index() {
            self.check_comparable(r)?;
            return Ok(self.differ_objects::<REC>(Reason::Type, l, r));
        }
        let equal = match info.class {
            Class::Plain | Class::Node => return self.enter_node::<REC>(l, r, info, region),
            Class::Array => {
                let (Some(left), Some(right)) =
                    (l.downcast::<ArrayObj>(), r.downcast::<ArrayObj>())
                else {
                    return Ok(Entered::Different);
                };
                let empty = left.items().is_empty() && right.items().is_empty();
                if !empty && !self.begin_shared(l, r, region) {
                    self.push(Job::Items, l, r, region);
                    return Ok(Entered::Open);
                }
                true
            }
            Class::Map => {
                if self.begin_shared(l, r, region) {
                    return Ok(Entered::Equal);
                }
                return self.enter_map::<REC>(l, r, region);
            }
            Class::List | Class::Dict => {
                return self.enter_mutable::<REC>(l, r, info.class, region);
            }
            Class::Tensor => leaf::tensors_equal(l, r, self.options.skip_tensor_content),
            _ => leaf::native_equal(l, r),
        };
        if equal {
            Ok(Entered::Equal)
        } else {
            Ok(self.differ_objects::<REC>(Reason::Value, l, r))
        }
    }

    /// Whether the pair needs no visit; otherwise its proof begins, if it is
    /// shared.
    fn begin_shared(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        (l.is_shared() || r.is_shared()) && self.is_proven(l, r, region)
    }

    fn enter_mutable<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        class: Class,
        region: Region,
    ) -> Result<Entered<'a>> {
        if self.tables.open_left.contains(&l.ident()) || self.tables.open_right.contains(&r.ident())
        {
            let key = l.info().key();
            return Err(
                self.error::<REC>(ErrorKind::Value, format!("cyclic {key} cannot be compared"))
            );
        }
        if self.begin_shared(l, r, region) {
            return Ok(Entered::Equal);
        }
        self.tables.open_left.insert(l.ident());
        self.tables.open_right.insert(r.ident());
        self.push(Job::EndMutable, l, r, region);
        let left = snapshot(self.arena, self.pins.0, l);
        let right = snapshot(self.arena, self.pins.1, r);
        if class == Class::List {
            self.push(Job::Items, left, right, region);
            return Ok(Entered::Open);
        }
        self.enter_map::<REC>(left, right, region)
    }

    fn enter_node<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Entered<'a>> {
        let mut inner = region;
        match info.kind {
            Kind::None => return Ok(Entered::Different),
            Kind::Singleton => {
                if l.same_as(r) {
                    return Ok(Entered::Equal);
                }
                return Ok(self.differ_objects::<REC>(Reason::NotSame, l, r));
            }
            Kind::ConstTree if l.same_as(r) => return Ok(Entered::Equal),
            Kind::Tree | Kind::ConstTree => {
                if info.has_children && self.begin_shared(l, r, region) {
                    return Ok(Entered::Equal);
                }
            }
            Kind::Dag => match self.bound_pair(l, r) {
                Some(true) => {
                    self.levels.use_dag();
                    return Ok(Entered::Equal);
                }
                Some(false) => return Ok(self.differ_bound::<REC>(Reason::Sharing, l, r)),
                None => self.push(Job::EndDag, l, r, region),
            },
            Kind::Var => match self.var_pair::<REC>(l, r, region, false) {
                VarPair::Equal => return Ok(Entered::Equal),
                VarPair::Different => return Ok(self.differ_bound::<REC>(Reason::Bound, l, r)),
                VarPair::Unbound => {
                    self.push(Job::EndVar, l, r, region);
                    inner = region.inside_var();
                }
            },
        }
        if info.scope {
            self.push(Job::EndScope, l, r, region);
            self.tables.bindings.open_scope(&mut self.levels);
        }
        if info.hooks.is_empty() {
            self.push(Job::Fields, l, r, inner);
            return Ok(Entered::Open);
        }
        self.call_hook::<REC>(l, r, info, inner)
    }

    /// Whether two dag nodes are partners; None when neither is bound.
    fn bound_pair(&mut self, l: ObjRef<'a>, r: ObjRef<'a>) -> Option<bool> {
        let left = self.tables.bindings.of(LEFT, l.ident());
        let right = self.tables.bindings.of(RIGHT, r.ident());
        match (left, right) {
            (None, None) => None,
            (left, right) => Some(left == right),
        }
    }

    /// Compares two variables by their bindings; with `bind`, the fields are
    /// known to be equal and an unbound pair is bound or refused.
    #[inline]
    fn var_pair<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        bind: bool,
    ) -> VarPair {
        let left = self.tables.bindings.of(LEFT, l.ident());
        let right = self.tables.bindings.of(RIGHT, r.ident());
        let def_level = region.def_level();
        if left.is_some() || right.is_some() {
            let level =
                |index: Option<u32>| index.map(|index| self.tables.bindings.get(index).level);
            let (left_level, right_level) = (level(left), level(right));
            // A definition region binds anew what an outer scope has bound.
            let shadows = def_level.is_some_and(|def| {
                left_level.is_none_or(|l| l < def) && right_level.is_none_or(|r| r < def)
            });
            if !shadows {
                if left != right {
                    return VarPair::Different;
                }
                self.levels.use_var(left_level.unwrap_or(0));
                return VarPair::Equal;
            }
        }
        if !bind {
            return VarPair::Unbound;
        }
        let level = match def_level {
            Some(level) => level,
            None if l.same_as(r) => 0,
            None => return VarPair::Different,
        };
        self.bind::<REC>(l, r, level);
        self.levels.use_var(level);
        VarPair::Equal
    }

    fn bind<const REC: bool>(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, level: u32) {
        let index = self
            .tables
            .bindings
            .bind([l.ident(), r.ident()], level, &mut self.levels);
        if REC {
            self.bound.push((l, r));
            if self.watch == Some(index) {
                self.watched = Some((self.steps(Side::Left), self.steps(Side::Right)));
            }
        }
    }

    fn call_hook<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Entered<'a>> {
        let Some(hook) = &info.hooks.equal else {
            let text = format!(
                "type {} has a custom hash but no custom equality (__s_equal__), so it cannot be compared",
                info.key()
            );
            return Err(self.error::<REC>(ErrorKind::Type, text));
        };
        if self.hook_depth >= MAX_HOOK_DEPTH {
            let text = format!(
                "custom comparisons nest deeper than {MAX_HOOK_DEPTH} (type {})",
                info.key()
            );
            return Err(self.error::<REC>(ErrorKind::Recursion, text));
        }
        let earlier = self.found.take();
        self.hook_depth += 1;
        let mut callback = Callback::<REC> {
            engine: self,
            l,
            r,
            region,
        };
        let equal = hook.call(l.as_ref(), r.as_ref(), &mut callback);
        self.hook_depth -= 1;
        if equal? {
            self.found = earlier;
            return Ok(Entered::Equal);
        }
        // The first part that differed says most; without one, the hook
        // itself decided.
        if REC && self.found.is_some() {
            return Ok(Entered::Different);
        }
        Ok(self.differ_objects::<REC>(Reason::Custom, l, r))
    }

    /// Goes on with the frame on top.
    #[inline(always)]
    fn advance<const REC: bool>(&mut self) -> Result<Next<'a>> {
        let Some(&frame) = self.stack.last() else {
            return Ok(Next::Nothing);
        };
        match frame.job {
            Job::Fields => {
                let info = frame.l.info();
                match self.fields::<REC>(frame.l, frame.r, info, frame.region, frame.next)? {
                    Stop::Done => {
                        self.stack.pop();
                        Ok(Next::Nothing)
                    }
                    Stop::Different => Ok(Next::Different),
                    Stop::Pair(l, r, region, next) => {
                        self.go_on::<REC>(next, next as usize >= info.visited.len());
                        Ok(Next::Pair(l, r, region))
                    }
                }
            }
            Job::Items => self.items::<REC>(frame),
            _ => self.finish::<REC>(frame),
        }
    }

    /// Moves the top frame forward, or drops it when its last child is next
    /// and nobody will ask for the path.
    #[inline(always)]
    fn go_on<const REC: bool>(&mut self, next: u32, last: bool) {
        if last && !REC {
            self.stack.pop();
        } else if let Some(frame) = self.stack.last_mut() {
            frame.next = next;
        }
    }

    fn items<const REC: bool>(&mut self, frame: Frame<'a>) -> Result<Next<'a>> {
        let (Some(left), Some(right)) = (
            frame.l.downcast::<ArrayObj>(),
            frame.r.downcast::<ArrayObj>(),
        ) else {
            return Ok(Next::Different);
        };
        let (left, right) = (left.items(), right.items());
        let from = frame.next as usize;
        let both = left.len().min(right.len());
        for position in from..both {
            let (l, r) = (&left[position], &right[position]);
            if let (Some(l), Some(r)) = (l.object_ref(), r.object_ref()) {
                if !REC && let Some(equal) = self.leaf(l, r, frame.region) {
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

    /// Matches the keys of two maps; see the contract for the order.
    fn enter_map<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<Entered<'a>> {
        let (Some(left), Some(right)) = (l.downcast::<MapObj>(), r.downcast::<MapObj>()) else {
            return Ok(Entered::Different);
        };
        let start = self.tables.pairs.len();
        // The first pair holds the count, so that the frame needs one number.
        self.tables.pairs.push((0, 0));
        if let Err((in_left, position)) = self.match_keys(left, right) {
            self.tables.pairs.truncate(start);
            let map = if in_left { left } else { right };
            let Some((key, value)) = map.entry(position as usize) else {
                return Ok(Entered::Different);
            };
            let (here, gone) = (
                AccessStep::MapItem(key.clone()),
                AccessStep::MapItemMissing(key.clone()),
            );
            let (left, right) = if in_left {
                (Some(value), None)
            } else {
                (None, Some(value))
            };
            self.differ_missing::<REC>(here, gone, left, right);
            return Ok(Entered::Different);
        }
        let count = (self.tables.pairs.len() - start - 1) as u32;
        self.tables.pairs[start].0 = count;
        let extra = start as u32;
        self.stack.push(Frame {
            l,
            r,
            next: 0,
            extra,
            region,
            job: Job::Entries,
        });
        Ok(Entered::Open)
    }

    /// Appends the positions of matching entries in canonical order; Err holds
    /// the first key without a partner: whether it is in the left map, and its
    /// position there.
    fn match_keys(&mut self, left: &'a MapObj, right: &'a MapObj) -> Result<(), (bool, u32)> {
        let (left_order, right_order) = (left.key_order(), right.key_order());
        let mut matched = right_order.plain.iter();
        for &position in &left_order.plain {
            let Some((key, _)) = left.entry(position as usize) else {
                continue;
            };
            // Sorted alike, equal key sets run in step; a lookup is needed
            // only where they do not.
            let partner = match matched.next() {
                Some(&other) if right.entry(other as usize).is_some_and(|(k, _)| k == key) => {
                    Some(other)
                }
                _ => right.position(key).map(|other| other as u32),
            };
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
        }
        if !left_order.objects.is_empty() || !right_order.objects.is_empty() {
            self.match_object_keys(left, right)?;
        }
        if left.len() == right.len() {
            return Ok(());
        }
        // Every left key has its own partner, so some right key has none.
        let start = self.tables.pairs.len() - left.len();
        let partners: HashSet<u32, rapidhash::fast::RandomState> = self.tables.pairs[start..]
            .iter()
            .map(|pair| pair.1)
            .collect();
        let mut order = right_order.plain.iter().chain(&right_order.objects);
        let lonely = order.find(|&position| !partners.contains(position));
        Err((false, lonely.copied().unwrap_or(0)))
    }

    fn match_object_keys(
        &mut self,
        left: &'a MapObj,
        right: &'a MapObj,
    ) -> Result<(), (bool, u32)> {
        let key_object = |map: &'a MapObj, position: u32| {
            map.entry(position as usize)
                .and_then(|(key, _)| key.object_ref())
        };
        let right_objects = &right.key_order().objects;
        let find = |ident: u64| {
            let by_ident = |position: &u32| key_object(right, *position).map(|key| key.ident());
            let found = right_objects
                .binary_search_by_key(&Some(ident), by_ident)
                .ok()?;
            Some(right_objects[found])
        };
        let mut bound = Vec::new();
        let mut unbound = Vec::new();
        for &position in &left.key_order().objects {
            let Some(key) = key_object(left, position) else {
                continue;
            };
            match self.tables.bindings.of(LEFT, key.ident()) {
                Some(index) => bound.push((index, position)),
                None => unbound.push((key, position)),
            }
        }
        bound.sort_unstable();
        for (index, position) in bound {
            let binding = self.tables.bindings.get(index);
            let current = self.tables.bindings.of(RIGHT, binding.idents[RIGHT]) == Some(index);
            let partner = if current {
                find(binding.idents[RIGHT])
            } else {
                None
            };
            self.levels.use_var(binding.level);
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
        }
        for (key, position) in unbound {
            let free = self.tables.bindings.of(RIGHT, key.ident()).is_none();
            let partner = if free { find(key.ident()) } else { None };
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
            if matches!(key.info().kind, Kind::Var | Kind::Dag) {
                self.tables.bindings.note_free_key(key.ident());
                // The result holds only while the key stays unbound.
                self.levels.use_dag();
            }
        }
        Ok(())
    }

    /// The frames other than fields and elements.
    fn finish<const REC: bool>(&mut self, frame: Frame<'a>) -> Result<Next<'a>> {
        let Frame { l, r, region, .. } = frame;
        if frame.job == Job::Entries {
            return self.entries::<REC>(frame);
        }
        self.stack.pop();
        match frame.job {
            Job::EndMemo => {
                let before = self.tables.touched.pop().unwrap_or(Touched::NOTHING);
                let (needs, _) = self.levels.end(before);
                self.tables
                    .memo
                    .prove(l.ident(), r.ident(), needs, &self.levels);
            }
            Job::EndScope => self.tables.bindings.close_scope(&mut self.levels),
            Job::EndMutable => {
                self.tables.open_left.remove(&l.ident());
                self.tables.open_right.remove(&r.ident());
            }
            Job::EndDag => match self.bound_pair(l, r) {
                None => {
                    self.bind::<REC>(l, r, 0);
                    self.levels.use_dag();
                }
                Some(true) => {}
                Some(false) => {
                    self.differ_bound::<REC>(Reason::Sharing, l, r);
                    return Ok(Next::Different);
                }
            },
            Job::EndVar => match self.var_pair::<REC>(l, r, region, true) {
                VarPair::Equal => {}
                VarPair::Different | VarPair::Unbound => {
                    self.differ_bound::<REC>(Reason::Bound, l, r);
                    return Ok(Next::Different);
                }
            },
            Job::Fields | Job::Items | Job::Entries | Job::HookStep => {}
        }
        Ok(Next::Nothing)
    }

    fn entries<const REC: bool>(&mut self, frame: Frame<'a>) -> Result<Next<'a>> {
        let start = frame.extra as usize;
        let (Some(left), Some(right)) =
            (frame.l.downcast::<MapObj>(), frame.r.downcast::<MapObj>())
        else {
            return Ok(Next::Different);
        };
        let count = self.tables.pairs[start].0;
        for next in frame.next..count {
            let (l, r) = self.tables.pairs[start + 1 + next as usize];
            let (Some((_, l)), Some((_, r))) = (left.entry(l as usize), right.entry(r as usize))
            else {
                continue;
            };
            if let Some(frame) = self.stack.last_mut() {
                frame.next = next + 1;
            }
            match self.values::<REC>(l, r)? {
                None => {}
                Some(false) => return Ok(Next::Different),
                Some(true) => {
                    if let (Some(l), Some(r)) = (l.object_ref(), r.object_ref()) {
                        return Ok(Next::Pair(l, r, frame.region));
                    }
                }
            }
        }
        self.tables.pairs.truncate(start);
        self.stack.pop();
        Ok(Next::Nothing)
    }

    // ---- errors and differences ----------------------------------------

    #[inline]
    fn check_comparable(&mut self, object: ObjRef<'a>) -> Result<()> {
        let info = object.info();
        let incomparable = info.class == Class::Incomparable
            || (info.class == Class::Node && info.kind == Kind::None);
        if !incomparable {
            return Ok(());
        }
        let name = Value::from(object.to_ref()).type_name();
        let text = format!("type {name} does not support structural equality");
        Err(self.error::<true>(ErrorKind::Type, text))
    }

    #[cold]
    fn error<const REC: bool>(&mut self, kind: ErrorKind, text: String) -> Error {
        self.own_error = true;
        Error::new(kind, text).at(crate::path::AccessPath::from_steps(self.steps(Side::Left)))
    }

    #[cold]
    fn differ_objects<const REC: bool>(
        &mut self,
        reason: Reason,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
    ) -> Entered<'a> {
        self.differ::<REC>(reason, || {
            (Some(l.to_ref().into()), Some(r.to_ref().into()))
        });
        Entered::Different
    }

    /// A difference that is due to the bijection.
    #[cold]
    fn differ_bound<const REC: bool>(
        &mut self,
        reason: Reason,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
    ) -> Entered<'a> {
        self.differ_objects::<REC>(reason, l, r);
        if REC {
            let left = self.tables.bindings.of(LEFT, l.ident());
            let right = self.tables.bindings.of(RIGHT, r.ident());
            if let (Some(found), Some(index)) = (&mut self.found, left.or(right)) {
                found.binding = Some(index);
                let partner = self.bound.get(index as usize);
                found.partner = partner.map(|pair| {
                    let object = if left.is_some() { pair.1 } else { pair.0 };
                    object.to_ref().into()
                });
                found.left_bound = left.is_some();
            }
        }
        Entered::Different
    }

    #[cold]
    fn differ_missing<const REC: bool>(
        &mut self,
        here: AccessStep,
        gone: AccessStep,
        l: Option<&Value>,
        r: Option<&Value>,
    ) {
        self.differ::<REC>(Reason::Missing, || (l.cloned(), r.cloned()));
        if REC
            && let Some(found) = &mut self.found
            && !std::mem::replace(&mut found.complete, true)
        {
            // A sequence's frame already points at the element.
            if matches!(here, AccessStep::ArrayItem(_)) {
                found.left_steps.pop();
                found.right_steps.pop();
            }
            let (left, right) = if l.is_some() {
                (here, gone)
            } else {
                (gone, here)
            };
            found.left_steps.push(left);
            found.right_steps.push(right);
        }
    }

    #[inline]
    fn differ<const REC: bool>(
        &mut self,
        reason: Reason,
        values: impl FnOnce() -> (Option<Value>, Option<Value>),
    ) {
        if !REC || self.found.is_some() {
            return;
        }
        let (left, right) = values();
        self.found = Some(Difference {
            left_steps: self.steps(Side::Left),
            right_steps: self.steps(Side::Right),
            left,
            right,
            reason,
            binding: None,
            partner: None,
            left_bound: false,
            complete: reason != Reason::Missing,
        });
    }

    /// The path of the pair that the frames lead to.
    fn steps(&self, side: Side) -> Vec<AccessStep> {
        let mut steps = Vec::new();
        for frame in &self.stack {
            let object = if side == Side::Left { frame.l } else { frame.r };
            let position = frame.next.checked_sub(1);
            match (frame.job, position) {
                (Job::Fields, Some(position)) => {
                    let info = object.info();
                    if let Some(slot) = info.visited.get(position as usize) {
                        let name = info.fields()[slot.field as usize].name();
                        steps.push(AccessStep::Attr(name.to_string()));
                    }
                }
                (Job::Items, Some(position)) => {
                    steps.push(AccessStep::ArrayItem(position as usize))
                }
                (Job::Entries, Some(position)) => {
                    let pair = self
                        .tables
                        .pairs
                        .get(frame.extra as usize + 1 + position as usize);
                    let entry = pair.map(|pair| if side == Side::Left { pair.0 } else { pair.1 });
                    let map = object.downcast::<MapObj>();
                    if let (Some(entry), Some(map)) = (entry, map)
                        && let Some((key, _)) = map.entry(entry as usize)
                    {
                        steps.push(AccessStep::MapItem(key.clone()));
                    }
                }
                (Job::HookStep, _) => {
                    if let Some(name) = self.names.get(frame.extra as usize) {
                        steps.push(AccessStep::Attr(name.clone()));
                    }
                }
                _ => {}
            }
        }
        steps
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// How two variables compare.
enum VarPair {
    Equal,
    Different,
    /// Neither is bound where it matters.
    Unbound,
}

/// The engine as a hook sees it.
struct Callback<'e, 'a, const REC: bool> {
    engine: &'e mut Engine<'a>,
    /// The two objects whose hook runs.
    l: ObjRef<'a>,
    r: ObjRef<'a>,
    region: Region,
}

impl<const REC: bool> Callback<'_, '_, REC> {
    /// Runs `body`; when it answers false, everything it did is undone.
    fn transaction(&mut self, body: impl FnOnce(&mut Self) -> Result<bool>) -> Result<bool> {
        let engine = &mut *self.engine;
        let mark = engine.tables.bindings.mark(&engine.levels);
        let touched = (engine.levels.touched(), engine.tables.touched.len());
        let (frames, pairs) = (engine.stack.len(), engine.tables.pairs.len());
        let names = engine.names.len();
        let open = (
            engine.tables.open_left.clone(),
            engine.tables.open_right.clone(),
        );
        let equal = body(self)?;
        let engine = &mut *self.engine;
        engine.names.truncate(names);
        engine.stack.truncate(frames);
        if equal {
            engine.tables.bindings.commit(mark);
        } else {
            engine.tables.bindings.roll_back(mark, &mut engine.levels);
            engine.levels.set_touched(touched.0);
            engine.tables.touched.truncate(touched.1);
            engine.tables.pairs.truncate(pairs);
            (engine.tables.open_left, engine.tables.open_right) = open;
        }
        Ok(equal)
    }
}

impl<const REC: bool> EqualCallback for Callback<'_, '_, REC> {
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool> {
        let outer = self.region;
        self.transaction(|callback| {
            let engine = &mut *callback.engine;
            let region = outer.enter(region, engine.levels.current());
            if REC {
                let extra = engine.names.len() as u32;
                engine.names.push(name.to_string());
                let (l, r) = (callback.l, callback.r);
                engine.stack.push(Frame {
                    l,
                    r,
                    next: 0,
                    extra,
                    region,
                    job: Job::HookStep,
                });
            }
            let (l, r) = (
                engine.arena.keep_value(left),
                engine.arena.keep_value(right),
            );
            engine.compare::<REC>(l, r, region)
        })
    }

    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool> {
        self.transaction(|callback| alternative(callback))
    }
}
