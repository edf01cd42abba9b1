//! Traversal of a value: its parts one by one, in the order of the contract, with
//! region and path.
//!
//! A traversal is a stack of cursors, one in each open object. Cursors alone determine
//! the parts and their order; the traversal decides about the use of the parts.

use crate::kernel::container::Entries;
use crate::kernel::error::Error;
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::table::{Slot, TypeInfo};
use crate::kernel::object::view::{Fields, ObjRef, PartRef};
use crate::kernel::path::AccessPath;
use crate::kernel::path::places::Step;
use crate::kernel::types::region::{RegionChange, RegionKind};
use crate::kernel::types::{FieldDef, Kind};
use crate::kernel::value::Value;

/// The parts of an object visited by a traversal, and their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// The fields that comparison sees, in the order of the visit; map entries
    /// in the order of their keys.
    Compared,
    /// Like `Compared`, plus the fields ignored by comparison.
    WithIgnored,
    /// All fields in the order of declaration, parents' first; map entries in
    /// the order of insertion.
    Declared,
    /// Like `Declared`, minus the fields with contents that are always inline.
    References,
}

impl View {
    /// The view of a traversal with or without ignored fields.
    pub(crate) fn of_compared(include_ignored: bool) -> Self {
        if include_ignored {
            View::WithIgnored
        } else {
            View::Compared
        }
    }

    #[inline(always)]
    fn fields(self, object: ObjRef<'_>) -> Fields<'_> {
        match self {
            View::Compared => object.visited(),
            View::WithIgnored => object.visited_and_ignored(),
            View::Declared => object.all_fields(),
            View::References => object.references(),
        }
    }
}

/// A part of an object, or the root.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The object or plain value.
    pub met: PartRef<'a>,
    /// The region: tells whether variables in the part are bound or used.
    pub region: RegionKind,
    pub(crate) is_key: bool,
}

impl<'a> Part<'a> {
    /// An object in a region, not as the key of a map.
    #[inline(always)]
    pub fn object(object: ObjRef<'a>, region: RegionKind) -> Self {
        Part {
            met: PartRef::Object(object),
            region,
            is_key: false,
        }
    }

    /// A value in a region, outside of any object.
    pub fn alone(value: &'a Value, region: RegionKind) -> Self {
        Part {
            met: PartRef::of(value),
            region,
            is_key: false,
        }
    }
}

/// The elements of a container.
#[derive(Clone, Copy)]
enum Elements<'a> {
    /// The object has fields.
    None,
    /// The elements of an array, or of a list at the time of opening.
    Items(&'a [Value]),
    /// The entries of a map, or of a dict at the time of opening; true for a visit in
    /// the order of their keys.
    Entries(&'a Entries, bool),
}

/// An open object with parts still to visit.
///
/// A list or dict is traversed in its state when the cursor was made, a field of an
/// object in its state when the cursor reaches the field.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    /// Empty for a container.
    fields: Fields<'a>,
    elements: Elements<'a>,
    /// The number of parts taken so far.
    next: usize,
    /// The region of the object itself.
    pub(crate) region: RegionKind,
    /// The region of fields without a flag for the region.
    inner: RegionKind,
    /// True for a variable, whose fields may be uses in any region.
    is_var: bool,
    /// True if the object itself is the key of a map.
    pub(crate) is_key: bool,
    /// True if the traversal has marked the object as open.
    pub(crate) marked: bool,
    /// True if no callback follows the parts of the object.
    pub(super) silent: bool,
}

impl<'a> Cursor<'a> {
    /// Opens the object of `part`; None for a class without parts.
    #[inline(always)]
    pub fn open(section: &Section, object: ObjRef<'a>, part: Part<'a>, view: View) -> Option<Self> {
        match object.info().class() {
            Payload::Plain | Payload::Node => Some(Cursor::of_node(object, part, view)),
            _ => Cursor::of_container(section, object, part, view),
        }
    }

    /// Opens an object of a declared type.
    #[inline(always)]
    pub(crate) fn of_node(object: ObjRef<'a>, part: Part<'a>, view: View) -> Self {
        Cursor::new(view.fields(object), Elements::None, part)
    }

    /// As [`of_node`](Self::of_node) for the compared fields, with the type
    /// already looked up.
    #[inline(always)]
    pub(super) fn of_compared(object: ObjRef<'a>, info: &'static TypeInfo, part: Part<'a>) -> Self {
        let fields = object.visited_with(info);
        Cursor::with(fields, info, Elements::None, part)
    }

    /// Opens an object of a built-in type; None for a type without parts.
    #[inline(never)]
    pub(crate) fn of_container(
        section: &Section,
        object: ObjRef<'a>,
        part: Part<'a>,
        view: View,
    ) -> Option<Self> {
        let held = match object.info().class() {
            Payload::Sequence | Payload::Mapping => object,
            Payload::Mutable => object.held(section)?,
            _ => return None,
        };
        let fields = Fields::none(object);
        Some(Cursor::new(fields, Elements::of(held, view)?, part))
    }

    /// Opens an object. For a container, the cursor traverses `held` instead, a copy of
    /// its earlier contents.
    pub(super) fn over(object: ObjRef<'a>, held: ObjRef<'a>, view: View) -> Option<Self> {
        let part = Part {
            met: PartRef::Object(object),
            region: RegionKind::Use,
            is_key: false,
        };
        match object.info().class() {
            Payload::Plain | Payload::Node => Some(Cursor::of_node(object, part, view)),
            _ => {
                let elements = Elements::of(held, view)?;
                Some(Cursor::new(Fields::none(object), elements, part))
            }
        }
    }

    #[inline(always)]
    fn new(fields: Fields<'a>, elements: Elements<'a>, part: Part<'a>) -> Self {
        Cursor::with(fields, fields.object().info(), elements, part)
    }

    #[inline(always)]
    fn with(
        fields: Fields<'a>,
        info: &'static TypeInfo,
        elements: Elements<'a>,
        part: Part<'a>,
    ) -> Self {
        Cursor {
            fields,
            elements,
            next: 0,
            region: part.region,
            inner: part.region.inside(info.kind == Kind::Var),
            is_var: info.kind == Kind::Var,
            is_key: part.is_key,
            marked: false,
            silent: false,
        }
    }

    /// Replaces the region of the object.
    pub(super) fn met_in(mut self, region: RegionKind) -> Self {
        self.region = region;
        self.inner = region.inside(self.object().info().kind == Kind::Var);
        self
    }

    /// Records whether the traversal has marked the object as open.
    #[inline(always)]
    pub(crate) fn with_mark(mut self, marked: bool) -> Self {
        self.marked = marked;
        self
    }

    /// Records whether the object is marked as open, and whether no callback follows
    /// its parts.
    #[inline(always)]
    pub(super) fn flagged(mut self, marked: bool, silent: bool) -> Self {
        (self.marked, self.silent) = (marked, silent);
        self
    }

    /// Suppresses the callback for the object.
    pub(super) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The object being traversed.
    #[inline(always)]
    pub fn object(&self) -> ObjRef<'a> {
        self.fields.object()
    }

    /// The number of parts; the keys and values of a map count separately.
    pub(crate) fn len(&self) -> usize {
        match self.elements {
            Elements::None => self.fields.len(),
            Elements::Items(items) => items.len(),
            Elements::Entries(entries, _) => 2 * entries.len(),
        }
    }

    /// The number of parts taken so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.next
    }

    /// Takes the next part; None after the last.
    #[inline(always)]
    pub fn next(&mut self, section: &Section) -> Option<Part<'a>> {
        let part = self.get(section, self.next)?;
        self.next += 1;
        Some(part)
    }

    /// Takes the next part if it is an element of an array, or an object in a field of
    /// the surrounding region; otherwise leaves the part to [`next`](Self::next).
    /// Unlike a [`Part`], the result stays in registers. Unwanted plain values before
    /// the part are left out.
    #[inline(always)]
    pub(crate) fn next_object(
        &mut self,
        section: &Section,
        plain_wanted: bool,
    ) -> Option<(ObjRef<'a>, RegionKind)> {
        loop {
            let Some((slot, loaded)) = self.fields.get(section, self.next) else {
                return self.next_item();
            };
            match loaded.object() {
                Some(_) if self.sets_region_of(slot) => return None,
                Some(object) => {
                    self.next += 1;
                    return Some((object, self.inner));
                }
                None if plain_wanted => return None,
                None => self.next += 1,
            }
        }
    }

    #[inline(always)]
    fn next_item(&mut self) -> Option<(ObjRef<'a>, RegionKind)> {
        let Elements::Items(items) = self.elements else {
            return None;
        };
        let object = items.get(self.next)?.object_ref()?;
        self.next += 1;
        Some((object, self.region))
    }

    /// The part at a position.
    #[inline(always)]
    pub(crate) fn get(&self, section: &Section, position: usize) -> Option<Part<'a>> {
        if let Some((slot, loaded)) = self.fields.get(section, position) {
            return Some(Part {
                met: loaded.met(),
                region: self.inner.of_field(slot.flag),
                is_key: false,
            });
        }
        match self.elements {
            Elements::None => None,
            _ => self.element(position),
        }
    }

    #[inline(never)]
    fn element(&self, position: usize) -> Option<Part<'a>> {
        let part = |value: &'a Value, region, is_key| Part {
            met: PartRef::of(value),
            region,
            is_key,
        };
        match self.elements {
            Elements::None => None,
            Elements::Items(items) => Some(part(items.get(position)?, self.region, false)),
            Elements::Entries(..) => {
                let (key, value) = self.entry(position)?;
                Some(if position.is_multiple_of(2) {
                    // Keys are looked up, never bound.
                    part(key, RegionKind::Use, true)
                } else {
                    part(value, self.region, false)
                })
            }
        }
    }

    /// True if the part taken last may be met in one region although the object is
    /// met in several.
    pub(super) fn sets_region(&self) -> bool {
        let slot = self.next.checked_sub(1).and_then(|last| self.slot(last));
        slot.is_some_and(|slot| self.sets_region_of(slot))
    }

    #[inline(always)]
    fn sets_region_of(&self, slot: &Slot) -> bool {
        self.is_var || RegionChange::of_flag(slot.flag) != RegionChange::Inherit
    }

    /// The fields that are traversed.
    #[inline]
    pub(crate) fn fields(&self) -> Option<Fields<'a>> {
        matches!(self.elements, Elements::None).then_some(self.fields)
    }

    /// The elements of an array or list.
    pub(crate) fn items(&self) -> Option<&'a [Value]> {
        match self.elements {
            Elements::Items(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map or dict.
    pub(crate) fn entries(&self) -> Option<&'a Entries> {
        match self.elements {
            Elements::Entries(entries, _) => Some(entries),
            _ => None,
        }
    }

    /// The entry with its key or value at this position.
    pub(crate) fn entry(&self, position: usize) -> Option<(&'a Value, &'a Value)> {
        self.entries()?.entry(self.entry_number(position)?)
    }

    /// The number of this entry in the order of insertion.
    pub(crate) fn entry_number(&self, position: usize) -> Option<usize> {
        match self.elements {
            Elements::Entries(entries, true) => entries.in_key_order(position / 2),
            Elements::Entries(..) => Some(position / 2),
            _ => None,
        }
    }

    /// The slot of the field at this position, if the part is a field.
    pub(crate) fn slot(&self, position: usize) -> Option<&'static Slot> {
        self.fields.slot(position)
    }

    /// The declaration of the field at this position.
    pub(crate) fn field(&self, position: usize) -> Option<&'static FieldDef> {
        let slot = self.slot(position)?;
        self.object().info().fields().get(slot.field as usize)
    }

    /// The step of a path to the part taken last. A key has the step of its
    /// value.
    pub(crate) fn step(&self) -> Option<Step> {
        self.step_to(self.next.checked_sub(1)?)
    }

    /// The step of a path to the part at a position.
    pub(crate) fn step_to(&self, position: usize) -> Option<Step> {
        match self.elements {
            Elements::None => Some(Step::Field(self.field(position)?.name())),
            Elements::Items(items) => (position < items.len()).then_some(Step::Item(position)),
            Elements::Entries(..) => Some(Step::Key(self.entry(position)?.0.clone())),
        }
    }

    /// Makes paths lead through `part` as if `part` were the part taken last: through
    /// the first field with the part, or with an equal plain value. Returns false
    /// without such a field: the path then has no step for this object.
    pub(crate) fn lead_to(&mut self, section: &Section, part: PartRef<'a>) -> bool {
        let is_wanted = |position: &usize| match (self.get(section, *position), part) {
            (Some(found), PartRef::Object(part)) => {
                matches!(found.met, PartRef::Object(found) if found.same_as(part))
            }
            (Some(found), PartRef::Plain(part)) => {
                matches!(found.met, PartRef::Plain(found) if found.to_value() == part.to_value())
            }
            (None, _) => false,
        };
        let found = (0..self.fields.len()).find(is_wanted);
        self.next = found.map_or(0, |position| position + 1);
        found.is_some()
    }
}

impl<'a> Elements<'a> {
    /// The elements of an array or map.
    fn of(held: ObjRef<'a>, view: View) -> Option<Self> {
        if let Some(items) = held.items() {
            return Some(Elements::Items(items));
        }
        let by_key = matches!(view, View::Compared | View::WithIgnored);
        Some(Elements::Entries(held.entries()?, by_key))
    }
}

/// The path to the part taken last by the topmost cursor.
pub(crate) fn path_of<'c, 'a: 'c>(cursors: impl IntoIterator<Item = &'c Cursor<'a>>) -> AccessPath {
    let steps = cursors.into_iter().filter_map(Cursor::step);
    AccessPath::from_steps(steps.map(Into::into).collect())
}

/// The error for a callback in pre-order whose result contains its argument.
#[cold]
pub(super) fn contained_in_result(object: ObjRef<'_>) -> Error {
    Error::value_error(format!(
        "the callback returned a value for the {0} that contains the {0} itself, and in \
         pre-order it is called for all parts of that value; use post-order, or return a \
         value without it",
        object.info().key().trim_start_matches("isoform.")
    ))
}

/// The error for an object that contains itself; the caller adds the path.
#[cold]
pub fn cyclic(object: ObjRef<'_>) -> Error {
    let name = object.info().key().trim_start_matches("isoform.");
    Error::value_error(format!("cyclic value: the {name} contains itself"))
}
