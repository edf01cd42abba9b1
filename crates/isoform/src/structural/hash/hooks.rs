//! Custom hashes.

use hashbrown::HashMap;

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
        if S::KEEPS {
            self.watch_below(section, object)?;
        }
        self.hook_depth += 1;
        let outer = self.tables.numbering.current();
        let mut callback = Callback {
            hasher: self,
            object,
            region,
            outer,
            answers: HashMap::default(),
        };
        let result = access::outside(section, || hook.call(object.as_ref(), INIT, &mut callback));
        self.hook_depth -= 1;
        let custom = result?;
        // It may depend on anything.
        self.note_level(0);
        let mut acc = self.sink.open_type(info);
        self.sink.word(&mut acc, Part::Custom, custom);
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

/// The walk as seen by a hook.
struct Callback<'h, 'a, S: Sink> {
    hasher: &'h mut Hasher<'a, S>,
    object: ObjRef<'a>,
    region: Region,
    /// The context in which the hook was called.
    outer: u32,
    /// The context of each result returned so far.
    answers: HashMap<u64, u32, rapidhash::fast::RandomState>,
}

impl<S: Sink> HashCallback for Callback<'_, '_, S> {
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64> {
        access::traversing(|section| self.hash_in_section(section, value, init, region))
    }

    fn hash_named(&mut self, var: &Value, init: u64) -> Result<u64> {
        access::traversing(|section| self.bind_in_section(section, var))?;
        Ok(init)
    }
}

impl<S: Sink> Callback<'_, '_, S> {
    fn bind_in_section(&mut self, section: &mut Section, var: &Value) -> Result<()> {
        let hasher = &mut *self.hasher;
        let var = hasher.arena.keep_value(var);
        let Some(object) = var.object_ref() else {
            return Ok(());
        };
        let level = hasher.tables.levels.current();
        let region = self.region.enter(RegionChange::DefSimple, level);
        let acc = hasher.sink.mark();
        let (height, parts) = (hasher.stack.len(), hasher.open_parts());
        hasher.push(Job::HookStep, self.object, acc, region);
        // Hashes of other fields may depend on what else is bound.
        let is_plain = hasher.has_plain_fields(section, object);
        let naming = is_plain.then(|| object.ident());
        let outer = std::mem::replace(&mut hasher.naming, naming);
        let result = hasher.run(section, object, region);
        hasher.naming = outer;
        hasher.leave_frames(height);
        hasher.leave_parts(parts);
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
        let before = hasher.tables.numbering.current();
        let from = self.answers.get(&init).copied();
        hasher.tables.numbering.ask(self.outer, from, levels);
        let context = hasher.tables.numbering.current();
        let acc = hasher.sink.mark();
        let (height, parts) = (hasher.stack.len(), hasher.open_parts());
        hasher.push(Job::HookStep, self.object, acc, region);
        let value = hasher.arena.keep_value(value);
        let out = hasher.value(section, value, region);
        let out = out.map(|out| hasher.sink.keep(out));
        hasher.leave_frames(height);
        hasher.leave_parts(parts);
        hasher.tables.numbering.leave(before);
        let out = out?;
        let mut acc = hasher.sink.open_form(Form::Answer);
        hasher.sink.word(&mut acc, Part::Custom, init);
        hasher.sink.child(&mut acc, out);
        let answer = hasher.sink.close(acc);
        let answer = hasher.sink.to_u64(answer);
        self.answers.insert(answer, context);
        Ok(answer)
    }
}
