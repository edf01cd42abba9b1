//! The values of whole programs.
//!
//! A program has no order; [`layout`](crate::layout) puts each call into the body that all
//! its users share, after what it uses. Bodies run on a stack of frames, not on that of the
//! machine. Results are kept by the identity of their call until their last use: no body is
//! ever active twice at a time, because functions do not call themselves.

mod control_flow;
mod frame;
mod inputs;
mod plan;
mod sequence;

use std::fmt;

use isoform::Value;

use super::{Control, Refusal};
use crate::ir::{Call, Program};

/// The reason why a program has no results, and the node that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The node's operator, and its name or that of its first output; empty if the error
    /// concerns the inputs of the program.
    pub node: String,
    /// The reason.
    pub refusal: Refusal,
}

impl RunError {
    fn at(call: &Call, refusal: Refusal) -> Self {
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

    fn of_inputs(message: impl Into<String>) -> Self {
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

/// The results of a program for values of its inputs.
///
/// Inputs are given by name; if all names are empty, they are those of the program in its
/// order. An input that is left out takes its default. A value is a
/// [`Tensor`](isoform::values::Tensor) or a [`StringTensor`](crate::ir::StringTensor); a
/// sequence is an array of these, and an absent optional value is None. So are the results.
///
/// Each call is computed once in each activation of its body, a branch only if it is taken,
/// and a value is dropped after its last use. Control flow, local functions, sequences and
/// optional values are supported. Unlike [`evaluate`](super::evaluate), this also gives
/// results whose bits the standard leaves open.
///
/// The time is that of the operators, plus the number of nodes times the depth of bodies.
///
/// # Errors
///
/// A [`RunError`] for an input that is missing, unknown or of another type than declared,
/// and for a call without a known value.
pub fn run(
    program: &Program,
    inputs: &[(String, Value)],
    control: &Control<'_>,
) -> Result<Vec<Value>, RunError> {
    let bound = inputs::bind(&program.graph, inputs)?;
    let plan = plan::Plan::new(program);
    frame::Machine::new(&plan, control).run(bound)
}
