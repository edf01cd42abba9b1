//! Single elements, and slices by tuples of indices.

use super::read_indices;
use super::take::IndexMode;
use crate::control::Control;
use crate::element::by_size;
use crate::error::{KernelError, Result};
use crate::shape;
use crate::strided::{Plan, row_major};
use crate::tensor::{Tensor, View};

/// For each index, the element of `data` at the place of the index, with the index on
/// `axis`: `take_along_axis` of NumPy, `GatherElements` of ONNX.
///
/// ```
/// use isoform_kernels::indexing::{IndexMode, gather};
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[2, 2], &[1_u8, 2, 3, 4])?;
/// let indices = Tensor::from_slice(&[2, 1], &[1_i32, 0])?;
/// let mode = IndexMode::Reject;
/// let found = gather(data.view(), indices.view(), 1, mode, &Control::default())?;
/// assert_eq!(found.bytes(), [2, 3]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A type error for indices that are not integers, a shape error for another rank or more
/// indices than elements on another axis, an undefined result for indices that the mode
/// rejects.
pub fn gather(
    data: View<'_>,
    indices: View<'_>,
    axis: i64,
    mode: IndexMode,
    control: &Control<'_>,
) -> Result<Tensor> {
    let axis = shape::axis(axis, data.rank())?;
    check_places("gather", data, indices.shape(), axis)?;
    let ty = data.element_type();
    let mut bytes = control.zeros(indices.shape(), ty.size())?;
    let values = read_indices("gather", indices, control)?;
    let size = data.shape()[axis];
    let mut places = control.scratch(values.len(), 0)?;
    each_place(
        data.shape(),
        indices.shape(),
        axis,
        control,
        &mut |number, base, stride| {
            places[number] = base + mode.resolve("gather", values[number], size)? * stride;
            Ok(())
        },
    )?;
    by_size!(ty, N => {
        let from = data.bytes().as_chunks::<N>().0;
        for (to, place) in bytes.as_chunks_mut::<N>().0.iter_mut().zip(&places) {
            *to = from[*place];
        }
    });
    Ok(Tensor::raw(ty, indices.shape().to_vec(), bytes))
}

/// An error unless indices fit into the data on all axes but one.
pub(super) fn check_places(
    operator: &str,
    data: View<'_>,
    indices: &[usize],
    axis: usize,
) -> Result<()> {
    let fits = |at: usize| at == axis || indices[at] <= data.shape()[at];
    if indices.len() == data.rank() && (0..indices.len()).all(fits) {
        return Ok(());
    }
    Err(KernelError::shape(format!(
        "{operator}: expected indices of rank {} that fit into the data except on axis {axis}, got shapes {indices:?} and {:?}",
        data.rank(),
        data.shape()
    )))
}

/// Calls `work` for each index with its number, the place in the data with index 0 on the
/// axis, and the distance between two elements of the axis.
pub(super) fn each_place(
    data: &[usize],
    indices: &[usize],
    axis: usize,
    control: &Control<'_>,
    work: &mut dyn FnMut(usize, usize, usize) -> Result<()>,
) -> Result<()> {
    let strides = row_major(data);
    let stride = strides[axis] as usize;
    let steps = (0..data.len()).map(|dim| [if dim == axis { 0 } else { strides[dim] }]);
    let plan = Plan::new(indices, steps, [0]);
    let mut failure = Ok(());
    plan.run(control, &mut |run| {
        for i in 0..run.len {
            if failure.is_ok() {
                let base = run.start[0] + run.step[0] as usize * i;
                failure = work(run.out + i, base, stride);
            }
        }
    })?;
    failure
}

/// The axis with the indices of a single element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TupleAxis {
    /// The first axis, as in Relay.
    First,
    /// The last axis, as in ONNX and TensorFlow.
    Last,
}

/// Slices by tuples of indices for the first axes after the shared axes.
///
/// ```
/// use isoform_kernels::indexing::{GatherNd, IndexMode, TupleAxis};
/// use isoform_kernels::{Control, Tensor};
///
/// let data = Tensor::from_slice(&[2, 2], &[1_u8, 2, 3, 4])?;
/// let indices = Tensor::from_slice(&[2, 2], &[0_i64, 1, 1, 0])?;
/// let gather = GatherNd { tuples: TupleAxis::Last, batch_dims: 0, mode: IndexMode::Reject };
/// let found = gather.apply(data.view(), indices.view(), &Control::default())?;
/// assert_eq!(found.bytes(), [2, 3]);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatherNd {
    /// The axis of the tuples.
    pub tuples: TupleAxis,
    /// The number of leading axes that data and tuples share.
    pub batch_dims: usize,
    /// The meaning of an index outside of its axis.
    pub mode: IndexMode,
}

impl GatherNd {
    /// The shape of the result: the shape of the indices without the axis of tuples,
    /// followed by the axes of the data that no index names.
    ///
    /// # Errors
    ///
    /// A shape error for indices of rank 0, tuples longer than the remaining rank, and
    /// shared axes that differ.
    pub fn shape(&self, data: &[usize], indices: &[usize]) -> Result<Vec<usize>> {
        let parts = match self.tuples {
            TupleAxis::First => indices.split_first(),
            TupleAxis::Last => indices.split_last(),
        };
        let shared = self.batch_dims;
        match parts {
            Some((length, others))
                if shared <= others.len()
                    && shared.saturating_add(*length) <= data.len()
                    && others[..shared] == data[..shared] =>
            {
                let mut result = others.to_vec();
                result.extend(&data[shared + length..]);
                Ok(result)
            }
            _ => Err(KernelError::shape(format!(
                "gather_nd: expected tuples of at most {} indices and {shared} leading axes that both share, got data {data:?} and indices {indices:?}",
                data.len().saturating_sub(shared)
            ))),
        }
    }

    /// The slices of `data` at the tuples, which have any integer type.
    ///
    /// # Errors
    ///
    /// A type error for indices of another type, a shape error as
    /// [`shape`](GatherNd::shape), an undefined result for indices that the mode
    /// rejects.
    pub fn apply(
        &self,
        data: View<'_>,
        indices: View<'_>,
        control: &Control<'_>,
    ) -> Result<Tensor> {
        let shape = self.shape(data.shape(), indices.shape())?;
        let ty = data.element_type();
        let mut bytes = control.zeros(&shape, ty.size())?;
        let values = read_indices("gather_nd", indices, control)?;
        let places = self.places("gather_nd", data.shape(), indices.shape(), &values, control)?;
        let piece = places.piece * ty.size();
        if !bytes.is_empty() {
            let mut progress = control.progress();
            for (to, at) in bytes.chunks_exact_mut(piece).zip(&places.starts) {
                to.copy_from_slice(&data.bytes()[at * ty.size()..][..piece]);
                progress.advance(places.piece)?;
            }
        }
        Ok(Tensor::raw(ty, shape, bytes))
    }

    /// The first element of each slice.
    pub(super) fn places(
        &self,
        operator: &str,
        data: &[usize],
        indices: &[usize],
        values: &[i64],
        control: &Control<'_>,
    ) -> Result<Places> {
        let (length, count) = match (self.tuples, indices) {
            (TupleAxis::First, [length, others @ ..])
            | (TupleAxis::Last, [others @ .., length]) => {
                (*length, others.iter().product::<usize>())
            }
            _ => (0, 0),
        };
        let shared = self.batch_dims;
        let strides = row_major(data);
        let piece: usize = data[shared + length..].iter().product();
        let batches: usize = data[..shared].iter().product();
        let batch_size: usize = data[shared..].iter().product();
        let mut starts = control.scratch(count, 0)?;
        let mut progress = control.progress();
        for (number, start) in starts.iter_mut().enumerate() {
            let mut offset = number / (count / batches.max(1)).max(1) * batch_size;
            for part in 0..length {
                let index = match self.tuples {
                    TupleAxis::First => values[part * count + number],
                    TupleAxis::Last => values[number * length + part],
                };
                let axis = shared + part;
                offset += self.mode.resolve(operator, index, data[axis])? * strides[axis] as usize;
            }
            *start = offset;
            progress.advance(length + 1)?;
        }
        Ok(Places { starts, piece })
    }
}

/// Slices of the same size.
pub(super) struct Places {
    /// The first element of each.
    pub(super) starts: Vec<usize>,
    /// The number of elements.
    pub(super) piece: usize,
}
