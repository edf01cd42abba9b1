//! Element-wise operators with attributes, or with inputs of several types.

use isoform_kernels::elementwise::{self, CastOptions, OutOfRange};
use isoform_kernels::{Control, ElementType, Tensor};

use crate::attrs::{BiasAddAttrs, CastAttrs, ClipAttrs, LeakyReluAttrs};
use crate::eval::call::{OpCall, Outcome, Refusal};
use isoform_ir::kernels::element_type;

pub(super) fn cast(call: &OpCall<'_>) -> Outcome {
    let ty = element_type(call.attrs::<CastAttrs>()?.dtype)?;
    call.made(call.cast(0, ty)?)
}

pub(super) fn cast_like(call: &OpCall<'_>) -> Outcome {
    call.made(call.cast(0, call.input(1)?.ty)?)
}

pub(super) fn clip(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ClipAttrs>()?;
    let x = call.view(0)?;
    let bounds = [attrs.a_min, attrs.a_max];
    let [min, max] = bounds.map(|bound| nearest(bound, x.element_type(), &call.control));
    let (min, max) = (min?, max?);
    let clipped = elementwise::clip(x, Some(min.view()), Some(max.view()), &call.control)?;
    call.made(clipped)
}

/// A number as a scalar of a type, or the nearest scalar of the type.
pub(super) fn nearest(
    number: f64,
    ty: ElementType,
    control: &Control<'_>,
) -> Result<Tensor, Refusal> {
    let options = CastOptions {
        out_of_range: OutOfRange::Saturate,
        ..CastOptions::default()
    };
    Ok(options.cast(Tensor::scalar(number).view(), ty, control)?)
}

/// A condition of numbers holds for numbers other than 0.
pub(super) fn select(call: &OpCall<'_>) -> Outcome {
    let condition = call.cast(0, ElementType::Bool)?;
    let selected = elementwise::select(
        condition.view(),
        call.view(1)?,
        call.view(2)?,
        &call.control,
    )?;
    call.made(selected)
}

pub(super) fn leaky_relu(call: &OpCall<'_>) -> Outcome {
    let alpha = call.attrs::<LeakyReluAttrs>()?.alpha;
    call.made(elementwise::leaky_relu(
        call.view(0)?,
        alpha,
        &call.control,
    )?)
}

pub(super) fn bias_add(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<BiasAddAttrs>()?.axis;
    let sum = elementwise::bias_add(call.view(0)?, call.view(1)?, axis, &call.control)?;
    call.made(sum)
}
