//! Tensors in `f64`, for operators that compute in `f64` and round once at the end.

use isoform_kernels::{Control, ElementType, View, from_f64s, movement, shape, to_f64s};

use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::OpResult;

/// A tensor of floats.
#[derive(Clone)]
pub(super) struct Dense {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f64>,
}

impl Dense {
    /// An input.
    pub(super) fn input(args: &Args<'_>, position: usize) -> Result<Self, Refusal> {
        Dense::of(args.input(position)?, args.control)
    }

    pub(super) fn optional(args: &Args<'_>, position: usize) -> Result<Option<Self>, Refusal> {
        args.optional(position)?
            .map(|view| Dense::of(view, args.control))
            .transpose()
    }

    pub(super) fn of(view: View<'_>, control: &Control<'_>) -> Result<Self, Refusal> {
        Ok(Dense {
            shape: view.shape().to_vec(),
            data: to_f64s(view, control)?,
        })
    }

    /// A tensor of one value, within the limit of memory.
    pub(super) fn filled(
        shape: Vec<usize>,
        value: f64,
        control: &Control<'_>,
    ) -> Result<Self, Refusal> {
        let tensor = isoform_kernels::create::full(
            &shape,
            isoform_kernels::Tensor::scalar(value).view(),
            control,
        )?;
        Ok(Dense {
            shape,
            data: tensor.view().to_vec::<f64>()?,
        })
    }

    /// The values as a tensor of a type. Every value is rounded once.
    pub(super) fn made(&self, ty: ElementType, control: &Control<'_>) -> Result<OpResult, Refusal> {
        Ok(from_f64s(&self.data, ty, &self.shape, control)?.into())
    }

    /// The values broadcast to a shape.
    pub(super) fn broadcast(
        &self,
        shape: &[usize],
        control: &Control<'_>,
    ) -> Result<Vec<f64>, Refusal> {
        let tensor = from_f64s(&self.data, ElementType::Float64, &self.shape, control)?;
        let wide = movement::broadcast_to(tensor.view(), shape, control)?;
        Ok(wide.view().to_vec::<f64>()?)
    }

    /// The number of elements before, on and after an axis.
    pub(super) fn around(&self, axis: i64) -> Result<(usize, usize, usize), Refusal> {
        let at = shape::axis(axis, self.shape.len())?;
        let product = |sizes: &[usize]| sizes.iter().product();
        Ok((
            product(&self.shape[..at]),
            self.shape[at],
            product(&self.shape[at + 1..]),
        ))
    }
}

/// Counts work, and regularly checks whether to stop.
pub(super) struct Work<'c> {
    control: &'c Control<'c>,
    pending: usize,
}

impl<'c> Work<'c> {
    pub(super) fn new(control: &'c Control<'c>) -> Self {
        Work {
            control,
            pending: 0,
        }
    }

    pub(super) fn advance(&mut self, steps: usize) -> Result<(), Refusal> {
        self.pending = self.pending.saturating_add(steps);
        if self.pending >= isoform_kernels::POLL_INTERVAL {
            self.pending = 0;
            if self
                .control
                .interrupted
                .is_some_and(|interrupted| interrupted())
            {
                return Err(Refusal::Interrupted);
            }
        }
        Ok(())
    }
}

/// Moves to the next index of a row-major walk through a shape; false after the last
/// index.
pub(super) fn step(index: &mut [usize], shape: &[usize]) -> bool {
    for (at, size) in index.iter_mut().zip(shape).rev() {
        *at += 1;
        if *at < *size {
            return true;
        }
        *at = 0;
    }
    false
}
