//! The walk of plain nodes, which keeps its state in registers.

use super::super::leaf;
use super::super::plain_values::few_plain_held_equal;
use super::super::scope::Region;
use super::{Engine, EntryResult, Frame, Job, MemoLookup, VarPair};
use crate::kernel::error::Result;
use crate::kernel::object::access::Section;
use crate::kernel::object::class::VisitShape;
use crate::kernel::object::pair::{FieldPair, ObjPair};
use crate::kernel::object::prefetch::prefetch_ahead;

impl<'a> Engine<'a> {
    /// Compares plain nodes starting at a field, and all plain nodes connected below
    /// and above: the bulk of most programs. With the recorder, a difference or a new
    /// binding is left to the main path.
    pub(super) fn plain<const REC: bool>(
        &mut self,
        section: &Section,
        pair: ObjPair<'a>,
        from: u32,
        region: Region,
        base: usize,
    ) -> Result<EntryResult<'a>> {
        let (mut pair, mut region) = (pair, region);
        let mut position = from as usize;
        loop {
            let Some((_, both)) = pair.visited(section, position) else {
                // Done; continue with the node above, if also plain.
                match self.stack.last() {
                    Some(frame) if frame.job == Job::Plain && self.stack.len() > base => {
                        let Some(above) = ObjPair::new(frame.l, frame.r) else {
                            return Ok(EntryResult::Different);
                        };
                        (pair, position, region) = (above, frame.next as usize, frame.region);
                        self.stack.pop();
                        continue;
                    }
                    Some(frame) if frame.job == Job::EndMemo && self.stack.len() > base => {
                        self.end_proof();
                        continue;
                    }
                    _ => return Ok(EntryResult::Equal),
                }
            };
            position += 1;
            let children = match both {
                FieldPair::Objects(l, r) => Ok((l, r)),
                FieldPair::Values(l, r) => match (l.object_ref(), r.object_ref()) {
                    (Some(l), Some(r)) => Ok((l, r)),
                    (None, None) => Err(leaf::plain_equal(&l, &r)),
                    _ => Err(false),
                },
                FieldPair::Floats(l, r) => Err(leaf::floats_equal(l, r)),
                FieldPair::Same(same) => Err(same),
            };
            let equal = match children {
                Err(equal) => equal,
                Ok((l, r)) => {
                    let Some(child) = ObjPair::new(l, r) else {
                        self.return_to::<REC>(pair, position, region);
                        return Ok(EntryResult::Child(l, r, region));
                    };
                    let info = child.info();
                    // Nodes with children get a separate branch, which is predicted
                    // better than a jump table.
                    if info.has_children {
                        if info.shape() != VisitShape::Inner {
                            if few_plain_held_equal(section, l, r, info.class()) {
                                self.visits += 1;
                                continue;
                            }
                            self.return_to::<REC>(pair, position, region);
                            return Ok(EntryResult::Child(l, r, region));
                        }
                        if self.poll.is_due(self.visits) {
                            self.return_to::<REC>(pair, position, region);
                            return Ok(EntryResult::Child(l, r, region));
                        }
                        prefetch_ahead(l);
                        prefetch_ahead(r);
                        self.visits += 1;
                        if !child.is_shared() || leaf::hold_few_leaves(section, child) {
                            self.return_to::<REC>(pair, position, region);
                        } else if l.same_as(r) && self.skips {
                            if self.skip_known::<REC>(l, region) == Some(true) {
                                continue;
                            }
                            // The visit begins where effects can be found.
                            self.visits -= 1;
                            self.return_to::<REC>(pair, position, region);
                            return Ok(EntryResult::Child(l, r, region));
                        } else {
                            match self.recall(l, r, region) {
                                MemoLookup::Equal => continue,
                                MemoLookup::Different => return Ok(EntryResult::Different),
                                MemoLookup::Unknown { was_void } => {
                                    self.return_to::<REC>(pair, position, region);
                                    self.begin_proof(l, r, region, was_void)?;
                                }
                            }
                        }
                        (pair, position) = (child, 0);
                        continue;
                    }
                    match info.shape() {
                        VisitShape::Leaf => {
                            self.visits += 1;
                            let equal = leaf::fields_equal(section, child);
                            if REC && !equal {
                                // The main path finds the differing field again.
                                self.return_to::<REC>(pair, position, region);
                                (pair, position) = (child, 0);
                                continue;
                            }
                            equal
                        }
                        VisitShape::Var => {
                            let is_known = self.is_bound_use(l, r, region);
                            if REC && !is_known {
                                self.return_to::<REC>(pair, position, region);
                                return Ok(EntryResult::Child(l, r, region));
                            }
                            self.visits += 1;
                            is_known
                                || matches!(
                                    self.var_pair::<false>(l, r, region, true),
                                    VarPair::Equal
                                )
                        }
                        VisitShape::Inner | VisitShape::Other => {
                            self.return_to::<REC>(pair, position, region);
                            return Ok(EntryResult::Child(l, r, region));
                        }
                    }
                }
            };
            if !equal {
                self.return_to::<REC>(pair, position, region);
                self.differ_field::<REC>(section, pair.left(), pair.right(), position)?;
                return Ok(EntryResult::Different);
            }
        }
    }

    /// Pushes a frame, if fields are left or the path is needed.
    #[inline(always)]
    fn return_to<const REC: bool>(&mut self, pair: ObjPair<'a>, position: usize, region: Region) {
        if REC || position < pair.info().visited.len() {
            self.stack.push(Frame {
                l: pair.left(),
                r: pair.right(),
                next: position as u32,
                extra: 0,
                region,
                job: Job::Plain,
            });
        }
    }
}
