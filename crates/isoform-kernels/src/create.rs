//! Operators that make tensors.

use crate::control::Control;
use crate::element::{Element, Native, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::movement::broadcast_to;
use crate::number::{Float, Integer};
use crate::shape;
use crate::tensor::{Tensor, View};

/// A tensor of which every element is a scalar's.
///
/// # Errors
///
/// A shape error if `value` has more than one element.
pub fn full(shape: &[usize], value: View<'_>, control: &Control<'_>) -> Result<Tensor> {
    scalar("full", value, value.element_type())?;
    broadcast_to(value.with_shape(&[]), shape, control)
}

/// An error unless the value is a scalar of this type; shapes of one element count as
/// scalars.
pub(crate) fn scalar(operator: &str, value: View<'_>, ty: ElementType) -> Result<()> {
    if value.element_type() != ty {
        return Err(KernelError::ty(format!(
            "{operator}: expected a scalar of type {ty}, got {}",
            value.element_type()
        )));
    }
    if value.len() != 1 {
        return Err(KernelError::shape(format!(
            "{operator}: expected a scalar, got shape {:?}",
            value.shape()
        )));
    }
    Ok(())
}

/// The values from `start` to `stop`, excluding `stop`, in steps of `step`. The
/// arguments are scalars of one integer or float type, which is also the type of the
/// result.
///
/// Integers are exact; float `i` is `start + i * step`, computed in `f64` and rounded once.
///
/// ```
/// use isoform_kernels::create::arange;
/// use isoform_kernels::{Control, Tensor};
///
/// let [start, stop, step] = [7_i32, 0, -3].map(Tensor::scalar);
/// let values = arange(start.view(), stop.view(), step.view(), &Control::default())?;
/// assert_eq!(values.view().to_vec::<i32>()?, [7, 4, 1]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for other types, a shape error for operands that are not scalars, an
/// undefined result for a step of 0 or for infinite or NaN floats, a size error for too
/// many values.
pub fn arange(
    start: View<'_>,
    stop: View<'_>,
    step: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let ty = start.element_type();
    for operand in [start, stop, step] {
        scalar("arange", operand, ty)?;
    }
    dispatch!(integer ty, T => return integers::<T>(start, stop, step, control), else {});
    dispatch!(float ty, T => floats::<T>(start, stop, step, control),
        else Err(not_defined("arange", "an integer or float type", ty)))
}

fn integers<T: Integer>(
    start: View<'_>,
    stop: View<'_>,
    step: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let [start, stop, step] = [start, stop, step].map(|view| T::read(view.elements::<T>()[0]));
    let exact = |value: T| match T::TYPE {
        ElementType::UInt64 => i128::from(value.to_i64() as u64),
        _ => i128::from(value.to_i64()),
    };
    if step == T::ZERO {
        return Err(KernelError::undefined(
            "arange: expected a step other than 0, got 0",
        ));
    }
    let (distance, width) = (exact(stop) - exact(start), exact(step));
    let (distance, width) = if width < 0 {
        (-distance, -width)
    } else {
        (distance, width)
    };
    let count = (distance.max(0) + width - 1) / width;
    let count = usize::try_from(count).map_err(|_| {
        KernelError::too_large(format!("arange: {count} elements are out of range"))
    })?;
    let mut value = start;
    fill(count, control, |_| {
        let this = value;
        value = value.add(step);
        this
    })
}

fn floats<T: Float>(
    start: View<'_>,
    stop: View<'_>,
    step: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let [start, stop, step] =
        [start, stop, step].map(|view| T::read(view.elements::<T>()[0]).wide());
    let count = shape::arange(start, stop, step)?;
    fill(count, control, |at| T::narrow(start + at as f64 * step))
}

fn fill<T: Element>(
    count: usize,
    control: &Control<'_>,
    mut value: impl FnMut(usize) -> T,
) -> Result<Tensor> {
    let mut bytes = control.zeros(&[count], T::TYPE.size())?;
    let mut progress = control.progress();
    for (at, to) in T::chunks_mut(&mut bytes).iter_mut().enumerate() {
        *to = value(at).write();
        progress.advance(1)?;
    }
    Ok(Tensor::raw(T::TYPE, vec![count], bytes))
}

/// The shape of a tensor as a vector of `int32` or `int64`.
///
/// # Errors
///
/// A type error for any other type, an undefined result for a size out of its range.
pub fn shape_of(x: View<'_>, ty: ElementType) -> Result<Tensor> {
    sizes(x.shape(), vec![x.rank()], ty)
}

/// The number of elements of a tensor as a scalar of `int32` or `int64`.
///
/// # Errors
///
/// As [`shape_of`].
pub fn size_of(x: View<'_>, ty: ElementType) -> Result<Tensor> {
    sizes(&[x.len()], Vec::new(), ty)
}

fn sizes(values: &[usize], shape: Vec<usize>, ty: ElementType) -> Result<Tensor> {
    match ty {
        ElementType::Int32 => converted::<i32>(values, &shape),
        ElementType::Int64 => converted::<i64>(values, &shape),
        _ => Err(not_defined("shape_of", "int32 or int64", ty)),
    }
}

fn converted<T: Native + TryFrom<usize>>(values: &[usize], shape: &[usize]) -> Result<Tensor> {
    let sizes = values.iter().map(|size| {
        T::try_from(*size).map_err(|_| {
            KernelError::undefined(format!(
                "shape_of: the size {size} is out of range of {}",
                T::TYPE
            ))
        })
    });
    Tensor::from_slice(shape, &sizes.collect::<Result<Vec<T>>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_range_of_integers_is_too_large_and_no_overflow() {
        let [start, stop, step] = [i64::MIN, i64::MAX, 1].map(Tensor::scalar);
        let control = Control::default();
        let error = arange(start.view(), stop.view(), step.view(), &control).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::TooLarge);
    }
}
