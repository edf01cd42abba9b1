//! The other operators of neural networks.

use super::dims::{self, Dim};
use crate::attrs::{BatchNormAttrs, BiasAddAttrs, LayerNormAttrs, PadAttrs, SoftmaxAttrs, size};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{TupleType, Type};

/// The input, after checking the axis of the attributes.
pub(in super::super) fn softmax(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<SoftmaxAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    dims::axis_of("axis", attrs.axis, data.shape.len())?;
    Ok(Some(data.clone().upcast()))
}

/// States that arguments are vectors with the size of an axis of the first argument.
fn vectors(types: &mut CallTypes<'_>, axis: i64, names: &[&str]) -> Result<Option<Dim>> {
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    let axis = dims::axis_of("axis", axis, shape.len())?;
    for (position, name) in names.iter().enumerate() {
        match types.tensor(position + 1)? {
            None => types.assign(
                position + 1,
                dims::tensor([shape[axis].clone()], data.dtype),
            ),
            Some(vector) => {
                let sizes = dims::shape_of(vector);
                dims::expect_rank(name, &sizes, 1)?;
                if !dims::may_be_equal(&sizes[0], &shape[axis]) {
                    return Err(Error::value_error(format!(
                        "{name}: expected {} elements, as axis {axis} of {}, got {}",
                        dim_text(&shape[axis]),
                        shape_text(&shape),
                        dim_text(&sizes[0])
                    )));
                }
            }
        }
    }
    Ok(Some(shape[axis].clone()))
}

/// The result of `nn.bias_add`.
pub(in super::super) fn bias_add(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let axis = types.attrs::<BiasAddAttrs>()?.axis;
    vectors(types, axis, &["bias"])?;
    Ok(types.tensor(0)?.map(|data| data.clone().upcast()))
}

/// The result of `nn.batch_norm`: the normalized input, the mean and the variance.
pub(in super::super) fn batch_norm(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let axis = types.attrs::<BatchNormAttrs>()?.axis;
    let names = ["gamma", "beta", "moving_mean", "moving_var"];
    let channels = vectors(types, axis, &names)?;
    let (Some(data), Some(channels)) = (types.tensor(0)?, channels) else {
        return Ok(None);
    };
    let vector = dims::tensor([channels], data.dtype);
    let fields = [data.clone().upcast(), vector.clone(), vector];
    Ok(Some(TupleType::new(fields).upcast()))
}

/// The result of `nn.layer_norm`.
pub(in super::super) fn layer_norm(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let axis = types.attrs::<LayerNormAttrs>()?.axis;
    vectors(types, axis, &["gamma", "beta"])?;
    Ok(types.tensor(0)?.map(|data| data.clone().upcast()))
}

/// The result of `nn.dropout`: the input with zeros, and the mask.
pub(in super::super) fn dropout(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let data = types.tensor(0)?.map(|data| data.clone().upcast());
    Ok(data.map(|data| TupleType::new([data.clone(), data]).upcast()))
}

/// The result of `nn.pad`.
pub(in super::super) fn pad(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<PadAttrs>()?;
    let (Some(data), Some(_)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    if !["constant", "edge", "reflect"].contains(&&*attrs.pad_mode) {
        return Err(Error::value_error(format!(
            "pad_mode: expected 'constant', 'edge' or 'reflect', got '{}'",
            attrs.pad_mode
        )));
    }
    let shape = dims::shape_of(data);
    if attrs.pad_width.len() != shape.len() {
        return Err(Error::value_error(format!(
            "There should be as many pad width pairs as shape dimensions but the shape has {} \
             dimensions and there are {} pad width pairs.",
            shape.len(),
            attrs.pad_width.len()
        )));
    }
    let mut padded = Vec::with_capacity(shape.len());
    for (dim, widths) in shape.iter().zip(attrs.pad_width.iter()) {
        let widths: Vec<Dim> = widths.iter().cloned().collect();
        let [before, after] = &widths[..] else {
            return Err(Error::value_error(format!(
                "pad_width: expected pairs of sizes, got one of {} sizes",
                widths.len()
            )));
        };
        let size = dims::add(&dims::add(before, after)?, dim)?;
        if dims::known(&size).is_some_and(|size| size < 0) {
            return Err(Error::value_error(format!(
                "pad_width: {} and {} remove more than the {} elements of an axis",
                dim_text(before),
                dim_text(after),
                dim_text(dim)
            )));
        }
        padded.push(size);
    }
    Ok(Some(dims::tensor(padded, data.dtype)))
}

/// The input as a matrix, with all axes but the first merged.
pub(in super::super) fn batch_flatten(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = dims::shape_of(data);
    match shape.split_first() {
        Some((batch, rest)) => {
            let columns = match rest {
                [] => size(1),
                _ => dims::product(rest)?,
            };
            Ok(Some(dims::tensor([batch.clone(), columns], data.dtype)))
        }
        None => Err(Error::value_error(
            "nn.batch_flatten: expected at least one dimension, got a scalar",
        )),
    }
}
