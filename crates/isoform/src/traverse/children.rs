//! The children of one value, in the order of visit.

use crate::kernel::container::{ArrayObj, MapObj};
use crate::kernel::object::access::Section;
use crate::kernel::object::table::{Slot, TypeInfo};
use crate::kernel::object::view::{Fields, Met, ObjRef};
use crate::kernel::path::places::Step;
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// Where the children of an open object are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// The compared fields.
    Fields,
    /// All fields, ignored ones included.
    AllFields,
    /// The elements of an array.
    Items,
    /// The keys and values of a map.
    Entries,
    /// A list or dict: its only child is a snapshot, which stands one frame
    /// above it and is not a value of its own.
    Holder,
    /// There are no children.
    Nothing,
}

/// An open object: some of its children are still to be visited.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) object: ObjRef<'a>,
    /// How many children have been taken.
    next: usize,
    /// The region in which the object itself was met.
    pub(super) region: RegionKind,
    content: Content,
    /// Whether the object is the snapshot of the list or dict below it.
    pub(super) snapshot: bool,
    pub(super) is_key: bool,
    /// Whether the object has a mark to be changed when it is left.
    pub(super) marked: bool,
}

/// A child, with the region in which it is met.
#[derive(Clone, Copy)]
pub(super) struct Child<'a> {
    pub(super) met: Met<'a>,
    pub(super) region: RegionKind,
    pub(super) is_key: bool,
}

impl<'a> Frame<'a> {
    #[inline(always)]
    pub(super) fn new(
        object: ObjRef<'a>,
        child: Child<'a>,
        content: Content,
        marked: bool,
    ) -> Self {
        Frame {
            object,
            next: 0,
            region: child.region,
            content,
            snapshot: false,
            is_key: child.is_key,
            marked,
        }
    }

    /// The frame of the snapshot of `child`, directly above the frame of the
    /// list or dict itself.
    pub(super) fn of_snapshot(object: ObjRef<'a>, child: Child<'a>, content: Content) -> Self {
        Frame {
            snapshot: true,
            ..Frame::new(object, child, content, false)
        }
    }

    /// Whether this is a list or dict whose children stand one frame above.
    pub(super) fn is_holder(&self) -> bool {
        self.content == Content::Holder
    }

    /// Takes a part for the child taken last, so that paths lead through it:
    /// the first field that holds it, or the same plain value. False when
    /// there is none, so that the path has no step here.
    pub(super) fn lead_to(&mut self, section: &Section, part: Met<'a>) -> bool {
        let is_part = |position: &usize| match (self.child(section, *position), part) {
            (Some(child), Met::Object(part)) => match child.met {
                Met::Object(child) => child.ident() == part.ident(),
                Met::Plain(_) => false,
            },
            (Some(child), Met::Plain(part)) => match child.met {
                Met::Object(_) => false,
                Met::Plain(child) => child.to_value() == part.to_value(),
            },
            _ => false,
        };
        let count = self.object.info().visited_and_ignored.len();
        let found = (0..count).find(is_part);
        self.next = found.map_or(0, |position| position + 1);
        found.is_some()
    }

    fn child(&self, section: &Section, position: usize) -> Option<Child<'a>> {
        match self.content {
            Content::Fields => {
                self.field(section, self.object.info(), self.object.visited(), position)
            }
            _ => self.other_child(section, position),
        }
    }

    /// The next child; None when all have been taken.
    #[inline(always)]
    pub(super) fn next(&mut self, section: &Section) -> Option<Child<'a>> {
        let position = self.next;
        let child = match self.content {
            Content::Fields => {
                self.field(section, self.object.info(), self.object.visited(), position)?
            }
            _ => self.other_child(section, position)?,
        };
        self.next = position + 1;
        Some(child)
    }

    #[inline(always)]
    fn field(
        &self,
        section: &Section,
        info: &'static TypeInfo,
        fields: Fields<'a>,
        position: usize,
    ) -> Option<Child<'a>> {
        let (slot, loaded) = fields.get(section, position)?;
        Some(Child {
            met: loaded.met(),
            region: self.region.of_field(slot.flag, info.kind == Kind::Var),
            is_key: false,
        })
    }

    fn other_child(&self, section: &Section, position: usize) -> Option<Child<'a>> {
        let element = |value: &'a Value, region, is_key| Child {
            met: Met::of(value),
            region,
            is_key,
        };
        match self.content {
            Content::Fields | Content::AllFields => self.field(
                section,
                self.object.info(),
                self.object.visited_and_ignored(),
                position,
            ),
            Content::Items => {
                let item = self.object.downcast::<ArrayObj>()?.items().get(position)?;
                Some(element(item, self.region, false))
            }
            Content::Entries => {
                let (key, value) = entry(self.object, position / 2)?;
                if position.is_multiple_of(2) {
                    // Keys are looked up, never bound.
                    Some(element(key, RegionKind::Use, true))
                } else {
                    Some(element(value, self.region, false))
                }
            }
            Content::Holder | Content::Nothing => None,
        }
    }

    /// The step of a path to the child taken last.
    pub(super) fn step(&self) -> Option<Step> {
        let position = self.next.checked_sub(1)?;
        let name = |slot: &Slot| {
            let fields = self.object.info().fields();
            Step::Field(fields[slot.field as usize].name())
        };
        match self.content {
            Content::Fields => self.object.visited().slot(position).map(name),
            Content::AllFields => self.object.visited_and_ignored().slot(position).map(name),
            Content::Items => Some(Step::Item(position)),
            Content::Entries => {
                let (key, _) = entry(self.object, position / 2)?;
                Some(Step::Key(key.clone()))
            }
            Content::Holder | Content::Nothing => None,
        }
    }
}

/// A map's entry by its position in the canonical order.
fn entry<'a>(object: ObjRef<'a>, position: usize) -> Option<(&'a Value, &'a Value)> {
    let map = object.downcast::<MapObj>()?;
    let order = map.key_order();
    let at = match position.checked_sub(order.plain.len()) {
        None => order.plain[position],
        Some(position) => *order.objects.get(position)?,
    };
    map.entry(at as usize)
}

/// A value as a child without a parent.
pub(super) fn root(value: &Value) -> Child<'_> {
    Child {
        met: Met::of(value),
        region: RegionKind::Use,
        is_key: false,
    }
}
