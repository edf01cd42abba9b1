//! What the verifier is asked and what it answers.

use crate::dialect::pto::*;
use crate::kernel::error::Error;
use crate::kernel::object::reference::Ref;
use crate::kernel::path::AccessPath;

/// What [`verify`](super::verify()) demands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Whether a variable may be given a value again where it has one, as in
    /// programs that are not in static single assignment form yet.
    pub allow_redefinition: bool,
}

impl VerifyOptions {
    /// Sets whether a variable may be given a value again.
    #[must_use]
    pub fn allow_redefinition(mut self, allow_redefinition: bool) -> Self {
        self.allow_redefinition = allow_redefinition;
        self
    }
}

/// Something that is wrong with a program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The steps from the verified value to what is wrong.
    pub path: AccessPath,
    /// Where that, or the nearest node around it, was written.
    pub span: Ref<Span>,
    /// What is wrong.
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
