//! The error of every kernel.

use std::error::Error;
use std::fmt;

/// The reason why an operator has no result.
///
/// Constant folding keeps the call in the program for
/// [`Undefined`](ErrorKind::Undefined) and [`TooLarge`](ErrorKind::TooLarge), reports
/// [`Shape`](ErrorKind::Shape) and [`Type`](ErrorKind::Type) as faults of the program,
/// and stops for [`Interrupted`](ErrorKind::Interrupted).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes, axes or sizes do not fit together.
    Shape,
    /// The operator is not defined for this element type.
    Type,
    /// The values have no defined result: an integer division by zero, a shift by too
    /// many bits, an index outside of its axis, a float outside of the range of the
    /// integer type.
    Undefined,
    /// The result, or an intermediate copy, exceeds the limit of the
    /// [`Control`](crate::Control), the address space or the free memory.
    TooLarge,
    /// The callback of the [`Control`](crate::Control) asked to stop.
    Interrupted,
}

/// The error of every function of this crate: a kind to decide by, and a message for people.
///
/// ```
/// use isoform_kernels::{Control, ElementType, ErrorKind, View};
/// use isoform_kernels::elementwise::{Binary, binary};
///
/// let one = View::new(ElementType::Int32, &[], &[1, 0, 0, 0])?;
/// let zero = View::new(ElementType::Int32, &[], &[0, 0, 0, 0])?;
/// let error = binary(Binary::Divide, one, zero, &Control::default()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Undefined);
/// assert_eq!(error.to_string(), "divide: expected a divisor other than 0, got 0 at element 0");
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelError {
    kind: ErrorKind,
    message: String,
}

impl KernelError {
    /// The kind of error, for deciding in code how to proceed.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        KernelError {
            kind,
            message: message.into(),
        }
    }

    #[cold]
    pub(crate) fn shape(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Shape, message)
    }

    #[cold]
    pub(crate) fn ty(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Type, message)
    }

    #[cold]
    pub(crate) fn undefined(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Undefined, message)
    }

    #[cold]
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooLarge, message)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for KernelError {}

/// The result of every kernel.
pub(crate) type Result<T> = std::result::Result<T, KernelError>;
