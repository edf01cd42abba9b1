//! The reason why a call has no value.

use std::fmt;

use isoform_ir::kernels::InputError;
use isoform_kernels::{ErrorKind, KernelError};

/// The reason why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no kernel, the result is undefined or too large, the inputs do not fit,
    /// or an attribute comes from the enclosing function. The text tells people the
    /// reason.
    Unknown(String),
    /// The callback of the [`Control`](isoform_kernels::Control) asked to stop.
    Interrupted,
}

impl Refusal {
    #[cold]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Refusal::Unknown(message.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Unknown(message) => f.write_str(message),
            Refusal::Interrupted => f.write_str("interrupted by the caller"),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<KernelError> for Refusal {
    fn from(error: KernelError) -> Self {
        match error.kind() {
            ErrorKind::Interrupted => Refusal::Interrupted,
            _ => Refusal::Unknown(error.to_string()),
        }
    }
}

impl From<crate::op::Unknown> for Refusal {
    fn from(_: crate::op::Unknown) -> Self {
        Refusal::new(
            "an attribute is that of the enclosing function, or has another type than the operator declares",
        )
    }
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Unknown(error) => Refusal::new(error.to_string()),
            InputError::Kernel(error) => error.into(),
        }
    }
}
