//! Sorting along an axis.

use std::cmp::Ordering;

use super::gather::gather;
use super::take::IndexMode;
use crate::control::{BLOCK, Control, Progress};
use crate::element::{Element, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::movement::{AxisSlice, restore_axis, strided_slice, trailing};
use crate::number::Number;
use crate::shape;
use crate::tensor::{Tensor, View};

/// The indices that sort each row along an axis, ascending or descending.
///
/// The sort is stable in both directions: equal elements keep their order. NaN counts as
/// larger than every number, and 0 and -0 are equal.
/// The time is O(n log n) for rows of n elements.
///
/// ```
/// use isoform_kernels::indexing::argsort;
/// use isoform_kernels::{Control, ElementType, Tensor};
///
/// let x = Tensor::from_slice(&[3], &[5.0_f32, f32::NAN, 3.0])?;
/// let order = argsort(x.view(), -1, true, ElementType::Int32, &Control::default())?;
/// assert_eq!(order.view().to_vec::<i32>()?, [2, 0, 1]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for an index type other than `int32`, `int64` and floats of 32 and 64
/// bits, or elements without order. A shape error for an axis outside of the rank. An
/// undefined result for more elements than the index type counts.
pub fn argsort(
    x: View<'_>,
    axis: i64,
    ascending: bool,
    index_type: ElementType,
    control: &Control<'_>,
) -> Result<Tensor> {
    let axis_index = shape::axis(axis, x.rank())?;
    let ty = x.element_type();
    if ty == ElementType::Bool {
        let bytes = View::new(ElementType::UInt8, x.shape(), x.bytes())?;
        return argsort(bytes, axis, ascending, index_type, control);
    }
    let exact = match index_type {
        ElementType::Int32 => 1 << 31,
        ElementType::Float32 => 1 << 24,
        ElementType::Int64 | ElementType::Float64 => 1_u64 << 53,
        other => {
            return Err(not_defined(
                "argsort",
                "int32, int64, float32 or float64 as index type",
                other,
            ));
        }
    };
    if x.shape()[axis_index] as u64 > exact {
        return Err(KernelError::undefined(format!(
            "argsort: expected at most {exact} elements for indices of type {index_type}, got {}",
            x.shape()[axis_index]
        )));
    }
    let rows = dispatch!(number ty, T => sorted::<T>(x, axis_index, ascending, index_type, control),
        else Err(not_defined("argsort", "bool, an integer or a float type", ty)))?;
    restore_axis(rows, x.shape(), axis_index, control)
}

fn sorted<T: Number>(
    x: View<'_>,
    axis: usize,
    ascending: bool,
    index_type: ElementType,
    control: &Control<'_>,
) -> Result<Tensor> {
    let rows = trailing(x, &[axis], control)?;
    let shape = vec![rows.count, rows.len];
    let mut bytes = control.zeros(&shape, index_type.size())?;
    let mut order = control.scratch(rows.len, 0_usize)?;
    let mut merged = Vec::new();
    let mut progress = control.progress();
    let compare = |a: T, b: T| {
        let unordered = || a.is_nan().cmp(&b.is_nan());
        let ordering = a.partial_cmp(&b).unwrap_or_else(unordered);
        if ascending {
            ordering
        } else {
            ordering.reverse()
        }
    };
    let elements = T::chunks(&rows.bytes);
    for number in 0..if rows.len == 0 { 0 } else { rows.count } {
        let row = &elements[number * rows.len..][..rows.len];
        for (position, index) in order.iter_mut().enumerate() {
            *index = position;
        }
        let by_value = |a: &usize, b: &usize| compare(T::read(row[*a]), T::read(row[*b]));
        stable_sort(&mut order, &mut merged, by_value, &mut progress)?;
        let to = &mut bytes[number * rows.len * index_type.size()..];
        match index_type {
            ElementType::Int32 => write::<i32>(&order, to),
            ElementType::Int64 => write::<i64>(&order, to),
            ElementType::Float32 => write::<f32>(&order, to),
            _ => write::<f64>(&order, to),
        }
        progress.advance(1)?;
    }
    Ok(Tensor::raw(index_type, shape, bytes))
}

/// Sorts blocks, and merges them in pairs of growing length, to poll in between.
fn stable_sort(
    order: &mut Vec<usize>,
    merged: &mut Vec<usize>,
    compare: impl Fn(&usize, &usize) -> Ordering,
    progress: &mut Progress<'_>,
) -> Result<()> {
    for block in order.chunks_mut(BLOCK) {
        block.sort_by(&compare);
        progress.advance(block.len())?;
    }
    let mut sorted = BLOCK;
    while sorted < order.len() {
        merged.clear();
        for pair in order.chunks(2 * sorted) {
            let (mut left, mut right) = pair.split_at(sorted.min(pair.len()));
            while let (Some(first), Some(second)) = (left.first(), right.first()) {
                // Among equal elements, the order stays.
                if compare(second, first).is_lt() {
                    merged.push(*second);
                    right = &right[1..];
                } else {
                    merged.push(*first);
                    left = &left[1..];
                }
                progress.advance(1)?;
            }
            merged.extend(left.iter().chain(right));
        }
        std::mem::swap(order, merged);
        sorted *= 2;
    }
    Ok(())
}

fn write<T: Element>(order: &[usize], to: &mut [u8]) {
    for (to, index) in T::chunks_mut(to).iter_mut().zip(order) {
        *to = T::from_i64(*index as i64).write();
    }
}

/// The `k` largest or smallest elements of each row along an axis, in sorted order, and
/// their indices as `int64`. Among equal elements, the first elements are taken.
///
/// # Errors
///
/// As [`argsort`], and a shape error if the axis has fewer than `k` elements.
pub fn top_k(
    x: View<'_>,
    k: usize,
    axis: i64,
    largest: bool,
    control: &Control<'_>,
) -> Result<(Tensor, Tensor)> {
    let axis_index = shape::axis(axis, x.rank())?;
    if k > x.shape()[axis_index] {
        return Err(KernelError::shape(format!(
            "top_k: expected a number of at most {} elements, got {k}",
            x.shape()[axis_index]
        )));
    }
    let order = argsort(x, axis, !largest, ElementType::Int64, control)?;
    let first = AxisSlice {
        axis,
        begin: Some(0),
        end: Some(i64::try_from(k).unwrap_or(i64::MAX)),
        step: 1,
    };
    let indices = strided_slice(order.view(), &[first], control)?;
    let values = gather(x, indices.view(), axis, IndexMode::Reject, control)?;
    Ok((values, indices))
}
