//! `strided_slice`.

use super::dims::{self, Dim};
use crate::attrs::{StridedSliceAttrs, size};
use crate::op::relation::CallTypes;
use isoform::{Array, Error, Ref, Result};
use isoform_ir::ir::Type;

/// The part of a tensor from `begin` to `end` in steps, as slices of Python.
pub(in super::super) fn strided_slice(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<StridedSliceAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let mut shape = dims::shape_of(data);
    let by_size = match &*attrs.slice_mode {
        "end" => false,
        "size" => true,
        other => {
            return Err(Error::value_error(format!(
                "slice_mode: expected 'end' or 'size', got '{other}'"
            )));
        }
    };
    let (begin, end) = (
        required("begin", &attrs.begin)?,
        required("end", &attrs.end)?,
    );
    let strides: &[Dim] = &attrs.strides.as_ref().map(listed).unwrap_or_default();
    if begin.len() != end.len() || strides.len() > begin.len() && strides.len() > 1 {
        return Err(Error::value_error(format!(
            "begin, end and strides: expected the same number of sizes, got {}, {} and {}",
            begin.len(),
            end.len(),
            strides.len()
        )));
    }
    let axes = match &attrs.axes {
        Some(axes) => dims::axes_of("axes", &dims::ints("axes", axes)?, shape.len())?,
        None => (0..begin.len()).collect(),
    };
    if axes.len() != begin.len() || axes.len() > shape.len() {
        return Err(Error::value_error(format!(
            "begin: expected one position for each of {} axes, got {}",
            attrs.axes.as_ref().map_or(shape.len(), Array::len),
            begin.len()
        )));
    }
    for (position, axis) in axes.into_iter().enumerate() {
        // A single step applies to all axes.
        let stride = match strides {
            [] => None,
            [only] => Some(only),
            _ => strides.get(position),
        };
        let stride = match stride {
            Some(_) | None if by_size => 1,
            Some(stride) => dims::int("strides", stride)?,
            None => 1,
        };
        if stride == 0 {
            return Err(Error::value_error("strides: expected steps other than 0"));
        }
        let (begin, end) = (&begin[position], &end[position]);
        shape[axis] = if by_size {
            sized(&shape[axis], begin, end)?
        } else {
            sliced(&shape[axis], begin, end, stride)
        };
    }
    Ok(Some(dims::tensor(shape, data.dtype)))
}

fn listed(sizes: &Array<Dim>) -> Vec<Dim> {
    sizes.iter().cloned().collect()
}

fn required(name: &str, sizes: &Option<Array<Dim>>) -> Result<Vec<Dim>> {
    sizes.as_ref().map(listed).ok_or_else(|| {
        Error::value_error(format!(
            "{name}: expected a position for each axis, got None"
        ))
    })
}

/// The number of elements of a slice.
fn sliced(dim: &Dim, begin: &Dim, end: &Dim, stride: i64) -> Dim {
    let (Some(begin), Some(end)) = (dims::known(begin), dims::known(end)) else {
        return dims::any();
    };
    let Some(length) = dims::known(dim) else {
        // The whole axis stays, for any size.
        let is_whole = begin == 0 && end >= i64::from(i32::MAX) && stride == 1;
        return if is_whole { dim.clone() } else { dims::any() };
    };
    let (least, most) = if stride > 0 {
        (0, length)
    } else {
        (-1, length - 1)
    };
    let clamped = |position: i64| {
        let position = if position < 0 {
            position.saturating_add(length)
        } else {
            position
        };
        position.clamp(least, most.max(least))
    };
    let distance = clamped(end) - clamped(begin);
    // Both are below the length of the axis, so no overflow is possible.
    let count = if stride > 0 {
        (distance.max(0) as u64).div_ceil(stride as u64)
    } else {
        (distance.min(0).unsigned_abs()).div_ceil(stride.unsigned_abs())
    };
    size(count as i64)
}

/// The number of elements from a position, given as a size; a negative size reaches to
/// the end.
fn sized(dim: &Dim, begin: &Dim, count: &Dim) -> Result<Dim> {
    match (dims::known(begin), dims::known(count)) {
        (Some(begin), Some(count)) if count < 0 => match dims::known(dim) {
            Some(length) => {
                let begin = if begin < 0 {
                    begin.saturating_add(length)
                } else {
                    begin
                };
                Ok(size(length - begin.clamp(0, length)))
            }
            None if begin == 0 => Ok(dim.clone()),
            None => Ok(dims::any()),
        },
        (Some(begin), Some(count)) => match dims::known(dim) {
            Some(length) => {
                let begin = if begin < 0 {
                    begin.saturating_add(length)
                } else {
                    begin
                };
                Ok(size(count.min(length - begin.clamp(0, length))))
            }
            None => Ok(size(count)),
        },
        _ => Ok(dims::any()),
    }
}
