//! How a value is gone over: its parts one by one, in the order of the
//! contract, with region and path.
//!
//! A traversal is a stack of cursors, each somewhere in an open object. What a
//! traversal does with the parts is its own business; which parts there are,
//! and in which order, is said here alone.

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

/// Which parts of an object are gone over, and in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    /// The fields that comparison sees, in the order of visit; the entries of
    /// maps in the order of their keys.
    Compared,
    /// As `Compared`, with the fields that comparison ignores.
    WithIgnored,
    /// All fields in the order of declaration, parents' first; the entries of
    /// maps in the order in which they were inserted.
    Declared,
    /// As `Declared`, without the fields whose content is always inline.
    References,
}

impl View {
    /// The view of a traversal that is told whether ignored fields count.
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
    /// Whether variables in it are bound or used.
    pub(crate) region: RegionKind,
    pub(crate) is_key: bool,
}

impl<'a> Part<'a> {
    /// A value that is met in a region, and is part of nothing.
    pub(crate) fn alone(value: &'a Value, region: RegionKind) -> Self {
        Part {
            met: Met::of(value),
            region,
            is_key: false,
        }
    }
}

/// What the parts of an object are read from.
#[derive(Clone, Copy)]
enum Content<'a> {
    Fields(Fields<'a>),
    /// The elements of an array, or of a list as it was when it was opened.
    Items(ObjRef<'a>, &'a [Value]),
    /// The entries of a map, or of a dict as it was when it was opened, and
    /// whether they come in the order of their keys.
    Entries(ObjRef<'a>, &'a MapObj, bool),
}

/// An open object, some of whose parts are still to be visited.
///
/// A list or dict is gone over as it was when the cursor was made; the fields
/// of an object as they are when they are reached.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    content: Content<'a>,
    /// How many parts have been taken.
    next: usize,
    /// The region in which the object itself was met.
    pub(crate) region: RegionKind,
    /// The region of a field that says nothing of its own.
    inner: RegionKind,
    /// Whether the object itself is the key of a map.
    pub(crate) is_key: bool,
    /// Whether the traversal has marked the object as open.
    pub(crate) marked: bool,
    /// Whether the traversal goes over the object without its callback.
    pub(super) silent: bool,
}

impl<'a> Cursor<'a> {
    /// Opens an object that is met as `part`; None if its class has no parts.
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

    /// Opens an object in whose place `content` is gone over, if it is a
    /// container: a copy of what it held at some time.
    pub(super) fn over(object: ObjRef<'a>, content: ObjRef<'a>, view: View) -> Option<Self> {
        let content = match object.info().class() {
            Payload::Plain | Payload::Node => Content::Fields(view.fields(object)),
            payload => payload.has_parts().then(|| held(object, content, view))??,
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

    /// Takes another region for the one in which the object is met.
    pub(super) fn met_in(self, region: RegionKind) -> Self {
        Cursor::new(self.object(), self.content, region, self.is_key)
    }

    /// Notes whether the traversal has marked the object as open.
    #[inline(always)]
    pub(crate) fn with_mark(mut self, marked: bool) -> Self {
        self.marked = marked;
        self
    }

    /// Notes that the object is gone over without its callback.
    pub(super) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The object that is gone over.
    #[inline]
    pub(crate) fn object(&self) -> ObjRef<'a> {
        match self.content {
            Content::Fields(fields) => fields.object(),
            Content::Items(object, _) | Content::Entries(object, ..) => object,
        }
    }

    /// How many parts there are, keys and values counted each.
    pub(crate) fn len(&self) -> usize {
        match self.content {
            Content::Fields(fields) => fields.len(),
            Content::Items(_, items) => items.len(),
            Content::Entries(_, entries, _) => 2 * entries.len(),
        }
    }

    /// How many parts have been taken.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    /// The next part; None when all have been taken.
    #[inline(always)]
    pub(crate) fn next(&mut self, section: &Section) -> Option<Part<'a>> {
        let part = self.get(section, self.next)?;
        self.next += 1;
        Some(part)
    }

    /// A part by its position.
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

    /// The fields that are gone over.
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

    /// The entry that a part is the key or value of.
    pub(crate) fn entry(&self, position: usize) -> Option<(&'a Value, &'a Value)> {
        self.entries()?.entry(self.entry_number(position)?)
    }

    /// The number of this entry in the order of insertion.
    pub(crate) fn entry_number(&self, position: usize) -> Option<usize> {
        match self.content {
            Content::Entries(_, entries, true) => entries.in_key_order(position / 2),
            Content::Entries(..) => Some(position / 2),
            _ => None,
        }
    }

    /// Which field a part stands in, if it stands in one.
    pub(crate) fn slot(&self, position: usize) -> Option<&'static Slot> {
        match self.content {
            Content::Fields(fields) => fields.slot(position),
            _ => None,
        }
    }

    /// The declaration of the field in which a part stands.
    pub(crate) fn field(&self, position: usize) -> Option<&'static FieldDef> {
        let slot = self.slot(position)?;
        self.object().info().fields().get(slot.field as usize)
    }

    /// The step of a path to the part taken last. A key has that of its value.
    pub(crate) fn step(&self) -> Option<Step> {
        self.step_to(self.next.checked_sub(1)?)
    }

    /// The step of a path to a part.
    pub(crate) fn step_to(&self, position: usize) -> Option<Step> {
        match self.content {
            Content::Fields(_) => Some(Step::Field(self.field(position)?.name())),
            Content::Items(_, items) => (position < items.len()).then_some(Step::Item(position)),
            Content::Entries(..) => Some(Step::Key(self.entry(position)?.0.clone())),
        }
    }

    /// Takes `part` for the part taken last, so that paths lead through it: the
    /// first field that holds it, or the same plain value. False when there is
    /// none, so that the path has no step here.
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

/// What a container holds: its array or map, which is the container itself
/// where that does not change.
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
