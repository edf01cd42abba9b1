//! The types of what is drawn.

use isoform::values::{DType, DTypeCode};
use isoform::{Ref, Value};
use isoform_ir::ir::{IRModule, RelayExpr, TensorType, TupleType, Type};
use isoform_relay::attrs::sizes;
use isoform_relay::{AsExpr, with_fields};

/// The type of a value made of tensors.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Ty {
    Tensor(DType, Vec<i64>),
    Tuple(Vec<Ty>),
}

impl Ty {
    pub(super) fn scalar(dtype: DType) -> Ty {
        Ty::Tensor(dtype, Vec::new())
    }

    /// The type as a node. Types are shallow.
    pub(super) fn node(&self) -> Ref<Type> {
        match self {
            Ty::Tensor(dtype, shape) => TensorType::new(sizes(shape.iter().copied()))
                .with_dtype(*dtype)
                .upcast(),
            Ty::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(Ty::node).collect();
                TupleType::new(fields).upcast()
            }
        }
    }

    /// The type that a node represents; None for other types and unknown sizes.
    pub(super) fn of(node: &Ref<Type>) -> Option<Ty> {
        if let Some(tensor) = node.downcast_ref::<TensorType>() {
            let sizes = tensor
                .shape
                .iter()
                .map(|dim| Some(dim.downcast_ref::<isoform_ir::ir::IntImm>()?.value));
            return Some(Ty::Tensor(tensor.dtype, sizes.collect::<Option<_>>()?));
        }
        let tuple = node.downcast_ref::<TupleType>()?;
        Some(Ty::Tuple(
            tuple.fields.iter().map(Ty::of).collect::<Option<_>>()?,
        ))
    }
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) expr: Ref<RelayExpr>,
    pub(super) ty: Ty,
}

impl Typed {
    /// An expression in the form left by type inference.
    pub(super) fn new(expr: impl AsExpr, ty: Ty) -> Typed {
        let expr = expr.expr();
        let typed = with_fields(expr.as_object(), [("checked_type_", ty.node().into())]);
        let typed = typed.and_then(|typed| typed.cast());
        Typed {
            expr: typed.expect("expressions have types"),
            ty,
        }
    }

    /// Data type and shape of a tensor.
    pub(super) fn tensor(&self) -> Option<(DType, &[i64])> {
        match &self.ty {
            Ty::Tensor(dtype, shape) => Some((*dtype, shape)),
            Ty::Tuple(_) => None,
        }
    }
}

pub(super) fn is_float(dtype: DType) -> bool {
    dtype.code() == DTypeCode::Float
}

pub(super) fn is_integer(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Int | DTypeCode::UInt)
}

/// A random program: a module with the function `main`, and arguments for it.
#[derive(Debug)]
pub struct TypedProgram {
    /// The module.
    pub module: Ref<IRModule>,
    /// Values for the parameters of `main`.
    pub arguments: Vec<Value>,
}
