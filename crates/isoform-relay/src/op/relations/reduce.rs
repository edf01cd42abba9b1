//! Reductions over axes.

use super::dims::{self, Dim};
use crate::attrs::{ArgReduceAttrs, ReduceAttrs, VarianceAttrs, size};
use crate::op::relation::CallTypes;
use isoform::values::DType;
use isoform::{Array, Ref, Result};
use isoform_ir::ir::Type;

/// The result of `sum`, `max` and similar operators.
pub(in super::super) fn reduce(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ReduceAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = reduced(
        &dims::shape_of(data),
        attrs.axis.as_ref(),
        attrs.keepdims,
        attrs.exclude,
    )?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The positions found by `argmax` and `argmin`, as int32.
pub(in super::super) fn arg_reduce(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ArgReduceAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let shape = reduced(
        &dims::shape_of(data),
        attrs.axis.as_ref(),
        attrs.keepdims,
        attrs.exclude,
    )?;
    Ok(Some(dims::tensor(shape, DType::INT32)))
}

/// The variance of data with a given mean.
pub(in super::super) fn variance(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<VarianceAttrs>()?;
    let (Some(data), Some(_)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    let shape = reduced(
        &dims::shape_of(data),
        attrs.axis.as_ref(),
        attrs.keepdims,
        attrs.exclude,
    )?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}

/// The shape after a reduction.
fn reduced(
    shape: &[Dim],
    axis: Option<&Array<Dim>>,
    keepdims: bool,
    exclude: bool,
) -> Result<Vec<Dim>> {
    let mut is_reduced = vec![axis.is_none(); shape.len()];
    if let Some(axis) = axis {
        for position in dims::axes_of("axis", &dims::ints("axis", axis)?, shape.len())? {
            is_reduced[position] = true;
        }
    }
    // Without axes, `exclude` has no effect.
    if exclude && axis.is_some() {
        is_reduced.iter_mut().for_each(|flag| *flag = !*flag);
    }
    let all = shape.iter().zip(is_reduced);
    let kept = all.filter_map(|(dim, is_reduced)| match (is_reduced, keepdims) {
        (false, _) => Some(dim.clone()),
        (true, true) => Some(size(1)),
        (true, false) => None,
    });
    Ok(kept.collect())
}
