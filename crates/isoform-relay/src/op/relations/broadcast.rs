//! Element-wise operators, with broadcasting.

use super::dims::{self, Dim};
use crate::op::relation::CallTypes;
use crate::text::{shape_text, type_text};
use isoform::values::DType;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{TensorType, Type};

/// The type of the input, a tensor.
pub(in super::super) fn identity(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    Ok(types.tensor(0)?.map(|ty| ty.clone().upcast()))
}

/// The type of the input, for any input.
pub(in super::super) fn same_type(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    Ok(types.input(0)?.cloned())
}

/// A truth value for each element.
pub(in super::super) fn identity_comparison(
    types: &mut CallTypes<'_>,
) -> Result<Option<Ref<Type>>> {
    let data = types.tensor(0)?;
    Ok(data.map(|data| dims::tensor(data.shape.clone(), DType::BOOL)))
}

/// The broadcast of two tensors with the same data type.
pub(in super::super) fn broadcast(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    both(types, "BroadcastRel", |dtype| dtype)
}

/// A truth value for each element of the broadcast of two tensors.
pub(in super::super) fn comparison(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    both(types, "BroadcastCompRel", |_| DType::BOOL)
}

fn both(
    types: &CallTypes<'_>,
    name: &str,
    result: fn(DType) -> DType,
) -> Result<Option<Ref<Type>>> {
    let (Some(left), Some(right)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    if left.dtype != right.dtype {
        return Err(Error::type_error(format!(
            "data types {} and {} do not match in {name}",
            left.dtype, right.dtype
        )));
    }
    let shape = broadcast_types(left, right)?;
    Ok(Some(dims::tensor(shape, result(left.dtype))))
}

/// The broadcast shape of two tensors.
///
/// # Errors
///
/// `ValueError` with both types if the shapes do not broadcast.
pub(super) fn broadcast_types(left: &Ref<TensorType>, right: &Ref<TensorType>) -> Result<Vec<Dim>> {
    let shapes = (dims::shape_of(left), dims::shape_of(right));
    broadcast_shapes(&shapes.0, &shapes.1).ok_or_else(|| {
        Error::value_error(format!(
            "Incompatible broadcast type {} and {}",
            type_text(&left.clone().upcast()),
            type_text(&right.clone().upcast())
        ))
    })
}

/// The broadcast shape of two shapes, aligned at their ends.
pub(super) fn broadcast_shapes(left: &[Dim], right: &[Dim]) -> Option<Vec<Dim>> {
    let (long, short) = if left.len() < right.len() {
        (right, left)
    } else {
        (left, right)
    };
    let extra = long.len() - short.len();
    let mut shape = long[..extra].to_vec();
    for (left, right) in long[extra..].iter().zip(short) {
        shape.push(match () {
            () if dims::known(left) == Some(1) => right.clone(),
            () if dims::known(right) == Some(1) => left.clone(),
            () if dims::is_any(left) => right.clone(),
            () if dims::is_any(right) || dims::are_equal(left, right) => left.clone(),
            () => return None,
        });
    }
    Some(shape)
}

/// The broadcast of a condition and two tensors.
pub(in super::super) fn select(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let (Some(condition), Some(left), Some(right)) =
        (types.tensor(0)?, types.tensor(1)?, types.tensor(2)?)
    else {
        return Ok(None);
    };
    if left.dtype != right.dtype {
        return Err(Error::type_error(format!(
            "x and y must have the same data type, got {} and {}",
            left.dtype, right.dtype
        )));
    }
    let shape = broadcast_types(left, right)?;
    let values = TensorType::new(shape).with_dtype(left.dtype);
    let shape = broadcast_types(condition, &values)?;
    Ok(Some(dims::tensor(shape, left.dtype)))
}

/// Checks that a shape broadcasts to another shape without changing the other shape.
///
/// # Errors
///
/// `ValueError` with both shapes.
pub(super) fn check_broadcasts(from: &[Dim], to: &[Dim]) -> Result<()> {
    let fits =
        |(from, to): (&Dim, &Dim)| dims::known(from) == Some(1) || dims::may_be_equal(from, to);
    let aligned = from.iter().rev().zip(to.iter().rev());
    if from.len() <= to.len() && aligned.into_iter().all(fits) {
        return Ok(());
    }
    Err(Error::value_error(format!(
        "cannot broadcast a tensor of shape {} to the shape {}",
        shape_text(from),
        shape_text(to)
    )))
}

/// The type of the second input; the first input broadcasts to the second.
pub(in super::super) fn broadcast_to_like(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let (Some(data), Some(like)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_broadcasts(&dims::shape_of(data), &dims::shape_of(like))?;
    Ok(Some(dims::tensor(like.shape.clone(), data.dtype)))
}

/// The shape of the second input; the second input broadcasts to the first.
pub(in super::super) fn collapse_sum_like(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let (Some(data), Some(like)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_broadcasts(&dims::shape_of(like), &dims::shape_of(data))?;
    Ok(Some(dims::tensor(like.shape.clone(), data.dtype)))
}
