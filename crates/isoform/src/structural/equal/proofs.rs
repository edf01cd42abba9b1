//! Shared nodes: remembered proofs, and which objects are open.

use super::super::open::Entry;
use super::super::pins::content_of;
use super::super::scope::{Region, Touched};
use super::{Engine, Frame, Job};
use crate::error::{ErrorKind, Result};
use crate::object::access;
use crate::object::view::ObjRef;

impl<'a> Engine<'a> {
    /// Looks a shared pair up; when it is not there, begins its proof.
    #[inline]
    pub(super) fn is_proven(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<bool> {
        let proven = self.has_proof(l, r, region);
        if !proven {
            self.begin_proof(l, r, region)?;
        }
        Ok(proven)
    }

    #[inline(never)]
    pub(super) fn has_proof(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        let memo = &mut self.tables.memo;
        let Some(needs) = memo.find(l.ident(), r.ident(), region, &self.levels) else {
            return false;
        };
        self.levels.use_result(needs, region);
        true
    }

    #[inline(never)]
    pub(super) fn begin_proof(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<()> {
        // A cycle is entered at an object with two owners, one of them inside
        // the cycle; so it is enough to mark what is remembered anyway.
        let marked = access::may_have_cycles() && self.open(l, r, self.tables.containers)?;
        self.collect_proof(l, r, region, marked);
        Ok(())
    }

    /// Begins to collect what the pair's proof needs.
    pub(super) fn collect_proof(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        marked: bool,
    ) {
        let before = self.levels.begin();
        self.tables.touched.push(before);
        self.stack.push(Frame {
            l,
            r,
            next: 0,
            extra: u32::from(marked),
            region,
            job: Job::EndMemo,
        });
    }

    /// Marks two objects, inside so many containers, as being compared; false
    /// when they are met again around a container, which will be the error.
    #[inline(never)]
    pub(super) fn open(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, containers: u32) -> Result<bool> {
        let [left, right] = &mut self.tables.open;
        let entries = (
            left.enter(l.ident(), containers),
            right.enter(r.ident(), containers),
        );
        if entries == (Entry::Fresh, Entry::Fresh) {
            return Ok(true);
        }
        if entries.0 == Entry::Fresh {
            left.leave(l.ident());
        }
        if entries.1 == Entry::Fresh {
            right.leave(r.ident());
        }
        if entries.0 != Entry::Cycle && entries.1 != Entry::Cycle {
            return Ok(false);
        }
        let text = format!("cyclic {} cannot be compared", l.info().key());
        Err(self.error(ErrorKind::Value, text))
    }

    /// A pair that was marked, and is so many containers, is no longer being
    /// compared. (By parts: a reference to the frame would keep it in memory.)
    pub(super) fn close(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, containers: u32) {
        let [left, right] = &mut self.tables.open;
        left.leave(l.ident());
        right.leave(r.ident());
        self.tables.containers -= containers;
    }

    /// Marks a pair that is not remembered until it is compared, if a cycle
    /// may be entered there.
    #[inline(always)]
    pub(super) fn open_unremembered(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<()> {
        if access::may_have_cycles() {
            return self.open_now(l, r, region);
        }
        Ok(())
    }

    #[inline(never)]
    fn open_now(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> Result<()> {
        let shared = l.is_shared() || r.is_shared();
        if shared && self.open(l, r, self.tables.containers)? {
            self.push(Job::EndOpen, l, r, region);
        }
        Ok(())
    }

    /// The objects whose fields stand for these: what they were when a key was
    /// made, or the objects themselves.
    #[inline(always)]
    pub(super) fn contents(&self, l: ObjRef<'a>, r: ObjRef<'a>) -> (ObjRef<'a>, ObjRef<'a>) {
        if !self.pinned {
            return (l, r);
        }
        (
            content_of(self.arena, self.pins.0, l),
            content_of(self.arena, self.pins.1, r),
        )
    }

    /// The pair of the [`Job::EndMemo`] frame on top is proven.
    #[inline(never)]
    pub(super) fn end_proof(&mut self) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let before = self.tables.touched.pop().unwrap_or(Touched::NOTHING);
        let (needs, _) = self.levels.end(before);
        let (l, r) = (frame.l.ident(), frame.r.ident());
        self.tables.memo.prove(l, r, needs, &self.levels);
        if frame.extra != 0 {
            self.close(frame.l, frame.r, 0);
        }
    }

    /// Whether the pair needs no visit; otherwise its proof begins, if it is
    /// shared.
    #[inline]
    pub(super) fn begin_shared(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<bool> {
        Ok((l.is_shared() || r.is_shared()) && self.is_proven(l, r, region)?)
    }
}
