//! The declaration of classes of attributes, and sizes in attributes.

use isoform::errors::ErrorKind;
use isoform::values::DType;
use isoform::{Array, Error, Ref, Result};
use isoform_ir::ir::{IntImm, PrimExpr};

/// Declares classes of attributes: their type key, their name, and their fields with
/// defaults.
macro_rules! attributes {
    ($(
        $(#[$meta:meta])*
        $node:ident = $key:tt {
            $($(#[$field_meta:meta])* $field:ident: $ty:ty $(= $default:expr)?,)*
        }
    )*) => {$(
        #[derive(isoform::Node)]
        #[node(key = $key)]
        #[repr(C)]
        $(#[$meta])*
        pub struct $node {
            #[node(base, default)]
            base: isoform_ir::ir::Attrs,
            $(
                $(#[$field_meta])*
                $(#[node(default = $default)])?
                pub $field: $ty,
            )*
        }
    )*};
}
pub(super) use attributes;

/// Sizes, positions or other integers, possibly symbolic.
pub(super) type Sizes = Array<Ref<PrimExpr>>;

/// An integer as the literal for fields of sizes: of type int32 or, if larger, int64.
pub fn size(value: i64) -> Ref<PrimExpr> {
    let dtype = match i32::try_from(value) {
        Ok(_) => DType::INT32,
        Err(_) => DType::INT64,
    };
    IntImm::made(dtype, value, None).upcast()
}

/// Integers as literals for fields of sizes. See [`size`].
pub fn sizes(values: impl IntoIterator<Item = i64>) -> Array<Ref<PrimExpr>> {
    values.into_iter().map(size).collect()
}

/// Checks that a number is within inclusive bounds.
pub(super) fn bounded(field: &str, value: i64, least: i64, most: i64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Attribute,
        format!("{field}: expected an int from {least} to {most}, got {value}"),
    ))
}
