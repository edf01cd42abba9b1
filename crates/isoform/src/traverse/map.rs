//! The functional update: builds a new value from an old value, node by node.

use super::driver::Driver;
use super::mapper::{DriveMutate, rewrite};
use super::options::MapOptions;
use super::visit::Visit;
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::value::Value;

/// Rewrites a value: `callback` sees every value below `root`, the root
/// included, and may return a replacement.
///
/// The callback returns None to keep the value. Objects are never changed: an object
/// with a replaced child is rebuilt, and all parts without a replacement inside are the
/// same objects in the result, the root included. A changed list or dict becomes a new
/// list or dict.
///
/// * **Post-order** ([`WalkOrder::Post`](crate::traverse::WalkOrder::Post), the
///   default): children first. The callback sees a node after its children were
///   replaced; the callback's result is final.
/// * **Pre-order**: the callback sees a node first. The children of the callback's
///   result are visited in turn; the result itself is not passed to the callback again.
/// * **Children** are the children of
///   [`structural_walk`](crate::traverse::structural_walk), in the same order: fields,
///   elements, keys and values. Fields ignored by comparison are copied unchanged
///   unless the options include them.
/// * **Sharing.** An object reached in several ways is rewritten once in each kind of
///   region (used, bound, bound directly), and the result is shared in the same way. A
///   variable or dag node with changed fields is rebuilt once for all regions: its uses
///   still name its definition. A callback replacing a variable is called separately
///   for each kind of region: return the same replacement in all calls.
/// * **Hooks.** If a type builds the new object itself
///   ([`DynMutate`](crate::hooks::DynMutate)), the result of its hook replaces the
///   rewrite of its fields. A hook set during a rewrite takes effect with the next
///   rewrite.
///
/// Depth is limited by memory only; the cost is linear in the number of
/// distinct objects plus that of the places of plain values.
///
/// # Errors
///
/// `TypeError` with the path if a replacement does not fit its field,
/// `ValueError` if two keys of a map become equal or a value contains itself;
/// errors of the callback are returned unchanged.
///
/// ```
/// use isoform::{Value, structural_equal};
/// use isoform::traverse::structural_map;
///
/// let root = Value::from(vec![Value::from(1), Value::from(vec![2, 3])]);
/// let next = structural_map(&root, |visit| {
///     Ok(visit.value().as_int().map(|number| Value::from(number + 1)))
/// })?;
/// assert!(structural_equal(next, vec![Value::from(2), Value::from(vec![3, 4])])?);
///
/// let same = structural_map(&root, |_| Ok(None))?;
/// assert_eq!(same, root);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_map(
    root: impl Into<Value>,
    callback: impl FnMut(&Visit<'_>) -> Result<Option<Value>>,
) -> Result<Value> {
    MapOptions::default().map(root, callback)
}

/// Rewrites a value with callbacks controlling the rewrite below the values they
/// receive.
///
/// `wanted` selects the types for the callback: `wanted` is called with the type of an
/// object, or with None for an inline plain value. The result of the callback replaces
/// the value, and below the value only parts requested by the callback are rewritten:
/// [`MutateCallback::mutate`](crate::hooks::MutateCallback::mutate) rewrites a part,
/// [`MutateCallback::mutate_children`](crate::hooks::MutateCallback::mutate_children)
/// all parts of a value. Values of other types are rebuilt if a part below changed, by
/// the [hook](crate::hooks::DynMutate) of the type or field by field. Regions, sharing
/// and identity are as in [`structural_map`]; the order in the options is ignored.
///
/// [`MutateCallback::remap`](crate::hooks::MutateCallback::remap) records the
/// replacement of a variable for all its later occurrences, unless the callback
/// also receives variables.
///
/// # Errors
///
/// As [`structural_map`]. `ValueError` if the callback asks for a value whose
/// rewrite has not ended, and `RecursionError` if callbacks nest more than
/// [`MapOptions::max_depth`] levels deep.
///
/// ```
/// use isoform::{Array, Value};
/// use isoform::objects::repr;
/// use isoform::traverse::structural_mutate;
///
/// // Swaps pairs, and rewrites what is in them.
/// let swap = |value: &Value, mutator: &mut dyn isoform::hooks::MutateCallback| {
///     let pair = value.extract::<Array>()?;
///     let (first, second) = (mutator.mutate(&pair.values()[0])?, mutator.mutate(&pair.values()[1])?);
///     Ok(Value::from([second, first]))
/// };
/// let root = Value::from([Value::from([1, 2]), 3.into()]);
/// let arrays = |ty: Option<isoform::types::TypeIndex>| ty.is_some();
/// let swapped = structural_mutate(&root, &arrays, &swap)?;
/// assert_eq!(repr(&swapped), "(3, (2, 1))");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_mutate(
    root: impl Into<Value>,
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveMutate<'_>,
) -> Result<Value> {
    MapOptions::default().mutate(root, wanted, callback)
}

impl MapOptions {
    /// [`structural_map`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_map`].
    pub fn map(
        self,
        root: impl Into<Value>,
        callback: impl FnMut(&Visit<'_>) -> Result<Option<Value>>,
    ) -> Result<Value> {
        self.map_selected(root, |_| true, callback)
    }

    /// [`map`](Self::map) with callbacks only for the wanted types; values of other
    /// types are rebuilt if a part below changes.
    ///
    /// `wanted` is called with the type of an object, or with None for an inline
    /// plain value. It is called in the middle of the traversal, where a callback
    /// would cost more, and must not use this library.
    ///
    /// # Errors
    ///
    /// As [`structural_map`].
    pub fn map_selected(
        self,
        root: impl Into<Value>,
        wanted: impl Fn(Option<TypeIndex>) -> bool,
        callback: impl FnMut(&Visit<'_>) -> Result<Option<Value>>,
    ) -> Result<Value> {
        rewrite(root.into(), self, None, wanted, callback)
    }

    /// [`structural_mutate`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_mutate`].
    pub fn mutate(
        self,
        root: impl Into<Value>,
        wanted: &dyn Fn(Option<TypeIndex>) -> bool,
        callback: &DriveMutate<'_>,
    ) -> Result<Value> {
        let driver = Driver::new(wanted, callback, self.max_depth);
        rewrite(root.into(), self, Some(driver), |_| false, |_| Ok(None))
    }
}
