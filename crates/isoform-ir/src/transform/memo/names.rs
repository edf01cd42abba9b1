//! The values without parts in ignored fields of a function, such as names, and those of an
//! equal one at the same places.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use isoform::Value;
use isoform::types::TypeIndex;
use isoform::values::ValueRef;

/// A field: the one that holds a value, or the nearest around the containers that do.
pub(super) type Site = (TypeIndex, usize);

/// A value without parts, such that a copy of it is the same: a file writes each shape and
/// each empty container for itself.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Name {
    Value(Value),
    Shape(Box<[i64]>),
    /// A container of this type without items.
    Empty(TypeIndex),
}

impl Name {
    fn of(value: &Value) -> Name {
        match value.view() {
            ValueRef::Shape(shape) => Name::Shape((**shape).into()),
            _ if value.contents().is_some_and(|contents| contents.len() == 0) => {
                Name::Empty(value.type_index())
            }
            _ => Name::Value(value.clone()),
        }
    }

    /// True for a value that fields have by default rather than by copying.
    fn is_empty(&self) -> bool {
        match self {
            Name::Empty(_) => true,
            Name::Shape(dims) => dims.is_empty(),
            Name::Value(value) => match value.view() {
                ValueRef::None => true,
                ValueRef::Str(text) => text.is_empty(),
                ValueRef::Bytes(bytes) => bytes.is_empty(),
                _ => false,
            },
        }
    }

    /// True for a text, which a pass may copy from any field to any other one.
    fn is_text(&self) -> bool {
        matches!(self, Name::Value(value) if value.as_str().is_some_and(|text| !text.is_empty()))
    }
}

/// For the values without parts in ignored fields, those of the other function; None if they
/// differ from place to place.
#[derive(Default)]
pub(super) struct Names {
    by_site: HashMap<(Site, Name), Option<Value>, RandomState>,
    by_value: HashMap<Name, Option<Value>, RandomState>,
}

/// The fate of a value that the pass wrote into an ignored field.
pub(super) enum ValueMatch<'a> {
    /// The function does not have the value: the pass made it.
    Own,
    Is(&'a Value),
    /// It may come from several places, whose values differ.
    Unknown,
}

impl Names {
    /// Records a value without parts, and the value at the same place of the other function.
    pub(super) fn pair(&mut self, site: Site, left: &Value, right: &Value) {
        let merge = |known: &mut Option<Value>| {
            if known.as_ref().map(Name::of) != Some(Name::of(right)) {
                *known = None;
            }
        };
        let name = Name::of(left);
        let known = self.by_value.entry(name.clone());
        merge(known.or_insert_with(|| Some(right.clone())));
        let known = self.by_site.entry((site, name));
        merge(known.or_insert_with(|| Some(right.clone())));
    }

    /// Records that a value has no counterpart.
    pub(super) fn forget(&mut self, site: Site, value: &Value) {
        let name = Name::of(value);
        self.by_value.insert(name.clone(), None);
        self.by_site.insert((site, name), None);
    }

    /// The value of the other function for one in an ignored field.
    ///
    /// A name may have been copied from any field. Numbers and empty values of different
    /// fields are equal by chance, so only those of the same field count.
    pub(super) fn find(&self, site: Site, value: &Value) -> ValueMatch<'_> {
        let name = Name::of(value);
        let anywhere = self.by_value.get(&name);
        let is_same = |own: &Value| Name::of(own) == name;
        match self.by_site.get(&(site, name.clone())) {
            Some(None) => ValueMatch::Unknown,
            Some(Some(_)) if name.is_text() && matches!(anywhere, Some(None)) => {
                ValueMatch::Unknown
            }
            // The default of a field, more likely than a name of the function.
            Some(Some(own)) if name.is_empty() && !is_same(own) => ValueMatch::Unknown,
            Some(Some(own)) => ValueMatch::Is(own),
            None => match anywhere {
                None => ValueMatch::Own,
                Some(_) if value.is_none() => ValueMatch::Own,
                Some(Some(own)) if is_same(own) => ValueMatch::Own,
                Some(_) => ValueMatch::Unknown,
            },
        }
    }
}
