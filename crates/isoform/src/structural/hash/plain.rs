//! The walk of plain nodes, which keeps its state in registers.

use super::super::leaf;
use super::super::scope::Region;
use super::super::sink::Sink;
use super::{Frame, Hasher, Job, Step, fields_from};
use crate::kernel::error::Result;
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;

impl<'a, S: Sink> Hasher<'a, S> {
    /// Hashes the fields of a node, and all plain nodes with one owner below and above
    /// the node, down to a height of the stack: the bulk of most programs.
    pub(super) fn open_fields(
        &mut self,
        section: &Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
        base: usize,
    ) -> Result<Step<'a, S::Out>> {
        let (mut object, mut info, mut region) = (object, info, region);
        let mut acc = self.begin_fields(object, info);
        let mut position = 0;
        loop {
            let next = self.fields(section, object, info, region, position, &mut acc)?;
            if let Some((child, child_region, next)) = next {
                self.stack.push(Frame {
                    object,
                    acc,
                    next,
                    extra: 0,
                    region,
                    job: fields_from(info, next),
                });
                let child_info = child.info();
                if !self.goes_on_in(section, child, child_info) {
                    return Ok(Step::Child(child, child_region));
                }
                self.visits += 1;
                (object, info, region) = (child, child_info, child_region);
                acc = self.begin_fields(object, info);
                position = 0;
                continue;
            }
            let out = self.sink.close(acc);
            let out = self.end_part(object, info, region, out);
            match self.stack.last() {
                Some(frame)
                    if matches!(frame.job, Job::Fields | Job::LastField)
                        && self.stack.len() > base =>
                {
                    (object, region, acc) = (frame.object, frame.region, frame.acc);
                    position = frame.next;
                    self.stack.pop();
                    info = object.info();
                    self.sink.child(&mut acc, out);
                }
                _ => return Ok(Step::Done(out)),
            }
        }
    }

    #[inline(always)]
    fn begin_fields(&mut self, object: ObjRef<'a>, info: &'static TypeInfo) -> S::Acc {
        self.begin_part(info);
        self.watch_fields(object, info);
        self.sink.open_type(info)
    }

    /// True if a child with children needs only the hashes of its fields.
    #[inline(always)]
    fn goes_on_in(
        &mut self,
        section: &Section,
        child: ObjRef<'a>,
        info: &'static TypeInfo,
    ) -> bool {
        info.class() == Payload::Plain
            && self.snapshots.is_none()
            && (!child.is_shared() || leaf::holds_few_leaves(section, child, info))
            && !self.poll.is_due(self.visits)
            && !self.may_be_kept(child)
    }
}
