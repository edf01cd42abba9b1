//! Custom hashes.
//!
//! What a hook asks about is met in the order of the questions, as equality meets it: a
//! variable or dag node of one question is known in the next one, and after the object.
//! Only *alternatives* are independent of each other: questions that start from the same
//! number, such as the operands of a commutative node, which may be asked about in any
//! order. So a hook is called twice. The first call answers with placeholders, visits
//! nothing, and shows whether there are alternatives. If there are none, the questions
//! of the second call continue the numbering of what is around the object, like fields.
//! Otherwise each has a [context](super::super::var_numbering): it knows what was met
//! before the object, and before the question that it starts from. When the hook has
//! returned, everything that was met is numbered in an order that does not depend on the
//! order of the questions: by the answers of those that met it, and by its numbers there.
//!
//! So a hook agrees with equality if equal objects make it ask equal questions, and each
//! part that it asks about is one that the custom equality compares.

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
        if self.hook_depth >= MAX_HOOK_DEPTH {
            let text = format!(
                "custom hashes nest deeper than {MAX_HOOK_DEPTH} (type {})",
                info.key()
            );
            return Err(self.error(ErrorKind::Recursion, text));
        }
        // A part with a custom hash is kept for no later walk, so only keys need to know
        // what changes.
        if S::KEEPS && self.is_of_key() {
            self.watch_below(section, object)?;
        }
        let mut plan = Plan::default();
        let call = |hash: &mut dyn HashCallback| hook.call(object.as_ref(), INIT, hash);
        let mut custom = access::outside(section, || call(&mut plan))?;
        let mut met = Vec::new();
        if plan.questions > 0 {
            self.hook_depth += 1;
            let outer = self.tables.numbering.current();
            let alternatives = plan.has_alternatives.then(|| Alternatives {
                outer,
                contexts: HashMap::default(),
                answers: HashMap::default(),
            });
            let named = self.tables.numbering.named_in_contexts();
            let mut callback = Callback {
                hasher: self,
                object,
                region,
                alternatives,
                questions: 0,
            };
            let result = access::outside(section, || call(&mut callback));
            let (questions, alternatives) = (callback.questions, callback.alternatives);
            self.hook_depth -= 1;
            custom = result?;
            if questions == 0 {
                let text = format!(
                    "the custom hash (__s_hash__) of type {} returned what it was told in an \
                     earlier call; ask hash_cb in every call, since its answers are valid only \
                     until the hook returns",
                    info.key()
                );
                return Err(self.error(ErrorKind::Value, text));
            }
            if let Some(alternatives) = alternatives {
                let answers = &alternatives.answers;
                met = self.tables.settle(named, answers);
            }
        }
        // It may depend on anything.
        self.note_level(0);
        let mut acc = self.sink.open_type(info);
        self.sink.word(&mut acc, Part::Custom, custom);
        // One object in two alternatives is something else than two objects.
        for names in met {
            self.sink.word(&mut acc, Part::Length, names.len() as u64);
            for (answer, number) in names {
                self.sink.word(&mut acc, Part::Custom, answer);
                self.sink.word(&mut acc, Part::Number, number);
            }
        }
        Ok(Step::Done(self.sink.close(acc)))
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

    /// Watches everything that can change below an object with hooks: a custom
    /// equality may compare parts that the custom hash leaves out. Each object
    /// is entered once per walk, and parts that are kept are not entered at all.
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

/// Appends the parts of an object or container that structural equality
/// compares.
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

/// The initial value for hooks. It carries no information: the engine mixes in
/// type and position.
const INIT: u64 = 0x1505_7d33_9c6b_0d5f;

/// The first call of a hook, which shows the order of its questions.
#[derive(Default)]
struct Plan {
    questions: u64,
    /// The number from which a question that is not an alternative starts.
    last: Option<u64>,
    has_alternatives: bool,
}

impl Plan {
    fn ask(&mut self, init: u64) {
        self.questions += 1;
        self.has_alternatives |= self.last.is_some_and(|last| last != init);
    }
}

impl HashCallback for Plan {
    fn hash_in(&mut self, _value: &Value, init: u64, _region: RegionChange) -> Result<u64> {
        self.ask(init);
        let answer = INIT ^ self.questions.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.last = Some(answer);
        Ok(answer)
    }

    fn hash_named(&mut self, _var: &Value, init: u64) -> Result<u64> {
        self.ask(init);
        self.last = Some(init);
        Ok(init)
    }
}

/// The contexts of questions that are independent of each other.
struct Alternatives {
    /// The context in which the hook was called.
    outer: u32,
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
    /// None if each question continues from the one before.
    alternatives: Option<Alternatives>,
    questions: u64,
}

impl<S: Sink> HashCallback for Callback<'_, '_, S> {
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64> {
        self.questions += 1;
        access::traversing(|section| self.hash_in_section(section, value, init, region))
    }

    fn hash_named(&mut self, var: &Value, init: u64) -> Result<u64> {
        self.questions += 1;
        access::traversing(|section| self.bind_in_section(section, var))?;
        Ok(init)
    }
}

impl<'a, S: Sink> Callback<'_, 'a, S> {
    fn bind_in_section(&mut self, section: &mut Section, var: &Value) -> Result<()> {
        let hasher = &mut *self.hasher;
        let var = hasher.arena.keep_value(var);
        let Some(object) = var.object_ref() else {
            return Ok(());
        };
        let level = hasher.tables.levels.current();
        let region = self.region.enter(RegionChange::DefSimple, level);
        // Hashes of other fields may depend on what else is bound.
        let is_plain = hasher.has_plain_fields(section, object);
        let naming = is_plain.then(|| object.ident());
        let outer = std::mem::replace(&mut hasher.naming, naming);
        let result = self.visit(region, |hasher| {
            hasher.run(section, object, region).map(drop)
        });
        self.hasher.naming = outer;
        result
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
            numbering.ask(alternatives.outer, from, levels);
        }
        let context = numbering.current();
        let value = hasher.arena.keep_value(value);
        let answer = self.visit(region, |hasher| {
            let mut acc = hasher.sink.open_form(Form::Answer);
            hasher.sink.word(&mut acc, Part::Custom, init);
            match value.object_ref() {
                None => hasher.plain(&mut acc, value),
                Some(object) => {
                    let out = hasher.run(section, object, region)?;
                    hasher.sink.child(&mut acc, out);
                }
            }
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

    /// Visits a part of the object, and drops whatever an error leaves open.
    fn visit<T>(
        &mut self,
        region: Region,
        visit: impl FnOnce(&mut Hasher<'a, S>) -> Result<T>,
    ) -> Result<T> {
        let hasher = &mut *self.hasher;
        let acc = hasher.sink.mark();
        let (height, parts) = (hasher.stack.len(), hasher.open_parts());
        hasher.push(Job::HookStep, self.object, acc, region);
        let result = visit(hasher);
        hasher.leave_frames(height);
        hasher.leave_parts(parts);
        result
    }
}
