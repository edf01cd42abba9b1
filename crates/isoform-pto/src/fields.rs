//! How comparison treats the fields of a node type.

use isoform::Node;
use isoform::types::{FieldFlag, TypeInfo};

/// How comparison treats a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldKind {
    /// Ignored: nodes are equal regardless of the field.
    Ignored,
    /// Compared; uses variables.
    Usual,
    /// Compared; binds variables.
    Definition,
}

/// Returns how comparison treats the fields of a type, beginning with the fields of the
/// bases.
///
/// ```
/// use isoform_pto::{AssignStmt, FieldKind, field_kinds};
///
/// let kinds = field_kinds::<AssignStmt>();
/// assert_eq!(kinds[0], ("span", FieldKind::Ignored));
/// assert_eq!(kinds[2..], [("var", FieldKind::Definition), ("value", FieldKind::Usual)]);
/// ```
pub fn field_kinds<T: Node>() -> Vec<(&'static str, FieldKind)> {
    field_kinds_of(isoform::host::type_info(T::type_index()))
}

/// Like [`field_kinds`], for a type known at run time.
pub fn field_kinds_of(info: &'static TypeInfo) -> Vec<(&'static str, FieldKind)> {
    let kind = |flag: FieldFlag| match flag {
        FieldFlag::Ignore => FieldKind::Ignored,
        FieldFlag::Def | FieldFlag::DefSimple => FieldKind::Definition,
        _ => FieldKind::Usual,
    };
    let fields = info.fields().iter();
    fields
        .map(|field| (field.name(), kind(field.field_flag())))
        .collect()
}
