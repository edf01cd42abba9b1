//! Comparison by declared fields: what `==`, `<` and `hash` mean for types
//! that ask for more than identity.
//!
//! It knows no variables, regions and kinds; that is structural comparison.

mod compare;
mod hash;

use std::cell::Cell;
use std::cmp::Ordering;

use crate::error::{Error, ErrorKind, Result};
use crate::object::access;
use crate::object::reference::{Obj, Ref};
use crate::structural::MAX_HOOK_DEPTH;
use crate::value::Value;

/// What some types do instead of comparing their fields.
///
/// Each function is asked for every object of a declared type that is met (for
/// two of the same type); None stands for "by its fields". A function may call
/// [`recursive_eq_with`] and its likes in turn.
pub trait RecursiveHooks {
    /// Whether two objects of one type are equal.
    fn equal(&self, left: &Ref<Obj>, right: &Ref<Obj>) -> Option<Result<bool>> {
        let _ = (left, right);
        None
    }

    /// Which of two objects of one type comes first.
    fn compare(&self, left: &Ref<Obj>, right: &Ref<Obj>) -> Option<Result<Ordering>> {
        let _ = (left, right);
        None
    }

    /// The hash of an object; equal objects must have the same.
    fn hash(&self, object: &Ref<Obj>) -> Option<Result<u64>> {
        let _ = object;
        None
    }
}

/// No type has hooks.
impl RecursiveHooks for () {}

/// Whether two values are equal field by field.
///
/// Objects of one type are equal when their fields are
/// ([`FieldDef::compare`](crate::FieldDef::compare) leaves fields out), arrays
/// and lists when their elements are, maps and dicts when they have the same
/// keys (found by [`Value`]'s own equality) with equal values. Values of
/// different types are unequal: `1`, `True` and `1.0` are three values. All
/// NaNs are equal, and `0.0` equals `-0.0`; tensors are compared as in
/// structural comparison, functions and opaque values by identity. A cyclic
/// value equals one that looks the same on every path.
///
/// Iterative; nearly linear in the number of distinct objects.
///
/// # Errors
///
/// Only those of hooks; see [`recursive_eq_with`].
///
/// ```
/// use isoform::{Value, recursive_eq};
/// let value = |x: f64| Value::from([Value::from(x), Value::from("s")]);
/// assert!(recursive_eq(&value(0.0), &value(-0.0))?);
/// assert!(!recursive_eq(&value(0.0), &value(1.0))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_eq(left: &Value, right: &Value) -> Result<bool> {
    recursive_eq_with(left, right, &())
}

/// [`recursive_eq`] with hooks.
///
/// # Errors
///
/// Whatever a hook returns; `RecursionError` when hooks nest too deeply.
pub fn recursive_eq_with(left: &Value, right: &Value, hooks: &dyn RecursiveHooks) -> Result<bool> {
    access::traversing(|| compare::equal(left, right, hooks))
}

/// Which of two values comes first, field by field and element by element.
///
/// None comes before everything else. Objects of one type are ordered by their
/// compared fields in declaration order, parents' first; arrays and lists by
/// their elements, and then by length.
///
/// # Errors
///
/// `TypeError` for values of different types, for NaN, and for maps, dicts,
/// tensors, functions and opaque values, which have no order; whatever a hook
/// returns.
///
/// ```
/// use std::cmp::Ordering;
/// use isoform::{Value, recursive_cmp};
/// assert_eq!(recursive_cmp(&Value::from([1, 2]), &Value::from([1, 3]))?, Ordering::Less);
/// let error = recursive_cmp(&1.into(), &"s".into()).expect_err("no order");
/// assert_eq!(error.message(), "int and str have no order");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_cmp(left: &Value, right: &Value) -> Result<Ordering> {
    recursive_cmp_with(left, right, &())
}

/// [`recursive_cmp`] with hooks.
///
/// # Errors
///
/// As [`recursive_cmp`].
pub fn recursive_cmp_with(
    left: &Value,
    right: &Value,
    hooks: &dyn RecursiveHooks,
) -> Result<Ordering> {
    access::traversing(|| compare::order(left, right, hooks))
}

/// A hash that is the same for values that [`recursive_eq`] calls equal.
///
/// Iterative; linear in the number of distinct objects. Hashes of functions
/// and opaque values follow their identity; the others are the same in every
/// process.
///
/// # Errors
///
/// `ValueError` with the path for a cyclic value, whose equality no hash of
/// its parts can follow; whatever a hook returns.
///
/// ```
/// use isoform::{Value, recursive_hash};
/// let hash = |x: f64| recursive_hash(&Value::from([x]));
/// assert_eq!(hash(0.0)?, hash(-0.0)?);
/// assert_ne!(hash(0.0)?, hash(1.0)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn recursive_hash(value: &Value) -> Result<u64> {
    recursive_hash_with(value, &())
}

/// [`recursive_hash`] with hooks.
///
/// # Errors
///
/// As [`recursive_hash`].
pub fn recursive_hash_with(value: &Value, hooks: &dyn RecursiveHooks) -> Result<u64> {
    access::traversing(|| hash::hash(value, hooks))
}

thread_local! {
    static HOOK_DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls a hook, unless hooks are nested too deeply already.
fn call_hook<T>(hook: impl FnOnce() -> Option<Result<T>>) -> Option<Result<T>> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            HOOK_DEPTH.set(HOOK_DEPTH.get() - 1);
        }
    }
    if HOOK_DEPTH.get() >= MAX_HOOK_DEPTH {
        return Some(Err(Error::new(
            ErrorKind::Recursion,
            format!("custom comparisons nest deeper than {MAX_HOOK_DEPTH} levels"),
        )));
    }
    HOOK_DEPTH.set(HOOK_DEPTH.get() + 1);
    let _leave = Leave;
    access::outside(hook)
}
