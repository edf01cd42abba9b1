//! Operators that move elements of any type, ignoring their values.
//!
//! Time and memory are linear in the elements of the result.

mod join;
mod layout;
mod pad;
mod rows;
mod slice;

pub use join::{concatenate, split, stack};
pub use layout::layout_transform;
pub use pad::{PadMode, pad, repeat, tile};
pub use slice::{AxisSlice, reverse, strided_slice};

pub(crate) use rows::{Rows, restore_axis, trailing};

use crate::control::Control;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::strided::{self, Plan};
use crate::tensor::{Tensor, View};

/// The elements in the shape that [`shape::reshape`] computes from the codes.
///
/// This copies the elements; a caller that can share bytes needs only the shape.
///
/// # Errors
///
/// As [`shape::reshape`].
pub fn reshape(
    x: View<'_>,
    codes: &[i64],
    zero: shape::ZeroCode,
    control: &Control<'_>,
) -> Result<Tensor> {
    let shape = shape::reshape(x.shape(), codes, zero)?;
    x.with_shape(&shape).to_tensor(control)
}

/// The elements without these axes of size 1; without `axes`, without all of them.
///
/// # Errors
///
/// As [`shape::squeeze`].
pub fn squeeze(x: View<'_>, axes: Option<&[i64]>, control: &Control<'_>) -> Result<Tensor> {
    let shape = shape::squeeze(x.shape(), axes)?;
    x.with_shape(&shape).to_tensor(control)
}

/// The elements with `count` axes of size 1 inserted before `axis`.
///
/// # Errors
///
/// As [`shape::expand_dims`].
pub fn expand_dims(x: View<'_>, axis: i64, count: usize, control: &Control<'_>) -> Result<Tensor> {
    let shape = shape::expand_dims(x.shape(), axis, count)?;
    x.with_shape(&shape).to_tensor(control)
}

/// The elements with the axes in another order: axis `i` of the result is axis `order[i]`.
/// Without an order, the axes are reversed.
///
/// ```
/// use isoform_kernels::movement::transpose;
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[2, 3], &[1_u8, 2, 3, 4, 5, 6])?;
/// let turned = transpose(x.view(), None, &Control::default())?;
/// assert_eq!((turned.shape(), turned.bytes()), (&[3, 2][..], &[1, 4, 2, 5, 3, 6][..]));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// As [`shape::transpose`].
pub fn transpose(x: View<'_>, order: Option<&[i64]>, control: &Control<'_>) -> Result<Tensor> {
    let (order, shape) = shape::transpose(x.shape(), order)?;
    let bytes = permuted(x, &order, &shape, control)?;
    Ok(Tensor::raw(x.element_type(), shape, bytes))
}

/// The elements in the order of the permuted axes.
pub(crate) fn permuted(
    x: View<'_>,
    order: &[usize],
    shape: &[usize],
    control: &Control<'_>,
) -> Result<Vec<u8>> {
    let size = x.element_type().size();
    let mut bytes = control.zeros(shape, size)?;
    let strides = strided::row_major(x.shape());
    let plan = Plan::new(shape, order.iter().map(|axis| [strides[*axis]]), [0]);
    strided::copy(&plan, size, x.bytes(), &mut bytes, control)?;
    Ok(bytes)
}

/// The elements repeated along axes that are missing or of size 1, up to a shape.
///
/// # Errors
///
/// A shape error unless the shape of `x` broadcasts to `shape`.
pub fn broadcast_to(x: View<'_>, shape: &[usize], control: &Control<'_>) -> Result<Tensor> {
    if !shape::broadcast(&[x.shape(), shape]).is_ok_and(|result| result == shape) {
        return Err(KernelError::shape(format!(
            "broadcast_to: expected a shape that broadcasts to {shape:?}, got {:?}",
            x.shape()
        )));
    }
    let size = x.element_type().size();
    let mut bytes = control.zeros(shape, size)?;
    let plan = Plan::broadcast(shape, [x.shape()]);
    strided::copy(&plan, size, x.bytes(), &mut bytes, control)?;
    Ok(Tensor::raw(x.element_type(), shape.to_vec(), bytes))
}
