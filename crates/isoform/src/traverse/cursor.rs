//! Traversal of a value: its parts one by one, in the order of the contract,
//! with region and path.
//!
//! A traversal is a stack of cursors, one in each open object. Cursors alone
//! determine the parts and their order; the traversal decides what to do with
//! them.

use crate::kernel::container::{ArrayObj, MapObj};
use crate::kernel::error::Error;
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::table::Slot;
use crate::kernel::object::view::{Fields, Met, ObjRef};
use crate::kernel::path::AccessPath;
use crate::kernel::path::places::Step;
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldDef, Kind};
use crate::kernel::value::Value;

/// The parts of an object that a traversal visits, and their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// The fields that comparison sees, in the order of the visit; map entries
    /// in the order of their keys.
    Compared,
    /// Like `Compared`, plus the fields that comparison ignores.
    WithIgnored,
    /// All fields in the order of declaration, parents' first; map entries in
    /// the order of insertion.
    Declared,
    /// Like `Declared`, minus the fields whose content is always inline.
    References,
}

impl View {
    /// The view of a traversal that includes ignored fields or not.
    pub(crate) fn of_compared(include_ignored: bool) -> Self {
        match include_ignored {
            true => View::WithIgnored,
            false => View::Compared,
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
pub(crate) struct Part<'a> {
    pub(crate) met: Met<'a>,
    /// The region: tells whether variables in it are bound or used.
    pub(crate) region: RegionKind,
    pub(crate) is_key: bool,
}

impl<'a> Part<'a> {
    /// A value in a region that is not part of anything.
    pub(crate) fn alone(value: &'a Value, region: RegionKind) -> Self {
        Part {
            met: Met::of(value),
            region,
            is_key: false,
        }
    }
}

/// The source of an object's parts.
#[derive(Clone, Copy)]
enum Content<'a> {
    Fields(Fields<'a>),
    /// The elements of an array, or of a list when it was opened.
    Items(ObjRef<'a>, &'a [Value]),
    /// The entries of a map, or of a dict when it was opened; true if they are
    /// visited in the order of their keys.
    Entries(ObjRef<'a>, &'a MapObj, bool),
}

/// An open object with parts still to visit.
///
/// A list or dict is traversed as it was when the cursor was made, the fields
/// of an object as they are when the cursor reaches them.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    content: Content<'a>,
    /// The number of parts taken so far.
    next: usize,
    /// The region of the object itself.
    pub(crate) region: RegionKind,
    /// The region of fields without a flag that sets one.
    inner: RegionKind,
    /// True if the object itself is the key of a map.
    pub(crate) is_key: bool,
    /// True if the traversal has marked the object as open.
    pub(crate) marked: bool,
    /// True if the callback is not called for the object.
    pub(super) silent: bool,
}

/// True if objects of a class have parts.
#[inline(always)]
pub(crate) fn has_parts(class: Payload) -> bool {
    use Payload::{Array, Dict, List, Map, Node, Plain};
    matches!(class, Plain | Node | Array | List | Map | Dict)
}

/// True if an object of this class can change during its traversal, so that a
/// cycle may lead through it although nothing else owns it.
#[inline(always)]
pub(crate) fn is_mutable_container(class: Payload) -> bool {
    matches!(class, Payload::List | Payload::Dict)
}

impl<'a> Cursor<'a> {
    /// Opens the object of `part`; None if its class has no parts.
    #[inline(always)]
    pub(crate) fn open(
        section: &Section,
        object: ObjRef<'a>,
        part: Part<'a>,
        view: View,
    ) -> Option<Self> {
        let content = match object.info().class() {
            Payload::Plain | Payload::Node => Content::Fields(view.fields(object)),
            class => container(section, object, class, view)?,
        };
        Some(Cursor::new(object, content, part.region, part.is_key))
    }

    /// Opens an object. If it is a container, the cursor traverses `content`
    /// instead, a copy of its earlier contents.
    pub(super) fn over(object: ObjRef<'a>, content: ObjRef<'a>, view: View) -> Option<Self> {
        let content = match object.info().class() {
            Payload::Plain | Payload::Node => Content::Fields(view.fields(object)),
            class => has_parts(class).then(|| held(object, content, view))??,
        };
        Some(Cursor::new(object, content, RegionKind::Use, false))
    }

    #[inline(always)]
    fn new(object: ObjRef<'a>, content: Content<'a>, region: RegionKind, is_key: bool) -> Self {
        Cursor {
            content,
            next: 0,
            region,
            inner: region.inside(object.info().kind == Kind::Var),
            is_key,
            marked: false,
            silent: false,
        }
    }

    /// Replaces the region of the object.
    pub(super) fn met_in(self, region: RegionKind) -> Self {
        Cursor::new(self.object(), self.content, region, self.is_key)
    }

    /// Records whether the traversal has marked the object as open.
    #[inline(always)]
    pub(crate) fn with_mark(mut self, marked: bool) -> Self {
        self.marked = marked;
        self
    }

    /// Suppresses the callback for the object.
    pub(super) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The object being traversed.
    #[inline]
    pub(crate) fn object(&self) -> ObjRef<'a> {
        match self.content {
            Content::Fields(fields) => fields.object(),
            Content::Items(object, _) | Content::Entries(object, ..) => object,
        }
    }

    /// The number of parts; the keys and values of a map count separately.
    pub(crate) fn len(&self) -> usize {
        match self.content {
            Content::Fields(fields) => fields.len(),
            Content::Items(_, items) => items.len(),
            Content::Entries(_, entries, _) => 2 * entries.len(),
        }
    }

    /// The number of parts taken so far.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    /// Takes the next part; None if all have been taken.
    #[inline(always)]
    pub(crate) fn next(&mut self, section: &Section) -> Option<Part<'a>> {
        let part = self.get(section, self.next)?;
        self.next += 1;
        Some(part)
    }

    /// The part at a position.
    #[inline(always)]
    pub(crate) fn get(&self, section: &Section, position: usize) -> Option<Part<'a>> {
        match self.content {
            Content::Fields(fields) => {
                let (slot, loaded) = fields.get(section, position)?;
                Some(Part {
                    met: loaded.met(),
                    region: self.inner.of_field(slot.flag),
                    is_key: false,
                })
            }
            _ => self.element(position),
        }
    }

    fn element(&self, position: usize) -> Option<Part<'a>> {
        let part = |value: &'a Value, region, is_key| Part {
            met: Met::of(value),
            region,
            is_key,
        };
        match self.content {
            Content::Fields(_) => None,
            Content::Items(_, items) => Some(part(items.get(position)?, self.region, false)),
            Content::Entries(..) => {
                let (key, value) = self.entry(position)?;
                Some(match position.is_multiple_of(2) {
                    // Keys are looked up, never bound.
                    true => part(key, RegionKind::Use, true),
                    false => part(value, self.region, false),
                })
            }
        }
    }

    /// The fields that are traversed.
    #[inline]
    pub(crate) fn fields(&self) -> Option<Fields<'a>> {
        match self.content {
            Content::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// The elements of an array or list.
    pub(crate) fn items(&self) -> Option<&'a [Value]> {
        match self.content {
            Content::Items(_, items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map or dict.
    pub(crate) fn entries(&self) -> Option<&'a MapObj> {
        match self.content {
            Content::Entries(_, entries, _) => Some(entries),
            _ => None,
        }
    }

    /// The entry whose key or value is at this position.
    pub(crate) fn entry(&self, position: usize) -> Option<(&'a Value, &'a Value)> {
        self.entries()?.entry(self.entry_number(position)?)
    }

    /// The number of that entry in the order of insertion.
    pub(crate) fn entry_number(&self, position: usize) -> Option<usize> {
        match self.content {
            Content::Entries(_, entries, true) => entries.in_key_order(position / 2),
            Content::Entries(..) => Some(position / 2),
            _ => None,
        }
    }

    /// The slot of the field at this position, if it is a field.
    pub(crate) fn slot(&self, position: usize) -> Option<&'static Slot> {
        match self.content {
            Content::Fields(fields) => fields.slot(position),
            _ => None,
        }
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
        match self.content {
            Content::Fields(_) => Some(Step::Field(self.field(position)?.name())),
            Content::Items(_, items) => (position < items.len()).then_some(Step::Item(position)),
            Content::Entries(..) => Some(Step::Key(self.entry(position)?.0.clone())),
        }
    }

    /// Makes paths lead through `part` as if it had been taken last: through
    /// the first field that holds it, or an equal plain value. Returns false if
    /// there is no such field, so that the path has no step here.
    pub(crate) fn lead_to(&mut self, section: &Section, part: Met<'a>) -> bool {
        let is_wanted = |position: &usize| match (self.get(section, *position), part) {
            (Some(found), Met::Object(part)) => {
                matches!(found.met, Met::Object(found) if found.same_as(part))
            }
            (Some(found), Met::Plain(part)) => {
                matches!(found.met, Met::Plain(found) if found.to_value() == part.to_value())
            }
            (None, _) => false,
        };
        let fields = match self.content {
            Content::Fields(fields) => fields.len(),
            _ => 0,
        };
        let found = (0..fields).find(is_wanted);
        self.next = found.map_or(0, |position| position + 1);
        found.is_some()
    }
}

#[inline(never)]
fn container<'a>(
    section: &Section,
    object: ObjRef<'a>,
    class: Payload,
    view: View,
) -> Option<Content<'a>> {
    match class {
        Payload::Array | Payload::Map => held(object, object, view),
        Payload::List | Payload::Dict => held(object, object.held(section)?, view),
        _ => None,
    }
}

/// The contents of a container: its array or map, which is the container itself
/// if it is immutable.
fn held<'a>(object: ObjRef<'a>, held: ObjRef<'a>, view: View) -> Option<Content<'a>> {
    let by_key = matches!(view, View::Compared | View::WithIgnored);
    if let Some(array) = held.downcast::<ArrayObj>() {
        return Some(Content::Items(object, array.items()));
    }
    let entries = held.downcast::<MapObj>()?;
    Some(Content::Entries(object, entries, by_key))
}

/// The path to the part that the topmost cursor took last.
pub(crate) fn path_of<'c, 'a: 'c>(cursors: impl IntoIterator<Item = &'c Cursor<'a>>) -> AccessPath {
    let steps = cursors.into_iter().filter_map(Cursor::step);
    AccessPath::from_steps(steps.map(Into::into).collect())
}

/// The error for an object that contains itself; the caller adds the path.
#[cold]
pub(crate) fn cyclic(object: ObjRef<'_>) -> Error {
    let name = object.info().key().trim_start_matches("isoform.");
    Error::value_error(format!("cyclic value: the {name} contains itself"))
}
