//! Factors of channels as parts of weights.
//!
//! | file | job |
//! |---|---|
//! | `kinds.rs` | how operators treat a factor of their data or result |
//! | `backward.rs` | factors of results go into the weights before |
//! | `forward.rs` | factors of data go into the following weights |
//! | `plan.rs` | the program with the factors in their new places |

mod backward;
mod forward;
mod kinds;
mod plan;

use self::kinds::Kinds;
use super::effects::{Effects, Globals};
use super::graph::Graph;
use super::module::map_functions;
use crate::{Function, infer_type, infer_type_expr};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Multiplies weights by factors that their results are multiplied by, and leaves out the
/// multiplications.
///
/// A factor has one number for each channel, or a single number: `multiply(conv2d(x, w), s)`
/// becomes `conv2d(x, multiply(w, s))`, which [`fold_constant`](super::fold_constant)
/// computes for constants. Likewise for `nn.dense`. Between both may be:
///
/// | operator | condition |
/// |---|---|
/// | `nn.relu`, `nn.leaky_relu` | the factor is a constant of positive numbers |
/// | `add`, `subtract` | both operands take the factor, or an operand is a bias of the channels, which is multiplied |
/// | `nn.bias_add` | the vector lies along the channels, and is multiplied |
/// | `multiply` | |
///
/// Every expression between the weight and the factor has a single use. Constant factors
/// are finite, and all types are floats. Results are rounded differently. Values that a
/// `let` binds to a variable stay; [`to_graph_normal_form`](super::to_graph_normal_form)
/// brings them to their uses.
///
/// Types are inferred first, and afterwards for new expressions. Functions marked
/// `Primitive`, and functions for which [`Function::is_optimizable`] is false, are kept. A
/// pass with no changes besides types returns the same object. O(n log n) in the number of
/// expressions, because of scopes, besides the elements of constant factors.
///
/// ```
/// use isoform_ir::ir::{IRModuleRef, TensorType};
/// use isoform_relay::analysis::count_ops;
/// use isoform_relay::attrs::{DenseAttrs, sizes};
/// use isoform_relay::passes::{backward_fold_scale_axis_expr, fold_constant_expr};
/// use isoform_relay::{AsExpr, Constant, Function, Var, op};
/// use isoform::values::{DType, Tensor};
///
/// let ones = |shape: Vec<i64>| {
///     let count = shape.iter().product::<i64>() as usize;
///     Tensor::new(DType::FLOAT32, shape, 1.0_f32.to_le_bytes().repeat(count))
/// };
/// let x = Var::typed("x", TensorType::new(sizes([4, 8])));
/// let weight = Constant::new(ones(vec![2, 8])?);
/// let product = op::dense(&x, weight, DenseAttrs::new(None));
/// let scaled = op::multiply(product, Constant::new(ones(vec![2])?));
/// let func = Function::new([x], scaled).expr();
/// let folded = fold_constant_expr(&backward_fold_scale_axis_expr(&func)?)?;
/// assert_eq!(count_ops(&folded)?.len(), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// Errors of [`infer_type`]; `ValueError` for a variable bound twice; `TypeError` for an
/// expression of a class declared elsewhere.
pub fn backward_fold_scale_axis(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    in_module(module, backward)
}

/// [`backward_fold_scale_axis`] of an expression without names of functions of a module.
///
/// # Errors
///
/// As [`backward_fold_scale_axis`].
pub fn backward_fold_scale_axis_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    in_expr(expr, backward)
}

/// Multiplies weights by factors that their data are multiplied by, and leaves out the
/// multiplications: `conv2d(multiply(x, s), w)` becomes `conv2d(x, multiply(w, s))`.
///
/// As [`backward_fold_scale_axis`], except for these conditions: all uses of the scaled data
/// lead to weights in the same scope. One operand of `add` and `subtract`, and the vector of
/// `nn.bias_add`, is a bias of the channels, which is divided by the factor, a constant of
/// positive numbers. Convolutions
/// have a single group, or one group for every channel of data and result.
///
/// # Errors
///
/// As [`backward_fold_scale_axis`].
pub fn forward_fold_scale_axis(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    in_module(module, forward)
}

/// [`forward_fold_scale_axis`] of an expression without names of functions of a module.
///
/// # Errors
///
/// As [`backward_fold_scale_axis`].
pub fn forward_fold_scale_axis_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    in_expr(expr, forward)
}

type Fold = fn(&Ref<RelayExpr>) -> Result<Ref<RelayExpr>>;

fn in_module(module: &Ref<IRModule>, fold: Fold) -> Result<Ref<IRModule>> {
    let typed = infer_type(module)?;
    infer_type(&map_functions(&typed, Function::is_optimizable, fold)?)
}

fn in_expr(expr: &Ref<RelayExpr>, fold: Fold) -> Result<Ref<RelayExpr>> {
    infer_type_expr(&fold(&infer_type_expr(expr, None)?)?, None)
}

/// The backward pass on an expression with types.
pub(super) fn backward(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    let graph = Graph::of(expr)?;
    let effects = Effects::of(&graph, &Globals::default())?;
    let kinds = Kinds::of(&graph, &effects)?;
    backward::plan(&kinds)?.rewritten(&kinds)
}

/// The forward pass on an expression with types.
pub(super) fn forward(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    let graph = Graph::of(expr)?;
    let effects = Effects::of(&graph, &Globals::default())?;
    let kinds = Kinds::of(&graph, &effects)?;
    forward::plan(&kinds)?.rewritten(&kinds)
}
