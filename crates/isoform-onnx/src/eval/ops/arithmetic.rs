//! Arithmetic, logic and comparison of elements.

use isoform_kernels::elementwise::CastOptions;
use isoform_kernels::elementwise::{self, Binary, Comparison, Unary};
use isoform_kernels::{ElementType, Tensor, View, from_f64s, shape};

use super::kernel::{Kernel, unary};
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    macro_rules! binary {
        ($op:ident) => {
            |args| {
                paired(args, |a, b| {
                    Ok(elementwise::binary(Binary::$op, a, b, args.control)?)
                })
            }
        };
    }
    macro_rules! comparison {
        ($op:ident) => {
            |args| {
                paired(args, |a, b| {
                    Ok(elementwise::compare(Comparison::$op, a, b, args.control)?)
                })
            }
        };
    }
    Some(match name {
        "Add" => binary!(Add),
        "Sub" => binary!(Subtract),
        "Mul" => binary!(Multiply),
        "Div" => binary!(Divide),
        "Mod" => modulo,
        "Pow" => power,
        "And" => binary!(LogicalAnd),
        "Or" => binary!(LogicalOr),
        "Xor" => binary!(LogicalXor),
        "BitwiseAnd" => binary!(BitwiseAnd),
        "BitwiseOr" => binary!(BitwiseOr),
        "BitwiseXor" => binary!(BitwiseXor),
        "BitShift" => shift,
        "Equal" => comparison!(Equal),
        "Less" => comparison!(Less),
        "LessOrEqual" => comparison!(LessEqual),
        "Greater" => comparison!(Greater),
        "GreaterOrEqual" => comparison!(GreaterEqual),
        "Min" => |args| folded(args, Binary::Minimum),
        "Max" => |args| folded(args, Binary::Maximum),
        "Sum" => |args| folded(args, Binary::Add),
        "Mean" => mean,
        "Clip" => clip,
        "Not" => unary!(LogicalNot),
        "BitwiseNot" => unary!(BitwiseNot),
        "Neg" => unary!(Negative),
        "Abs" => unary!(Absolute),
        "Sign" => unary!(Sign),
        "Floor" => unary!(Floor),
        "Ceil" => unary!(Ceil),
        "Round" => unary!(Round),
        "Sqrt" => unary!(Sqrt),
        "Reciprocal" => unary!(Reciprocal),
        "Relu" => unary!(Relu),
        "IsNaN" => is_nan,
        "IsInf" => is_inf,
        _ => return None,
    })
}

/// A result of two operands. Before version 7, the second operand broadcasts only if an
/// attribute demands broadcasting, possibly from a given axis on.
pub(super) fn paired(
    args: &Args<'_>,
    f: impl Fn(View<'_>, View<'_>) -> Result<Tensor, Refusal>,
) -> Outcome {
    let (a, b) = (args.input(0)?, args.input(1)?);
    if args.version() < 7
        && let Some(axis) = args.call.int("axis")?
        && b.rank() > 0
    {
        let at = shape::axis(axis, a.rank())?;
        let missing = (a.rank() - at)
            .checked_sub(b.rank())
            .ok_or_else(|| args.fault("expected fewer axes to broadcast"))?;
        let mut aligned = b.shape().to_vec();
        aligned.extend(std::iter::repeat_n(1, missing));
        return one(f(a, View::new(b.element_type(), &aligned, b.bytes())?)?);
    }
    one(f(a, b)?)
}

fn modulo(args: &Args<'_>) -> Outcome {
    let truncates = args.flag("fmod", false)?;
    let op = if truncates {
        Binary::TruncMod
    } else {
        Binary::FloorMod
    };
    paired(args, |a, b| {
        Ok(elementwise::binary(op, a, b, args.control)?)
    })
}

fn power(args: &Args<'_>) -> Outcome {
    paired(args, |base, exponent| {
        let (ty, other) = (base.element_type(), exponent.element_type());
        let power =
            |a: View<'_>, b: View<'_>| elementwise::binary(Binary::Power, a, b, args.control);
        let cast = |x: View<'_>, to| elementwise::cast(x, to, args.control);
        if ty == other {
            return Ok(power(base, exponent)?);
        }
        if ty.is_integer() && other.is_integer() {
            // The exponent keeps its value in the widest type. A product keeps its
            // value modulo the range of the base.
            let wide = ElementType::Int64;
            let result = power(cast(base, wide)?.view(), cast(exponent, wide)?.view())?;
            return Ok(cast(result.view(), ty)?);
        }
        let wide = ElementType::Float64;
        let result = power(cast(base, wide)?.view(), cast(exponent, wide)?.view())?;
        Ok(cast(result.view(), ty)?)
    })
}

fn shift(args: &Args<'_>) -> Outcome {
    let op = match &*args.text("direction", "")? {
        "LEFT" => Binary::LeftShift,
        "RIGHT" => Binary::RightShift,
        other => return Err(args.fault(format!("expected LEFT or RIGHT, got '{other}'"))),
    };
    paired(args, |a, b| {
        Ok(elementwise::binary(op, a, b, args.control)?)
    })
}

/// An operator of any number of operands, from the left.
fn folded(args: &Args<'_>, op: Binary) -> Outcome {
    let operands = args.inputs()?;
    let Some((first, others)) = operands.split_first() else {
        return Err(args.fault("expected an operand"));
    };
    let Some((second, others)) = others.split_first() else {
        return Ok(vec![OpResult::Shaped(0, first.shape().to_vec())]);
    };
    let mut all = elementwise::binary(op, *first, *second, args.control)?;
    for other in others {
        all = elementwise::binary(op, all.view(), *other, args.control)?;
    }
    one(all)
}

fn mean(args: &Args<'_>) -> Outcome {
    let operands = args.inputs()?;
    let Some(first) = operands.first() else {
        return Err(args.fault("expected an operand"));
    };
    let ty = first.element_type();
    let mut sum = elementwise::cast(*first, ElementType::Float64, args.control)?;
    for other in &operands[1..] {
        let other = elementwise::cast(*other, ElementType::Float64, args.control)?;
        sum = elementwise::binary(Binary::Add, sum.view(), other.view(), args.control)?;
    }
    let count = Tensor::scalar(operands.len() as f64);
    let mean = elementwise::binary(Binary::Divide, sum.view(), count.view(), args.control)?;
    one(elementwise::cast(mean.view(), ty, args.control)?)
}

fn clip(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    if args.version() < 11 {
        let bound = |name: &str| -> Result<Option<Tensor>, Refusal> {
            let bound = args
                .call
                .float(name)?
                .map(|limit| from_f64s(&[limit], x.element_type(), &[], args.control));
            Ok(bound.transpose()?)
        };
        let (low, high) = (bound("min")?, bound("max")?);
        let (low, high) = (
            low.as_ref().map(Tensor::view),
            high.as_ref().map(Tensor::view),
        );
        return one(elementwise::clip(x, low, high, args.control)?);
    }
    one(elementwise::clip(
        x,
        args.optional(1)?,
        args.optional(2)?,
        args.control,
    )?)
}

/// A tensor in a type that kernels compute with; small floats are exact in `float32`.
fn computable(x: View<'_>, args: &Args<'_>) -> Result<Tensor, Refusal> {
    let ty = x.element_type();
    let ty = if ty.is_storage_only() {
        ElementType::Float32
    } else {
        ty
    };
    Ok(CastOptions::default().cast(x, ty, args.control)?)
}

fn is_nan(args: &Args<'_>) -> Outcome {
    let x = computable(args.input(0)?, args)?;
    one(elementwise::unary(Unary::IsNan, x.view(), args.control)?)
}

fn is_inf(args: &Args<'_>) -> Outcome {
    let x = computable(args.input(0)?, args)?;
    let is_inf = elementwise::unary(Unary::IsInf, x.view(), args.control)?;
    let zero = from_f64s(&[0.0], x.element_type(), &[], args.control)?;
    let both = |comparison| -> Outcome {
        let signs = elementwise::compare(comparison, x.view(), zero.view(), args.control)?;
        one(elementwise::binary(
            Binary::LogicalAnd,
            is_inf.view(),
            signs.view(),
            args.control,
        )?)
    };
    match (
        args.flag("detect_negative", true)?,
        args.flag("detect_positive", true)?,
    ) {
        (true, true) => one(is_inf),
        (true, false) => both(Comparison::Less),
        (false, true) => both(Comparison::Greater),
        (false, false) => one(Tensor::new(
            ElementType::Bool,
            x.shape().to_vec(),
            vec![0; is_inf.bytes().len()],
        )?),
    }
}
