//! Calls.
//!
//! The type arguments of a call have two fields. Comparison ignores one of the fields:
//! the type arguments of a primitive operator follow from its arguments.

use isoform::{Array, Node, Ref, Result, export};
use isoform_ir::ir::{Attrs, Op, RelayExpr, Span, Type, TypeRelation};

use super::expr::ExprWithOp;

/// The call of an operator, a function or a constructor.
///
/// Calls are equal if callee, arguments, attributes and type arguments are. The type
/// arguments of a [primitive operator](is_primitive_op) are not compared: type inference
/// fills them with the types of the arguments.
#[derive(Node)]
#[node(key = "relay.Call", kind = dag, init = make_call)]
#[repr(C)]
pub struct Call {
    #[node(base, default)]
    base: ExprWithOp,
    /// The callee.
    pub op: Ref<RelayExpr>,
    /// The arguments.
    pub args: Array<Ref<RelayExpr>>,
    /// The attributes of an operator.
    #[node(default)]
    pub attrs: Option<Ref<Attrs>>,
    /// The arguments for the type parameters of a function.
    #[node(default)]
    type_args_: Array<Ref<Type>>,
    /// The types found for the arguments of a primitive operator.
    #[node(ignore, default, repr = false)]
    op_type_args_: Array<Ref<Type>>,
}

impl Call {
    /// The arguments for the type parameters of the callee; often empty.
    pub fn type_args(&self) -> &Array<Ref<Type>> {
        if self.op_type_args_.is_empty() {
            &self.type_args_
        } else {
            &self.op_type_args_
        }
    }
}

impl Call {
    /// A call made by a pass to replace an expression; the call gets the span of the
    /// expression.
    pub(super) fn made(
        op: Ref<RelayExpr>,
        args: Array<Ref<RelayExpr>>,
        span: Option<Ref<Span>>,
    ) -> Ref<Call> {
        make_call(op, args, None, None, span)
    }

    /// A typed call made by a pass: the types of the arguments and of the call are
    /// known.
    pub(super) fn typed(
        op: Ref<RelayExpr>,
        args: Array<Ref<RelayExpr>>,
        attrs: Option<Ref<Attrs>>,
        type_args: Array<Ref<Type>>,
        checked_type: Ref<Type>,
        span: Option<Ref<Span>>,
    ) -> Ref<Call> {
        let (type_args_, op_type_args_) = arranged(&op, type_args);
        Ref::new(Call {
            base: ExprWithOp::typed(Some(checked_type), span),
            op,
            args,
            attrs,
            type_args_,
            op_type_args_,
        })
    }
}

impl Call {
    /// A copy of the call with other type arguments.
    pub fn with_type_args(&self, type_args: impl Into<Array<Ref<Type>>>) -> Ref<Call> {
        let (explicit, inferred) = arranged(&self.op, type_args.into());
        self.with_type_args_(explicit).with_op_type_args_(inferred)
    }
}

/// True for an operator with exactly one constraint in its type, a [`TypeRelation`]
/// between its type parameters. The type arguments of a call then follow from its
/// arguments.
pub fn is_primitive_op(callee: &Ref<RelayExpr>) -> bool {
    let Some(ty) = callee.downcast_ref::<Op>().and_then(|op| op.op_type()) else {
        return false;
    };
    let mut constraints = ty.type_constraints.iter();
    let (Some(only), None) = (constraints.next(), constraints.next()) else {
        return false;
    };
    only.downcast_ref::<TypeRelation>().is_some_and(|relation| {
        let same = |(arg, param): (&Ref<Type>, _)| arg.same_as(param);
        relation.args.len() == ty.type_params.len()
            && relation.args.iter().zip(ty.type_params.iter()).all(same)
    })
}

/// The compared type arguments, and the ignored type arguments.
fn arranged(
    op: &Ref<RelayExpr>,
    type_args: Array<Ref<Type>>,
) -> (Array<Ref<Type>>, Array<Ref<Type>>) {
    if !type_args.is_empty() && is_primitive_op(op) {
        (Array::new(), type_args)
    } else {
        (type_args, Array::new())
    }
}

/// Makes a call.
#[export("relay.Call")]
fn make_call(
    op: Ref<RelayExpr>,
    args: Array<Ref<RelayExpr>>,
    attrs: Option<Ref<Attrs>>,
    type_args: Option<Array<Ref<Type>>>,
    span: Option<Ref<Span>>,
) -> Ref<Call> {
    let (type_args_, op_type_args_) = arranged(&op, type_args.unwrap_or_default());
    Ref::new(Call {
        base: ExprWithOp::at(span),
        op,
        args,
        attrs,
        type_args_,
        op_type_args_,
    })
}

/// Returns the arguments for the type parameters of the callee.
#[export("relay.ir.Call.type_args")]
fn call_type_args(this: &Ref<Call>) -> Array<Ref<Type>> {
    this.type_args().clone()
}

/// Returns a copy of the call with other arguments for type parameters.
#[export("relay.ir.Call.with_type_args")]
fn call_with_type_args(this: &Ref<Call>, type_args: Array<Ref<Type>>) -> Ref<Call> {
    this.with_type_args(type_args)
}

/// True for an operator whose type parameters follow from the types of its arguments.
#[export("relay.ir.is_primitive_op")]
fn is_primitive(callee: &Ref<RelayExpr>) -> bool {
    is_primitive_op(callee)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![call_type_args, call_with_type_args, is_primitive]
}
