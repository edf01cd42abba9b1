//! Operators that move elements.

use isoform_kernels::movement::{self, AxisSlice, PadMode};
use isoform_kernels::{View, shape};

use super::create::{sizes, target};
use crate::attrs::{
    ConcatenateAttrs, ExpandDimsAttrs, LayoutTransformAttrs, PadAttrs, RepeatAttrs, ReshapeAttrs,
    ReshapeLikeAttrs, ReverseAttrs, SplitAttrs, SqueezeAttrs, StackAttrs, StridedSliceAttrs,
    TileAttrs, TransposeAttrs,
};
use crate::eval::call::{OpCall, Outcome, Refusal};
use crate::op::{MOST_PARTS, dims};
use isoform::{Array, Error, Ref, Result, Value};
use isoform_ir::ir::IntImm;

pub(super) fn reshape(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ReshapeAttrs>()?;
    let codes = dims::ints("newshape", &attrs.newshape)?;
    let zero = if attrs.allowzero {
        shape::ZeroCode::Size
    } else {
        shape::ZeroCode::Copy
    };
    let shape = shape::reshape(&call.input(0)?.shape, &codes, zero)?;
    call.reshaped(0, &shape)
}

pub(super) fn reverse_reshape(call: &OpCall<'_>) -> Outcome {
    let codes = dims::ints("newshape", &call.attrs::<ReshapeAttrs>()?.newshape)?;
    let shape = shape::reverse_reshape(&call.input(0)?.shape, &codes)?;
    call.reshaped(0, &shape)
}

pub(super) fn reshape_like(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ReshapeLikeAttrs>()?;
    let end = |name: &str, end: &Option<dims::Dim>| {
        end.as_ref().map(|end| dims::int(name, end)).transpose()
    };
    let left = (attrs.lhs_begin, end("lhs_end", &attrs.lhs_end)?);
    let right = (attrs.rhs_begin, end("rhs_end", &attrs.rhs_end)?);
    let shape = shape::reshape_like(&call.input(0)?.shape, &call.input(1)?.shape, left, right)?;
    call.reshaped(0, &shape)
}

pub(super) fn batch_flatten(call: &OpCall<'_>) -> Outcome {
    let shape = shape::batch_flatten(&call.input(0)?.shape)?;
    call.reshaped(0, &shape)
}

pub(super) fn squeeze(call: &OpCall<'_>) -> Outcome {
    let axes = &call.attrs::<SqueezeAttrs>()?.axis;
    let axes = axes
        .as_ref()
        .map(|axes| dims::ints("axis", axes))
        .transpose()?;
    let shape = shape::squeeze(&call.input(0)?.shape, axes.as_deref())?;
    call.reshaped(0, &shape)
}

pub(super) fn expand_dims(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<ExpandDimsAttrs>()?;
    let count = count_of("num_newaxis", attrs.num_newaxis)?;
    let shape = shape::expand_dims(&call.input(0)?.shape, attrs.axis, count)?;
    call.reshaped(0, &shape)
}

fn count_of(name: &str, count: i64) -> Result<usize> {
    usize::try_from(count)
        .map_err(|_| Error::value_error(format!("{name}: expected a number from 0, got {count}")))
}

pub(super) fn transpose(call: &OpCall<'_>) -> Outcome {
    let order = &call.attrs::<TransposeAttrs>()?.axes;
    let order = order
        .as_ref()
        .map(|order| dims::ints("axes", order))
        .transpose()?;
    // An empty order means the default: reversed.
    let order = order.filter(|order| !order.is_empty());
    call.made(movement::transpose(
        call.view(0)?,
        order.as_deref(),
        &call.control,
    )?)
}

pub(super) fn concatenate(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<ConcatenateAttrs>()?.axis;
    call.made(movement::concatenate(&call.fields()?, axis, &call.control)?)
}

pub(super) fn stack(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<StackAttrs>()?.axis;
    call.made(movement::stack(&call.fields()?, axis, &call.control)?)
}

pub(super) fn split(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<SplitAttrs>()?;
    let x = call.view(0)?;
    let at = shape::axis(attrs.axis, x.rank())?;
    let indices = cuts(&attrs.indices_or_sections, x.shape()[at])?;
    call.tuple(movement::split(x, &indices, attrs.axis, &call.control)?)
}

/// The start positions of parts, except for the first part.
fn cuts(value: &Value, size: usize) -> Result<Vec<usize>> {
    let number = |value: &Value| {
        let literal = value.peek::<Ref<IntImm>>().map(|literal| literal.value);
        let number = value.as_int().or(literal).ok_or_else(|| {
            Error::type_error(format!(
                "indices_or_sections: expected an int or a sequence of int, got {}",
                value.type_name()
            ))
        })?;
        count_of("indices_or_sections", number)
    };
    if let Some(items) = value.items() {
        return items.iter().map(number).collect();
    }
    let parts = number(value)?;
    if parts == 0 || parts > MOST_PARTS as usize || !size.is_multiple_of(parts) {
        return Err(Error::value_error(format!(
            "indices_or_sections: expected a number from 1 to {MOST_PARTS} that divides \
             {size}, got {parts}"
        )));
    }
    Ok((1..parts).map(|part| part * (size / parts)).collect())
}

pub(super) fn strided_slice(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<StridedSliceAttrs>()?;
    let x = call.view(0)?;
    let listed = |name: &str, sizes: &Option<Array<dims::Dim>>| match sizes {
        Some(sizes) => dims::ints(name, sizes).map(Some),
        None => Ok(None),
    };
    let required = |name: &str, sizes: &Option<Array<dims::Dim>>| {
        let none = || {
            Error::value_error(format!(
                "{name}: expected a position for each axis, got None"
            ))
        };
        listed(name, sizes)?.ok_or_else(none)
    };
    let (begin, end) = (
        required("begin", &attrs.begin)?,
        required("end", &attrs.end)?,
    );
    let steps = listed("strides", &attrs.strides)?.unwrap_or_default();
    let axes = listed("axes", &attrs.axes)?.unwrap_or_else(|| (0..begin.len() as i64).collect());
    if begin.len() != end.len() || axes.len() != begin.len() {
        return Err(Error::value_error(format!(
            "begin and end: expected one position for each of {} axes, got {} and {}",
            axes.len(),
            begin.len(),
            end.len()
        ))
        .into());
    }
    let mut slices = Vec::with_capacity(axes.len());
    for (position, &axis) in axes.iter().enumerate() {
        // A single step applies to all axes.
        let step = match &steps[..] {
            [] => 1,
            [only] => *only,
            steps => steps.get(position).copied().unwrap_or(1),
        };
        let (begin, end) = (begin[position], end[position]);
        slices.push(match &*attrs.slice_mode {
            "size" => {
                let length = x.shape()[shape::axis(axis, x.rank())?] as i64;
                let begin = if begin < 0 {
                    begin.saturating_add(length)
                } else {
                    begin
                };
                let begin = begin.clamp(0, length);
                let end = if end < 0 {
                    length
                } else {
                    begin.saturating_add(end)
                };
                AxisSlice {
                    axis,
                    begin: Some(begin),
                    end: Some(end),
                    step: 1,
                }
            }
            _ => AxisSlice {
                axis,
                begin: Some(begin),
                end: Some(end),
                step,
            },
        });
    }
    call.made(movement::strided_slice(x, &slices, &call.control)?)
}

pub(super) fn reverse(call: &OpCall<'_>) -> Outcome {
    let axis = call.attrs::<ReverseAttrs>()?.axis.as_ref();
    let axis = axis.ok_or_else(|| Error::value_error("axis: expected an axis, got None"))?;
    let axis = dims::int("axis", axis)?;
    call.made(movement::reverse(call.view(0)?, axis, &call.control)?)
}

pub(super) fn repeat(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<RepeatAttrs>()?;
    let repeats = count_of("repeats", dims::int("repeats", &attrs.repeats)?)?;
    let x = call.view(0)?;
    let repeated = match &attrs.axis {
        Some(axis) => movement::repeat(x, repeats, dims::int("axis", axis)?, &call.control)?,
        None => {
            let flat = [x.len()];
            let flat = View::new(x.element_type(), &flat, x.bytes())?;
            movement::repeat(flat, repeats, 0, &call.control)?
        }
    };
    call.made(repeated)
}

pub(super) fn tile(call: &OpCall<'_>) -> Outcome {
    let repeats = sizes("reps", &call.attrs::<TileAttrs>()?.reps)?;
    call.made(movement::tile(call.view(0)?, &repeats, &call.control)?)
}

pub(super) fn broadcast_to(call: &OpCall<'_>) -> Outcome {
    call.made(movement::broadcast_to(
        call.view(0)?,
        &target(call)?,
        &call.control,
    )?)
}

pub(super) fn broadcast_to_like(call: &OpCall<'_>) -> Outcome {
    let shape = &call.input(1)?.shape;
    call.made(movement::broadcast_to(call.view(0)?, shape, &call.control)?)
}

pub(super) fn layout_transform(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<LayoutTransformAttrs>()?;
    let (source, target) = (&attrs.src_layout, &attrs.dst_layout);
    call.made(movement::layout_transform(
        call.view(0)?,
        source,
        target,
        &call.control,
    )?)
}

pub(super) fn pad(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<PadAttrs>()?;
    let mut widths = Vec::with_capacity(attrs.pad_width.len());
    for pair in attrs.pad_width.iter() {
        let [before, after] = dims::ints("pad_width", pair)?[..] else {
            let error = Error::value_error("pad_width: expected pairs of sizes");
            return Err(Refusal::from(error));
        };
        widths.push((before, after));
    }
    let value;
    let mode = match &*attrs.pad_mode {
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        _ => {
            value = call.cast(1, call.input(0)?.ty)?;
            PadMode::Constant(value.view())
        }
    };
    call.made(movement::pad(call.view(0)?, &widths, mode, &call.control)?)
}
