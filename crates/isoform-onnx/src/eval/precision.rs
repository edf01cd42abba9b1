//! How results relate to the results of runtimes.
//!
//! Operands for which runtimes differ are refused.

use isoform_kernels::elementwise::{Unary, unary};
use isoform_kernels::{ElementType, View, to_f64s};

use super::args::Args;
use super::ops;
use super::refusal::Refusal;
use super::results::OpResult;
use crate::elem_type::ElemType;
use crate::ir::Call;

/// The relation of a result to the result of a conforming runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// Fixed bit by bit by the standard and IEEE 754: moves, integers, comparisons, casts,
    /// `+ - * /` and square roots.
    Exact,
    /// The last bits may differ: transcendental functions, sums of floats, products of
    /// matrices, interpolation.
    Rounded,
    /// Not to be replaced by a constant: random or stateful, in training mode, a conversion
    /// to or from quantized numbers that runtimes look for, control flow, or unknown.
    Never,
}

/// The precision of a call with inputs of these element types. None stands for an
/// omitted input, or for an unknown type, which counts as a float. O(inputs).
#[must_use]
pub fn precision(call: &Call, elems: &[Option<ElemType>]) -> Precision {
    if ops::find(call).is_none() {
        return Precision::Never;
    }
    let Some(name) = call.standard_op() else {
        // The graphs of `ai.onnx.preview` are control flow.
        return match call.domain.as_str() {
            "ai.onnx.ml" => Precision::Rounded,
            _ => Precision::Never,
        };
    };
    if is_never(name, call) {
        return Precision::Never;
    }
    let elem = elems.first().copied().flatten();
    let exact = match name {
        "Sum" => elems.len() <= 2 || elem.is_some_and(is_integer),
        "Pow" => elems.len() == 2 && elems.iter().all(|elem| elem.is_some_and(is_integer)),
        "LeakyRelu" | "PRelu" => matches!(elem, Some(ElemType::Float | ElemType::Double)),
        "Shrink" => elem == Some(ElemType::Float),
        "CumSum" | "CumProd" | "ReduceSum" | "ReduceProd" | "ReduceSumSquare" | "ReduceL1"
        | "MatMul" | "Einsum" | "Range" | "Col2Im" => elem.is_some_and(is_integer),
        "Scatter" | "ScatterElements" | "ScatterND" => {
            let replaces = matches!(call.str("reduction"), Ok(None | Some("none")));
            replaces || elem.is_some_and(is_integer)
        }
        "Mod" => elem.is_some_and(is_integer) || matches!(call.int("fmod"), Ok(Some(1))),
        "TopK" => matches!(call.int("sorted"), Ok(None | Some(1))),
        "Cast" | "CastLike" => {
            let to = match name {
                "CastLike" => elems.get(1).copied().flatten(),
                _ if call.version < 6 => None,
                _ => call.elem("to").ok().flatten(),
            };
            elem.zip(to)
                .is_some_and(|(from, to)| is_exact_cast(from, to))
        }
        _ => is_exact(name),
    };
    if exact {
        Precision::Exact
    } else {
        Precision::Rounded
    }
}

fn is_integer(elem: ElemType) -> bool {
    use ElemType as E;
    matches!(
        elem,
        E::Int8 | E::Int16 | E::Int32 | E::Int64 | E::Uint8 | E::Uint16 | E::Uint32 | E::Uint64
    )
}

/// Operators whose results vary between runs, and operators that belong to a pattern.
fn is_never(name: &str, call: &Call) -> bool {
    match name {
        "QuantizeLinear"
        | "DequantizeLinear"
        | "DynamicQuantizeLinear"
        | "QLinearMatMul"
        | "QLinearConv" => true,
        "BatchNormalization" => match call.version {
            ..7 => !matches!(call.int("is_test"), Ok(Some(1))),
            7..14 => call.outputs > 1,
            _ => !matches!(call.int("training_mode"), Ok(None | Some(0))),
        },
        "Dropout" if call.version < 7 => !matches!(call.int("is_test"), Ok(Some(1))),
        _ => false,
    }
}

fn is_exact(name: &str) -> bool {
    matches!(
        name,
        "Identity"
            | "Dropout"
            | "Reshape"
            | "Flatten"
            | "Squeeze"
            | "Unsqueeze"
            | "Shape"
            | "Size"
            | "Transpose"
            | "Slice"
            | "Expand"
            | "Tile"
            | "Pad"
            | "DepthToSpace"
            | "SpaceToDepth"
            | "ReverseSequence"
            | "CenterCropPad"
            | "Concat"
            | "Split"
            | "Gather"
            | "GatherElements"
            | "GatherND"
            | "OneHot"
            | "Compress"
            | "Where"
            | "Trilu"
            | "NonZero"
            | "Constant"
            | "ConstantOfShape"
            | "EyeLike"
            | "BitCast"
            | "StringConcat"
            | "TensorScatter"
            | "Unique"
            | "ArgMax"
            | "ArgMin"
            | "Hardmax"
            | "Add"
            | "Sub"
            | "Mul"
            | "Div"
            | "Mod"
            | "And"
            | "Or"
            | "Xor"
            | "Not"
            | "BitwiseAnd"
            | "BitwiseOr"
            | "BitwiseXor"
            | "BitwiseNot"
            | "BitShift"
            | "Equal"
            | "Less"
            | "LessOrEqual"
            | "Greater"
            | "GreaterOrEqual"
            | "Min"
            | "Max"
            | "Clip"
            | "Neg"
            | "Abs"
            | "Sign"
            | "Floor"
            | "Ceil"
            | "Round"
            | "Sqrt"
            | "Reciprocal"
            | "Relu"
            | "ThresholdedRelu"
            | "IsNaN"
            | "IsInf"
            | "ReduceMax"
            | "ReduceMin"
            | "MaxPool"
            | "GlobalMaxPool"
            | "MaxUnpool"
            | "MatMulInteger"
            | "ConvInteger"
    )
}

/// Casts in one rounding, which runtimes do in two if the target is narrower than 32 bits
/// and the source wider; and the text of floats is a matter of taste.
fn is_exact_cast(from: ElemType, to: ElemType) -> bool {
    use ElemType as E;
    let is_wide = matches!(
        from,
        E::Double | E::Int32 | E::Int64 | E::Uint32 | E::Uint64
    );
    match (from, to) {
        (from, to) if from == to => true,
        (E::String, E::Float | E::Double) => true,
        (E::String, to) => is_integer(to),
        (from, E::String) => is_integer(from),
        (_, E::Float | E::Double | E::Bool) => true,
        (_, to) if is_integer(to) => true,
        (_, E::Float16 | E::Bfloat16) => !is_wide,
        (
            E::Float | E::Float16 | E::Bfloat16,
            E::Float8E4m3fn | E::Float8E4m3fnuz | E::Float8E5m2 | E::Float8E5m2fnuz,
        ) => true,
        (from, E::Int4 | E::Uint4 | E::Int2 | E::Uint2) => is_integer(from),
        _ => false,
    }
}

/// Numbers of this many bits are exact even in runtimes that compute integers in
/// floats.
const EXACT_BITS: f64 = 52.0;

/// Refuses operands for which runtimes differ although the operator is exact.
pub(super) fn check_operands(name: &str, args: &Args<'_>) -> Result<(), Refusal> {
    let operands = (0..args.count()).filter_map(|index| args.optional(index).transpose());
    match name {
        "Min" | "Max" | "Clip" | "Relu" | "ReduceMax" | "ReduceMin" | "MaxPool"
        | "GlobalMaxPool" | "Sign" => {
            for operand in operands {
                let operand = operand?;
                if has_nan(operand, args)? || has_negative_zero(operand) {
                    return Err(args.fault("runtimes differ for NaN and -0"));
                }
                if name == "Clip" && has_infinity(operand, args)? {
                    return Err(args.fault("runtimes limit infinities without a bound, too"));
                }
            }
        }
        "ArgMax" | "ArgMin" | "TopK" | "Hardmax" | "Unique" | "Cast" | "CastLike"
            if has_nan(args.input(0)?, args)? =>
        {
            return Err(args.fault("runtimes differ for NaN"));
        }
        "Pow" => {
            let size = |index: usize| -> Result<f64, Refusal> {
                let sizes = absolutes(args, index)?;
                Ok(sizes.fold(1.0, f64::max))
            };
            if size(0)?.log2() * size(1)? >= EXACT_BITS {
                return Err(args.fault("runtimes differ for powers beyond 2^52"));
            }
        }
        "ReduceSum" | "ReduceL1" | "ReduceSumSquare" | "ReduceProd" => {
            let sizes = absolutes(args, 0)?;
            let bound = match name {
                "ReduceProd" => sizes.map(|size| size.max(1.0).log2()).sum::<f64>(),
                "ReduceSumSquare" => sizes.map(|size| size * size).sum::<f64>().max(1.0).log2(),
                _ => sizes.sum::<f64>().max(1.0).log2(),
            };
            // Runtimes wrap around, or end at the limits of the type.
            let bits = 8 * args.input(0)?.element_type().size() - 2;
            if bound >= EXACT_BITS.min(bits as f64) {
                return Err(args.fault("runtimes differ where integers overflow"));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Refuses a computed NaN, whose sign depends on the processor.
pub(super) fn check_results(
    name: &str,
    args: &Args<'_>,
    results: &[OpResult],
) -> Result<(), Refusal> {
    let computes = matches!(
        name,
        "Add"
            | "Sub"
            | "Mul"
            | "Div"
            | "Mod"
            | "Sum"
            | "Neg"
            | "Abs"
            | "Floor"
            | "Ceil"
            | "Round"
            | "Sqrt"
            | "Reciprocal"
            | "LeakyRelu"
            | "PRelu"
            | "Shrink"
            | "ThresholdedRelu"
    );
    if computes {
        for result in results {
            if let OpResult::Tensor(tensor) = result
                && has_nan(tensor.view(), args)?
            {
                return Err(args.fault("the bits of a computed NaN are not fixed"));
            }
        }
    }
    Ok(())
}

fn has_nan(view: View<'_>, args: &Args<'_>) -> Result<bool, Refusal> {
    let ty = view.element_type();
    if ty.is_float() {
        return Ok(unary(Unary::IsNan, view, args.control)?
            .bytes()
            .contains(&1));
    }
    if ty.is_storage_only() {
        let wide = isoform_kernels::elementwise::cast(view, ElementType::Float32, args.control)?;
        return Ok(unary(Unary::IsNan, wide.view(), args.control)?
            .bytes()
            .contains(&1));
    }
    Ok(false)
}

fn has_infinity(view: View<'_>, args: &Args<'_>) -> Result<bool, Refusal> {
    if !view.element_type().is_float() {
        return Ok(false);
    }
    Ok(unary(Unary::IsInf, view, args.control)?
        .bytes()
        .contains(&1))
}

/// The sizes of the integers in an input.
fn absolutes(args: &Args<'_>, at: usize) -> Result<impl Iterator<Item = f64>, Refusal> {
    let values = to_f64s(args.input(at)?, args.control)?;
    Ok(values.into_iter().map(f64::abs))
}

fn has_negative_zero(view: View<'_>) -> bool {
    fn any<const N: usize>(bytes: &[u8]) -> bool {
        let mut zero = [0; N];
        zero[N - 1] = 0x80;
        bytes.as_chunks::<N>().0.contains(&zero)
    }
    match view.element_type() {
        ElementType::Float16 | ElementType::BFloat16 => any::<2>(view.bytes()),
        ElementType::Float32 => any::<4>(view.bytes()),
        ElementType::Float64 => any::<8>(view.bytes()),
        _ => false,
    }
}
