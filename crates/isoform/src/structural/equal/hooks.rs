//! Calls custom comparisons, and undoes their failed attempts.

use super::super::levels::Deps;
use super::super::mismatch::Reason;
use super::super::scope::Region;
use super::proofs::MARKED;
use super::{Engine, EntryResult, Frame, Holes, Job};
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::hooks::EqualCallback;
use crate::kernel::hooks::MAX_HOOK_DEPTH;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::RegionChange;
use crate::kernel::value::Value;

impl<'a> Engine<'a> {
    #[inline(never)]
    pub(super) fn call_hook<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        let Some(hook) = info.hooks.equal.get() else {
            let text = format!(
                "type {} has a custom hash but no custom equality (__s_equal__), so it cannot be compared",
                info.key()
            );
            return Err(self.error(ErrorKind::Type, text));
        };
        if self.hook_depth >= MAX_HOOK_DEPTH {
            let text = format!(
                "custom comparisons nest deeper than {MAX_HOOK_DEPTH} (type {})",
                info.key()
            );
            return Err(self.error(ErrorKind::Recursion, text));
        }
        let earlier = self.found.take();
        self.hook_depth += 1;
        let mut callback = Callback::<REC> {
            engine: self,
            l,
            r,
            region,
        };
        let equal = access::outside(section, || hook.call(l.as_ref(), r.as_ref(), &mut callback));
        self.hook_depth -= 1;
        if equal? {
            self.found = earlier;
            return Ok(EntryResult::Equal);
        }
        // The first part that differed explains most, since later alternatives pair
        // parts that do not belong together; without a differing part, the hook itself
        // decided.
        if REC && earlier.is_some() {
            self.found = earlier;
        }
        if REC && self.found.is_some() {
            return Ok(EntryResult::Different);
        }
        Ok(self.differ_objects::<REC>(Reason::Custom, l, r))
    }
}

impl Engine<'_> {
    /// Drops the frames above a height and closes their objects. If an alternative was
    /// `refuted`, the pairs around the place were refuted, too.
    fn leave_frames(&mut self, height: usize, refuted: bool) {
        while self.stack.len() > height {
            let Some(frame) = self.stack.pop() else {
                break;
            };
            self.note_left(frame);
            match frame.job {
                Job::EndOpen => self.close(frame.l, frame.r, frame.extra),
                Job::EndMemo => {
                    if frame.extra & MARKED != 0 {
                        self.close(frame.l, frame.r, 0);
                    }
                    if refuted {
                        self.refute(frame);
                        let before = self.tables.touched.pop().unwrap_or(Deps::NOTHING);
                        self.levels.abandon(before);
                    }
                }
                Job::EndDag if refuted => self.refute(frame),
                Job::EndScope if refuted => self.levels.abandon_scope(),
                _ => {}
            }
        }
    }
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
    /// Runs `body`; if `body` returns false or fails, all its effects are undone.
    fn transaction(&mut self, body: impl FnOnce(&mut Self) -> Result<bool>) -> Result<bool> {
        let engine = &mut *self.engine;
        let mark = engine.tables.bindings.mark(&engine.levels);
        let touched = (engine.levels.collected(), engine.tables.touched.len());
        let (frames, pairs) = (engine.stack.len(), engine.tables.pairs.len());
        let names = engine.names.len();
        let (bound, filled) = (
            engine.bound.len(),
            engine.holes.as_ref().map_or(0, Holes::mark),
        );
        let equal = body(self);
        let engine = &mut *self.engine;
        engine.names.truncate(names);
        engine.leave_frames(frames, matches!(equal, Ok(false)));
        if matches!(equal, Ok(true)) {
            engine.tables.bindings.commit(mark);
        } else {
            engine.tables.bindings.roll_back(mark, &mut engine.levels);
            engine.levels.put_back(touched.0);
            engine.tables.touched.truncate(touched.1);
            engine.tables.pairs.truncate(pairs);
            let undone = bound..engine.bound.len();
            if let Some(holes) = &mut engine.holes {
                holes.undo(filled, undone);
            }
        }
        equal
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
        let compare = |section: &mut Section, callback: &mut Self| {
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
            engine.compare::<REC>(section, l, r, region)
        };
        access::traversing(|section| self.transaction(|callback| compare(section, callback)))
    }

    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool> {
        self.transaction(|callback| alternative(callback))
    }
}
