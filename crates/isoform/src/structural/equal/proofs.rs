//! Shared nodes: remembered proofs, and marks on open objects.
//!
//! **The invariant.** A proven pair is not visited again while a second visit would (a)
//! find every variable looked up by the first visit bound to the same partner, and (b)
//! make no bindings. Then the second visit meets the same pairs with the same results,
//! or fewer pairs, since fields of variables and dag nodes bound by the first visit are
//! not entered. The three parts of the invariant:
//!
//! * *The same partners.* A proof lists the bindings used by the visit ([`Deps`]), with
//!   their levels; bindings of scopes inside of the pair have ended and do not count.
//!   The proof is void as soon as the highest scope among these levels ends, or a
//!   binding shadows one of the levels. A lookup without a result counts as a use of
//!   every level.
//! * *No rebinding.* In a definition field, a variable of an outer level is bound
//!   again. A proof is therefore not used in a region, or below a definition of its
//!   own, with a level above the lowest variable that the proof used there.
//! * *Nothing bound for later siblings.* A second visit finds variables and dag pairs
//!   of the first visit bound, and does not enter their fields. Suppose a visit of the
//!   fields makes a binding that ends before the variable's own binding. Then the first
//!   visit of the pair saw a binding that the second visit does not see. The same holds
//!   for dag pairs, for a binding that shadows another binding, and for objects met as
//!   keys of maps before they were bound. Such a visit *creates* at the level of the
//!   binding, and no pair around it is remembered until the level ends.
//!
//! A void proof is found again by its variables' partners
//! ([`Environments`](super::super::environments)) under the same three conditions.

use smallvec::SmallVec;

use super::super::bindings::Bindings;
use super::super::environments::VarDependency;
use super::super::levels::{Deps, FEW, ValidUntil};
use super::super::memo::MemoResult;
use super::super::open::Entry;
use super::super::scope::Region;
use super::super::snapshots::content_of;
use super::{Engine, EntryResult, Frame, Job, LEFT, MemoLookup, RIGHT};
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access;
use crate::kernel::object::view::ObjRef;

/// Bits of an `EndMemo` frame: its objects are marked as open, and an earlier proof of
/// one of the objects has become void.
pub(super) const MARKED: u32 = 1;
const WAS_VOID: u32 = 2;

impl<'a> Engine<'a> {
    /// Looks a shared pair up; begins a proof for an unknown pair.
    #[inline]
    pub(super) fn is_known(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<Option<EntryResult<'a>>> {
        Ok(match self.recall(l, r, region) {
            MemoLookup::Equal => Some(EntryResult::Equal),
            MemoLookup::Different => Some(EntryResult::Different),
            MemoLookup::Unknown { was_void } => {
                self.begin_proof(l, r, region, was_void)?;
                None
            }
        })
    }

    #[inline(never)]
    pub(super) fn recall(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> MemoLookup {
        let was_void = match self
            .tables
            .memo
            .find(l.ident(), r.ident(), region, &self.levels)
        {
            MemoResult::Proven(needs, other) => {
                self.levels.use_result(needs, region);
                if let Some(other) = other {
                    self.levels.use_result(other, region);
                }
                return MemoLookup::Equal;
            }
            MemoResult::Void if self.is_proven_alike(l, r, region) => return MemoLookup::Equal,
            MemoResult::Void => true,
            MemoResult::Nothing => false,
        };
        if self.is_refuted(l, r, region) {
            return MemoLookup::Different;
        }
        MemoLookup::Unknown { was_void }
    }

    /// True if the pair was proven with the same pairing of its variables.
    #[cold]
    fn is_proven_alike(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        let subject = [l.ident(), r.ident()];
        let (bindings, current) = (&mut self.tables.bindings, self.levels.current());
        let newest_dag = self.tables.environments.find(subject, |read, key| {
            partner(bindings, read, region, current)
                .map(|partner| key.push(partner))
                .is_some()
        });
        let Some(newest_dag) = newest_dag else {
            return false;
        };
        // A dag pair undone with its alternative is not a proof. While the newest dag
        // pair is in force, all earlier dag pairs are, too.
        if let Some(dag) = newest_dag.checked_sub(1) {
            if !bindings.is_in_force(dag) {
                return false;
            }
            self.levels.use_dag(dag);
        }
        for &read in self.tables.environments.reads(subject) {
            if let Some(binding) = bindings.of(LEFT, read.ident) {
                let level = bindings.get(binding).level;
                let defined = read.defined || region.is_field();
                self.levels.use_again(binding, level, defined);
            }
        }
        true
    }

    /// True if an alternative of a custom comparison found the pair different
    /// in the current state of the bindings.
    #[inline]
    pub(super) fn is_refuted(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        // Outside of custom comparisons, a difference has to be reported and
        // ends the comparison.
        let is_refuted = self.hook_depth > 0
            && !self.tables.refuted.is_empty()
            && self.was_refuted(l.ident(), r.ident(), region);
        self.has_used_refuted |= is_refuted;
        is_refuted
    }

    #[cold]
    fn was_refuted(&self, l: u64, r: u64, region: Region) -> bool {
        let refuted = &self.tables.refuted;
        refuted.contains(&(l, r, Region::USE, u32::MAX))
            || self
                .tables
                .bindings
                .state()
                .is_some_and(|state| refuted.contains(&(l, r, region, state)))
    }

    /// Remembers that the pair of a frame differs; the visit began in the state
    /// `frame.next`.
    pub(super) fn refute(&mut self, frame: Frame<'a>) {
        let (l, r) = (frame.l.ident(), frame.r.ident());
        let key = if self.levels.touched().is_nothing() {
            (l, r, Region::USE, u32::MAX)
        } else if frame.next == u32::MAX || self.holes.is_some() {
            // The contents of holes are not part of the state.
            return;
        } else {
            (l, r, frame.region, frame.next)
        };
        self.tables.refuted.insert(key);
    }

    #[inline(never)]
    pub(super) fn begin_proof(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        was_void: bool,
    ) -> Result<()> {
        // A cycle is entered at an object with two owners, one of them inside the
        // cycle. It is therefore enough to mark objects that are remembered anyway.
        let marked = access::may_have_cycles() && self.open(l, r, self.tables.containers)?;
        self.collect_proof(l, r, region, marked, was_void);
        Ok(())
    }

    /// Begins to collect the dependencies of the pair's proof.
    pub(super) fn collect_proof(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        marked: bool,
        was_void: bool,
    ) {
        let before = self.levels.begin();
        self.tables.touched.push(before);
        self.stack.push(Frame {
            l,
            r,
            next: self.tables.bindings.state().unwrap_or(u32::MAX),
            extra: (u32::from(marked) * MARKED) | (u32::from(was_void) * WAS_VOID),
            region,
            job: Job::EndMemo,
        });
    }

    /// Marks two objects as being compared, inside this many containers. Returns false
    /// if the objects are met again around a container, which will report the error.
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

    /// Ends the comparison of a marked pair that accounts for this many containers. (By
    /// parts: a reference to the frame would keep it in memory.)
    pub(super) fn close(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, containers: u32) {
        let [left, right] = &mut self.tables.open;
        left.leave(l.ident());
        right.leave(r.ident());
        self.tables.containers -= containers;
    }

    /// Marks a pair that is not remembered until it is compared, if a cycle may be
    /// entered at the pair.
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

    /// The objects whose fields represent these objects: copies of their state when a
    /// key was made, or the objects themselves.
    #[inline(always)]
    pub(super) fn contents(&self, l: ObjRef<'a>, r: ObjRef<'a>) -> (ObjRef<'a>, ObjRef<'a>) {
        if !self.pinned {
            return (l, r);
        }
        (
            content_of(self.arena, self.snapshots.0, l),
            content_of(self.arena, self.snapshots.1, r),
        )
    }

    /// The pair of the [`Job::EndMemo`] frame on top is proven.
    #[inline(never)]
    pub(super) fn end_proof(&mut self) {
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let before = self.tables.touched.pop().unwrap_or(Deps::NOTHING);
        if let Some(needs) = self.levels.end(before) {
            let (l, r) = (frame.l.ident(), frame.r.ident());
            self.tables.memo.prove(l, r, needs, &mut self.levels);
            if frame.extra & WAS_VOID != 0 && needs.is_exact() {
                self.keep_proof([l, r], needs, frame.region);
            }
        }
        if frame.extra & MARKED != 0 {
            self.close(frame.l, frame.r, 0);
        }
    }

    /// Keeps a proof for places with the same pairing of its variables.
    #[cold]
    fn keep_proof(&mut self, subject: [u64; 2], needs: ValidUntil, region: Region) {
        let bindings = &mut self.tables.bindings;
        let kept = self.levels.kept(needs);
        let reads: SmallVec<[VarDependency; FEW]> = kept
            .iter()
            .map(|variable| VarDependency {
                ident: bindings.get(variable.binding).idents[LEFT],
                defined: variable.defined,
            })
            .collect();
        let current = self.levels.current();
        self.tables.environments.keep(
            subject,
            reads.into_iter(),
            |read, key| {
                partner(bindings, read, region, current)
                    .map(|partner| key.push(partner))
                    .is_some()
            },
            needs.newest_dag,
        );
    }

    /// Returns the remembered result of a shared pair, or begins its proof.
    #[inline]
    pub(super) fn begin_shared(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<Option<EntryResult<'a>>> {
        if l.is_shared() || r.is_shared() {
            return self.is_known(l, r, region);
        }
        Ok(None)
    }
}

/// The partner of a left variable on the right, if a visit in this region and at this
/// level would use the variable's binding and make no other binding.
fn partner(
    bindings: &mut Bindings<2>,
    read: VarDependency,
    region: Region,
    current: u32,
) -> Option<u64> {
    let index = bindings.of(LEFT, read.ident)?;
    let binding = bindings.get(index);
    let [_, right] = binding.idents;
    let is_used = region.def_level().is_none_or(|def| binding.level >= def)
        && (!read.defined || binding.level >= current);
    (is_used && bindings.of(RIGHT, right) == Some(index)).then_some(right)
}
