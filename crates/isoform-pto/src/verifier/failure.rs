//! Options and results of the verifier.

use crate::*;
use isoform::paths::AccessPath;
use isoform::{Error, Ref};

/// Options of [`verify`](super::verify()).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// True if a variable with a value may be assigned again, as in programs before
    /// conversion to static single assignment form.
    pub allow_redefinition: bool,
}

impl VerifyOptions {
    /// Sets whether a variable may be assigned again.
    #[must_use]
    pub fn allow_redefinition(mut self, allow_redefinition: bool) -> Self {
        self.allow_redefinition = allow_redefinition;
        self
    }
}

/// A fault in a program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The steps from the verified value to the error.
    pub path: AccessPath,
    /// The source location of the error, or of the nearest enclosing node.
    pub span: Ref<Span>,
    /// The error.
    pub error: Error,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.path)?;
        if self.span.is_valid() {
            write!(f, "{}: ", *self.span)?;
        }
        write!(f, "{}", self.error)
    }
}
