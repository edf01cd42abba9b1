//! The value of one call.

use isoform::Value;
use isoform_kernels::Control;

use super::args::Args;
use super::ops::{find, moves_strings};
use super::precision::{Precision, check_operands, check_results, precision};
use super::refusal::Refusal;
use super::results::values;
use super::strings::StringIds;
use crate::elem_type::ElemType;
use crate::ir::Call;

/// The results of a call on constants, one for each requested output. An omitted input
/// is None. Constants are [`Tensor`](isoform::values::Tensor) and
/// [`StringTensor`](crate::ir::StringTensor); a sparse tensor is refused.
///
/// If [`precision`] says [`Exact`](Precision::Exact), every runtime computes the same
/// bits. A call is refused where the standard leaves bits open, for instance the sign
/// of a computed NaN, or the maximum of 0 and -0.
///
/// A result that differs from an input only in shape shares the input's bytes. The time
/// is the time of the operator; nothing is allocated beyond the limit of `control`.
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

/// The results of a call; `strict` refuses results that differ between runtimes
/// although the operator is exact.
pub(crate) fn compute(
    call: &Call,
    inputs: &[Option<Value>],
    control: &Control<'_>,
    strict: bool,
) -> Result<Vec<Value>, Refusal> {
    let name = call.op.as_str();
    let kernel = find(call).ok_or_else(|| match call.domain.as_str() {
        "" | "ai.onnx.ml" | "ai.onnx.preview" => Refusal::new(format!("{name} has no kernel")),
        other => Refusal::new(format!(
            "operators of domain '{other}' have no known values"
        )),
    })?;
    let strings = StringIds::new(inputs)?;
    if strings.is_some() && !moves_strings(name) {
        return Err(Refusal::new(format!("{name} has no kernel for strings")));
    }
    let args = Args::new(call, inputs, strings.as_ref(), control, strict)?;
    let exact = strict && {
        let elems: Vec<Option<ElemType>> = args.elems();
        precision(call, &elems) == Precision::Exact
    };
    if exact {
        check_operands(name, &args)?;
    }
    let results = kernel(&args)?;
    if exact {
        check_results(name, &args, &results)?;
    }
    values(&args, results, strings.as_ref())
}
