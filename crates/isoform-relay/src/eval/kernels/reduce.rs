//! Reductions.

use isoform_kernels::ElementType;
use isoform_kernels::reduce::{Axes, Extreme, Reduction, collapse_sum};

use super::create::target;
use crate::attrs::{ArgReduceAttrs, ReduceAttrs, VarianceAttrs};
use crate::eval::call::{OpCall, Outcome};
use crate::op::dims;
use isoform::{Array, Result};

fn listed(axes: &Option<Array<dims::Dim>>) -> Result<Option<Vec<i64>>> {
    axes.as_ref()
        .map(|axes| dims::ints("axis", axes))
        .transpose()
}

pub(super) fn reduction(reduction: Reduction, call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ReduceAttrs>()?;
    let axes = listed(&attrs.axis)?;
    let axes = Axes {
        axes: axes.as_deref(),
        keep_dims: attrs.keepdims,
        exclude: attrs.exclude,
    };
    call.made(axes.reduce(reduction, call.view(0)?, &call.control)?)
}

pub(super) fn argmax(call: &OpCall<'_>) -> Outcome {
    position(true, call)
}

pub(super) fn argmin(call: &OpCall<'_>) -> Outcome {
    position(false, call)
}

fn position(largest: bool, call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ArgReduceAttrs>()?;
    let axes = listed(&attrs.axis)?;
    let axes = Axes {
        axes: axes.as_deref(),
        keep_dims: attrs.keepdims,
        exclude: attrs.exclude,
    };
    let extreme = Extreme {
        largest,
        last: attrs.select_last_index,
        index_type: ElementType::Int32,
    };
    call.made(axes.position(extreme, call.view(0)?, &call.control)?)
}

pub(super) fn variance(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<VarianceAttrs>()?;
    let axes = listed(&attrs.axis)?;
    let axes = Axes {
        axes: axes.as_deref(),
        keep_dims: attrs.keepdims,
        exclude: attrs.exclude,
    };
    let (data, mean) = (call.view(0)?, call.view(1)?);
    call.made(axes.variance(data, Some(mean), attrs.unbiased, &call.control)?)
}

pub(super) fn collapse_sum_to(call: &OpCall<'_>) -> Outcome {
    call.made(collapse_sum(call.view(0)?, &target(call)?, &call.control)?)
}

pub(super) fn collapse_sum_like(call: &OpCall<'_>) -> Outcome {
    call.made(collapse_sum(
        call.view(0)?,
        &call.input(1)?.shape,
        &call.control,
    )?)
}
