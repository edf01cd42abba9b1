//! Operators for selecting elements by index.

use super::dims::{self, Dim};
use crate::attrs::{GatherAttrs, GatherNDAttrs, TakeAttrs};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text};
use isoform::values::DTypeCode;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{TensorType, Type};

fn check_indices(indices: &TensorType) -> Result<()> {
    match indices.dtype.code() {
        DTypeCode::Int | DTypeCode::UInt => Ok(()),
        _ => Err(Error::type_error(format!(
            "indices of take must be tensor of integer: got {}",
            indices.dtype
        ))),
    }
}

/// The number of common leading axes of two tensors.
fn batch(name: &str, count: i64, shapes: [&[Dim]; 2]) -> Result<usize> {
    let rank = shapes[0].len().min(shapes[1].len());
    let fail = |what: String| {
        let texts = shapes.map(shape_text);
        Err(Error::value_error(format!(
            "{name}={count}: {what} for shapes {} and {}",
            texts[0], texts[1]
        )))
    };
    let Some(count) = usize::try_from(count).ok().filter(|count| *count <= rank) else {
        return fail(format!("expected a number from 0 to {rank}"));
    };
    let common = shapes[0].iter().zip(shapes[1]).take(count);
    for (axis, (left, right)) in common.enumerate() {
        if !dims::may_be_equal(left, right) {
            return fail(format!(
                "axis {axis} is {} and {}",
                dim_text(left),
                dim_text(right)
            ));
        }
    }
    Ok(count)
}

/// The elements of an axis at indices, or the elements of the flat tensor.
pub(in super::super) fn take(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<TakeAttrs>()?;
    let (Some(data), Some(indices)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_indices(indices)?;
    if !["clip", "wrap", "fast"].contains(&&*attrs.mode) {
        return Err(Error::value_error(format!(
            "mode: expected 'clip', 'wrap' or 'fast', got '{}'",
            attrs.mode
        )));
    }
    let (shape, index_shape) = (dims::shape_of(data), dims::shape_of(indices));
    let Some(axis) = &attrs.axis else {
        return Ok(Some(dims::tensor(index_shape, data.dtype)));
    };
    let axis = dims::axis_of("axis", dims::int("axis", axis)?, shape.len())?;
    let count = match attrs.batch_dims {
        count if count < 0 => count + index_shape.len() as i64,
        count => count,
    };
    let count = batch("batch_dims", count, [&shape, &index_shape])?;
    if count > axis {
        return Err(Error::value_error(format!(
            "batch_dims={count}: expected at most axis={axis}"
        )));
    }
    let parts = [&shape[..axis], &index_shape[count..], &shape[axis + 1..]];
    Ok(Some(dims::tensor(parts.concat(), data.dtype)))
}

/// Elements selected along an axis by indices of the same rank.
pub(in super::super) fn gather(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<GatherAttrs>()?;
    let (Some(data), Some(indices)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_indices(indices)?;
    let (shape, index_shape) = (dims::shape_of(data), dims::shape_of(indices));
    let axis = attrs.axis.as_ref();
    let axis = axis.ok_or_else(|| Error::value_error("axis: expected an axis, got None"))?;
    let axis = dims::axis_of("axis", dims::int("axis", axis)?, shape.len())?;
    dims::expect_rank("indices", &index_shape, shape.len())?;
    for (position, (dim, index)) in shape.iter().zip(&index_shape).enumerate() {
        if position != axis && !dims::may_be_equal(dim, index) {
            return Err(Error::value_error(format!(
                "indices: expected a shape that agrees with {} except on axis {axis}, got {}",
                shape_text(&shape),
                shape_text(&index_shape)
            )));
        }
    }
    Ok(Some(dims::tensor(index_shape, data.dtype)))
}

/// Elements or slices selected by index tuples, which the first axis of the indices holds.
pub(in super::super) fn gather_nd(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<GatherNDAttrs>()?;
    let (Some(data), Some(indices)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_indices(indices)?;
    let (shape, index_shape) = (dims::shape_of(data), dims::shape_of(indices));
    let Some((first, rest)) = index_shape.split_first() else {
        return Err(Error::value_error(
            "indices: expected at least one dimension, got a scalar",
        ));
    };
    let count = batch("batch_dims", attrs.batch_dims, [&shape, rest])?;
    let length = match (dims::known(first), &attrs.index_rank) {
        (Some(length), _) => length,
        (None, Some(rank)) => dims::int("index_rank", rank)?,
        (None, None) => {
            return Err(Error::value_error(
                "index_rank: expected the length of an index, because the first axis of the \
                 indices is not known",
            ));
        }
    };
    let end = usize::try_from(length)
        .ok()
        .and_then(|length| count.checked_add(length));
    let Some(end) = end.filter(|end| *end <= shape.len()) else {
        return Err(Error::value_error(format!(
            "indices: expected indices of at most {} axes into a tensor of shape {}, got {length}",
            shape.len() - count,
            shape_text(&shape)
        )));
    };
    let parts = [rest, &shape[end..]];
    Ok(Some(dims::tensor(parts.concat(), data.dtype)))
}
