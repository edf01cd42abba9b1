//! Elements along one axis by their indices.

use super::read_indices;
use crate::control::Control;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::tensor::{Tensor, View};

/// The meaning of an index outside of its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IndexMode {
    /// The result is undefined; negative ones are outside too. Relay's mode `fast`.
    #[default]
    Reject,
    /// Negative indices count from the end, and the result is undefined for other
    /// indices outside of the axis. The rule of ONNX and NumPy.
    FromEnd,
    /// The nearest index: 0 for negative ones.
    Clip,
    /// The index modulo the size of the axis.
    Wrap,
}

impl IndexMode {
    /// The index within an axis.
    pub(super) fn resolve(self, operator: &str, index: i64, size: usize) -> Result<usize> {
        // No axis is longer than the address space, of which i64 has the positive half.
        let length = size as i64;
        let inside = match self {
            IndexMode::Reject => index,
            IndexMode::FromEnd if index < 0 => index.saturating_add(length),
            IndexMode::FromEnd => index,
            IndexMode::Clip => index.min(length - 1).max(0),
            IndexMode::Wrap if length > 0 => index.rem_euclid(length),
            IndexMode::Wrap => index,
        };
        if (0..length).contains(&inside) {
            return Ok(inside as usize);
        }
        let low = if self == IndexMode::FromEnd {
            -length
        } else {
            0
        };
        Err(KernelError::undefined(format!(
            "{operator}: expected an index from {low} to {} on an axis of size {size}, got {index}",
            length - 1
        )))
    }
}

/// Elements along an axis.
///
/// ```
/// use isoform_kernels::indexing::{IndexMode, Take};
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[3, 2], &[1_u8, 2, 3, 4, 5, 6])?;
/// let indices = Tensor::from_slice(&[2], &[-1_i64, 0])?;
/// let take = Take { axis: Some(0), batch_dims: 0, mode: IndexMode::FromEnd };
/// let rows = take.apply(data.view(), indices.view(), &Control::default())?;
/// assert_eq!((rows.shape(), rows.bytes()), (&[2, 2][..], &[5, 6, 1, 2][..]));
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Take {
    /// The axis, which may count from the end. None treats the data as one vector.
    pub axis: Option<i64>,
    /// The number of leading axes that data and indices share; negative numbers count from
    /// the rank of the indices.
    pub batch_dims: i64,
    /// The meaning of an index outside of the axis.
    pub mode: IndexMode,
}

impl Take {
    /// The shape of the result: the shape of the data, with `axis` replaced by the axes
    /// of the indices after the shared axes. Without an axis, the shape of the indices.
    ///
    /// # Errors
    ///
    /// A shape error for an axis outside of the rank or before the shared axes, and for
    /// shared axes that differ.
    pub fn shape(&self, data: &[usize], indices: &[usize]) -> Result<Vec<usize>> {
        let Some((axis, shared)) = self.places(data, indices)? else {
            return Ok(indices.to_vec());
        };
        let mut result = data[..axis].to_vec();
        result.extend(&indices[shared..]);
        result.extend(&data[axis + 1..]);
        Ok(result)
    }

    /// The axis, and the number of shared axes.
    fn places(&self, data: &[usize], indices: &[usize]) -> Result<Option<(usize, usize)>> {
        let Some(axis) = self.axis else {
            return Ok(None);
        };
        let axis = shape::axis(axis, data.len())?;
        let rank = indices.len() as i64;
        let shared = if self.batch_dims < 0 {
            self.batch_dims.saturating_add(rank)
        } else {
            self.batch_dims
        };
        if !(0..=rank.min(axis as i64)).contains(&shared)
            || data[..shared as usize] != indices[..shared as usize]
        {
            return Err(KernelError::shape(format!(
                "take: expected up to {axis} leading axes that data and indices share, got {} for shapes {data:?} and {indices:?}",
                self.batch_dims
            )));
        }
        Ok(Some((axis, shared as usize)))
    }

    /// The elements of `data` at the `indices`, which have any integer type.
    ///
    /// # Errors
    ///
    /// A type error for indices of another type, a shape error as
    /// [`shape`](Take::shape), an undefined result for indices that the mode rejects.
    pub fn apply(
        &self,
        data: View<'_>,
        indices: View<'_>,
        control: &Control<'_>,
    ) -> Result<Tensor> {
        let shape = self.shape(data.shape(), indices.shape())?;
        let ty = data.element_type();
        let mut bytes = control.zeros(&shape, ty.size())?;
        let values = read_indices("take", indices, control)?;
        let whole = [data.len()];
        let (data_shape, axis, shared) = match self.places(data.shape(), indices.shape())? {
            Some((axis, shared)) => (data.shape(), axis, shared),
            None => (&whole[..], 0, 0),
        };
        let size = data_shape[axis];
        let piece = data_shape[axis + 1..].iter().product::<usize>() * ty.size();
        let outer: usize = data_shape[..axis].iter().product();
        let batches: usize = data_shape[..shared].iter().product();
        let per_batch: usize = indices.shape()[shared..].iter().product();
        if bytes.is_empty() {
            return Ok(Tensor::raw(ty, shape, bytes));
        }
        let mut progress = control.progress();
        let rows = bytes.chunks_exact_mut(per_batch * piece);
        for (number, row) in rows.enumerate() {
            let batch = number / (outer / batches);
            let indices = &values[batch * per_batch..][..per_batch];
            let from = &data.bytes()[number * size * piece..][..size * piece];
            for (to, index) in row.chunks_exact_mut(piece).zip(indices) {
                let position = self.mode.resolve("take", *index, size)?;
                to.copy_from_slice(&from[position * piece..][..piece]);
                progress.advance(piece / ty.size())?;
            }
        }
        Ok(Tensor::raw(ty, shape, bytes))
    }
}
