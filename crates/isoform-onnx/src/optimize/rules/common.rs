//! Questions that several tables of rules ask.

use isoform::{Array, Value};

use super::super::rule::Site;
use crate::facts::Size;
use crate::ir::Call;

/// True if shapes are equal in every run.
pub(super) fn same_shape(left: &[Size], right: &[Size]) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| left.known_eq(right) == Some(true))
}

/// The shape of the root's first output.
pub(super) fn result_shape(site: &mut Site<'_, '_>) -> Option<Vec<Size>> {
    let result = site.result();
    site.shape(&result)
}

/// The axes of a Squeeze or Unsqueeze, or of a reduction from the version on that made
/// the axes an input. None if unknown.
pub(super) fn axes(
    site: &mut Site<'_, '_>,
    call: &Call,
    input_since: i64,
) -> Option<Option<Vec<i64>>> {
    if call.version < input_since {
        return call.ints("axes").ok();
    }
    match call.input(1) {
        None => Some(None),
        Some(axes) => site.ints(&axes.clone()).map(Some),
    }
}

/// A list of ints as an attribute.
pub(super) fn int_list(ints: impl IntoIterator<Item = i64>) -> Value {
    let array: Array = ints.into_iter().map(Value::from).collect();
    array.into()
}

/// An axis from the front, if it exists.
pub(super) fn axis_in(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis + rank } else { axis };
    (0..rank).contains(&axis).then_some(axis as usize)
}

/// The permutation of a Transpose.
pub(super) fn permutation(call: &Call, rank: usize) -> Option<Vec<usize>> {
    let Some(perm) = call.ints("perm").ok()? else {
        return Some((0..rank).rev().collect());
    };
    let perm: Vec<usize> = perm
        .into_iter()
        .map(|axis| axis_in(axis, rank))
        .collect::<Option<_>>()?;
    (perm.len() == rank).then_some(perm)
}
