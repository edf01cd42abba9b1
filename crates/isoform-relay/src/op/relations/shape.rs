//! Operators for changing the data type, the order or the number of axes.

use super::broadcast::check_broadcasts;
use super::dims::{self, Dim};
use crate::attrs::{
    ArgsortAttrs, CastAttrs, ExpandDimsAttrs, InitOpAttrs, NdarraySizeAttrs, OneHotAttrs,
    RepeatAttrs, ReverseAttrs, ShapeOfAttrs, SqueezeAttrs, TileAttrs, TransposeAttrs, size,
};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text};
use isoform::values::DType;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{PrimExpr, Type};

/// The input with another data type.
pub(in super::super) fn cast(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let dtype = types.attrs::<CastAttrs>()?.dtype;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    if dtype.is_void() {
        return Err(Error::value_error(
            "dtype: expected the data type to convert to, got void",
        ));
    }
    Ok(Some(dims::tensor(data.shape.clone(), dtype)))
}

/// The first input with the data type of the second.
pub(in super::super) fn cast_like(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let (Some(data), Some(like)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    Ok(Some(dims::tensor(data.shape.clone(), like.dtype)))
}

/// The input with its axes in another order.
pub(in super::super) fn transpose(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<TransposeAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    let order = match &attrs.axes {
        // An empty list of axes means the default order.
        Some(axes) if !axes.is_empty() => {
            let axes = dims::ints("axes", axes)?;
            let order = dims::axes_of("axes", &axes, shape.len())?;
            if order.len() != shape.len() {
                return Err(Error::value_error(format!(
                    "axes={axes:?}: expected all {} axes of a tensor of shape {}",
                    shape.len(),
                    shape_text(&shape)
                )));
            }
            order
        }
        _ => (0..shape.len()).rev().collect(),
    };
    let shape: Vec<Dim> = order.iter().map(|&axis| shape[axis].clone()).collect();
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The input without axes of size 1.
pub(in super::super) fn squeeze(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<SqueezeAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    let is_one = |dim: &Dim| dims::known(dim) == Some(1);
    let mut kept: Vec<bool> = shape.iter().map(|dim| !is_one(dim)).collect();
    match &attrs.axis {
        None => {
            // Whether an unknown size is 1 decides the rank of the result.
            if let Some(dim) = shape.iter().find(|dim| dims::is_any(dim)) {
                return Err(Error::value_error(format!(
                    "axis: expected the axes to remove, because the size {} in {} may be 1",
                    dim_text(dim),
                    shape_text(&shape)
                )));
            }
        }
        Some(axis) => {
            kept.fill(true);
            for axis in dims::axes_of("axis", &dims::ints("axis", axis)?, shape.len())? {
                if dims::known(&shape[axis]).is_some_and(|size| size != 1) {
                    return Err(Error::value_error(format!(
                        "axis={axis}: expected an axis of size 1, got {} in {}",
                        dim_text(&shape[axis]),
                        shape_text(&shape)
                    )));
                }
                kept[axis] = false;
            }
        }
    }
    let kept = shape
        .iter()
        .zip(kept)
        .filter(|(_, kept)| *kept)
        .map(|(dim, _)| dim.clone());
    Ok(Some(dims::tensor(kept.collect::<Vec<_>>(), data.dtype)))
}

/// The input with new axes of size 1.
pub(in super::super) fn expand_dims(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ExpandDimsAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let mut shape = dims::shape_of(data);
    let at = dims::axis_of("axis", attrs.axis, shape.len() + 1)?;
    let count = usize::try_from(attrs.num_newaxis).map_err(|_| {
        Error::value_error(format!(
            "num_newaxis={}: expected a number from 0",
            attrs.num_newaxis
        ))
    })?;
    if count > 64 {
        return Err(Error::value_error(format!(
            "num_newaxis={count}: a tensor has at most 64 dimensions"
        )));
    }
    shape.splice(at..at, vec![size(1); count]);
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The input with elements repeated along an axis.
pub(in super::super) fn repeat(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<RepeatAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let mut shape = dims::shape_of(data);
    check_count("repeats", &attrs.repeats)?;
    match &attrs.axis {
        Some(axis) => {
            let axis = dims::axis_of("axis", dims::int("axis", axis)?, shape.len())?;
            shape[axis] = dims::mul(&shape[axis], &attrs.repeats)?;
        }
        None => shape = vec![dims::mul(&dims::product(&shape)?, &attrs.repeats)?],
    }
    Ok(Some(dims::tensor(shape, data.dtype)))
}

fn check_count(name: &str, count: &Ref<PrimExpr>) -> Result<()> {
    match dims::known(count) {
        Some(count) if count < 0 => Err(Error::value_error(format!(
            "{name}={count}: expected a number from 0"
        ))),
        _ => Ok(()),
    }
}

/// The input, repeated along the axes.
pub(in super::super) fn tile(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<TileAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let mut shape = dims::shape_of(data);
    let mut reps: Vec<Dim> = attrs.reps.iter().cloned().collect();
    let rank = shape.len().max(reps.len());
    for sizes in [&mut shape, &mut reps] {
        let missing = rank - sizes.len();
        sizes.splice(0..0, vec![size(1); missing]);
    }
    let tiled = shape.iter().zip(&reps).map(|(dim, count)| {
        check_count("reps", count)?;
        dims::mul(dim, count)
    });
    let shape = tiled.collect::<Result<Vec<_>>>()?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The input with one axis in reverse order.
pub(in super::super) fn reverse(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ReverseAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    match &attrs.axis {
        Some(axis) => _ = dims::axis_of("axis", dims::int("axis", axis)?, data.shape.len())?,
        None => return Err(Error::value_error("axis: expected an axis, got None")),
    }
    Ok(Some(data.clone().upcast()))
}

/// The sizes of the input, as a vector.
pub(in super::super) fn shape_of(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let dtype = dims::dtype_or(types.attrs::<ShapeOfAttrs>()?.dtype, DType::INT32);
    let data = types.tensor(0)?;
    Ok(data.map(|data| dims::tensor([size(data.shape.len() as i64)], dtype)))
}

/// The number of elements of the input, as a scalar.
pub(in super::super) fn ndarray_size(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let dtype = dims::dtype_or(types.attrs::<NdarraySizeAttrs>()?.dtype, DType::INT32);
    Ok(types.tensor(0)?.map(|_| dims::tensor([], dtype)))
}

/// A new axis, hot at the index.
pub(in super::super) fn one_hot(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<OneHotAttrs>()?;
    let (Some(indices), Some(on), Some(off)) =
        (types.tensor(0)?, types.tensor(1)?, types.tensor(2)?)
    else {
        return Ok(None);
    };
    for (name, value) in [("on_value", on), ("off_value", off)] {
        dims::expect_rank(name, &dims::shape_of(value), 0)?;
    }
    if attrs.depth <= 0 {
        return Err(Error::value_error(format!(
            "depth={}: expected a number from 1",
            attrs.depth
        )));
    }
    let mut shape = dims::shape_of(indices);
    let axis = dims::axis_of("axis", attrs.axis, shape.len() + 1)?;
    shape.insert(axis, size(attrs.depth));
    Ok(Some(dims::tensor(
        shape,
        dims::dtype_or(attrs.dtype, on.dtype),
    )))
}

/// The positions of the elements in sorted order.
pub(in super::super) fn argsort(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ArgsortAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    dims::axis_of("axis", attrs.axis, data.shape.len())?;
    let dtype = dims::dtype_or(attrs.dtype, DType::INT32);
    Ok(Some(dims::tensor(data.shape.clone(), dtype)))
}

/// The input, repeated along axes of size 1 to the shape of the attributes.
pub(in super::super) fn broadcast_to(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let shape = target(types)?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    check_broadcasts(&dims::shape_of(data), &shape)?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The input, summed along axes that broadcasting would repeat.
pub(in super::super) fn collapse_sum_to(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let shape = target(types)?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    check_broadcasts(&shape, &dims::shape_of(data))?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The shape in the attributes.
pub(super) fn target(types: &CallTypes<'_>) -> Result<Vec<Dim>> {
    let attrs = types.attrs::<InitOpAttrs>()?;
    let shape: Vec<Dim> = attrs
        .shape
        .as_ref()
        .ok_or_else(|| Error::value_error("shape: expected the sizes of the result, got None"))?
        .iter()
        .cloned()
        .collect();
    let negative = shape.iter().filter_map(dims::known).find(|size| *size < 0);
    match negative {
        Some(size) => Err(Error::value_error(format!(
            "shape={}: expected sizes from 0, got {size}",
            shape_text(&shape)
        ))),
        None => Ok(shape),
    }
}
