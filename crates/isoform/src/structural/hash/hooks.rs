//! Custom hashes.
//!
//! A hook asks about parts. A question that starts from the previous answer comes after
//! the previous question, like the next comparison of a custom equality. Such a
//! question continues the numbering like the next field of a declared node. All other
//! questions are *alternatives*, like the operands of a commutative node. Equal objects
//! may make the hook ask alternatives in another order, so every alternative has a
//! separate [context](super::super::var_numbering). When the hook has returned, the
//! objects met in alternatives are numbered in an order that does not depend on the
//! order of the questions.
//!
//! The walk must know at the first question if a call has alternatives. A hook without
//! any earlier alternatives is called once, as if all questions formed a sequence. The
//! first alternative of a type is noted with the type, and makes the walk start again.
//! From then on, a [`Plan`] of every call of the type's hook decides. The note changes
//! the number of calls, but no hash.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::super::scope::Region;
use super::super::sink::{Form, Part, Sink};
use super::super::snapshots::{content_of, held_by};
use super::{Hasher, Job, Step};
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::hooks::HashCallback;
use crate::kernel::hooks::MAX_HOOK_DEPTH;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::RegionChange;
use crate::kernel::value::Value;

impl<'a, S: Sink> Hasher<'a, S> {
    #[inline(never)]
    pub(super) fn call_hook(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Step<'a, S::Out>> {
        let Some(hook) = info.hooks.hash.get() else {
            let text = format!(
                "type {} has a custom equality but no custom hash (__s_hash__), so it cannot be hashed",
                info.key()
            );
            return Err(self.error(ErrorKind::Type, text));
        };
        if S::KEEPS {
            self.watch_below(section, object)?;
        }
        self.begin_hook(object)?;
        let call = |callback: &mut dyn HashCallback| hook.call(object.as_ref(), INIT, callback);
        let mut plan = Plan::default();
        let is_planned = info.may_hash_alternatives();
        if is_planned && let Err(error) = access::outside(section, || call(&mut plan)) {
            self.hook_depth -= 1;
            return Err(error);
        }
        let outer = self.tables.numbering.current();
        let named = self.tables.numbering.names_in_contexts();
        let mut callback = Callback {
            hasher: self,
            object,
            region,
            outer,
            is_planned,
            alternatives: plan.has_alternatives.then(Alternatives::default),
            last: None,
        };
        let result = access::outside(section, || call(&mut callback));
        let alternatives = callback.alternatives;
        self.hook_depth -= 1;
        let custom = result?;
        // The result of a hook may depend on any surrounding binding.
        self.note_level(0);
        let mut acc = self.sink.open_type(info);
        self.sink.word(&mut acc, Part::Custom, custom);
        if let Some(Alternatives { answers, .. }) = alternatives {
            let (numbering, levels) = (&mut self.tables.numbering, &mut self.tables.levels);
            // One object in two alternatives differs from two objects.
            for appearances in numbering.settle(named, &answers, levels) {
                self.sink
                    .word(&mut acc, Part::Length, appearances.len() as u64);
                for (answer, name) in appearances {
                    self.sink.word(&mut acc, Part::Custom, answer);
                    self.sink.word(&mut acc, Part::Number, name);
                }
            }
        }
        Ok(Step::Done(self.sink.close(acc)))
    }

    /// Counts a level of nesting.
    pub(super) fn begin_hook(&mut self, object: ObjRef<'a>) -> Result<()> {
        if self.hook_depth >= MAX_HOOK_DEPTH {
            let text = format!(
                "custom hashes nest deeper than {MAX_HOOK_DEPTH} (type {})",
                object.info().key()
            );
            return Err(self.error(ErrorKind::Recursion, text));
        }
        self.hook_depth += 1;
        Ok(())
    }

    /// Visits a part of an object, and drops all frames left open by an error.
    pub(super) fn question<T>(
        &mut self,
        object: ObjRef<'a>,
        region: Region,
        visit: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let acc = self.sink.mark();
        let (height, parts) = (self.stack.len(), self.open_parts());
        self.push(Job::HookStep, object, acc, region);
        let result = visit(self);
        self.leave_frames(height);
        self.leave_parts(parts);
        result
    }
}

impl<'a, S: Sink> Hasher<'a, S> {
    /// True if no compared field of a declared node has parts.
    fn has_plain_fields(&self, section: &Section, object: ObjRef<'a>) -> bool {
        let fields = object.visited_with(object.info());
        let loaded = (0..fields.len()).filter_map(|at| fields.get(section, at));
        let mut children = loaded.filter_map(|(_, loaded)| loaded.object());
        children.all(|child| !child.info().class().has_parts())
    }

    /// Watches every object below an object with hooks that can change: a custom
    /// equality may compare parts that the custom hash leaves out. Each object is
    /// entered once per walk, and kept parts are not entered at all.
    fn watch_below(&mut self, section: &mut Section, object: ObjRef<'a>) -> Result<()> {
        let mut waiting = Vec::new();
        push_children(section, object, &mut waiting);
        while let Some(object) = waiting.pop() {
            self.poll.step(section)?;
            self.visits += 1;
            let info = object.info();
            if !(info.has_children || info.may_change())
                || self.is_kept(object)
                || !self.below.insert(object.ident())
            {
                continue;
            }
            let content = match info.class() {
                Payload::Mutable => {
                    self.watch.meet(object);
                    held_by(section, self.arena, self.snapshots, object)
                }
                _ => {
                    self.watch_fields(object, info);
                    content_of(self.arena, self.snapshots, object)
                }
            };
            push_children(section, content, &mut waiting);
        }
        Ok(())
    }
}

/// Appends the parts of an object or container that structural equality compares.
fn push_children<'a>(section: &Section, object: ObjRef<'a>, waiting: &mut Vec<ObjRef<'a>>) {
    if let Some(array) = object.items() {
        waiting.extend(array.iter().filter_map(Value::object_ref));
    } else if let Some(map) = object.entries() {
        let values = (0..map.len()).filter_map(|at| map.entry(at)?.1.object_ref());
        waiting.extend(values);
    } else if object.info().has_children {
        let fields = object.visited_with(object.info());
        let loaded = (0..fields.len()).filter_map(|at| fields.get(section, at));
        waiting.extend(loaded.filter_map(|(_, loaded)| loaded.object()));
    }
}

/// The initial value for hooks. The value carries no information: the engine mixes in
/// type and position.
const INIT: u64 = 0x1505_7d33_9c6b_0d5f;

/// A call of a hook without visits, which finds out if the questions are alternatives.
#[derive(Default)]
struct Plan {
    /// The number from which the next question continues.
    last: Option<u64>,
    questions: u64,
    has_alternatives: bool,
}

impl HashCallback for Plan {
    fn hash_in(&mut self, _value: &Value, init: u64, _region: RegionChange) -> Result<u64> {
        self.has_alternatives |= self.last.is_some_and(|last| last != init);
        self.questions += 1;
        let answer = INIT ^ self.questions.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.last = Some(answer);
        Ok(answer)
    }

    fn hash_named(&mut self, _var: &Value, init: u64) -> Result<u64> {
        self.has_alternatives |= self.last.is_some_and(|last| last != init);
        self.last = Some(init);
        Ok(init)
    }
}

/// The contexts of independent questions of a hook.
#[derive(Default)]
struct Alternatives {
    /// The context of each answer so far.
    contexts: HashMap<u64, u32, RandomState>,
    /// The answer of each context.
    answers: HashMap<u32, u64, RandomState>,
}

/// The walk as seen by a hook.
struct Callback<'h, 'a, S: Sink> {
    hasher: &'h mut Hasher<'a, S>,
    object: ObjRef<'a>,
    region: Region,
    /// The context in which the hook was called.
    outer: u32,
    /// True if a [`Plan`] has shown if the call has alternatives.
    is_planned: bool,
    /// None while every question continues from the previous question.
    alternatives: Option<Alternatives>,
    /// The number from which the next question continues.
    last: Option<u64>,
}

impl<S: Sink> HashCallback for Callback<'_, '_, S> {
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64> {
        self.expect(init);
        let answer =
            access::traversing(|section| self.hash_in_section(section, value, init, region))?;
        self.last = Some(answer);
        Ok(answer)
    }

    fn hash_named(&mut self, var: &Value, init: u64) -> Result<u64> {
        self.expect(init);
        access::traversing(|section| self.bind_in_section(section, var))?;
        self.last = Some(init);
        Ok(init)
    }
}

impl<'a, S: Sink> Callback<'_, 'a, S> {
    /// Notices the first alternative of a hook whose questions were expected to form
    /// one sequence.
    fn expect(&mut self, init: u64) {
        if self.alternatives.is_none() && self.last.is_some_and(|last| last != init) {
            self.alternatives = Some(Alternatives::default());
            if !self.is_planned {
                self.object.info().note_hash_alternatives();
                self.hasher.unplanned = true;
            }
        }
    }

    fn bind_in_section(&mut self, section: &mut Section, var: &Value) -> Result<()> {
        let hasher = &mut *self.hasher;
        let var = hasher.arena.keep_value(var);
        let Some(object) = var.object_ref() else {
            return Ok(());
        };
        let level = hasher.tables.levels.current();
        let region = self.region.enter(RegionChange::DefSimple, level);
        // Hashes of other fields may depend on other bound objects.
        let is_plain = hasher.has_plain_fields(section, object);
        let naming = is_plain.then(|| object.ident());
        let outer = std::mem::replace(&mut hasher.naming, naming);
        let result = hasher.question(self.object, region, |hasher| {
            hasher.run(section, object, region)
        });
        hasher.naming = outer;
        result.map(drop)
    }

    fn hash_in_section(
        &mut self,
        section: &mut Section,
        value: &Value,
        init: u64,
        region: RegionChange,
    ) -> Result<u64> {
        let hasher = &mut *self.hasher;
        let levels = &hasher.tables.levels;
        let region = self.region.enter(region, levels.current());
        let numbering = &mut hasher.tables.numbering;
        let before = numbering.current();
        if let Some(alternatives) = &self.alternatives {
            let from = alternatives.contexts.get(&init).copied();
            numbering.ask(self.outer, from, levels);
        }
        let context = numbering.current();
        let value = hasher.arena.keep_value(value);
        let answer = hasher.question(self.object, region, |hasher| {
            let out = hasher.value(section, value, region)?;
            let out = hasher.sink.keep(out);
            let mut acc = hasher.sink.open_form(Form::Answer);
            hasher.sink.word(&mut acc, Part::Custom, init);
            hasher.sink.child(&mut acc, out);
            let answer = hasher.sink.close(acc);
            Ok(hasher.sink.to_u64(answer))
        });
        self.hasher.tables.numbering.leave(before);
        let answer = answer?;
        if let Some(alternatives) = &mut self.alternatives {
            alternatives.contexts.insert(answer, context);
            alternatives.answers.insert(context, answer);
        }
        Ok(answer)
    }
}
