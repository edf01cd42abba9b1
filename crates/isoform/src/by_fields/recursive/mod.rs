//! Comparison by declared fields: the meaning of `==`, `<` and `hash` for types
//! that ask for more than identity.
//!
//! The comparison here ignores variables, regions and kinds; those belong to structural
//! comparison. A type may define the comparison of its objects; see the hooks
//! [`DynRecursiveEqual`](crate::hooks::DynRecursiveEqual) and its relatives.
//!
//! Inside a hook, the memo of a comparison can be rolled back, so the hook may try
//! alternatives. Recursively equal values have the same recursive hash; a cyclic value
//! has no recursive hash.

mod compare;
mod hash;

use std::cmp::Ordering;

use crate::kernel::error::Result;
use crate::kernel::object::access;
use crate::kernel::value::Value;

/// Returns true if two values are equal field by field.
///
/// Objects of one type are equal if their fields are
/// ([`FieldDef::compare`](crate::types::FieldDef::compare) excludes fields), arrays and
/// lists if their elements are, maps and dicts if they have the same keys (as found by
/// a [lookup](crate::Map::try_get)) with equal values. Values of different types are
/// unequal: `1`, `True` and `1.0` are three values. All NaNs are equal, and `0.0`
/// equals `-0.0`; tensors are compared as in structural comparison, functions and
/// opaque values by identity. A cyclic value equals any value that looks the same on
/// every path.
///
/// Iterative; nearly linear in the number of distinct objects.
///
/// # Errors
///
/// Errors of hooks ([`DynRecursiveEqual`](crate::hooks::DynRecursiveEqual)), and
/// `RecursionError` if hooks nest too deeply.
///
/// ```
/// use isoform::Value;
/// use isoform::compare::recursive_eq;
/// let value = |x: f64| Value::from([Value::from(x), Value::from("s")]);
/// assert!(recursive_eq(&value(0.0), &value(-0.0))?);
/// assert!(!recursive_eq(&value(0.0), &value(1.0))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_eq(left: impl Into<Value>, right: impl Into<Value>) -> Result<bool> {
    let (left, right) = (&left.into(), &right.into());
    access::traversing(|section| compare::equal(section, left, right))
}

/// Returns the order of two values, field by field and element by element.
///
/// None comes first. Objects of one type are ordered by their compared fields in
/// declaration order, parents' first; arrays and lists by their elements, and then by
/// length. Maps and dicts have no order, but if they are [equal](recursive_eq), the
/// next field or element decides; the same holds for tensors, functions and opaque
/// values.
///
/// Iterative; nearly linear in the number of distinct objects.
///
/// # Errors
///
/// `TypeError` for values of different types, for NaN, and for maps, dicts,
/// tensors, functions and opaque values that differ; whatever a hook
/// ([`DynRecursiveCompare`](crate::hooks::DynRecursiveCompare)) returns.
///
/// ```
/// use std::cmp::Ordering;
/// use isoform::Value;
/// use isoform::compare::recursive_cmp;
/// assert_eq!(recursive_cmp([1, 2], [1, 3])?, Ordering::Less);
/// let error = recursive_cmp(1, "s").expect_err("no order");
/// assert_eq!(error.message(), "int and str have no order");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_cmp(left: impl Into<Value>, right: impl Into<Value>) -> Result<Ordering> {
    let (left, right) = (&left.into(), &right.into());
    access::traversing(|section| compare::order(section, left, right))
}

/// Returns a hash, the same for values equal by [`recursive_eq`].
///
/// Iterative; linear in the number of distinct objects. Hashes of functions and
/// opaque values depend on their identity; the others are the same in every
/// process.
///
/// # Errors
///
/// `ValueError` with the path for a cyclic value, whose equality no hash of its parts
/// can follow; `TypeError` for an object of a type with a hook for equality or order
/// but without a hook for the hash
/// ([`DynRecursiveHash`](crate::hooks::DynRecursiveHash)); errors of hooks.
///
/// ```
/// use isoform::Value;
/// use isoform::compare::recursive_hash;
/// let hash = |x: f64| recursive_hash([x]);
/// assert_eq!(hash(0.0)?, hash(-0.0)?);
/// assert_ne!(hash(0.0)?, hash(1.0)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_hash(value: impl Into<Value>) -> Result<u64> {
    let value = &value.into();
    access::traversing(|section| hash::hash(section, value))
}
