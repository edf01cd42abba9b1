//! The reason why a program has no results.

use std::fmt;

use crate::eval::refusal::Refusal;
use crate::ir::Call;

/// The reason why a program has no results, and the node concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The node's operator, and the name of the node or of its first output. Empty if
    /// the error concerns the inputs of the program.
    pub node: String,
    /// The reason.
    pub refusal: Refusal,
}

impl RunError {
    pub(super) fn at(call: &Call, refusal: Refusal) -> Self {
        let name = if call.name.is_empty() {
            let first = call.output_names.iter().find(|name| !name.is_empty());
            first.map_or("", |name| name.as_str())
        } else {
            call.name.as_str()
        };
        RunError {
            node: format!("{} '{name}'", call.op_name.as_str()),
            refusal,
        }
    }

    pub(super) fn of_inputs(message: impl Into<String>) -> Self {
        RunError {
            node: String::new(),
            refusal: Refusal::new(message),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.node.is_empty() {
            return self.refusal.fmt(f);
        }
        write!(f, "node {}: {}", self.node, self.refusal)
    }
}

impl std::error::Error for RunError {}
