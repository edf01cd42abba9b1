//! The plain values in ignored fields of a function, such as names, and those of an equal
//! one at the same places.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::object::header::TypeIndex;
use crate::kernel::value::{Value, ValueRef};

/// A field: the one that holds a value, or the nearest around the containers that do.
pub(super) type Site = (TypeIndex, usize);

/// For the plain values in ignored fields, those of the other function; None if they
/// differ from place to place.
#[derive(Default)]
pub(super) struct Names {
    by_site: HashMap<(Site, Value), Option<Value>, RandomState>,
    by_value: HashMap<Value, Option<Value>, RandomState>,
}

/// The fate of a value that the pass wrote into an ignored field.
pub(super) enum Name<'a> {
    /// The function does not have the value: the pass made it.
    Own,
    Is(&'a Value),
    /// It may come from several places, whose values differ.
    Unknown,
}

impl Names {
    pub(super) fn pair(&mut self, site: Site, left: Value, right: Value) {
        let merge = |known: &mut Option<Value>| {
            if known.as_ref() != Some(&right) {
                *known = None;
            }
        };
        merge(
            self.by_value
                .entry(left.clone())
                .or_insert_with(|| Some(right.clone())),
        );
        merge(
            self.by_site
                .entry((site, left))
                .or_insert_with(|| Some(right.clone())),
        );
    }

    /// Records that a value has no counterpart.
    pub(super) fn forget(&mut self, site: Site, value: Value) {
        self.by_value.insert(value.clone(), None);
        self.by_site.insert((site, value), None);
    }

    /// The value of the other function for one in an ignored field.
    ///
    /// A name may have been copied from any field. Numbers and empty names of different
    /// fields are equal by chance, so only those of the same field count.
    pub(super) fn find(&self, site: Site, value: &Value) -> Name<'_> {
        let anywhere = self.by_value.get(value);
        let (is_empty, is_name) = match value.view() {
            ValueRef::Str(text) => (text.is_empty(), !text.is_empty()),
            _ => (value.is_none(), false),
        };
        match self.by_site.get(&(site, value.clone())) {
            Some(None) => Name::Unknown,
            Some(Some(_)) if is_name && matches!(anywhere, Some(None)) => Name::Unknown,
            // The default of a field, more likely than a name of the function.
            Some(Some(own)) if is_empty && own != value => Name::Unknown,
            Some(Some(own)) => Name::Is(own),
            None => match anywhere {
                None => Name::Own,
                Some(_) if value.is_none() => Name::Own,
                Some(Some(own)) if own == value => Name::Own,
                Some(_) => Name::Unknown,
            },
        }
    }
}
