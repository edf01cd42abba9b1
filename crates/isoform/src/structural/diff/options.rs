//! The options of a difference: how a call compares two values, the types and fields that
//! the call leaves out, and the attribute by which a type asks for an alignment.

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::change::Change;
use crate::attrs::{self, Lookup};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::names::DIFF_ALIGN;
use crate::structural::CompareOptions;

/// Decides whether a change is left out.
pub type IgnoreChange = Arc<dyn Fn(&Change) -> Result<bool> + Send + Sync>;

/// How two values are compared by [`diff`](super::diff).
///
/// If any part is ignored, a difference may be empty although the values are not equal.
/// Applying the difference keeps ignored types and fields as on the left.
///
/// ```
/// use isoform::compare::DiffOptions;
///
/// let mut options = DiffOptions::default();
/// options.ignore.push(std::sync::Arc::new(|change| Ok(change.left_path().depth() > 1)));
/// assert!(options.diff([[1], [2]], [[1], [3]])?.is_empty());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct DiffOptions {
    /// As for [`structural_equal`](crate::structural_equal).
    pub compare: CompareOptions,
    /// The keys of types whose objects all count as equal, with subtypes.
    pub ignore_types: Vec<String>,
    /// Fields that are not compared, by the key of the type that declares or inherits
    /// them, and name.
    pub ignore_fields: Vec<(String, String)>,
    /// Leaves out the changes for which any of these returns true.
    pub ignore: Vec<IgnoreChange>,
}

impl DiffOptions {
    /// The types and fields to leave out.
    ///
    /// # Errors
    ///
    /// As [`Ignored::of`].
    pub(super) fn ignored(&self) -> Result<Ignored> {
        Ignored::of(&self.ignore_types, &self.ignore_fields)
    }

    /// True if a patch has to build exactly the right value.
    pub(super) fn is_exact(&self) -> bool {
        self.ignore_types.is_empty() && self.ignore_fields.is_empty()
    }
}

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

/// The text of the attribute for the alignment of a type's objects.
fn alignment(info: &TypeInfo) -> Option<&'static str> {
    attrs::get(info.index(), DIFF_ALIGN, Lookup::Nearest)?.as_str()
}

/// True for types with a custom comparison that compares field by field.
pub(super) fn aligns_by_fields(info: &TypeInfo) -> bool {
    alignment(info) == Some("fields")
}

/// True for variables that match by name when they are keys of maps.
pub(super) fn names_globals(info: &TypeInfo) -> bool {
    alignment(info) == Some("name")
}
