//! Operators for joining and splitting tensors.

use super::dims::{self, Dim};
use crate::attrs::{ConcatenateAttrs, SplitAttrs, StackAttrs, size};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text, type_text};
use isoform::values::DType;
use isoform::{Error, Ref, Result, Value};
use isoform_ir::ir::{IncompleteType, IntImm, TensorType, TupleType, Type};

/// The shapes of the tensors of a tuple, and their data type; None while a tensor's
/// type is unknown.
fn parts(types: &CallTypes<'_>, name: &str) -> Result<Option<(Vec<Vec<Dim>>, DType)>> {
    let Some(ty) = types.input(0)? else {
        return Ok(None);
    };
    let tuple = ty.downcast_ref::<TupleType>().ok_or_else(|| {
        Error::type_error(format!(
            "{name} requires a tuple of tensors as the first argument, found {}",
            type_text(ty)
        ))
    })?;
    let mut shapes = Vec::with_capacity(tuple.fields.len());
    let mut dtype = None;
    for (position, field) in tuple.fields.iter().enumerate() {
        if field.isa::<IncompleteType>() {
            return Ok(None);
        }
        let tensor = field.downcast_ref::<TensorType>().ok_or_else(|| {
            Error::type_error(format!(
                "field {position} of the tuple: expected a tensor, got {}",
                type_text(field)
            ))
        })?;
        let expected = *dtype.get_or_insert(tensor.dtype);
        if expected != tensor.dtype {
            return Err(Error::type_error(format!(
                "{name} requires all tensors to have the same data type, got {expected} and {}",
                tensor.dtype
            )));
        }
        shapes.push(dims::shape_of(tensor));
    }
    match dtype {
        Some(dtype) => Ok(Some((shapes, dtype))),
        None => Err(Error::value_error(format!(
            "{name} requires at least one tensor, got an empty tuple"
        ))),
    }
}

/// Checks that shapes agree except for one axis, and combines the sharpest sizes.
fn merged(shapes: &[Vec<Dim>], except: Option<usize>, name: &str) -> Result<Vec<Dim>> {
    let mut merged = shapes[0].clone();
    for (number, shape) in shapes.iter().enumerate().skip(1) {
        if shape.len() != merged.len() {
            return Err(Error::value_error(format!(
                "{name} requires all tensors to have the same ndim: tensor {number} of shape {} \
                 has {}, tensor 0 has {}",
                shape_text(shape),
                shape.len(),
                merged.len()
            )));
        }
        for (axis, dim) in shape.iter().enumerate() {
            if Some(axis) == except {
                continue;
            }
            if !dims::may_be_equal(&merged[axis], dim) {
                return Err(Error::value_error(format!(
                    "{name} requires all tensors to have the same shape on non-concatenating \
                     axes: axis {axis} is {} in tensor {number} and {} before",
                    dim_text(dim),
                    dim_text(&merged[axis])
                )));
            }
            merged[axis] = dims::sharper(&merged[axis], dim);
        }
    }
    Ok(merged)
}

/// The tensors of a tuple joined along an axis.
pub(in super::super) fn concatenate(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ConcatenateAttrs>()?;
    let Some((shapes, dtype)) = parts(types, "concatenate")? else {
        return Ok(None);
    };
    let axis = dims::axis_of("axis", attrs.axis, shapes[0].len())?;
    let mut shape = merged(&shapes, Some(axis), "concatenate")?;
    let mut sizes = shapes.iter().map(|shape| shape[axis].clone());
    shape[axis] = sizes.try_fold(size(0), |sum, dim| match dims::known(&sum) {
        Some(0) => Ok(dim),
        _ => dims::add(&sum, &dim),
    })?;
    Ok(Some(dims::tensor(shape, dtype)))
}

/// The tensors of a tuple along a new axis.
pub(in super::super) fn stack(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<StackAttrs>()?;
    let Some((shapes, dtype)) = parts(types, "stack")? else {
        return Ok(None);
    };
    let mut shape = merged(&shapes, None, "stack")?;
    let axis = dims::axis_of("axis", attrs.axis, shape.len() + 1)?;
    shape.insert(axis, size(shapes.len() as i64));
    Ok(Some(dims::tensor(shape, dtype)))
}

/// The parts of a tensor along an axis, as a tuple.
pub(in super::super) fn split(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<SplitAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    let axis = dims::axis_of("axis", attrs.axis, shape.len())?;
    let sizes = match sections(&attrs.indices_or_sections)? {
        Split::Equal(count) => equal_parts(&shape, axis, count)?,
        Split::At(positions) => between(&shape, axis, &positions)?,
    };
    let parts = sizes.into_iter().map(|dim| {
        let mut part = shape.clone();
        part[axis] = dim;
        dims::tensor(part, data.dtype)
    });
    Ok(Some(TupleType::new(parts.collect::<Vec<_>>()).upcast()))
}

enum Split {
    Equal(i64),
    At(Vec<i64>),
}

fn sections(value: &Value) -> Result<Split> {
    let number = |value: &Value| {
        let literal = value.peek::<Ref<IntImm>>().map(|literal| literal.value);
        value.as_int().or(literal).ok_or_else(|| {
            Error::type_error(format!(
                "indices_or_sections: expected an int or a sequence of int, got {}",
                value.type_name()
            ))
        })
    };
    match value.items() {
        Some(items) => Ok(Split::At(items.iter().map(number).collect::<Result<_>>()?)),
        None => Ok(Split::Equal(number(value)?)),
    }
}

/// A split into more parts than this is an error, not a program.
pub(crate) const MOST_PARTS: i64 = 1 << 20;

fn equal_parts(shape: &[Dim], axis: usize, count: i64) -> Result<Vec<Dim>> {
    if !(1..=MOST_PARTS).contains(&count) {
        return Err(Error::value_error(format!(
            "indices_or_sections={count}: expected a number of parts from 1 to {MOST_PARTS}"
        )));
    }
    if dims::known(&shape[axis]).is_some_and(|size| size % count != 0) {
        return Err(Error::value_error(format!(
            "indices_or_sections need to be able to divide input.shape[axis]: {count} does not \
             divide {}",
            dim_text(&shape[axis])
        )));
    }
    let part = dims::div(&shape[axis], &size(count))?;
    Ok(vec![part; count as usize])
}

fn between(shape: &[Dim], axis: usize, positions: &[i64]) -> Result<Vec<Dim>> {
    let mut sizes = Vec::with_capacity(positions.len() + 1);
    let mut begin = 0;
    let length = dims::known(&shape[axis]);
    for &position in positions {
        if position < begin || length.is_some_and(|length| position > length) {
            return Err(Error::value_error(format!(
                "indices_or_sections={positions:?} need to be sorted ascending and inside an axis \
                 of size {}",
                dim_text(&shape[axis])
            )));
        }
        sizes.push(size(position - begin));
        begin = position;
    }
    sizes.push(dims::sub(&shape[axis], &size(begin))?);
    Ok(sizes)
}
