//! Shapes of tensors whose elements are moved.

use super::axis;
use crate::error::{KernelError, Result};

/// The order of axes of a transposition, and the shape it leads to. Without `order`, the
/// axes are reversed.
///
/// ```
/// use isoform_kernels::shape::transpose;
///
/// assert_eq!(transpose(&[2, 3, 4], Some(&[0, -1, 1]))?, (vec![0, 2, 1], vec![2, 4, 3]));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error unless the order names each axis once.
pub fn transpose(shape: &[usize], order: Option<&[i64]>) -> Result<(Vec<usize>, Vec<usize>)> {
    let rank = shape.len();
    let order = match order {
        None => (0..rank).rev().collect(),
        Some(order) => {
            // Sorting the axes finds missing axes.
            if super::axes(order, rank)?.len() != rank {
                return Err(KernelError::shape(format!(
                    "transpose: expected each of {rank} axes once, got {order:?}"
                )));
            }
            order
                .iter()
                .map(|number| axis(*number, rank))
                .collect::<Result<Vec<usize>>>()?
        }
    };
    let result = order.iter().map(|at| shape[*at]).collect();
    Ok((order, result))
}

/// The shape without these axes of size 1; without `axes`, without all of them.
///
/// # Errors
///
/// A shape error for an axis of another size.
pub fn squeeze(shape: &[usize], axes: Option<&[i64]>) -> Result<Vec<usize>> {
    let removed = match axes {
        None => (0..shape.len()).filter(|at| shape[*at] == 1).collect(),
        Some(axes) => super::axes(axes, shape.len())?,
    };
    if let Some(at) = removed.iter().find(|at| shape[**at] != 1) {
        return Err(KernelError::shape(format!(
            "squeeze: expected size 1 on axis {at}, got shape {shape:?}"
        )));
    }
    Ok(super::reduce(shape, &removed, false))
}

/// More new axes than this are an error, not a program.
const MOST_NEW_AXES: usize = 64;

/// The shape with `count` axes of size 1 inserted before `axis`, which may be from
/// `-rank - 1` to `rank`.
///
/// ```
/// use isoform_kernels::shape::expand_dims;
///
/// assert_eq!(expand_dims(&[2, 3], -1, 2)?, [2, 3, 1, 1]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for any other axis.
pub fn expand_dims(shape: &[usize], axis: i64, count: usize) -> Result<Vec<usize>> {
    let at = super::axis(axis, shape.len() + 1)?;
    if count > MOST_NEW_AXES {
        return Err(KernelError::shape(format!(
            "expand_dims: expected at most {MOST_NEW_AXES} new axes, got {count}"
        )));
    }
    let mut result = shape.to_vec();
    result.splice(at..at, std::iter::repeat_n(1, count));
    Ok(result)
}

/// The shape of tensors joined along an axis.
///
/// # Errors
///
/// A shape error without tensors, for rank 0, or if another axis differs.
pub fn concatenate(shapes: &[&[usize]], axis: i64) -> Result<Vec<usize>> {
    let Some(first) = shapes.first() else {
        return Err(KernelError::shape(
            "concatenate: expected one tensor or more, got none",
        ));
    };
    let axis = super::axis(axis, first.len())?;
    let mut result = first.to_vec();
    result[axis] = 0;
    for (number, shape) in shapes.iter().enumerate() {
        let same = |other: usize| other == axis || shape[other] == first[other];
        if shape.len() != first.len() || !(0..first.len()).all(same) {
            return Err(KernelError::shape(format!(
                "concatenate: expected shapes equal except on axis {axis}, got {first:?} and, as operand {number}, {shape:?}"
            )));
        }
        result[axis] = result[axis].checked_add(shape[axis]).ok_or_else(|| {
            KernelError::too_large("concatenate: the size of the axis is out of range")
        })?;
    }
    Ok(result)
}

/// The shape of equal shapes stacked along a new axis, from `-rank - 1` to `rank`.
///
/// # Errors
///
/// A shape error without tensors, or if the shapes differ.
pub fn stack(shapes: &[&[usize]], axis: i64) -> Result<Vec<usize>> {
    let first = shapes.first().copied().unwrap_or_default();
    if shapes.is_empty() || shapes.iter().any(|shape| *shape != first) {
        return Err(KernelError::shape(format!(
            "stack: expected one shape or more, all equal, got {shapes:?}"
        )));
    }
    let at = super::axis(axis, first.len() + 1)?;
    let mut result = first.to_vec();
    result.insert(at, shapes.len());
    Ok(result)
}

/// The range of each part along an axis split before each of these indices. Indices
/// beyond the axis are limited to its size, as in NumPy.
///
/// # Errors
///
/// A shape error for an axis outside of the rank, or if the indices descend.
pub fn split(shape: &[usize], indices: &[usize], axis: i64) -> Result<Vec<(usize, usize)>> {
    let size = shape[super::axis(axis, shape.len())?];
    if indices.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(KernelError::shape(format!(
            "split: expected ascending indices, got {indices:?}"
        )));
    }
    let ends = indices.iter().copied().chain([size]);
    let mut begin = 0;
    let parts = ends.map(|end| {
        let part = (begin, end.min(size));
        begin = part.1;
        part
    });
    Ok(parts.collect())
}

/// The first index and the number of indices of a slice of an axis of this size, by the
/// rules of Python: negative bounds count from the end, and bounds beyond the axis are
/// limited to the axis. Without bounds, the slice is the whole axis in the direction of
/// `step`.
///
/// ```
/// use isoform_kernels::shape::slice;
///
/// assert_eq!(slice(10, Some(-3), None, 2)?, (7, 2));
/// assert_eq!(slice(10, None, None, -1)?, (9, 10));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for a step of 0.
pub fn slice(
    size: usize,
    begin: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<(usize, usize)> {
    if step == 0 {
        return Err(KernelError::shape(
            "slice: expected a step other than 0, got 0",
        ));
    }
    // Wide enough for every sum and difference below.
    let (size, step) = (size as i128, i128::from(step));
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |bound: Option<i64>, default: i128| match bound {
        None => default,
        Some(index) => {
            let index = i128::from(index);
            (if index < 0 { index + size } else { index }).clamp(low, high)
        }
    };
    let forwards = step > 0;
    let begin = bound(begin, if forwards { low } else { high });
    let end = bound(end, if forwards { high } else { low });
    let distance = if forwards { end - begin } else { begin - end };
    let count = (distance.max(0) + step.abs() - 1) / step.abs();
    Ok((if count == 0 { 0 } else { begin as usize }, count as usize))
}

/// The shape after padding each axis by `(before, after)` elements; a negative number
/// removes elements.
///
/// # Errors
///
/// A shape error if the rank differs or more elements are removed than there are.
pub fn pad(shape: &[usize], widths: &[(i64, i64)]) -> Result<Vec<usize>> {
    if shape.len() != widths.len() {
        return Err(KernelError::shape(format!(
            "pad: expected a pair of widths for each of {} axes, got {}",
            shape.len(),
            widths.len()
        )));
    }
    let sizes = shape.iter().zip(widths).map(|(size, (before, after))| {
        let (before, after) = (i128::from(*before), i128::from(*after));
        let kept = *size as i128 + before.min(0) + after.min(0);
        let padded = kept + before.max(0) + after.max(0);
        match usize::try_from(padded) {
            Ok(padded) if kept >= 0 => Ok(padded),
            _ => Err(KernelError::shape(format!(
                "pad: expected widths that remove at most the {size} elements there are, got ({before}, {after})"
            ))),
        }
    });
    sizes.collect()
}

/// The shape after repeating each element `repeats` times along an axis.
///
/// # Errors
///
/// A shape error for an axis outside of the rank.
pub fn repeat(shape: &[usize], repeats: usize, axis: i64) -> Result<Vec<usize>> {
    let at = super::axis(axis, shape.len())?;
    let mut result = shape.to_vec();
    result[at] = multiplied(result[at], repeats)?;
    Ok(result)
}

/// The shape after repeating the tensor `repeats` times along each axis. The shorter of
/// shape and repeats is filled up with ones from the left.
///
/// # Errors
///
/// A size error if a size is out of range.
pub fn tile(shape: &[usize], repeats: &[usize]) -> Result<Vec<usize>> {
    let rank = shape.len().max(repeats.len());
    let aligned = |sizes: &[usize], at: usize| {
        let missing = rank - sizes.len();
        if at < missing { 1 } else { sizes[at - missing] }
    };
    (0..rank)
        .map(|at| multiplied(aligned(shape, at), aligned(repeats, at)))
        .collect()
}

fn multiplied(size: usize, times: usize) -> Result<usize> {
    size.checked_mul(times).ok_or_else(|| {
        KernelError::too_large(format!("a size of {size} times {times} is out of range"))
    })
}

/// The number of elements of an arithmetic progression from `start` to `stop`,
/// excluding `stop`, by `step`: `ceil((stop - start) / step)`, and 0 if negative.
///
/// # Errors
///
/// An undefined result for a step of 0 or values that are not finite; a size error for a
/// number out of range.
pub fn arange(start: f64, stop: f64, step: f64) -> Result<usize> {
    if step == 0.0 || !(start.is_finite() && stop.is_finite() && !step.is_nan()) {
        return Err(KernelError::undefined(format!(
            "arange: expected finite bounds and a step other than 0, got {start}, {stop} and {step}"
        )));
    }
    let count = ((stop - start) / step).ceil().max(0.0);
    if count >= (1_u64 << 53) as f64 {
        return Err(KernelError::too_large(format!(
            "arange: {count} elements are out of range"
        )));
    }
    Ok(count as usize)
}
