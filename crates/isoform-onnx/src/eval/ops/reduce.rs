//! Reductions of axes.

use isoform_kernels::elementwise::{Binary, Unary, binary, cast, unary};
use isoform_kernels::reduce::{Axes, Reduction};
use isoform_kernels::{ElementType, Tensor, View, create, from_f64s};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "ReduceSum" => |args| plain(args, Reduction::Sum),
        "ReduceProd" => |args| plain(args, Reduction::Product),
        "ReduceMean" => |args| plain(args, Reduction::Mean),
        "ReduceMax" => |args| plain(args, Reduction::Max),
        "ReduceMin" => |args| plain(args, Reduction::Min),
        "ReduceL1" => |args| of_sum(args, Some(Unary::Absolute), None),
        "ReduceSumSquare" => |args| of_sum(args, None, None),
        "ReduceL2" => |args| of_sum(args, None, Some(Unary::Sqrt)),
        "ReduceLogSum" => |args| of_sum(args, Some(Unary::Copy), Some(Unary::Log)),
        "ReduceLogSumExp" => log_sum_exp,
        _ => return None,
    })
}

/// The reduced axes; None for all.
struct Reduced {
    axes: Option<Vec<i64>>,
    keep_dims: bool,
}

impl Reduced {
    fn new(args: &Args<'_>) -> Result<Self, Refusal> {
        let since = if args.call.op.as_str() == "ReduceSum" {
            13
        } else {
            18
        };
        let axes = args.moved_ints("axes", 1, since)?;
        let nothing = args.flag("noop_with_empty_axes", false)?;
        let axes = axes
            .filter(|axes| !axes.is_empty())
            .or(nothing.then(Vec::new));
        Ok(Reduced {
            axes,
            keep_dims: args.flag("keepdims", true)?,
        })
    }

    fn axes(&self) -> Axes<'_> {
        Axes {
            axes: self.axes.as_deref(),
            keep_dims: self.keep_dims,
            exclude: false,
        }
    }

    /// True if there is a result for rows without elements.
    fn is_empty(&self, x: View<'_>) -> Result<bool, Refusal> {
        let reduced = self.axes().resolve(x.rank())?;
        Ok(reduced.iter().any(|at| x.shape()[*at] == 0))
    }
}

fn plain(args: &Args<'_>, reduction: Reduction) -> Outcome {
    let x = args.input(0)?;
    let reduced = Reduced::new(args)?;
    if matches!(reduction, Reduction::Max | Reduction::Min) && reduced.is_empty(x)? {
        // The neutral element: the least or the largest value of the type.
        let limit = if reduction == Reduction::Max {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let neutral = if x.element_type() == ElementType::Bool {
            Tensor::scalar(reduction == Reduction::Min)
        } else {
            from_f64s(&[limit], x.element_type(), &[], args.control)?
        };
        let shape = reduced.axes().shape(x.shape())?;
        return one(create::full(&shape, neutral.view(), args.control)?);
    }
    one(reduced.axes().reduce(reduction, x, args.control)?)
}

/// A function of the sum of a function of the elements, or of their squares.
fn of_sum(args: &Args<'_>, before: Option<Unary>, after: Option<Unary>) -> Outcome {
    let x = args.input(0)?;
    let ty = x.element_type();
    let reduced = Reduced::new(args)?;
    // Integers that stay integers wrap around; all else is computed in `f64`.
    let wide = if ty.is_integer() && after.is_none() {
        ty
    } else {
        ElementType::Float64
    };
    let x = cast(x, wide, args.control)?;
    let terms = match before {
        Some(op) => unary(op, x.view(), args.control)?,
        None => binary(Binary::Multiply, x.view(), x.view(), args.control)?,
    };
    let mut sum = reduced
        .axes()
        .reduce(Reduction::Sum, terms.view(), args.control)?;
    if let Some(op) = after {
        sum = unary(op, sum.view(), args.control)?;
    }
    one(cast(sum.view(), ty, args.control)?)
}

/// The logarithm of a sum of exponentials, less the largest element to avoid overflow.
fn log_sum_exp(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let ty = x.element_type();
    let reduced = Reduced::new(args)?;
    let shape = reduced.axes().shape(x.shape())?;
    if reduced.is_empty(x)? {
        let nothing = from_f64s(&[f64::NEG_INFINITY], ty, &[], args.control)?;
        return one(create::full(&shape, nothing.view(), args.control)?);
    }
    let x = cast(x, ElementType::Float64, args.control)?;
    let kept = Axes {
        keep_dims: true,
        ..reduced.axes()
    };
    let max = kept.reduce(Reduction::Max, x.view(), args.control)?;
    // The difference of an infinite maximum and itself would be NaN.
    let finite: Vec<f64> = max
        .view()
        .to_vec::<f64>()?
        .into_iter()
        .map(|max| if max.is_finite() { max } else { 0.0 })
        .collect();
    let max = Tensor::from_slice(max.shape(), &finite)?;
    let shifted = binary(Binary::Subtract, x.view(), max.view(), args.control)?;
    let terms = unary(Unary::Exp, shifted.view(), args.control)?;
    let sum = kept.reduce(Reduction::Sum, terms.view(), args.control)?;
    let log = unary(Unary::Log, sum.view(), args.control)?;
    let total = binary(Binary::Add, log.view(), max.view(), args.control)?;
    let values = total.view().to_vec::<f64>()?;
    one(from_f64s(&values, ty, &shape, args.control)?)
}
