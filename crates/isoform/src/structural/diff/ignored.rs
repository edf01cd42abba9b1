//! Types and fields that are left out of a difference.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, TypeInfo};

/// The types and fields that are left out, looked up.
#[derive(Default)]
pub(super) struct Ignored {
    types: Vec<TypeIndex>,
    /// By the named type: positions of fields in declaration order.
    fields: HashMap<TypeIndex, Vec<usize>, RandomState>,
}

impl Ignored {
    /// # Errors
    ///
    /// `TypeError` for an unknown type, `AttributeError` for an unknown field.
    pub(super) fn of(types: &[String], fields: &[(String, String)]) -> Result<Self> {
        let mut ignored = Ignored::default();
        for key in types {
            ignored.types.push(known(key)?.index());
        }
        for (key, field) in fields {
            let info = known(key)?;
            let Some(position) = info.field_index(field) else {
                let names: Vec<_> = info.fields().iter().map(|field| field.name()).collect();
                return Err(Error::new(
                    ErrorKind::Attribute,
                    format!(
                        "ignore: {key} has no field '{field}', only: {}",
                        names.join(", ")
                    ),
                ));
            };
            ignored
                .fields
                .entry(info.index())
                .or_default()
                .push(position);
        }
        Ok(ignored)
    }

    /// True if nothing is left out.
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty() && self.fields.is_empty()
    }

    pub(super) fn has_type(&self, info: &TypeInfo) -> bool {
        !self.types.is_empty() && self.types.iter().any(|&ty| table::is_a(info.index(), ty))
    }

    /// The ignored fields of a type: inherited fields have the positions of the ancestor.
    pub(super) fn fields_of(&self, info: &TypeInfo) -> Option<Vec<usize>> {
        if self.fields.is_empty() {
            return None;
        }
        let named = self.fields.iter();
        let found: Vec<usize> = named
            .filter(|(ty, _)| table::is_a(info.index(), **ty))
            .flat_map(|(_, fields)| fields.iter().copied())
            .collect();
        (!found.is_empty()).then_some(found)
    }
}

fn known(key: &str) -> Result<&'static TypeInfo> {
    table::find(key).ok_or_else(|| {
        Error::type_error(format!(
            "ignore: no type has the key '{key}'; register it first, or check the spelling"
        ))
    })
}
