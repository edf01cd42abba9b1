//! Shapes of convolutions and pools.

use std::fmt;

use crate::error::{KernelError, Result};

/// A window that moves along one spatial axis. All numbers count elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The number of elements the window looks at.
    pub size: usize,
    /// The distance between two positions of the window.
    pub stride: usize,
    /// The distance between two elements the window looks at.
    pub dilation: usize,
    /// Padding before the first element.
    pub before: usize,
    /// Padding after the last element.
    pub after: usize,
}

/// `size 3, stride 1, dilation 1 and padding 0 + 0`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Window {
            size,
            stride,
            dilation,
            before,
            after,
        } = self;
        write!(
            f,
            "size {size}, stride {stride}, dilation {dilation} and padding {before} + {after}"
        )
    }
}

impl Window {
    /// A window of this size without padding, moved by one.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Window {
            size,
            stride: 1,
            dilation: 1,
            before: 0,
            after: 0,
        }
    }

    fn check(&self) -> Result<()> {
        if self.size > 0 && self.stride > 0 && self.dilation > 0 {
            return Ok(());
        }
        Err(KernelError::shape(format!(
            "window: expected a size, a stride and a dilation above 0, got {self}"
        )))
    }

    /// The number of positions along an axis of this size.
    fn positions(&self, size: usize, rounding: PoolRounding) -> Result<usize> {
        self.check()?;
        let span = (self.size as u128 - 1) * self.dilation as u128 + 1;
        let padded = size as u128 + self.before as u128 + self.after as u128;
        let stride = self.stride as u128;
        // This many elements may be missing in the last window. On an axis shorter than
        // a window, the last window is also the first.
        let missing = match rounding {
            PoolRounding::Up => stride - 1,
            PoolRounding::Down | PoolRounding::UpWithin => 0,
        };
        let room = (padded + missing).checked_sub(span);
        let Some(room) = room.filter(|_| padded > 0) else {
            return Err(KernelError::shape(format!(
                "window: expected a span of at most {padded} elements, which the padded axis has, got {span} for an axis of {size} and a window of {self}"
            )));
        };
        let count = match rounding {
            PoolRounding::Down | PoolRounding::Up => room / stride + 1,
            PoolRounding::UpWithin => {
                let count = room.div_ceil(stride) + 1;
                // The last window has to start before the padding at the end.
                let beyond = (count - 1) * stride >= size as u128 + self.before as u128;
                count - u128::from(beyond && count > 1)
            }
        };
        usize::try_from(count)
            .map_err(|_| KernelError::too_large(format!("{count} positions are out of range")))
    }
}

/// How many positions a pool has if the last window does not fill the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PoolRounding {
    /// Windows lie within the padded axis.
    #[default]
    Down,
    /// The last window may reach beyond the padded axis, as `ceil_mode` of Relay.
    Up,
    /// Like `Up`, but a window that starts in the padding at the end is dropped, like
    /// `ceil_mode` of ONNX and PyTorch.
    UpWithin,
}

/// The shape of a convolution of data `(batch, channels, spatial..)` with weights
/// `(outputs, channels / groups, spatial..)`.
///
/// # Errors
///
/// A shape error if the ranks, channels, groups or windows do not fit together.
pub fn convolution(
    data: &[usize],
    weight: &[usize],
    windows: &[Window],
    groups: usize,
) -> Result<Vec<usize>> {
    let rank = windows.len() + 2;
    if data.len() != rank || weight.len() != rank {
        return Err(KernelError::shape(format!(
            "convolution: expected data and weights of rank {rank}, got shapes {data:?} and {weight:?}"
        )));
    }
    let divides = groups > 0 && data[1].is_multiple_of(groups) && weight[0].is_multiple_of(groups);
    if !divides || data[1] / groups != weight[1] {
        return Err(KernelError::shape(format!(
            "convolution: expected weights of shape (outputs, channels / groups, ..) with {groups} groups dividing channels and outputs, got data {data:?} and weights {weight:?}"
        )));
    }
    if let Some(axis) = (0..windows.len()).find(|axis| windows[*axis].size != weight[axis + 2]) {
        return Err(KernelError::shape(format!(
            "convolution: expected a window of size {} on spatial axis {axis}, as the weights have, got {}",
            weight[axis + 2],
            windows[axis].size
        )));
    }
    let mut result = vec![data[0], weight[0]];
    for (size, window) in data[2..].iter().zip(windows) {
        result.push(window.positions(*size, PoolRounding::Down)?);
    }
    Ok(result)
}

/// The shape of a pool over data `(batch, channels, spatial..)`.
///
/// ```
/// use isoform_kernels::shape::{PoolRounding, Window, pool};
///
/// let window = Window { stride: 2, ..Window::new(2) };
/// assert_eq!(pool(&[1, 3, 5], &[window], PoolRounding::Down)?, [1, 3, 2]);
/// assert_eq!(pool(&[1, 3, 5], &[window], PoolRounding::Up)?, [1, 3, 3]);
/// assert_eq!(pool(&[1, 3, 1], &[window], PoolRounding::Up)?, [1, 3, 1]);
/// assert!(pool(&[1, 3, 1], &[window], PoolRounding::Down).is_err());
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
///
/// # Errors
///
/// A shape error if the rank differs or a window does not fit.
pub fn pool(data: &[usize], windows: &[Window], rounding: PoolRounding) -> Result<Vec<usize>> {
    if data.len() != windows.len() + 2 {
        return Err(KernelError::shape(format!(
            "pool: expected data of rank {}, got shape {data:?}",
            windows.len() + 2
        )));
    }
    let mut result = data[..2].to_vec();
    for (size, window) in data[2..].iter().zip(windows) {
        result.push(window.positions(*size, rounding)?);
    }
    Ok(result)
}
