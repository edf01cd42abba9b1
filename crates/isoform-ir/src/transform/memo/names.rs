//! The values without parts in ignored fields of a function, such as names, and the
//! values at the same places of an equal function.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use isoform::Value;
use isoform::types::TypeIndex;
use isoform::values::ValueRef;

/// A field: the field that holds a value, or the nearest field around the containers of
/// the value.
pub(super) type Site = (TypeIndex, usize);

/// A value without parts, compared so that copies are equal: a file writes a shape or
/// an empty container once for every use.
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
            _ if value.contents().is_some_and(|contents| contents.is_empty()) => {
                Name::Empty(value.type_index())
            }
            _ => Name::Value(value.clone()),
        }
    }

    /// True for a value that usually is the default of a field rather than a copy.
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

    /// True for a text; a pass may copy texts from any field to any other field.
    fn is_text(&self) -> bool {
        matches!(self, Name::Value(value) if value.as_str().is_some_and(|text| !text.is_empty()))
    }
}

/// Maps the values without parts in ignored fields to the values of the other function;
/// None for values with different counterparts.
#[derive(Default)]
pub(super) struct Names {
    by_site: HashMap<(Site, Name), Option<Value>, RandomState>,
    by_value: HashMap<Name, Option<Value>, RandomState>,
}

/// The fate of a value written into an ignored field by the pass.
pub(super) enum ValueMatch<'a> {
    /// The function lacks the value: the pass made the value.
    Own,
    Is(&'a Value),
    /// The value may come from several places with different counterparts.
    Unknown,
}

impl Names {
    /// Records a value without parts, and the value at the same place of the other
    /// function.
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

    /// The counterpart of a value in an ignored field.
    ///
    /// A pass may copy a name from any field. Numbers and empty values of different
    /// fields are equal by chance, so only values of the same field count.
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
