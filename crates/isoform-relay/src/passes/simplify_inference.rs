//! Normalizations and dropout as arithmetic.

use super::form::Form;
use super::graph::is_primitive;
use super::module::map_functions;
use crate::attrs::{
    BatchNormAttrs, ExpandDimsAttrs, LayerNormAttrs, ReduceAttrs, VarianceAttrs, sizes,
};
use crate::eval::scalar;
use crate::op::dims;
use crate::{
    AsExpr, Call, Constant, ExprRewriter, Function, TupleGetItem, infer_type, infer_type_expr, op,
};
use isoform::values::{DType, DTypeCode};
use isoform::{Node, Ref, Result};
use isoform_ir::ir::{IRModule, Op, RelayExpr, TensorType};

/// Replaces operators of a trained model by arithmetic that other passes can fold.
///
/// | expression | becomes |
/// |---|---|
/// | the first result of `nn.batch_norm` | the data times a scale plus a shift for each channel |
/// | `nn.layer_norm` | mean, variance and arithmetic |
/// | the first result of `nn.dropout` | the data |
///
/// Other results of these operators stay, and so do operators on anything but floats, and
/// on data of an unknown rank. Results that a `let` binds to a variable as a tuple stay, too:
/// [`to_graph_normal_form`](super::to_graph_normal_form) brings them to their uses.
/// Results are rounded differently.
///
/// Types are inferred first. Functions marked `Primitive`, and functions for which
/// [`Function::is_optimizable`] is false, are kept. A pass with no changes besides types
/// returns the same object. Linear in the number of expressions.
///
/// ```
/// use isoform_relay::attrs::DropoutAttrs;
/// use isoform_relay::passes::simplify_inference_expr;
/// use isoform_relay::{AsExpr, Function, TupleGetItem, Var, op};
/// use isoform_ir::ir::TensorType;
///
/// let x = Var::typed("x", TensorType::new([]));
/// let dropped = TupleGetItem::new(op::dropout(&x, DropoutAttrs::new()), 0);
/// let func = Function::new([x.clone()], dropped).expr();
/// let simple = simplify_inference_expr(&func)?.cast::<Function>()?;
/// assert!(simple.body.isa::<Var>());
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// Errors of [`infer_type`].
pub fn simplify_inference(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let typed = infer_type(module)?;
    map_functions(&typed, Function::is_optimizable, in_expr)
}

/// [`simplify_inference`] of an expression without names of functions of a module.
///
/// # Errors
///
/// Errors of [`infer_type`].
pub fn simplify_inference_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    in_expr(&infer_type_expr(expr, None)?)
}

/// The replacement in an expression with types.
pub(super) fn in_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    ExprRewriter::new()
        .before(|_: &mut (), func: &Ref<Function>| {
            Ok(is_primitive(Form::Function(func)).then(|| func.expr()))
        })
        .on(|_, before: &Ref<TupleGetItem>, after: &Ref<TupleGetItem>| {
            if before.index == 0
                && let Some(before) = before.tuple_value.downcast_ref::<Call>()
                && let Some(after) = after.tuple_value.downcast_ref::<Call>()
            {
                return first_result(before, after);
            }
            Ok(None)
        })
        .on(|_, before: &Ref<Call>, after: &Ref<Call>| layer_norm(before, after))
        .rewrite(&mut (), expr)
}

/// A call of a normalization, with the type of the data.
struct Norm<'a, A: Node> {
    attrs: &'a Ref<A>,
    args: Vec<&'a Ref<RelayExpr>>,
    dtype: DType,
    rank: usize,
    axis: usize,
}

impl<'a, A: Node> Norm<'a, A> {
    /// The call of an operator on floats, if the expression is such a call: `before` has
    /// the types.
    fn of(
        name: &str,
        before: &Ref<Call>,
        after: &'a Ref<Call>,
        axis: impl FnOnce(&A) -> i64,
    ) -> Option<Norm<'a, A>> {
        let ty = tensor_type(called(before, name)?.args.get(0)?)?;
        called(after, name)?;
        let attrs = after.attrs.as_ref()?.downcast_ref::<A>()?;
        let is_float = matches!(ty.dtype.code(), DTypeCode::Float | DTypeCode::BFloat);
        let rank = ty.shape.len();
        let axis = dims::axis_of("axis", axis(attrs), rank).ok()?;
        is_float.then(|| Norm {
            attrs,
            args: after.args.iter().collect(),
            dtype: ty.dtype,
            rank,
            axis,
        })
    }

    /// A number of the data's type.
    fn number(&self, number: f64) -> Option<Ref<RelayExpr>> {
        Some(Constant::new(scalar(number, self.dtype)?).expr())
    }

    /// A vector with axes after its only axis, to be broadcast along the axis of the data.
    fn spread(&self, vector: Ref<RelayExpr>) -> Ref<RelayExpr> {
        match (self.rank - self.axis - 1) as i64 {
            0 => vector,
            missing => {
                let attrs = ExpandDimsAttrs::new(1).with_num_newaxis(missing);
                op::expand_dims(vector, attrs).expr()
            }
        }
    }
}

/// The call of an operator of this name.
fn called<'a>(call: &'a Ref<Call>, name: &str) -> Option<&'a Ref<Call>> {
    (&*call.op.downcast_ref::<Op>()?.name == name).then_some(call)
}

fn tensor_type(expr: &Ref<RelayExpr>) -> Option<&Ref<TensorType>> {
    expr.checked_type_.as_ref()?.downcast_ref()
}

/// The first result of a normalization or of dropout.
fn first_result(before: &Ref<Call>, after: &Ref<Call>) -> Result<Option<Ref<RelayExpr>>> {
    if called(after, "nn.dropout").is_some() {
        return Ok(after.args.get(0).cloned());
    }
    let norm = Norm::of("nn.batch_norm", before, after, |attrs: &BatchNormAttrs| {
        attrs.axis
    });
    let Some(norm) = norm else {
        return Ok(None);
    };
    let (Some(one), Some(epsilon), [x, gamma, beta, mean, variance]) = (
        norm.number(1.0),
        norm.number(norm.attrs.epsilon),
        &norm.args[..],
    ) else {
        return Ok(None);
    };
    let deviation = op::sqrt(op::add(*variance, epsilon));
    let mut scale = op::divide(one, deviation);
    if norm.attrs.scale {
        scale = op::multiply(scale, *gamma);
    }
    let mut shift = op::multiply(op::negative(*mean), &scale);
    if norm.attrs.center {
        shift = op::add(shift, *beta);
    }
    let scaled = op::multiply(*x, norm.spread(scale.expr()));
    Ok(Some(op::add(scaled, norm.spread(shift.expr())).expr()))
}

fn layer_norm(before: &Ref<Call>, after: &Ref<Call>) -> Result<Option<Ref<RelayExpr>>> {
    let norm = Norm::of("nn.layer_norm", before, after, |attrs: &LayerNormAttrs| {
        attrs.axis
    });
    let Some(norm) = norm else {
        return Ok(None);
    };
    let (Some(epsilon), [x, gamma, beta]) = (norm.number(norm.attrs.epsilon), &norm.args[..])
    else {
        return Ok(None);
    };
    let axis = || Some(sizes([norm.axis as i64]));
    let mean = op::mean(*x, ReduceAttrs::new().with_axis(axis()).with_keepdims(true));
    let attrs = VarianceAttrs::new().with_axis(axis()).with_keepdims(true);
    let variance = op::variance(*x, &mean, attrs);
    let deviation = op::sqrt(op::add(variance, epsilon));
    let mut result = op::divide(op::subtract(*x, mean), deviation);
    if norm.attrs.scale {
        result = op::multiply(result, norm.spread((*gamma).clone()));
    }
    if norm.attrs.center {
        result = op::add(result, norm.spread((*beta).clone()));
    }
    Ok(Some(result.expr()))
}
