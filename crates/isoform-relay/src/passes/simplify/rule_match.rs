//! A match in the form for rules, and the replacements built by rules.

use super::purity::Purity;
use crate::eval::scalar;
use crate::op::dims;
use crate::op::dims::Dim;
use crate::{AsExpr, AttrsWildcard, Call, Constant, Wildcard, infer_type_local};
use isoform::pattern::Match;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Array, Error, Node, Ref, Result, Value};
use isoform_ir::ir::{Attrs, Op, RelayExpr, TensorType, Type};

pub(super) type Expr = Ref<RelayExpr>;

/// The holes of all templates.
pub(super) struct Holes {
    /// Expressions.
    pub(super) x: Ref<Wildcard>,
    pub(super) y: Ref<Wildcard>,
    /// Expressions with no users outside of the match.
    pub(super) only: [Ref<Wildcard>; 3],
    /// Constants.
    pub(super) c: Ref<Wildcard>,
    pub(super) d: Ref<Wildcard>,
    /// The attributes of the calls of a template, the root's first.
    pub(super) attrs: [Ref<AttrsWildcard>; 3],
}

impl Holes {
    pub(super) fn new() -> Holes {
        let attrs = ["outer", "middle", "inner"].map(AttrsWildcard::new);
        Holes {
            x: Wildcard::new("x"),
            y: Wildcard::new("y"),
            only: ["p", "q", "r"].map(Wildcard::new),
            c: Wildcard::new("c"),
            d: Wildcard::new("d"),
            attrs,
        }
    }
}

/// The match of a rule.
pub(super) struct RuleMatch<'a> {
    pub(super) found: &'a Match,
    pub(super) holes: &'a Holes,
    pub(super) purity: &'a Purity,
}

impl<'a> RuleMatch<'a> {
    /// The replaced call.
    pub(super) fn root(&self) -> Result<&'a Ref<Call>> {
        let root = self.found.value().peek::<Ref<Call>>();
        root.ok_or_else(|| Error::type_error("expected a template whose root is a call"))
    }

    /// The part in a hole.
    pub(super) fn part<T: Node>(&self, hole: &Ref<T>) -> Result<&'a Expr> {
        let part = self.found.get(Value::from(hole));
        part.and_then(|part| part.peek::<Expr>())
            .ok_or_else(|| Error::type_error("expected a hole of the template"))
    }

    pub(super) fn x(&self) -> Result<&'a Expr> {
        self.part(&self.holes.x)
    }

    pub(super) fn y(&self) -> Result<&'a Expr> {
        self.part(&self.holes.y)
    }

    /// The constants of the template.
    pub(super) fn constants(&self) -> Result<[&'a Ref<Constant>; 2]> {
        let constant = |hole| {
            let part = self.part(hole)?.downcast_ref::<Constant>();
            part.ok_or_else(|| Error::type_error("expected a hole for constants"))
        };
        Ok([constant(&self.holes.c)?, constant(&self.holes.d)?])
    }

    /// The attributes of a call of the template; None for another class of attributes.
    pub(super) fn attrs<T: Node>(&self, level: usize) -> Option<&'a Ref<T>> {
        let attrs = self.found.get(Value::from(&self.holes.attrs[level]))?;
        attrs.peek::<Ref<Attrs>>()?.downcast_ref::<T>()
    }

    /// The type of the replaced call.
    pub(super) fn ty(&self) -> Result<Option<&'a Ref<TensorType>>> {
        Ok(tensor_type(self.root()?))
    }

    /// The elements of the result; of no type if the type is not known.
    pub(super) fn dtype(&self) -> Result<DType> {
        Ok(self.ty()?.map_or(DType::VOID, |ty| ty.dtype))
    }

    /// The sizes of the result, if all are numbers.
    pub(super) fn static_shape(&self) -> Result<Option<Vec<i64>>> {
        let ty = self.ty()?;
        Ok(ty.and_then(|ty| ty.shape.iter().map(dims::known).collect()))
    }

    /// A call in place of the match or of a part of the match, with its types; None
    /// unless well-typed.
    pub(super) fn call(&self, call: &Ref<Call>) -> Result<Option<Expr>> {
        let types = call.args.iter().map(|arg| arg.checked_type_.clone());
        let Some(types) = types.collect::<Option<Array<Ref<Type>>>>() else {
            return Ok(None);
        };
        // A wrong call leaves the program unchanged.
        let Ok(ty) = infer_type_local(call) else {
            return Ok(None);
        };
        let (op, args) = (call.op.clone(), call.args.clone());
        let span = self.root()?.span.clone();
        let made = Call::typed(op, args, call.attrs.clone(), types, ty, span);
        Ok(Some(made.expr()))
    }

    /// A constant in the place of a part of the match.
    pub(super) fn constant(&self, tensor: Tensor) -> Result<Expr> {
        let ty = Constant::new(tensor.clone()).tensor_type()?.upcast();
        let span = self.root()?.span.clone();
        Ok(Constant::typed(tensor, Some(ty), span).expr())
    }

    /// A number as a constant of the result's data type; None for a data type unknown
    /// to kernels.
    pub(super) fn number(&self, number: f64) -> Result<Option<Expr>> {
        let tensor = scalar(number, self.dtype()?);
        tensor.map(|tensor| self.constant(tensor)).transpose()
    }
}

/// The type of a tensor expression.
pub(super) fn tensor_type(expr: &RelayExpr) -> Option<&Ref<TensorType>> {
    expr.checked_type_.as_ref()?.downcast_ref::<TensorType>()
}

/// The call of this operator, if the expression is such a call.
pub(super) fn call_of<'e>(expr: &'e Expr, name: &str) -> Option<&'e Ref<Call>> {
    let call = expr.downcast_ref::<Call>()?;
    (&*call.op.downcast_ref::<Op>()?.name == name).then_some(call)
}

/// The argument of a call with one argument.
pub(super) fn only_arg(call: &Ref<Call>) -> Result<&Expr> {
    call.args
        .get(0)
        .ok_or_else(|| Error::type_error("expected a call with an argument"))
}

/// True for numbers, the types with arithmetic.
pub(super) fn is_number(dtype: DType) -> bool {
    is_integer(dtype) || is_float(dtype)
}

pub(super) fn is_integer(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Int | DTypeCode::UInt) && dtype.lanes() == 1
}

/// True for floats supported by operators.
pub(super) fn is_float(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Float | DTypeCode::BFloat) && dtype.lanes() == 1
}

/// True if broadcasting the small operand to the large operand never makes the result
/// larger than the large operand, even for sizes unknown before run time.
pub(super) fn is_covered(small: &Expr, large: &Expr) -> bool {
    let (Some(small), Some(large)) = (tensor_type(small), tensor_type(large)) else {
        return false;
    };
    let (small, large) = (dims::shape_of(small), dims::shape_of(large));
    let covers = |(small, large): (&Dim, &Dim)| {
        dims::known(small) == Some(1)
            || dims::are_equal(small, large)
            || dims::known(large).is_some_and(|size| size != 1)
    };
    small.len() <= large.len() && small.iter().rev().zip(large.iter().rev()).all(covers)
}
