//! The loops of element-wise operators, compiled for each type and operator.

use crate::control::{BLOCK, Control};
use crate::element::Element;
use crate::element_type::ElementType;
use crate::error::{KernelError, Result};
use crate::strided::Plan;
use crate::tensor::{Tensor, View};

/// The result of a function of each element.
pub(crate) fn map<T: Element, O: Element>(
    x: View<'_>,
    control: &Control<'_>,
    f: impl Fn(T) -> O,
) -> Result<Tensor> {
    if let [one] = x.elements::<T>() {
        return Tensor::single::<O>(f(T::read(*one)).write(), x.shape(), control);
    }
    let mut bytes = control.zeros(x.shape(), O::TYPE.size())?;
    let mut progress = control.progress();
    let blocks = x.elements::<T>().chunks(BLOCK);
    for (from, to) in blocks.zip(O::chunks_mut(&mut bytes).chunks_mut(BLOCK)) {
        for (from, to) in from.iter().zip(&mut *to) {
            *to = f(T::read(*from)).write();
        }
        progress.advance(to.len())?;
    }
    Ok(Tensor::raw(O::TYPE, x.shape().to_vec(), bytes))
}

/// The result of a function of each pair of elements under broadcasting.
pub(crate) fn zip<T: Element, O: Element>(
    a: View<'_>,
    b: View<'_>,
    control: &Control<'_>,
    f: impl Fn(T, T) -> O,
) -> Result<Tensor> {
    let (left, right) = (a.elements::<T>(), b.elements::<T>());
    if a.shape() == b.shape() {
        if let ([left], [right]) = (left, right) {
            // Most folded values are scalars, and setting up loops costs more than
            // computing them.
            let result = f(T::read(*left), T::read(*right)).write();
            return Tensor::single::<O>(result, a.shape(), control);
        }
        let mut bytes = control.zeros(a.shape(), O::TYPE.size())?;
        let mut progress = control.progress();
        let pairs = left.chunks(BLOCK).zip(right.chunks(BLOCK));
        for ((left, right), to) in pairs.zip(O::chunks_mut(&mut bytes).chunks_mut(BLOCK)) {
            same_length(left, right, to, &f);
            progress.advance(to.len())?;
        }
        return Ok(Tensor::raw(O::TYPE, a.shape().to_vec(), bytes));
    }
    let shape = crate::shape::broadcast(&[a.shape(), b.shape()])?;
    let mut bytes = control.zeros(&shape, O::TYPE.size())?;
    let to = O::chunks_mut(&mut bytes);
    let plan = Plan::broadcast(&shape, [a.shape(), b.shape()]);
    plan.run(control, &mut |run| {
        let to = &mut to[run.out..run.out + run.len];
        let [left_start, right_start] = run.start;
        // Row-major operands have a step of 0 or 1 along the innermost merged axis.
        match run.step {
            [0, _] => {
                let first = T::read(left[left_start]);
                let right = &right[right_start..right_start + run.len];
                for (right, to) in right.iter().zip(to) {
                    *to = f(first, T::read(*right)).write();
                }
            }
            [_, 0] => {
                let second = T::read(right[right_start]);
                let left = &left[left_start..left_start + run.len];
                for (left, to) in left.iter().zip(to) {
                    *to = f(T::read(*left), second).write();
                }
            }
            _ => same_length(
                &left[left_start..left_start + run.len],
                &right[right_start..right_start + run.len],
                to,
                &f,
            ),
        }
    })?;
    Ok(Tensor::raw(O::TYPE, shape, bytes))
}

#[inline]
fn same_length<T: Element, O: Element>(
    left: &[T::Raw],
    right: &[T::Raw],
    to: &mut [O::Raw],
    f: &impl Fn(T, T) -> O,
) {
    for ((left, right), to) in left.iter().zip(right).zip(to) {
        *to = f(T::read(*left), T::read(*right)).write();
    }
}

/// The common element type of two operands.
pub(crate) fn same_type(operator: &str, a: View<'_>, b: View<'_>) -> Result<ElementType> {
    if a.element_type() == b.element_type() {
        return Ok(a.element_type());
    }
    Err(KernelError::ty(format!(
        "{operator}: expected operands of one element type, got {} and {}; cast one of them",
        a.element_type(),
        b.element_type()
    )))
}
