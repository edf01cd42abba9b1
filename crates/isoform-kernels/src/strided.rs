//! Loops over several tensors with different strides.
//!
//! A plan merges axes as far as possible and hands out runs along the innermost axis.
//! Kernels therefore have plain inner loops, and no element costs a division.

use crate::control::{BLOCK, Control};
use crate::error::Result;

/// A loop over a row-major result and `N` operands.
pub(crate) struct Plan<const N: usize> {
    /// Merged axes, outermost first.
    dims: Vec<usize>,
    /// The distance of one step along an axis in each operand, in elements.
    strides: Vec<[isize; N]>,
    /// The first element of each operand.
    start: [isize; N],
    empty: bool,
}

/// A row of result elements: consecutive in the result, equally spaced in each operand.
pub(crate) struct Run<const N: usize> {
    /// The first element in the result.
    pub(crate) out: usize,
    pub(crate) start: [usize; N],
    pub(crate) step: [isize; N],
    pub(crate) len: usize,
}

impl<const N: usize> Plan<N> {
    /// A loop over a shape, with strides for each axis and operand.
    pub(crate) fn new(
        shape: &[usize],
        strides: impl IntoIterator<Item = [isize; N]>,
        start: [isize; N],
    ) -> Self {
        let mut plan = Plan {
            dims: Vec::with_capacity(shape.len()),
            strides: Vec::with_capacity(shape.len()),
            start,
            empty: shape.contains(&0),
        };
        if plan.empty {
            return plan;
        }
        for (size, stride) in shape.iter().copied().zip(strides) {
            if size == 1 {
                continue;
            }
            if let (Some(dim), Some(outer)) = (plan.dims.last_mut(), plan.strides.last_mut())
                && (0..N).all(|n| outer[n] == stride[n] * size as isize)
            {
                *dim *= size;
                *outer = stride;
            } else {
                plan.dims.push(size);
                plan.strides.push(stride);
            }
        }
        plan
    }

    /// The loop over row-major operands that broadcast to a shape.
    pub(crate) fn broadcast(shape: &[usize], operands: [&[usize]; N]) -> Self {
        let mut strides = vec![[0; N]; shape.len()];
        for (n, operand) in operands.into_iter().enumerate() {
            let offset = shape.len() - operand.len();
            let mut stride = 1;
            for (at, size) in operand.iter().enumerate().rev() {
                if *size != 1 {
                    strides[offset + at][n] = stride;
                }
                stride *= *size as isize;
            }
        }
        Plan::new(shape, strides, [0; N])
    }

    /// Calls `work` for every run, in the order of the result.
    pub(crate) fn run(&self, control: &Control<'_>, work: &mut dyn FnMut(Run<N>)) -> Result<()> {
        if self.empty {
            return Ok(());
        }
        let mut progress = control.progress();
        let outer = self.dims.len().saturating_sub(1);
        let (len, step) = match (self.dims.last(), self.strides.last()) {
            (Some(len), Some(step)) => (*len, *step),
            _ => (1, [1; N]),
        };
        let mut index = vec![0; outer];
        let mut start = self.start;
        let mut out = 0;
        loop {
            let mut done = 0;
            while done < len {
                let part = BLOCK.min(len - done);
                let mut first = [0; N];
                for n in 0..N {
                    first[n] = (start[n] + step[n] * done as isize) as usize;
                }
                work(Run {
                    out: out + done,
                    start: first,
                    step,
                    len: part,
                });
                progress.advance(part)?;
                done += part;
            }
            out += len;
            let mut axis = outer;
            loop {
                if axis == 0 {
                    return Ok(());
                }
                axis -= 1;
                index[axis] += 1;
                for (offset, stride) in start.iter_mut().zip(self.strides[axis]) {
                    *offset += stride;
                }
                if index[axis] < self.dims[axis] {
                    break;
                }
                index[axis] = 0;
                for (offset, stride) in start.iter_mut().zip(self.strides[axis]) {
                    *offset -= stride * self.dims[axis] as isize;
                }
            }
        }
    }
}

/// The strides of a row-major shape, in elements.
pub(crate) fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut stride = 1_isize;
    for (at, size) in shape.iter().enumerate().rev() {
        strides[at] = stride;
        stride = stride.saturating_mul(*size as isize);
    }
    strides
}

/// Copies elements of `size` bytes along a plan.
pub(crate) fn copy(
    plan: &Plan<1>,
    size: usize,
    from: &[u8],
    to: &mut [u8],
    control: &Control<'_>,
) -> Result<()> {
    match size {
        1 => copy_elements::<1>(plan, from, to, control),
        2 => copy_elements::<2>(plan, from, to, control),
        4 => copy_elements::<4>(plan, from, to, control),
        8 => copy_elements::<8>(plan, from, to, control),
        _ => copy_elements::<16>(plan, from, to, control),
    }
}

fn copy_elements<const N: usize>(
    plan: &Plan<1>,
    from: &[u8],
    to: &mut [u8],
    control: &Control<'_>,
) -> Result<()> {
    let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
    plan.run(control, &mut |run| {
        let to = &mut to[run.out..run.out + run.len];
        let ([start], [step]) = (run.start, run.step);
        match step {
            1 => to.copy_from_slice(&from[start..start + run.len]),
            0 => to.fill(from[start]),
            2.. => {
                let from = from[start..].iter().step_by(step as usize);
                for (to, from) in to.iter_mut().zip(from) {
                    *to = *from;
                }
            }
            _ => {
                let from = from[..=start].iter().rev().step_by(step.unsigned_abs());
                for (to, from) in to.iter_mut().zip(from) {
                    *to = *from;
                }
            }
        }
    })
}
