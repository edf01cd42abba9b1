//! Attention with graphs of the model that change scores and weights. This module holds
//! the steps between the graphs; `run/` combines the steps.

use isoform_kernels::products::MatMul;
use isoform_kernels::{ElementType, Tensor, View, elementwise, from_f64s, normalize, to_f64s};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

/// The kernels of `ai.onnx.preview`.
pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "FlexAttention" => flex_attention,
        _ => return None,
    })
}

fn flex_attention(args: &Args<'_>) -> Outcome {
    for name in ["score_mod", "prob_mod"] {
        if args.call.attribute(name)?.is_some() {
            return Err(args.fault(format!("the graph '{name}' belongs to a program")));
        }
    }
    let scores = scores(args)?;
    let weights = weights(args, scores.view())?;
    one(weighted(args, weights.view())?)
}

/// A matrix product in `f64` for each group of heads, of operands of rank 4.
fn product(
    args: &Args<'_>,
    left: View<'_>,
    right: View<'_>,
    is_key: bool,
) -> Result<Tensor, Refusal> {
    let (&[batch, heads, rows, width], &[_, groups, _, _]) = (left.shape(), right.shape()) else {
        return Err(args.fault(format!(
            "expected operands of rank 4, got {:?} and {:?}",
            left.shape(),
            right.shape()
        )));
    };
    if right.shape()[0] != batch || groups == 0 || heads % groups != 0 {
        return Err(args.fault(format!(
            "expected one batch size and heads that are a multiple of those of keys and values, got {:?} and {:?}",
            left.shape(),
            right.shape()
        )));
    }
    // The heads of a group are rows of one matrix.
    let grouped = [batch, groups, heads / groups * rows, width];
    let left = View::new(left.element_type(), &grouped, left.bytes())?;
    let product = MatMul {
        transpose_right: is_key,
        result_type: Some(ElementType::Float64),
        ..MatMul::default()
    };
    let (ty, shape, bytes) = product.apply(left, right, args.control)?.into_parts();
    Ok(Tensor::new(ty, vec![batch, heads, rows, shape[3]], bytes)?)
}

/// The type of scores and weights.
fn softmax_type(args: &Args<'_>) -> Result<ElementType, Refusal> {
    let own = match args.input(0)?.element_type() {
        ElementType::Float16 | ElementType::BFloat16 => ElementType::Float32,
        other => other,
    };
    Ok(args.element("softmax_precision")?.unwrap_or(own))
}

/// The scaled products of queries and keys.
pub(in crate::eval) fn scores(args: &Args<'_>) -> Result<Tensor, Refusal> {
    let query = args.input(0)?;
    let product = product(args, query, args.input(1)?, true)?;
    let width = query.shape().last().copied().unwrap_or(1);
    let scale = args
        .call
        .float("scale")?
        .unwrap_or_else(|| 1.0 / (width as f64).sqrt());
    let mut values = to_f64s(product.view(), args.control)?;
    values.iter_mut().for_each(|value| *value *= scale);
    Ok(from_f64s(
        &values,
        softmax_type(args)?,
        product.shape(),
        args.control,
    )?)
}

/// The weights of scores, which a graph may have changed.
pub(in crate::eval) fn weights(args: &Args<'_>, scores: View<'_>) -> Result<Tensor, Refusal> {
    let scores = elementwise::cast(scores, softmax_type(args)?, args.control)?;
    Ok(normalize::softmax(scores.view(), -1, args.control)?)
}

/// The sums of values by weights, which a graph may have changed.
pub(in crate::eval) fn weighted(args: &Args<'_>, weights: View<'_>) -> Result<Tensor, Refusal> {
    let value = args.input(2)?;
    let sums = product(args, weights, value, false)?;
    Ok(elementwise::cast(
        sums.view(),
        value.element_type(),
        args.control,
    )?)
}
