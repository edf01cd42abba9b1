//! Calls on constants, computed.

use std::cell::Cell;

use isoform::values::Tensor;
use isoform::{Ref, Value};
use isoform_ir::transform::check_interrupted;
use isoform_kernels::Control;

use super::constants::{byte_size, int64s, uniform_element};
use super::rewriter::Rewriter;
use super::rule::Surroundings;
use super::settings::Fold;
use crate::elem_type::ElemType;
use crate::eval::call::compute;
use crate::eval::{Precision, precision};
use crate::ir::Call;
use crate::layout::call_of;
use crate::values::{ValueKey, constant, output, tensor};

/// A result of equal elements beyond this many bytes takes less room as a node than as
/// a constant.
const UNIFORM_LIMIT: u64 = 1 << 10;
/// The largest result of ConstantOfShape, in bytes, to be computed as an operand.
const MAX_FILLED: u64 = 16 << 20;

impl Rewriter<'_> {
    /// The results of a call on constants, if they may be computed and are not too large.
    pub(super) fn fold(&mut self, call: &Ref<Call>) -> isoform::Result<Option<Vec<Value>>> {
        let rewriter = self;
        let settings = rewriter.settings;
        if settings.fold == Fold::None || !settings.uses("fold-constants") || !call.is_standard() {
            return Ok(None);
        }
        let Some((inputs, elems)) = constants(rewriter, call) else {
            return Ok(None);
        };
        let allowed = match precision(call, &elems) {
            Precision::Exact => true,
            Precision::Rounded => settings.fold == Fold::All && !accumulates_halves(call, &elems),
            Precision::Never => false,
        };
        if !allowed {
            return Ok(None);
        }
        let limit = limit(rewriter, call);
        // A result of equal elements becomes a node that fills it.
        let is_filled = call
            .inputs
            .values()
            .iter()
            .any(|value| filled(value).is_some());
        let work = if is_filled {
            limit.max(MAX_FILLED)
        } else {
            limit
        };
        if expected_size(rewriter, call).is_some_and(|size| size > work) {
            return Ok(None);
        }
        let Some(inputs) = computed(inputs)? else {
            return Ok(None);
        };
        // Runtimes differ in results that no standard defines by more than last bits.
        let is_move = matches!(&*call.op, "Cast" | "CastLike" | "Slice");
        let strict = settings.fold != Fold::All || is_move;
        let Some(results) = run(call, &inputs, work, strict)? else {
            return Ok(None);
        };
        if results.iter().any(|result| constant(result).is_none()) {
            return Ok(None);
        }
        let size: u64 = results.iter().map(byte_size).sum();
        let uniform = match results.as_slice() {
            // A constant that replaces other constants cannot be larger than the
            // replaced constants.
            [result] if size > UNIFORM_LIMIT.max(freed(rewriter, call)) => uniform_element(result),
            _ => None,
        };
        if let (Some(element), [result]) = (uniform, results.as_slice()) {
            return Ok(fill(rewriter, call, result, element));
        }
        if size > limit || results.len() as i64 != call.outputs {
            return Ok(None);
        }
        let results: Vec<Value> = results
            .into_iter()
            .map(|value| rewriter.new_constant(value))
            .collect();
        rewriter.fired("fold-constants", call);
        Ok(Some(results))
    }
}

/// True for sums and products of 16-bit floats. Their results differ between runtimes
/// by more than a last bit, because every runtime accumulates in a type of its choice.
fn accumulates_halves(call: &Call, elems: &[Option<ElemType>]) -> bool {
    let is_half =
        |elem: &Option<ElemType>| matches!(elem, Some(ElemType::Float16 | ElemType::Bfloat16));
    let op = call.op.as_str();
    let accumulates = op.starts_with("Reduce")
        || op.ends_with("Normalization")
        || matches!(
            op,
            "Attention"
                | "CausalConvWithState"
                | "Conv"
                | "ConvTranspose"
                | "CumSum"
                | "DeformConv"
                | "Einsum"
                | "FlexAttention"
                | "Gemm"
                | "LinearAttention"
                | "LogSoftmax"
                | "MatMul"
                | "Mean"
                | "RotaryEmbedding"
                | "Softmax"
                | "Sum"
        );
    accumulates && elems.iter().any(is_half)
}

type Inputs = Vec<Option<Value>>;

/// The inputs, if all are constants or made by ConstantOfShape from constants, with their
/// element types.
fn constants(
    rewriter: &mut Rewriter<'_>,
    call: &Ref<Call>,
) -> Option<(Inputs, Vec<Option<ElemType>>)> {
    let mut inputs = Vec::with_capacity(call.inputs.len());
    let mut elems = Vec::with_capacity(call.inputs.len());
    for value in call.inputs.values() {
        let is_known = value.is_none() || constant(value).is_some();
        if !is_known {
            filled(value)?;
            let size = value_size(rewriter, value)?;
            (size <= MAX_FILLED).then_some(())?;
        }
        let elem = (!value.is_none()).then(|| rewriter.analysis.fact(value).elem);
        elems.push(elem.flatten());
        inputs.push((!value.is_none()).then(|| value.clone()));
    }
    Some((inputs, elems))
}

/// The ConstantOfShape on a constant that makes the value.
fn filled(value: &Value) -> Option<&Ref<Call>> {
    let call = call_of(value)?;
    let is_filled = call.is("ConstantOfShape") && constant(call.input(0)?).is_some();
    is_filled.then_some(call)
}

/// Computes the inputs that are not constants yet.
fn computed(inputs: Inputs) -> isoform::Result<Option<Inputs>> {
    let mut computed = Vec::with_capacity(inputs.len());
    for input in inputs {
        computed.push(match input.as_ref().and_then(filled) {
            None => input,
            Some(call) => {
                let shape = [call.input(0).cloned()];
                match run(call, &shape, MAX_FILLED, true)? {
                    Some(mut results) if results.len() == 1 => results.pop(),
                    _ => return Ok(None),
                }
            }
        });
    }
    Ok(Some(computed))
}

/// The results of a call, if at most `max_bytes` large; `strict` leaves out results
/// whose bits differ between runtimes, for instance the sign of a NaN.
fn run(
    call: &Call,
    inputs: &[Option<Value>],
    max_bytes: u64,
    strict: bool,
) -> isoform::Result<Option<Vec<Value>>> {
    let stopped = Cell::new(None);
    let interrupted = || match check_interrupted() {
        Ok(()) => false,
        Err(error) => {
            stopped.set(Some(error));
            true
        }
    };
    let control = Control {
        // Room for temporary values of an operator.
        max_bytes: usize::try_from(max_bytes.max(1 << 16)).unwrap_or(usize::MAX),
        interrupted: Some(&interrupted),
    };
    match compute(call, inputs, &control, strict) {
        Ok(results) => Ok(Some(results)),
        Err(_) => match stopped.take() {
            Some(error) => Err(error),
            None => Ok(None),
        },
    }
}

/// A ConstantOfShape in the place of a call whose result has equal elements.
fn fill(
    rewriter: &mut Rewriter<'_>,
    call: &Ref<Call>,
    result: &Value,
    element: &[u8],
) -> Option<Vec<Value>> {
    if call.is("ConstantOfShape") || call.version < 9 {
        return None;
    }
    let result = tensor(result)?;
    let element = Tensor::new(result.dtype(), vec![1], element.to_vec()).ok()?;
    let shape = rewriter.new_constant(int64s(result.shape()));
    let attrs = [("value", Value::from(element))];
    let values = rewriter
        .request(call, "", "ConstantOfShape", vec![shape], &attrs, 1, true)
        .ok()?;
    rewriter.fired("fold-constants", call);
    Some(values)
}

/// The number of bytes allowed for the results. A constant pays off if it is small, or
/// if it replaces constants without other uses.
fn limit(rewriter: &Rewriter<'_>, call: &Call) -> u64 {
    freed(rewriter, call).max(rewriter.settings.max_constant)
}

/// The bytes of the constants used only by the call.
fn freed(rewriter: &Rewriter<'_>, call: &Call) -> u64 {
    let mut freed = 0;
    for input in call.inputs.values().iter().filter_map(constant) {
        if rewriter.uses(ValueKey::of(input)) <= 1 {
            freed += byte_size(input);
        }
    }
    freed
}

/// The size of all results, if their shapes are known.
fn expected_size(rewriter: &mut Rewriter<'_>, call: &Ref<Call>) -> Option<u64> {
    let mut total = 0_u64;
    for index in 0..call.outputs {
        total = total.saturating_add(value_size(rewriter, &output(call, index))?);
    }
    Some(total)
}

fn value_size(rewriter: &mut Rewriter<'_>, value: &Value) -> Option<u64> {
    let fact = rewriter.analysis.fact(value);
    let mut dims = fact.dims_const()?.into_iter();
    let count = dims.try_fold(1_u64, |count, dim| count.checked_mul(dim.try_into().ok()?))?;
    let bits = u64::from(fact.elem?.bits()?);
    Some(count.saturating_mul(bits).div_ceil(8))
}
