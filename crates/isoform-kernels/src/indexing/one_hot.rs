//! One-hot vectors.

use super::read_indices;
use crate::control::Control;
use crate::create::scalar;
use crate::element::by_size;
use crate::error::Result;
use crate::shape;
use crate::tensor::{Tensor, View};

/// For each index, a vector that is `off` except at the index.
///
/// ```
/// use isoform_kernels::indexing::OneHot;
/// use isoform_kernels::{Control, Tensor};
///
/// let (on, off) = (Tensor::scalar(1_u8), Tensor::scalar(0_u8));
/// let one_hot = OneHot { on: on.view(), off: off.view(), depth: 3, axis: -1, from_end: false };
/// let indices = Tensor::from_slice(&[2], &[2_i64, -1])?;
/// let vectors = one_hot.apply(indices.view(), &Control::default())?;
/// assert_eq!(vectors.bytes(), [0, 0, 1, 0, 0, 0]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneHot<'a> {
    /// The element at the index: a scalar.
    pub on: View<'a>,
    /// The value of all other elements: a scalar of the same type, with any value.
    pub off: View<'a>,
    /// The length of the vectors.
    pub depth: usize,
    /// Where the vectors lie in the result, from `-rank - 1` to `rank` of the indices.
    pub axis: i64,
    /// True if negative indices count from the end. An index outside of the vector sets
    /// nothing.
    pub from_end: bool,
}

impl OneHot<'_> {
    /// The shape of the result.
    ///
    /// # Errors
    ///
    /// A shape error for an axis outside of its range.
    pub fn shape(&self, indices: &[usize]) -> Result<Vec<usize>> {
        let at = shape::axis(self.axis, indices.len() + 1)?;
        let mut result = indices.to_vec();
        result.insert(at, self.depth);
        Ok(result)
    }

    /// The vectors for the indices, which have any integer type.
    ///
    /// # Errors
    ///
    /// A type error for indices of another type or values of different types, a shape error
    /// for values that are no scalars or a wrong axis.
    pub fn apply(&self, indices: View<'_>, control: &Control<'_>) -> Result<Tensor> {
        let shape = self.shape(indices.shape())?;
        let ty = self.on.element_type();
        scalar("one_hot", self.on, ty)?;
        scalar("one_hot", self.off, ty)?;
        let mut tensor = crate::create::full(&shape, self.off, control)?
            .into_parts()
            .2;
        let values = read_indices("one_hot", indices, control)?;
        let axis = shape::axis(self.axis, shape.len())?;
        let inner: usize = shape[axis + 1..].iter().product();
        let depth = self.depth as i64;
        let mut progress = control.progress();
        by_size!(ty, N => {
            let to = tensor.as_chunks_mut::<N>().0;
            let [on] = self.on.bytes().as_chunks::<N>().0 else {
                return Ok(Tensor::raw(ty, shape, tensor));
            };
            for (number, index) in values.iter().enumerate() {
                let index = if self.from_end && *index < 0 { index + depth } else { *index };
                if (0..depth).contains(&index) {
                    let (outer, inside) = (number / inner, number % inner);
                    to[(outer * self.depth + index as usize) * inner + inside] = *on;
                }
                progress.advance(1)?;
            }
        });
        Ok(Tensor::raw(ty, shape, tensor))
    }
}
