//! Operators that make tensors.

use super::dims::{self, Dim};
use super::shape::target;
use crate::Constant;
use crate::attrs::{ArangeAttrs, InitOpAttrs, size};
use crate::op::relation::CallTypes;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{RelayExpr, Type};

/// A tensor of the shape and data type of the attributes, from no input.
pub(in super::super) fn init(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let dtype = types.attrs::<InitOpAttrs>()?.dtype;
    if dtype.is_void() {
        return Err(Error::value_error(
            "dtype: expected the data type of the elements, got void",
        ));
    }
    Ok(Some(dims::tensor(target(types)?, dtype)))
}

/// A tensor of the shape of the attributes, filled with a scalar.
pub(in super::super) fn full(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let dtype = types.attrs::<InitOpAttrs>()?.dtype;
    let Some(value) = types.tensor(0)? else {
        return Ok(None);
    };
    check_scalar(&dims::shape_of(value))?;
    let dtype = dims::dtype_or(dtype, value.dtype);
    Ok(Some(dims::tensor(target(types)?, dtype)))
}

fn check_scalar(shape: &[Dim]) -> Result<()> {
    match shape.len() {
        0 => Ok(()),
        rank => Err(Error::value_error(format!(
            "Fill value should be a scalar but has dimension {rank}."
        ))),
    }
}

/// A tensor of the type of the first input, filled with a scalar.
pub(in super::super) fn full_like(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let (Some(data), Some(value)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    check_scalar(&dims::shape_of(value))?;
    Ok(Some(data.clone().upcast()))
}

/// Evenly spaced numbers; their count is known if all inputs are constants.
pub(in super::super) fn arange(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ArangeAttrs>()?;
    for (position, name) in ["start", "stop", "step"].into_iter().enumerate() {
        let Some(input) = types.tensor(position)? else {
            return Ok(None);
        };
        dims::expect_rank(name, &dims::shape_of(input), 0)?;
    }
    let numbers = [&attrs.start, &attrs.stop, &attrs.step].map(number);
    let count = match numbers {
        [_, _, Some(0.0)] => {
            return Err(Error::value_error(
                "step: expected a number other than 0, got 0",
            ));
        }
        [Some(start), Some(stop), Some(step)] => {
            let count = ((stop - start) / step).ceil();
            if count.is_finite() && count < i64::MAX as f64 {
                size(count.max(0.0) as i64)
            } else {
                return Err(Error::value_error(format!(
                    "the numbers from {start} to {stop} in steps of {step} are not finite"
                )));
            }
        }
        _ => dims::any(),
    };
    Ok(Some(dims::tensor([count], attrs.dtype)))
}

/// The number of a scalar constant.
fn number(expr: &Ref<RelayExpr>) -> Option<f64> {
    let constant = expr.downcast_ref::<Constant>()?;
    scalar(&constant.data)
}

fn scalar(tensor: &Tensor) -> Option<f64> {
    let dtype = tensor.dtype();
    let data: &[u8] = tensor.data();
    if !tensor.shape().is_empty() || dtype.lanes() != 1 {
        return None;
    }
    let mut bytes = [0; 8];
    bytes.get_mut(..data.len())?.copy_from_slice(data);
    let bits = u64::from_le_bytes(bytes);
    let unused = 64 - u32::from(dtype.bits());
    match (dtype.code(), dtype.bits()) {
        (DTypeCode::Float, 32) => Some(f64::from(f32::from_bits(bits as u32))),
        (DTypeCode::Float, 64) => Some(f64::from_bits(bits)),
        (DTypeCode::Int, 8 | 16 | 32 | 64) => Some(((bits << unused) as i64 >> unused) as f64),
        (DTypeCode::UInt, 8 | 16 | 32 | 64) => Some(bits as f64),
        _ if dtype == DType::BOOL => Some(bits as f64),
        _ => None,
    }
}
