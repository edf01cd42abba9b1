//! Slices and reversal.

use crate::control::Control;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::strided::{self, Plan, row_major};
use crate::tensor::{Tensor, View};

/// A slice of one axis, with the rules of Python: `x[begin:end:step]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisSlice {
    /// The axis, which may count from the end.
    pub axis: i64,
    /// The first index; a negative index counts from the end. None begins at the start
    /// of the axis, or at its end for a negative step.
    pub begin: Option<i64>,
    /// The index to stop before; a negative index counts from the end. None continues
    /// to the end of the axis, or to its start for a negative step.
    pub end: Option<i64>,
    /// The distance between two indices, which may be negative.
    pub step: i64,
}

/// The elements within slices of some axes; other axes stay whole.
///
/// ```
/// use isoform_kernels::movement::{AxisSlice, strided_slice};
/// use isoform_kernels::{Control, Tensor};
///
/// let x = Tensor::from_slice(&[5], &[0_u8, 1, 2, 3, 4])?;
/// let slice = AxisSlice { axis: 0, begin: None, end: Some(0), step: -2 };
/// assert_eq!(strided_slice(x.view(), &[slice], &Control::default())?.bytes(), [4, 2]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error for a step of 0, and an axis that is missing or named twice.
pub fn strided_slice(x: View<'_>, slices: &[AxisSlice], control: &Control<'_>) -> Result<Tensor> {
    let mut shape = x.shape().to_vec();
    let mut strides = row_major(&shape);
    let mut start = 0;
    let mut seen = vec![false; shape.len()];
    for slice in slices {
        let axis = shape::axis(slice.axis, shape.len())?;
        if std::mem::replace(&mut seen[axis], true) {
            return Err(KernelError::shape(format!(
                "strided_slice: expected each axis once, got axis {axis} twice"
            )));
        }
        let (first, count) = shape::slice(shape[axis], slice.begin, slice.end, slice.step)?;
        shape[axis] = count;
        start += first as isize * strides[axis];
        // With a single element, the step may be out of range of the product.
        strides[axis] = strides[axis].wrapping_mul(slice.step as isize);
    }
    let size = x.element_type().size();
    let mut bytes = control.zeros(&shape, size)?;
    let plan = Plan::new(&shape, strides.iter().map(|stride| [*stride]), [start]);
    strided::copy(&plan, size, x.bytes(), &mut bytes, control)?;
    Ok(Tensor::raw(x.element_type(), shape, bytes))
}

/// The elements in reverse order along an axis.
///
/// # Errors
///
/// A shape error for an axis outside of the rank.
pub fn reverse(x: View<'_>, axis: i64, control: &Control<'_>) -> Result<Tensor> {
    let slice = AxisSlice {
        axis,
        begin: None,
        end: None,
        step: -1,
    };
    strided_slice(x, &[slice], control)
}
