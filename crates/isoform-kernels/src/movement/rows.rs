//! Axes that an operator works along, brought to the end.

use std::borrow::Cow;

use super::permuted;
use crate::control::Control;
use crate::error::Result;
use crate::tensor::{Tensor, View};

/// The elements as rows that are consecutive in memory.
pub(crate) struct Rows<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// The number of rows.
    pub(crate) count: usize,
    /// The elements of one row.
    pub(crate) len: usize,
}

/// The rows along these axes, given in ascending order. Rows along the last axes are
/// borrowed, and others copied.
pub(crate) fn trailing<'a>(x: View<'a>, axes: &[usize], control: &Control<'_>) -> Result<Rows<'a>> {
    let rank = x.rank();
    let kept: Vec<usize> = (0..rank)
        .filter(|at| axes.binary_search(at).is_err())
        .collect();
    let sizes = |axes: &[usize]| axes.iter().map(|at| x.shape()[*at]).product();
    let (count, len) = (sizes(&kept), sizes(axes));
    // An axis of size 1 is at the end wherever it is.
    let moves = kept.last().is_some_and(|last| {
        let before = axes.iter().filter(|at| *at < last);
        before.into_iter().any(|at| x.shape()[*at] != 1)
    });
    let bytes = if moves && count * len > 0 {
        let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
        let shape: Vec<usize> = order.iter().map(|at| x.shape()[*at]).collect();
        Cow::Owned(permuted(x, &order, &shape, control)?)
    } else {
        Cow::Borrowed(x.bytes())
    };
    Ok(Rows { bytes, count, len })
}

/// A result in rows along one axis, with the axis moved back to its place in `shape`.
pub(crate) fn restore_axis(
    rows: Tensor,
    shape: &[usize],
    axis: usize,
    control: &Control<'_>,
) -> Result<Tensor> {
    let (element_type, _, bytes) = rows.into_parts();
    let last = shape.len() - 1;
    let mut turned = shape.to_vec();
    let size = turned.remove(axis);
    turned.push(size);
    if axis == last {
        return Ok(Tensor::raw(element_type, shape.to_vec(), bytes));
    }
    let order: Vec<usize> = (0..axis).chain([last]).chain(axis..last).collect();
    let view = View::new(element_type, &turned, &bytes)?;
    let bytes = permuted(view, &order, shape, control)?;
    Ok(Tensor::raw(element_type, shape.to_vec(), bytes))
}
