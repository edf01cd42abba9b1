//! New tensors.

use isoform_kernels::indexing::OneHot;
use isoform_kernels::{ElementType, Tensor, create, elementwise};

use crate::attrs::{ArangeAttrs, InitOpAttrs, NdarraySizeAttrs, OneHotAttrs, ShapeOfAttrs};
use crate::eval::call::{OpCall, Outcome, Refusal};
use crate::op::dims;
use isoform::values::DType;
use isoform::{Error, Result};
use isoform_ir::kernels::element_type;

/// Sizes that must be known numbers.
pub(super) fn sizes(name: &str, sizes: &isoform::Array<dims::Dim>) -> Result<Vec<usize>> {
    let sizes = dims::ints(name, sizes)?.into_iter().map(|size| {
        usize::try_from(size)
            .map_err(|_| Error::value_error(format!("{name}: expected sizes from 0, got {size}")))
    });
    sizes.collect()
}

/// The shape in the attributes.
pub(super) fn target(call: &OpCall<'_>) -> Result<Vec<usize>> {
    let attrs = call.attrs::<InitOpAttrs>()?;
    match &attrs.shape {
        Some(shape) => sizes("shape", shape),
        None => Err(Error::value_error(
            "shape: expected the sizes of the result, got None",
        )),
    }
}

/// The element type for a data type; void stands for the other type.
fn type_or(dtype: DType, other: ElementType) -> Result<ElementType> {
    if dtype.is_void() {
        Ok(other)
    } else {
        element_type(dtype)
    }
}

pub(super) fn full(call: &OpCall<'_>) -> Outcome {
    let dtype = call.attrs::<InitOpAttrs>()?.dtype;
    let value = call.cast(0, type_or(dtype, call.input(0)?.ty)?)?;
    call.made(create::full(&target(call)?, value.view(), &call.control)?)
}

pub(super) fn full_like(call: &OpCall<'_>) -> Outcome {
    let like = call.input(0)?;
    let value = call.cast(1, like.ty)?;
    call.made(create::full(&like.shape, value.view(), &call.control)?)
}

pub(super) fn zeros(call: &OpCall<'_>) -> Outcome {
    filled(call, 0)
}

pub(super) fn ones(call: &OpCall<'_>) -> Outcome {
    filled(call, 1)
}

fn filled(call: &OpCall<'_>, number: i8) -> Outcome {
    let ty = element_type(call.attrs::<InitOpAttrs>()?.dtype)?;
    let value = elementwise::cast(Tensor::scalar(number).view(), ty, &call.control)?;
    call.made(create::full(&target(call)?, value.view(), &call.control)?)
}

pub(super) fn arange(call: &OpCall<'_>) -> Outcome {
    let ty = element_type(call.attrs::<ArangeAttrs>()?.dtype)?;
    let numbers = create::arange(call.view(0)?, call.view(1)?, call.view(2)?, &call.control)?;
    call.made(elementwise::cast(numbers.view(), ty, &call.control)?)
}

pub(super) fn shape_of(call: &OpCall<'_>) -> Outcome {
    let ty = type_or(call.attrs::<ShapeOfAttrs>()?.dtype, ElementType::Int32)?;
    let count = create::shape_of(call.view(0)?, counted(ty))?;
    in_type(call, &count, ty)
}

pub(super) fn ndarray_size(call: &OpCall<'_>) -> Outcome {
    let ty = type_or(call.attrs::<NdarraySizeAttrs>()?.dtype, ElementType::Int32)?;
    let count = create::size_of(call.view(0)?, counted(ty))?;
    in_type(call, &count, ty)
}

/// The type for counting sizes before their conversion to another type.
fn counted(ty: ElementType) -> ElementType {
    match ty {
        ElementType::Int64 => ElementType::Int64,
        _ => ElementType::Int32,
    }
}

pub(super) fn in_type(call: &OpCall<'_>, tensor: &Tensor, ty: ElementType) -> Outcome {
    call.made(elementwise::cast(tensor.view(), ty, &call.control)?)
}

pub(super) fn one_hot(call: &OpCall<'_>) -> Outcome {
    let attrs = call.attrs::<OneHotAttrs>()?;
    let ty = type_or(attrs.dtype, call.input(1)?.ty)?;
    let (on, off) = (call.cast(1, ty)?, call.cast(2, ty)?);
    let depth = usize::try_from(attrs.depth).map_err(|_| {
        Refusal::from(Error::value_error(format!(
            "depth: expected a number from 1, got {}",
            attrs.depth
        )))
    })?;
    let one_hot = OneHot {
        on: on.view(),
        off: off.view(),
        depth,
        axis: attrs.axis,
        from_end: false,
    };
    call.made(one_hot.apply(call.view(0)?, &call.control)?)
}
