//! How comparison treats the fields of a node type.

use isoform::Node;
use isoform::types::{FieldFlag, TypeInfo};

/// How comparison treats a field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FieldKind {
    /// Nothing: two nodes are equal whatever it holds.
    Ignored,
    /// It is compared; variables in it are used.
    Usual,
    /// It is compared; variables in it are bound.
    Definition,
}

/// Returns how comparison treats each field of a type, those of its bases first.
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

/// As [`field_kinds`], of a type that is known at run time.
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
