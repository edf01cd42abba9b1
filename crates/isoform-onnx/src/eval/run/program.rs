//! The results of a program.

use isoform::Value;
use isoform_kernels::Control;

use super::error::RunError;
use super::frame::Machine;
use super::inputs::bind;
use super::plan::Plan;
use crate::ir::Program;

/// The results of a program for values of its inputs.
///
/// Inputs are given by name. If all names are empty, the inputs are in the order of the
/// program. An omitted input takes its default. A value is a
/// [`Tensor`](isoform::values::Tensor) or a [`StringTensor`](crate::ir::StringTensor);
/// a sequence is an array of tensors, and an absent optional value is None. Results
/// have the same form.
///
/// A call is computed once in each activation of its body, and a branch only if taken.
/// A value is dropped after its last use. Control flow, local functions, sequences and
/// optional values are supported. Unlike [`evaluate`](crate::eval::evaluate), this
/// function also returns results whose bits the standard leaves open.
///
/// The time is the time of the operators, plus the number of nodes times the depth of
/// bodies.
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
    let bound = bind(&program.graph, inputs)?;
    let plan = Plan::new(program);
    Machine::new(&plan, control).run(bound)
}
