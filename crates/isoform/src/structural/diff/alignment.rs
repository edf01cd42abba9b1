//! The attribute for the alignment of a type's objects.

use crate::attrs::{self, Lookup};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::types::names::DIFF_ALIGN;

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
