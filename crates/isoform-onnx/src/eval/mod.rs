//! Values of ONNX operators and of whole programs.
//!
//! [`evaluate`] computes one call on constants, for constant folding; [`precision`] says
//! beforehand how its result relates to that of a runtime. [`run`] computes a program.
//!
//! | file | job |
//! |---|---|
//! | `precision.rs` | what is fixed bit by bit, and what is not |
//! | `args.rs`, `results.rs` | operands and attributes for kernels, and results as constants |
//! | `strings.rs` | strings as numbers in the order of their bytes, so that kernels move them |
//! | `ops/` | operators by family |
//! | `run/` | programs: graphs, functions, control flow, sequences |
//!
//! Operators mean what the version of the operator set says that the call has. The
//! arithmetic is that of `isoform-kernels`: results have the same bits on every machine.

mod args;
mod ops;
mod precision;
mod results;
mod run;
mod strings;

use std::fmt;

use isoform::Value;
use isoform_kernels::{ErrorKind, KernelError};

use crate::elem_type::ElemType;
use crate::ir::Call;

use args::Args;
pub use isoform_kernels::Control;
pub use precision::{Precision, precision};
pub use run::{RunError, run};
use strings::StringIds;

/// The reason why a call has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no kernel, the result is undefined or too large, the inputs do not fit, or
    /// an attribute is that of the enclosing function. The text says which, for people.
    Unknown(String),
    /// The callback of the [`Control`] asked to stop.
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

/// The results of a call on constants, one for each output that it requests; an input is
/// None if it is omitted. Constants are [`Tensor`](isoform::values::Tensor) and
/// [`StringTensor`](crate::ir::StringTensor); a sparse tensor is refused.
///
/// If [`precision`] says [`Exact`](Precision::Exact), the result has the bits that every
/// runtime gives: a call is refused where the standard leaves them open, as for the sign of
/// a computed NaN, or the maximum of 0 and -0.
///
/// A result that only has another shape shares the bytes of its input.
/// The time is that of the operator; nothing is allocated beyond the limit of `control`.
///
/// # Errors
///
/// [`Refusal::Unknown`] if the result is not known, and [`Refusal::Interrupted`].
pub fn evaluate(
    call: &Call,
    inputs: &[Option<Value>],
    control: &Control<'_>,
) -> Result<Vec<Value>, Refusal> {
    compute(call, inputs, control, true)
}

/// The results of a call; `strict` refuses those that differ between runtimes although the
/// operator is exact.
pub(crate) fn compute(
    call: &Call,
    inputs: &[Option<Value>],
    control: &Control<'_>,
    strict: bool,
) -> Result<Vec<Value>, Refusal> {
    let Some(name) = call.standard_op() else {
        return Err(Refusal::new(format!(
            "operators of domain '{}' have no known values",
            call.domain
        )));
    };
    let kernel = ops::find(name).ok_or_else(|| Refusal::new(format!("{name} has no kernel")))?;
    let strings = StringIds::new(inputs)?;
    if strings.is_some() && !ops::moves_strings(name) {
        return Err(Refusal::new(format!("{name} has no kernel for strings")));
    }
    let args = Args::new(call, inputs, strings.as_ref(), control, strict)?;
    let exact = strict && {
        let elems: Vec<Option<ElemType>> = args.elems();
        precision(call, &elems) == Precision::Exact
    };
    if exact {
        precision::check_operands(name, &args)?;
    }
    let made = kernel(&args)?;
    if exact {
        precision::check_results(name, &args, &made)?;
    }
    results::values(&args, made, strings.as_ref())
}
