//! Differences and errors, and their paths.

use super::super::mismatch::{FirstDifference, Reason};
use super::{Engine, EntryResult, Job, LEFT, RIGHT};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::path::AccessStep;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl<'a> Engine<'a> {
    #[cold]
    pub(super) fn differ_field<const REC: bool>(
        &mut self,
        section: &Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        position: usize,
    ) -> Result<()> {
        let field = |object: ObjRef<'a>| {
            let loaded = object.visited().get(section, position.saturating_sub(1));
            loaded.map_or(Loaded::None, |(_, loaded)| loaded)
        };
        let (l, r) = (field(l), field(r));
        if REC && let Some(frame) = self.stack.last_mut() {
            frame.next = position as u32;
        }
        for side in [l, r] {
            if let Some(object) = side.object() {
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

    #[inline]
    pub(super) fn check_comparable(&mut self, object: ObjRef<'a>) -> Result<()> {
        let info = object.info();
        let incomparable = info.class() == Payload::Incomparable
            || (info.class() == Payload::Node && info.kind == Kind::None);
        if !incomparable {
            return Ok(());
        }
        let name = Value::from(object.to_ref()).type_name();
        let text = format!("type {name} does not support structural equality");
        Err(self.error(ErrorKind::Type, text))
    }

    #[cold]
    pub(super) fn error(&mut self, kind: ErrorKind, text: String) -> Error {
        self.own_error = true;
        Error::new(kind, text).at(crate::kernel::path::AccessPath::from_steps(
            self.steps(Side::Left),
        ))
    }

    #[cold]
    pub(super) fn differ_objects<const REC: bool>(
        &mut self,
        reason: Reason,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
    ) -> EntryResult<'a> {
        self.differ::<REC>(reason, || {
            (Some(l.to_ref().into()), Some(r.to_ref().into()))
        });
        EntryResult::Different
    }

    /// A difference caused by the bijection.
    #[cold]
    pub(super) fn differ_bound<const REC: bool>(
        &mut self,
        reason: Reason,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
    ) -> EntryResult<'a> {
        let first = self.found.is_none();
        self.differ_objects::<REC>(reason, l, r);
        if REC && first {
            let left = self.tables.bindings.of(LEFT, l.ident());
            let right = self.tables.bindings.of(RIGHT, r.ident());
            if let (Some(difference), Some(index)) = (&mut self.found, left.or(right)) {
                difference.binding = Some(index);
                let partner = self.bound.get(index as usize);
                difference.partner = partner.map(|pair| {
                    let object = if left.is_some() {
                        pair.right
                    } else {
                        pair.left
                    };
                    object.to_ref().into()
                });
                difference.left_bound = left.is_some();
            }
        }
        EntryResult::Different
    }

    #[cold]
    pub(super) fn differ_missing<const REC: bool>(
        &mut self,
        here: AccessStep,
        gone: AccessStep,
        l: Option<&Value>,
        r: Option<&Value>,
    ) {
        self.differ::<REC>(Reason::Missing, || (l.cloned(), r.cloned()));
        if REC
            && let Some(difference) = &mut self.found
            && !std::mem::replace(&mut difference.complete, true)
        {
            // A sequence's frame already points at the element.
            if matches!(here, AccessStep::ArrayItem(_)) {
                difference.left_steps.pop();
                difference.right_steps.pop();
            }
            let (left, right) = if l.is_some() {
                (here, gone)
            } else {
                (gone, here)
            };
            difference.left_steps.push(left);
            difference.right_steps.push(right);
        }
    }

    #[inline]
    pub(super) fn differ<const REC: bool>(
        &mut self,
        reason: Reason,
        values: impl FnOnce() -> (Option<Value>, Option<Value>),
    ) {
        if !REC || self.found.is_some() {
            return;
        }
        let (left, right) = values();
        self.found = Some(FirstDifference {
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

    /// The path of the pair to which the frames lead.
    pub(super) fn steps(&self, side: Side) -> Vec<AccessStep> {
        let mut steps = Vec::new();
        for frame in &self.stack {
            let object = if side == Side::Left { frame.l } else { frame.r };
            let position = frame.next.checked_sub(1);
            match (frame.job, position) {
                (Job::Fields | Job::Plain | Job::Hole, Some(position)) => {
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
                    let map = object.entries();
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
