//! The engine of [`structural_map`](crate::traverse::structural_map) and
//! [`structural_mutate`](crate::traverse::structural_mutate): remembers the results of
//! objects, and selects callback, hook or rewrite of fields.

use std::cell::Cell;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::cursor::{Cursor, Part, View, contained_in_result, cyclic};
use super::driver::{Asker, Driver, Request};
use super::memo::Results;
use super::options::{MapOptions, WalkOrder};
use super::rewrite::{Outcome, Policy, Progress, Rewriter};
use super::visit::Visit;
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::{self, DynMutate, Hook, MutateCallback, TraversalHooks};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Payload;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// A callback of [`structural_mutate`](crate::traverse::structural_mutate).
pub type DriveMutate<'f> = dyn Fn(&Value, &mut dyn MutateCallback) -> Result<Value> + 'f;

pub(super) fn rewrite(
    root: Value,
    options: MapOptions,
    driver: Option<Driver<'_, DriveMutate<'_>>>,
    wanted: impl Fn(Option<TypeIndex>) -> bool,
    callback: impl FnMut(&Visit<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    let parts = Arena::default();
    let hooks = TraversalHooks::current();
    // A rewrite inside a callback finds the cell empty and makes its own tables.
    let memory = MEMORY.try_with(Cell::take).unwrap_or_default();
    let memory = memory.unwrap_or_default();
    let mut mapper = Mapper {
        options,
        view: View::of_compared(options.children.include_ignored),
        plain_wanted: wanted(None) || driver.as_ref().is_some_and(|driver| driver.wants(None)),
        wanted,
        callback,
        special: hooks.exist() || driver.is_some(),
        simple: !hooks.exist() && driver.is_none() && options.order == WalkOrder::Post,
        driver,
        rewriter: Rewriter::new(&parts),
        hooks,
        opened: Vec::new(),
        results: memory.results,
        descents: memory.descents,
        remapped: HashMap::default(),
        uses: HashMap::default(),
    };
    let rewritten = access::traversing(|section| {
        let part = Part::alone(&root, RegionKind::Use);
        Ok(mapper.run(section, part)?.into_value(part.met))
    });
    let mut memory = Memory {
        results: mapper.results,
        descents: mapper.descents,
    };
    memory.results.iter_mut().for_each(Results::clear);
    memory.descents.clear();
    // At the end of a thread the memory is simply freed.
    let _ = MEMORY.try_with(|kept| kept.set(Some(memory)));
    rewritten
}

/// The tables of a finished rewrite, empty.
#[derive(Default)]
struct Memory {
    results: [Results; 3],
    descents: Results,
}

thread_local! {
    static MEMORY: Cell<Option<Memory>> = const { Cell::new(None) };
}

/// The state of an open object.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenObject<'a> {
    /// The value in the original, if a callback replaced the value by the object.
    replaced: Option<&'a Value>,
    /// True if the result is remembered for the object in the original.
    remembered: bool,
    /// True for a variable or dag node with its own remembered result.
    descent: bool,
}

impl<'a> OpenObject<'a> {
    /// The object in the original, in its region, whose remembered result is the result
    /// for the object of a cursor.
    fn remembered(&self, cursor: &Cursor<'a>) -> Option<(u64, RegionKind)> {
        let object = match self.replaced {
            Some(was) => was.object_ref()?,
            None => cursor.object(),
        };
        self.remembered.then(|| (object.ident(), cursor.region))
    }
}

struct Mapper<'a, 'f, W, F> {
    options: MapOptions,
    view: View,
    /// True if the filter or the driver wants plain values.
    plain_wanted: bool,
    wanted: W,
    callback: F,
    driver: Option<Driver<'f, DriveMutate<'f>>>,
    rewriter: Rewriter<'a, OpenObject<'a>>,
    /// The results of objects, for each kind of region.
    results: [Results; 3],
    /// The results of variables and dag nodes before or without the callback.
    descents: Results,
    hooks: TraversalHooks,
    /// True if replacements can come from sources other than the callback.
    special: bool,
    /// True if an object with one owner needs no state, unless the object [may be
    /// rewritten](Self::is_spread) again: the object is visited once, and the callback
    /// follows its children.
    simple: bool,
    /// Opened entries, possibly left open by an error that is caught later.
    opened: Vec<(RegionKind, u64)>,
    /// The recorded replacements of variables.
    remapped: HashMap<u64, Value, RandomState>,
    /// The recorded replacements for uses of variables only.
    uses: HashMap<u64, Value, RandomState>,
}

impl<'a, W, F> Policy<'a> for Mapper<'a, '_, W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<Option<Value>>,
{
    type Extra = OpenObject<'a>;

    #[inline(always)]
    fn rewriter(&mut self) -> &mut Rewriter<'a, OpenObject<'a>> {
        &mut self.rewriter
    }

    #[inline(always)]
    fn wants_plain(&self) -> bool {
        self.plain_wanted
    }

    #[inline(always)]
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        if !self.plain_wanted && matches!(part.met, PartRef::Plain(_)) {
            return Ok(Progress::Same);
        }
        self.meet_any(section, part)
    }

    #[inline(always)]
    fn meet_object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<Progress> {
        let info = object.info();
        let part = Part::object(object, region);
        if !self.simple || object.is_shared() || self.is_spread(info) {
            return self.meet_any(section, part);
        }
        if !matches!(info.class(), Payload::Plain | Payload::Node) {
            return if (self.wanted)(Some(info.index())) {
                self.meet_any(section, part)
            } else {
                self.meet_builtin(section, object, part)
            };
        }
        let cursor = Cursor::of_node(object, part, self.view);
        if self.is_leaf(info) || cursor.len() == 0 {
            return if (self.wanted)(Some(object.type_index())) {
                self.call_simple(section, part)
            } else {
                Ok(Progress::Same)
            };
        }
        prefetch_ahead(object);
        self.rewriter.push(cursor, OpenObject::default());
        Ok(Progress::Opened)
    }

    #[inline(always)]
    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let built = self.rewriter.rebuild(section)?;
        let Some((cursor, open)) = self.rewriter.innermost() else {
            return Ok(Progress::Same);
        };
        let is_simple = self.simple && !open.remembered && !open.descent;
        if is_simple && !(self.wanted)(Some(cursor.object().type_index())) {
            self.rewriter.pop();
            return Ok(built);
        }
        self.close_any(section, built)
    }
}

impl<'a, W, F> Mapper<'a, '_, W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<Option<Value>>,
{
    /// Rewrites a part, or opens it.
    #[inline(never)]
    fn meet_any(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        if !self.special
            && !part.is_key
            && let PartRef::Object(object) = part.met
            && !(self.options.revisit_vars && object.info().kind == Kind::Var)
            && let Some(Some(result)) = self.results_in(part.region).found(object.ident())
        {
            return Ok(match result {
                Outcome::Same => Progress::Same,
                Outcome::New(value) => {
                    let value = value.clone();
                    self.rewriter.change(value)
                }
            });
        }
        let result = self.result_of(section, part)?;
        Ok(self.rewriter.settle(result))
    }

    /// The result for a part, or None for an opened part.
    fn result_of(&mut self, section: &mut Section, part: Part<'a>) -> Result<Option<Outcome>> {
        if part.is_key && !self.options.children.keys {
            return Ok(Some(Outcome::Same));
        }
        let PartRef::Object(object) = part.met else {
            return self.leaf(section, part).map(Some);
        };
        let class = object.info().class();
        // Plain values too large to be inline.
        if let Payload::Str | Payload::Bytes | Payload::BigInt = class {
            return self.leaf(section, part).map(Some);
        }
        let ident = object.ident();
        let driven = self.drives(Some(object.type_index()));
        if self.special
            && let Some(recorded) = self.recorded(ident, part.region, driven)
        {
            return Ok(Some(Outcome::of(recorded, part.met)));
        }
        // As in a walk: an object with one owner is reached only once, unless a second
        // way leads to the object: a request of a hook or the driver, an answer visited
        // in turn, or an owner visited in several regions.
        let may_return = object.is_shared()
            || class.is_mutable()
            || self.special
            || self.options.order == WalkOrder::Pre
            || self
                .rewriter
                .cursors
                .last()
                .is_some_and(Cursor::sets_region);
        let mut remembered = None;
        if may_return {
            let is_anew = self.options.revisit_vars && object.info().kind == Kind::Var;
            match self.results_in(part.region).get(ident) {
                Some(Some(result)) if !is_anew => return Ok(Some(result)),
                Some(None) => return Err(self.cycle(object)),
                _ => remembered = Some(self.remember(ident, part.region)),
            }
        }
        if driven {
            let outcome = self.drive(section, part, remembered)?;
            return Ok(Some(outcome));
        }
        let mut source = part;
        if self.options.order == WalkOrder::Pre
            && let Outcome::New(answer) = self.call(section, part)?
        {
            // The replacement may contain the replaced value.
            remembered = Some(self.remember(ident, part.region));
            source.met = PartRef::of(self.rewriter.parts.keep_value(&answer));
        }
        self.enter(section, source, part.met, remembered)
    }

    /// Closes an object, of whatever kind.
    #[inline(never)]
    fn close_any(&mut self, section: &mut Section, built: Progress) -> Result<Progress> {
        let Some((cursor, open)) = self.rewriter.pop() else {
            return Ok(Progress::Same);
        };
        let outcome = self.rewriter.take(built);
        if open.descent {
            self.descents.set(cursor.object().ident(), outcome.clone());
        }
        let part = Part {
            met: PartRef::Object(cursor.object()),
            region: cursor.region,
            is_key: cursor.is_key,
        };
        let outcome = if cursor.silent {
            outcome
        } else {
            let remembered = open.remembered(&cursor);
            let replaced = open.replaced.map(PartRef::of);
            self.finish(section, outcome, part, replaced, remembered)?
        };
        Ok(self.rewriter.settle(Some(outcome)))
    }

    /// Opens an object of a built-in type, with one owner and no callback.
    #[inline(always)]
    fn meet_builtin(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        part: Part<'a>,
    ) -> Result<Progress> {
        match object.info().class() {
            // The parts of most nodes are in arrays, often in empty arrays.
            Payload::Sequence if object.items().is_some_and(<[Value]>::is_empty) => {
                Ok(Progress::Same)
            }
            Payload::Sequence => match Cursor::of_container(section, object, part, self.view) {
                Some(cursor) => {
                    self.rewriter.push(cursor, OpenObject::default());
                    Ok(Progress::Opened)
                }
                None => Ok(Progress::Same),
            },
            Payload::Tensor => Ok(Progress::Same),
            _ => self.meet_any(section, part),
        }
    }

    /// True if an object of this type may be rewritten several times, for instance in
    /// several regions, and must become the same each time.
    #[inline(always)]
    fn is_spread(&self, info: &TypeInfo) -> bool {
        let may_return = self.options.regions_apart || self.options.revisit_vars || self.special;
        may_return && matches!(info.kind, Kind::Var | Kind::Dag) && !info.is_builtin()
    }

    /// True if no object is below an object of this type, and no callback receives the
    /// plain values below.
    #[inline(always)]
    fn is_leaf(&self, info: &TypeInfo) -> bool {
        info.drop_slots.is_empty() && !info.is_builtin() && !self.plain_wanted
    }

    /// Rewrites an object without parts and without a remembered result.
    #[inline(never)]
    fn call_simple(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        match self.answer(section, part)? {
            Some(answer) if !part.met.is(&answer) => Ok(self.rewriter.change(answer)),
            _ => Ok(Progress::Same),
        }
    }

    /// The result for a plain value.
    fn leaf(&mut self, section: &mut Section, part: Part<'a>) -> Result<Outcome> {
        if self.drives(part.met.type_index()) {
            self.drive(section, part, None)
        } else {
            self.call(section, part)
        }
    }

    /// Enters `source`, which replaced `was`.
    fn enter(
        &mut self,
        section: &mut Section,
        source: Part<'a>,
        was: PartRef<'a>,
        remembered: Option<(u64, RegionKind)>,
    ) -> Result<Option<Outcome>> {
        let replaced = (!source.met.is_same(was)).then_some(was);
        let PartRef::Object(object) = source.met else {
            return self
                .finish(section, Outcome::Same, source, replaced, remembered)
                .map(Some);
        };
        let info = object.info();
        let descent = self.is_spread(info).then(|| object.ident());
        if let Some(ident) = descent
            && let Some(Some(result)) = self.descents.get(ident)
        {
            return self
                .finish(section, result, source, replaced, remembered)
                .map(Some);
        }
        if self.hooks.exist()
            && let Some(hook) = self.hooks.mutate(info)
        {
            let result = self.ask(section, object, source.region, hook)?;
            if let Some(ident) = descent {
                self.descents.set(ident, result.clone());
            }
            return self
                .finish(section, result, source, replaced, remembered)
                .map(Some);
        }
        let cursor = if self.is_leaf(info) {
            None
        } else {
            Cursor::open(section, object, source, self.view)
        };
        let Some(cursor) = cursor.filter(|cursor| cursor.len() > 0) else {
            return self
                .finish(section, Outcome::Same, source, replaced, remembered)
                .map(Some);
        };
        prefetch_ahead(object);
        let open = OpenObject {
            replaced: replaced.map(|was| self.rewriter.parts.keep_value(&was.to_value())),
            remembered: remembered.is_some(),
            descent: descent.is_some(),
        };
        self.rewriter.push(cursor, open);
        Ok(None)
    }

    /// Continues after the children of `part`, the replacement of `replaced`.
    fn finish(
        &mut self,
        section: &mut Section,
        outcome: Outcome,
        part: Part<'a>,
        replaced: Option<PartRef<'a>>,
        remembered: Option<(u64, RegionKind)>,
    ) -> Result<Outcome> {
        let outcome = match self.options.order {
            WalkOrder::Post => self.call_after(section, outcome, part)?,
            WalkOrder::Pre => outcome,
        };
        let outcome = match replaced {
            Some(was) => Outcome::of(outcome.into_value(part.met), was),
            None => outcome,
        };
        if let Some((ident, region)) = remembered {
            self.results_in(region).set(ident, outcome.clone());
        }
        Ok(outcome)
    }

    /// Calls the callback with the result for a part.
    fn call_after(
        &mut self,
        section: &mut Section,
        outcome: Outcome,
        part: Part<'a>,
    ) -> Result<Outcome> {
        let Outcome::New(value) = &outcome else {
            return self.call(section, part);
        };
        let now = Part {
            met: PartRef::of(value),
            ..part
        };
        match self.call(section, now)? {
            Outcome::Same => Ok(outcome),
            Outcome::New(answer) => Ok(Outcome::of(answer, part.met)),
        }
    }

    /// Calls the callback, which may replace a value.
    #[inline]
    fn call(&mut self, section: &mut Section, part: Part<'_>) -> Result<Outcome> {
        if !(self.wanted)(part.met.type_index()) {
            return Ok(Outcome::Same);
        }
        match self.answer(section, part)? {
            Some(answer) => Ok(Outcome::of(answer, part.met)),
            None => Ok(Outcome::Same),
        }
    }

    /// The answer of the callback to a value.
    #[inline(always)]
    fn answer(&mut self, section: &mut Section, part: Part<'_>) -> Result<Option<Value>> {
        let visit = Visit {
            part,
            ancestors: &self.rewriter.cursors,
            stepless: 0,
        };
        let callback = &mut self.callback;
        access::outside(section, || callback(&visit))
    }

    /// True if the driver replaces values of a type.
    #[inline]
    fn drives(&self, ty: Option<TypeIndex>) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.wants(ty))
    }

    /// The recorded replacement of a variable in a region.
    #[inline(never)]
    fn recorded(&self, ident: u64, region: RegionKind, driven: bool) -> Option<Value> {
        if region == RegionKind::Use
            && let Some(image) = self.uses.get(&ident)
        {
            return Some(image.clone());
        }
        // A value wanted by the driver is left to the driver.
        let recorded = self.remapped.get(&ident)?;
        (!driven).then(|| recorded.clone())
    }

    /// The results in a region.
    #[inline]
    fn results_in(&mut self, region: RegionKind) -> &mut Results {
        &mut self.results[if self.options.regions_apart {
            region as usize
        } else {
            0
        }]
    }

    /// Records that an object is open.
    fn remember(&mut self, ident: u64, region: RegionKind) -> (u64, RegionKind) {
        self.results_in(region).open(ident);
        if self.special {
            self.opened.push((region, ident));
        }
        (ident, region)
    }

    /// Calls the hook of an object's type.
    #[cold]
    #[inline(never)]
    fn ask(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
        hook: &DynMutate,
    ) -> Result<Outcome> {
        let part = Part {
            met: PartRef::Object(object),
            region,
            is_key: false,
        };
        let has_cursor = self.push_own(section, part, None);
        let key = object.info().key();
        let asker = Asker {
            hooked: Some(object),
            has_cursor,
            region,
        };
        let mut mutator = HookMutator {
            mapper: self,
            asker,
        };
        let result = hooks::run(section, DynMutate::NAME, key, || {
            hook.call(object.as_ref(), &mut mutator)
        });
        self.pop_own(has_cursor);
        Ok(Outcome::of(result?, part.met))
    }

    /// Calls the driver with a value.
    fn drive(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        remembered: Option<(u64, RegionKind)>,
    ) -> Result<Outcome> {
        let Some(driver) = &mut self.driver else {
            return Ok(Outcome::Same);
        };
        driver.enter("structural_mutate", || self.rewriter.path())?;
        let callback = driver.callback;
        let has_cursor = self.push_own(section, part, remembered);
        let value = part.met.to_value();
        let asker = Asker {
            hooked: None,
            has_cursor,
            region: part.region,
        };
        let mut mutator = HookMutator {
            mapper: self,
            asker,
        };
        let result = access::outside(section, || callback(&value, &mut mutator));
        if let Some(driver) = &mut self.driver {
            driver.leave();
        }
        self.pop_own(has_cursor);
        let outcome = Outcome::of(result?, part.met);
        if let Some((ident, region)) = remembered {
            self.results_in(region).set(ident, outcome.clone());
        }
        Ok(outcome)
    }

    /// Pushes the cursor of a value whose parts are requested by a hook or the driver:
    /// paths then lead through the value. Returns false if the value has no parts.
    fn push_own(
        &mut self,
        section: &Section,
        part: Part<'a>,
        remembered: Option<(u64, RegionKind)>,
    ) -> bool {
        let PartRef::Object(object) = part.met else {
            return false;
        };
        let Some(cursor) = Cursor::open(section, object, part, self.view) else {
            return false;
        };
        let open = OpenObject {
            remembered: remembered.is_some(),
            ..OpenObject::default()
        };
        self.rewriter.push(cursor, open);
        true
    }

    fn pop_own(&mut self, has_cursor: bool) {
        if has_cursor {
            self.rewriter.give_up_cursor();
        }
    }

    #[cold]
    fn cycle(&self, object: ObjRef<'a>) -> Error {
        let is_it = |was: ObjRef<'_>| was.ident() == object.ident();
        let mut replaced = self.rewriter.extras().filter_map(|open| open.replaced);
        let error = if replaced.any(|was| was.object_ref().is_some_and(is_it)) {
            contained_in_result(object)
        } else {
            cyclic(object)
        };
        error.at(self.rewriter.path())
    }

    /// Rewrites a part for the running hook or callback of the driver.
    fn part(
        &mut self,
        section: &mut Section,
        part: &Value,
        region: RegionKind,
        asker: Asker<'a>,
        request: Request,
    ) -> Result<Value> {
        let mark = self.rewriter.mark();
        let first_opened = self.opened.len();
        let part = Part::alone(self.rewriter.parts.keep_value(part), region);
        if asker.has_cursor
            && let Some(cursor) = self.rewriter.cursors.last_mut()
        {
            cursor.lead_to(section, part.met);
        }
        let result = match request {
            Request::Part => self.run(section, part),
            Request::Children => self.children(section, part, asker),
        };
        if result.is_err() {
            // The hook may continue; objects opened here are no longer open.
            self.rewriter.give_up(mark);
            for (region, ident) in self.opened.split_off(first_opened) {
                let results = self.results_in(region);
                if let Some(None) = results.get(ident) {
                    results.forget(ident);
                }
            }
        }
        self.opened.truncate(first_opened);
        Ok(result?.into_value(part.met))
    }

    /// Rewrites the children of a value: by the hook of its type, unless this hook is
    /// asking.
    fn children(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        asker: Asker<'a>,
    ) -> Result<Outcome> {
        let PartRef::Object(object) = part.met else {
            return Ok(Outcome::Same);
        };
        let info = object.info();
        if let Some(recorded) = self.remapped.get(&object.ident()) {
            return Ok(Outcome::of(recorded.clone(), part.met));
        }
        if self.hooks.exist()
            && let Some(hook) = self.hooks.mutate(info)
            && !asker.is_hook_of(object)
        {
            return self.ask(section, object, part.region, hook);
        }
        let descent = self.is_spread(info).then(|| object.ident());
        if let Some(ident) = descent
            && let Some(Some(result)) = self.descents.get(ident)
        {
            return Ok(result);
        }
        let Some(cursor) = Cursor::open(section, object, part, self.view) else {
            return Ok(Outcome::Same);
        };
        let floor = self.rewriter.cursors.len();
        let open = OpenObject {
            descent: descent.is_some(),
            ..OpenObject::default()
        };
        self.rewriter.push(cursor.silent(), open);
        self.descend(section, floor, Progress::Opened)
    }

    /// Records the replacement of a variable from now on.
    ///
    /// If regions are told apart, earlier results may be requested again in another
    /// region, and are therefore forgotten. Otherwise, earlier results stay: a variable
    /// is replaced from its definition on.
    fn remap(&mut self, ident: u64, value: Value) {
        if !self.options.regions_apart {
            self.results[0].set(ident, Outcome::New(value.clone()));
        } else if self
            .results
            .iter_mut()
            .any(|it| matches!(it.get(ident), Some(Some(_))))
        {
            // Earlier results may contain the variable.
            self.results = Default::default();
            self.descents = Results::default();
            for (cursor, open) in self.rewriter.opened() {
                if let Some((ident, region)) = open.remembered(cursor) {
                    self.results[region as usize].open(ident);
                }
            }
        }
        self.remapped.insert(ident, value);
    }
}

/// The rewrite as seen by a hook or a callback of the driver.
struct HookMutator<'m, 'a, 'f, W, F> {
    mapper: &'m mut Mapper<'a, 'f, W, F>,
    asker: Asker<'a>,
}

impl<W, F> HookMutator<'_, '_, '_, W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<Option<Value>>,
{
    fn part(&mut self, value: &Value, region: RegionKind, request: Request) -> Result<Value> {
        let (mapper, asker) = (&mut *self.mapper, self.asker);
        access::traversing(|section| mapper.part(section, value, region, asker, request))
    }
}

impl<W, F> MutateCallback for HookMutator<'_, '_, '_, W, F>
where
    W: Fn(Option<TypeIndex>) -> bool,
    F: FnMut(&Visit<'_>) -> Result<Option<Value>>,
{
    fn region(&self) -> RegionKind {
        self.asker.region
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.part(value, region, Request::Part)
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.part(value, region, Request::Children)
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        self.mapper.remapped.get(&var.identity()).cloned()
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        self.mapper.remap(var.identity(), value);
    }

    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value) {
        self.mapper.uses.insert(var.identity(), value);
    }

    fn image(&mut self, object: &Ref<Obj>) -> Option<Value> {
        let outcome = self
            .mapper
            .results_in(RegionKind::Use)
            .get(object.identity())??;
        Some(match outcome {
            Outcome::Same => object.into(),
            Outcome::New(value) => value,
        })
    }
}
