//! The base of the expressions, constants and tuples.
//!
//! The empty tuple is a separate type (`EmptyTuple`), because its kind differs: it is a
//! `tree`.

use isoform::types::{IntoField, IsA};
use isoform::values::{DType, Tensor};
use isoform::{Array, Error, Node, Ref, Result, export};
use isoform_ir::ir::{RelayExpr, Span, TensorType, Type};

/// The base of the expressions that have operators in Python: all but functions and
/// global variables.
#[derive(Node, Default)]
#[node(key = "relay.ExprWithOp")]
#[repr(C)]
pub struct ExprWithOp {
    #[node(base, default)]
    base: RelayExpr,
}

impl ExprWithOp {
    /// The fields of an expression at a place.
    pub(super) fn at(span: Option<Ref<Span>>) -> Self {
        ExprWithOp {
            base: RelayExpr::typed(None, span),
        }
    }

    /// The fields of an expression with a possibly known type.
    pub(super) fn typed(checked_type: Option<Ref<Type>>, span: Option<Ref<Span>>) -> Self {
        ExprWithOp {
            base: RelayExpr::typed(checked_type, span),
        }
    }
}

/// Expressions of any type in the form expected by constructors.
///
/// ```
/// use isoform_relay::{AsExpr, Tuple, Var};
///
/// let (x, y) = (Var::new("x"), Tuple::new([]));
/// assert_eq!(Tuple::new([x.expr(), y.expr()]).fields.len(), 2);
/// ```
pub trait AsExpr {
    /// The node as an expression. O(1).
    fn expr(&self) -> Ref<RelayExpr>;
}

impl<T: IsA<RelayExpr>> AsExpr for Ref<T> {
    fn expr(&self) -> Ref<RelayExpr> {
        T::upcast_to(self.clone())
    }
}

/// A tensor known at compile time.
///
/// Two constants are equal if data type, shape and contents are.
#[derive(Node)]
#[node(key = "relay.Constant", init = make_constant)]
#[repr(C)]
pub struct Constant {
    #[node(base, default)]
    base: ExprWithOp,
    /// The tensor.
    pub data: Tensor,
}

impl Constant {
    /// A constant made by a pass in place of an expression, with its type and span.
    pub(super) fn typed(
        data: Tensor,
        checked_type: Option<Ref<Type>>,
        span: Option<Ref<Span>>,
    ) -> Ref<Constant> {
        Ref::new(Constant {
            base: ExprWithOp::typed(checked_type, span),
            data,
        })
    }

    /// The type of the tensor.
    pub fn tensor_type(&self) -> Result<Ref<TensorType>> {
        let sizes: Vec<_> = self
            .data
            .shape()
            .iter()
            .map(|size| {
                let size = i32::try_from(*size).map_err(|_| {
                    Error::value_error(format!(
                        "relay.Constant: expected dimensions that fit in int32, got {size}"
                    ))
                })?;
                Ok(isoform_ir::ir::IntImm::new(DType::INT32, size.into())?.upcast())
            })
            .collect::<Result<_>>()?;
        Ok(TensorType::new(sizes).with_dtype(self.data.dtype()))
    }

    /// True if the tensor has no dimensions.
    pub fn is_scalar(&self) -> bool {
        self.data.shape().is_empty()
    }
}

/// Makes a constant.
#[export("relay.Constant")]
fn make_constant(data: Tensor, span: Option<Ref<Span>>) -> Ref<Constant> {
    Ref::new(Constant {
        base: ExprWithOp::at(span),
        data,
    })
}

#[export("relay.ir.Constant.tensor_type")]
fn constant_tensor_type(this: &Ref<Constant>) -> Result<Ref<TensorType>> {
    this.tensor_type()
}

/// Several values.
///
/// The constructor returns an [`EmptyTuple`] for a tuple without fields.
#[derive(Node)]
#[node(key = "relay.Tuple", kind = dag, init = make_tuple, no_new)]
#[repr(C)]
pub struct Tuple {
    #[node(base)]
    base: ExprWithOp,
    /// The values.
    pub fields: Array<Ref<RelayExpr>>,
}

impl Tuple {
    /// A tuple of these values.
    pub fn new(fields: impl IntoField<Array<Ref<RelayExpr>>>) -> Ref<Tuple> {
        make_tuple(fields.into_field(), None)
    }

    /// A tuple made by a pass in place of an expression, with its type and span.
    pub(super) fn typed(
        fields: Vec<Ref<RelayExpr>>,
        checked_type: Option<Ref<Type>>,
        span: Option<Ref<Span>>,
    ) -> Ref<Tuple> {
        let base = ExprWithOp::typed(checked_type, span);
        let fields: Array<_> = fields.into();
        if fields.is_empty() {
            Ref::new(EmptyTuple {
                base: Tuple { base, fields },
            })
            .upcast()
        } else {
            Ref::new(Tuple { base, fields })
        }
    }
}

/// Makes a tuple.
#[export("relay.Tuple")]
fn make_tuple(fields: Array<Ref<RelayExpr>>, span: Option<Ref<Span>>) -> Ref<Tuple> {
    if fields.is_empty() {
        make_empty_tuple(span).upcast()
    } else {
        Ref::new(Tuple {
            base: ExprWithOp::at(span),
            fields,
        })
    }
}

/// The tuple without fields.
///
/// Acts like a constant: sharing makes no difference.
#[derive(Node)]
#[node(key = "relay.EmptyTuple", init = make_empty_tuple, no_new)]
#[repr(C)]
pub struct EmptyTuple {
    #[node(base)]
    base: Tuple,
}

/// Makes the tuple without fields.
#[export("relay.EmptyTuple")]
fn make_empty_tuple(span: Option<Ref<Span>>) -> Ref<EmptyTuple> {
    Ref::new(EmptyTuple {
        base: Tuple {
            base: ExprWithOp::at(span),
            fields: Array::new(),
        },
    })
}

/// One value of a tuple.
///
/// Sharing makes no difference: taking a value twice repeats no computation.
#[derive(Node)]
#[node(key = "relay.TupleGetItem", init = make_tuple_get_item)]
#[node(attrs("visit.name" = "tuple_getitem"))]
#[repr(C)]
pub struct TupleGetItem {
    #[node(base, default)]
    base: ExprWithOp,
    /// The tuple.
    pub tuple_value: Ref<RelayExpr>,
    /// The position of the value, from 0.
    pub index: i64,
}

/// Makes the expression for one value of a tuple.
#[export("relay.TupleGetItem")]
fn make_tuple_get_item(
    tuple_value: Ref<RelayExpr>,
    index: i64,
    span: Option<Ref<Span>>,
) -> Ref<TupleGetItem> {
    Ref::new(TupleGetItem {
        base: ExprWithOp::at(span),
        tuple_value,
        index,
    })
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![constant_tensor_type]
}
