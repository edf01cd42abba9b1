//! Choosing elements, and limiting them.

use super::loops::{map, same_type};
use crate::control::Control;
use crate::element::{by_size, dispatch};
use crate::element_type::{ElementType, not_defined};
use crate::error::{KernelError, Result};
use crate::number::Number;
use crate::strided::Plan;
use crate::tensor::{Tensor, View};

/// The element of `x` where the condition is true, else the element of `y`, under
/// broadcasting of all three operands. `x` and `y` have the same type, which is
/// arbitrary, and their bytes are copied.
///
/// ```
/// use isoform_kernels::elementwise::select;
/// use isoform_kernels::{Control, Tensor};
///
/// let condition = Tensor::from_slice(&[2], &[true, false])?;
/// let (x, y) = (Tensor::scalar(1_i8), Tensor::scalar(2_i8));
/// let result = select(condition.view(), x.view(), y.view(), &Control::default())?;
/// assert_eq!(result.view().to_vec::<i8>()?, [1, 2]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error if the condition is not bool or the types differ, a shape error if the
/// shapes do not broadcast.
pub fn select(
    condition: View<'_>,
    x: View<'_>,
    y: View<'_>,
    control: &Control<'_>,
) -> Result<Tensor> {
    if condition.element_type() != ElementType::Bool {
        return Err(not_defined(
            "select: condition",
            "bool",
            condition.element_type(),
        ));
    }
    let ty = same_type("select", x, y)?;
    let shapes = [condition.shape(), x.shape(), y.shape()];
    let shape = crate::shape::broadcast(&shapes)?;
    let mut bytes = control.zeros(&shape, ty.size())?;
    let plan = Plan::broadcast(&shape, shapes);
    by_size!(ty, N => {
        let to = bytes.as_chunks_mut::<N>().0;
        choose(&plan, condition.bytes(), x.bytes(), y.bytes(), to, control)?;
    });
    Ok(Tensor::raw(ty, shape, bytes))
}

fn choose<const N: usize>(
    plan: &Plan<3>,
    condition: &[u8],
    x: &[u8],
    y: &[u8],
    to: &mut [[u8; N]],
    control: &Control<'_>,
) -> Result<()> {
    let (x, y) = (x.as_chunks::<N>().0, y.as_chunks::<N>().0);
    plan.run(control, &mut |run| {
        let to = &mut to[run.out..run.out + run.len];
        let [c, a, b] = run.start;
        if run.step == [1; 3] {
            let condition = &condition[c..c + run.len];
            let pairs = x[a..a + run.len].iter().zip(&y[b..b + run.len]);
            for ((condition, (x, y)), to) in condition.iter().zip(pairs).zip(to) {
                *to = if *condition != 0 { *x } else { *y };
            }
            return;
        }
        let [c_step, a_step, b_step] = run.step.map(|step| step as usize);
        for (i, to) in to.iter_mut().enumerate() {
            let (x, y) = (x[a + i * a_step], y[b + i * b_step]);
            *to = if condition[c + i * c_step] != 0 { x } else { y };
        }
    })
}

/// Each element limited to a range: not below `min`, then not above `max`. If `max` is
/// smaller than `min`, `max` prevails. Bounds are scalars of the type of `x`. NaN stays
/// NaN, and a NaN bound makes every element NaN.
///
/// ```
/// use isoform_kernels::elementwise::clip;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[3], &[-9_i32, 0, 9])?;
/// let max = Tensor::scalar(6_i32);
/// let clipped = clip(x.view(), None, Some(max.view()), &Control::default())?;
/// assert_eq!(clipped.view().to_vec::<i32>()?, [-9, 0, 6]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for types other than integers and floats, or bounds of another type; a
/// shape error for bounds with more than one element.
pub fn clip(
    x: View<'_>,
    min: Option<View<'_>>,
    max: Option<View<'_>>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let ty = x.element_type();
    for bound in [min, max].into_iter().flatten() {
        same_type("clip", x, bound)?;
        if bound.len() != 1 {
            return Err(KernelError::shape(format!(
                "clip: expected a scalar bound, got shape {:?}",
                bound.shape()
            )));
        }
    }
    dispatch!(number ty, T => limit::<T>(x, min, max, control),
        else Err(not_defined("clip", "an integer or float type", ty)))
}

fn limit<T: Number>(
    x: View<'_>,
    min: Option<View<'_>>,
    max: Option<View<'_>>,
    control: &Control<'_>,
) -> Result<Tensor> {
    let bound = |bound: View<'_>| T::read(bound.elements::<T>()[0]);
    match (min.map(bound), max.map(bound)) {
        (Some(min), Some(max)) => map(x, control, |x: T| x.maximum(min).minimum(max)),
        (Some(min), None) => map(x, control, |x: T| x.maximum(min)),
        (None, Some(max)) => map(x, control, |x: T| x.minimum(max)),
        (None, None) => x.to_tensor(control),
    }
}
