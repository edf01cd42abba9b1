//! Operators for selecting elements by index, or returning indices.

use isoform_kernels::ElementType;
use isoform_kernels::indexing::{self, GatherNd, IndexMode, Take, TupleAxis};

use super::create::in_type;
use crate::attrs::{ArgsortAttrs, GatherAttrs, GatherNDAttrs, TakeAttrs};
use crate::eval::call::{OpCall, Outcome};
use crate::op::dims;
use isoform::Error;
use isoform_ir::kernels::element_type;

pub(super) fn take(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<TakeAttrs>()?;
    let axis = attrs
        .axis
        .as_ref()
        .map(|axis| dims::int("axis", axis))
        .transpose()?;
    let mode = match &*attrs.mode {
        "clip" => IndexMode::Clip,
        "wrap" => IndexMode::Wrap,
        _ => IndexMode::Reject,
    };
    let take = Take {
        axis,
        batch_dims: attrs.batch_dims,
        mode,
    };
    call.made(take.apply(call.view(0)?, call.view(1)?, &call.control)?)
}

pub(super) fn gather(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<GatherAttrs>()?.axis.as_ref();
    let axis = axis.ok_or_else(|| Error::value_error("axis: expected an axis, got None"))?;
    let axis = dims::int("axis", axis)?;
    let (data, indices) = (call.view(0)?, call.view(1)?);
    call.made(indexing::gather(
        data,
        indices,
        axis,
        IndexMode::Reject,
        &call.control,
    )?)
}

pub(super) fn gather_nd(call: &OpCall<'_>) -> Outcome {
    let batch_dims = call.attrs::<GatherNDAttrs>()?.batch_dims;
    let batch_dims = usize::try_from(batch_dims).map_err(|_| {
        Error::value_error(format!(
            "batch_dims: expected a number from 0, got {batch_dims}"
        ))
    })?;
    let gather = GatherNd {
        tuples: TupleAxis::First,
        batch_dims,
        mode: IndexMode::Reject,
    };
    call.made(gather.apply(call.view(0)?, call.view(1)?, &call.control)?)
}

pub(super) fn argsort(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ArgsortAttrs>()?;
    let ty = if attrs.dtype.is_void() {
        ElementType::Int32
    } else {
        element_type(attrs.dtype)?
    };
    let wide = ElementType::Int64;
    let order = indexing::argsort(
        call.view(0)?,
        attrs.axis,
        attrs.is_ascend,
        wide,
        &call.control,
    )?;
    in_type(call, &order, ty)
}
