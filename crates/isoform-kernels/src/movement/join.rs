//! Joining and splitting.

use crate::control::Control;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::strided::{self, Plan, row_major};
use crate::tensor::{Tensor, View};

/// The tensors joined along an axis.
///
/// ```
/// use isoform_kernels::movement::concatenate;
/// use isoform_kernels::{Control, Tensor};
///
/// let a = Tensor::from_slice(&[2, 1], &[1_u8, 2])?;
/// let b = Tensor::from_slice(&[2, 2], &[3_u8, 4, 5, 6])?;
/// let joined = concatenate(&[a.view(), b.view()], -1, &Control::default())?;
/// assert_eq!(joined.bytes(), [1, 3, 4, 2, 5, 6]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error if the types differ; otherwise as [`shape::concatenate`].
pub fn concatenate(tensors: &[View<'_>], axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let shapes: Vec<&[usize]> = tensors.iter().map(View::shape).collect();
    let shape = shape::concatenate(&shapes, axis)?;
    let at = shape::axis(axis, shape.len())?;
    let pieces = shapes.iter().map(|shape| shape[at]).collect::<Vec<_>>();
    interleave("concatenate", tensors, &pieces, shape, at, control)
}

/// Equal shapes stacked along a new axis.
///
/// # Errors
///
/// A type error if the types differ; otherwise as [`shape::stack`].
pub fn stack(tensors: &[View<'_>], axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let shapes: Vec<&[usize]> = tensors.iter().map(View::shape).collect();
    let shape = shape::stack(&shapes, axis)?;
    let at = shape::axis(axis, shape.len())?;
    interleave(
        "stack",
        tensors,
        &vec![1; tensors.len()],
        shape,
        at,
        control,
    )
}

/// Copies a piece of each tensor in turn; `pieces` has the numbers of elements of the
/// axis.
fn interleave(
    operator: &str,
    tensors: &[View<'_>],
    pieces: &[usize],
    shape: Vec<usize>,
    axis: usize,
    control: &Control<'_>,
) -> Result<Tensor> {
    let ty = tensors[0].element_type();
    if let Some(other) = tensors.iter().find(|other| other.element_type() != ty) {
        return Err(KernelError::ty(format!(
            "{operator}: expected operands of one element type, got {ty} and {}",
            other.element_type()
        )));
    }
    let mut bytes = control.zeros(&shape, ty.size())?;
    if bytes.is_empty() {
        return Ok(Tensor::raw(ty, shape, bytes));
    }
    let inner: usize = shape[axis + 1..].iter().product::<usize>() * ty.size();
    let row = shape[axis] * inner;
    let mut progress = control.progress();
    for (number, row) in bytes.chunks_exact_mut(row).enumerate() {
        let mut rest = row;
        for (tensor, piece) in tensors.iter().zip(pieces) {
            let len = piece * inner;
            let (to, after) = rest.split_at_mut(len);
            to.copy_from_slice(&tensor.bytes()[number * len..][..len]);
            rest = after;
            progress.advance(len.div_ceil(ty.size()) + 1)?;
        }
    }
    Ok(Tensor::raw(ty, shape, bytes))
}

/// The parts of a tensor along an axis, split before each of these indices.
///
/// For `n` equal parts, the indices are the multiples of `size / n` below `size`.
///
/// # Errors
///
/// As [`shape::split`].
pub fn split(
    x: View<'_>,
    indices: &[usize],
    axis: i64,
    control: &Control<'_>,
) -> Result<Vec<Tensor>> {
    let at = shape::axis(axis, x.rank())?;
    let size = x.element_type().size();
    let strides = row_major(x.shape());
    let parts = shape::split(x.shape(), indices, axis)?;
    let parts = parts.into_iter().map(|(begin, end)| {
        let mut shape = x.shape().to_vec();
        shape[at] = end - begin;
        let mut bytes = control.zeros(&shape, size)?;
        let start = begin as isize * strides[at];
        let plan = Plan::new(&shape, strides.iter().map(|stride| [*stride]), [start]);
        strided::copy(&plan, size, x.bytes(), &mut bytes, control)?;
        Ok(Tensor::raw(x.element_type(), shape, bytes))
    });
    parts.collect()
}
