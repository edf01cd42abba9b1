//! Limits and interruption of kernels.

use std::fmt;

use crate::error::{ErrorKind, KernelError, Result};

/// How many elements are processed between two calls of the callback of a [`Control`].
pub const POLL_INTERVAL: usize = 1 << 20;

/// Loops hand out work in pieces of at most this many elements, to make the cost of
/// counting negligible.
pub(crate) const BLOCK: usize = 1 << 16;

/// The limits of a kernel, and the way to stop it.
///
/// ```
/// use isoform_kernels::create::full;
/// use isoform_kernels::{Control, ErrorKind, Tensor};
///
/// let small = Control { max_bytes: 1024, ..Control::default() };
/// let error = full(&[1 << 40], Tensor::scalar(1.0_f32).view(), &small).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TooLarge);
/// ```
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// The largest result, or intermediate copy, in bytes; 2 GiB by default. It is checked
    /// before anything is allocated.
    pub max_bytes: usize,
    /// Called about every [`POLL_INTERVAL`] elements; if it returns true, the kernel ends
    /// with [`ErrorKind::Interrupted`].
    pub interrupted: Option<&'a dyn Fn() -> bool>,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control {
            max_bytes: 1 << 31,
            interrupted: None,
        }
    }
}

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("max_bytes", &self.max_bytes)
            .field("interrupted", &self.interrupted.map(|_| ".."))
            .finish()
    }
}

impl Control<'_> {
    /// The number of elements of a shape, provided that the elements, of `size` bytes
    /// each, are within the limit.
    pub(crate) fn elements(&self, shape: &[usize], size: usize) -> Result<usize> {
        if shape.is_empty() && size <= self.max_bytes {
            return Ok(1);
        }
        // If the product of the sizes other than 0 is in range, then so is the product
        // of any subset.
        let mut sizes = shape.iter().filter(|size| **size != 0);
        let count = sizes
            .try_fold(size, |all, size| all.checked_mul(*size))
            .filter(|count| isize::try_from(*count).is_ok());
        if count.is_some() && shape.contains(&0) {
            return Ok(0);
        }
        let Some(count) = count.filter(|count| *count <= self.max_bytes) else {
            return Err(KernelError::too_large(format!(
                "expected a tensor of at most {} bytes, got shape {shape:?} with elements of {size} bytes; raise the limit `max_bytes` or keep the call",
                self.max_bytes
            )));
        };
        Ok(count / size)
    }

    /// Zeros for a tensor of this shape.
    pub(crate) fn zeros(&self, shape: &[usize], size: usize) -> Result<Vec<u8>> {
        let length = self.elements(shape, size)? * size;
        filled(length, 0_u8)
    }

    /// Working memory for `count` values.
    pub(crate) fn scratch<T: Copy>(&self, count: usize, value: T) -> Result<Vec<T>> {
        self.elements(&[count], size_of::<T>())?;
        filled(count, value)
    }

    pub(crate) fn progress(&self) -> Progress<'_> {
        Progress {
            control: self,
            pending: 0,
        }
    }
}

/// A vector whose allocation may fail without ending the process.
fn filled<T: Copy>(count: usize, value: T) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(count).map_err(|_| {
        KernelError::too_large(format!("{count} elements do not fit into the free memory"))
    })?;
    memory.resize(count, value);
    Ok(memory)
}

/// Counts work, and polls.
pub(crate) struct Progress<'c> {
    control: &'c Control<'c>,
    pending: usize,
}

impl Progress<'_> {
    /// Reports work on this number of elements.
    #[inline]
    pub(crate) fn advance(&mut self, elements: usize) -> Result<()> {
        self.pending = self.pending.saturating_add(elements);
        if self.pending >= POLL_INTERVAL {
            return self.poll();
        }
        Ok(())
    }

    #[cold]
    fn poll(&mut self) -> Result<()> {
        self.pending = 0;
        match self.control.interrupted {
            Some(interrupted) if interrupted() => Err(KernelError::new(
                ErrorKind::Interrupted,
                "interrupted by the caller",
            )),
            _ => Ok(()),
        }
    }
}
