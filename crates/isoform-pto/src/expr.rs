//! The base of expressions, and the expressions without operands: variables and
//! literals.

use isoform::types::{Enumerator, IntoField};
use isoform::values::ValueRef;
use isoform::{Error, Node, Ref, Result, Str, Value, export};

use super::datatype::{DataType, DataTypeObject};
use super::node::{IRNode, Span};
use super::ty::{ScalarType, Type};

/// The base of all expressions.
///
/// Numbers become literals where an expression is expected: a bool of type
/// BOOL, an int of type INT64, a float of type FP32.
#[derive(Node)]
#[node(key = "pto.Expr", convert = expr_from, no_new)]
#[repr(C)]
pub struct Expr {
    #[node(base, default)]
    base: IRNode,
    /// The type of the value.
    #[node(name = "type")]
    pub ty: Ref<Type>,
}

impl Expr {
    /// The fields of an expression of this type.
    pub fn typed(ty: impl IntoField<Ref<Type>>, span: Option<Ref<Span>>) -> Self {
        Expr {
            base: IRNode::at(span),
            ty: ty.into_field(),
        }
    }

    /// The fields of an expression with a number of this format as value.
    pub fn scalar(dtype: impl IntoField<Enumerator<DataType>>, span: Option<Ref<Span>>) -> Self {
        Expr::typed(ScalarType::of(&dtype.into_field()), span)
    }

    /// The format of the value, if the value is a number.
    pub fn scalar_dtype(&self) -> Option<DataType> {
        let scalar = self.ty.downcast_ref::<ScalarType>()?;
        Some(scalar.dtype.get())
    }
}

/// The literal of a number.
#[export("pto.Expr.__ffi_convert__")]
fn expr_from(value: Value) -> Result<Ref<Expr>> {
    match value.view() {
        ValueRef::Bool(value) => Ok(ConstBool::new(value).upcast()),
        ValueRef::Int(value) => Ok(ConstInt::new(value, DataType::DEFAULT_CONST_INT).upcast()),
        ValueRef::Float(value) => {
            Ok(ConstFloat::new(value, DataType::DEFAULT_CONST_FLOAT).upcast())
        }
        _ => Err(Error::type_error(format!(
            "expected pto.Expr or a number, got {}",
            value.type_name()
        ))),
    }
}

/// A variable, identified by its binding; the name is ignored.
#[derive(Node)]
#[node(key = "pto.Var", kind = var, init = make_var, no_new)]
#[repr(C)]
pub struct Var {
    #[node(base)]
    base: Expr,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
}

impl Var {
    /// A variable of a type.
    pub fn new(name_hint: impl Into<Str>, ty: impl IntoField<Ref<Type>>) -> Ref<Var> {
        Ref::new(Var::of(name_hint.into(), ty.into_field(), None))
    }

    /// The fields of a variable of a type.
    pub(super) fn of(name_hint: Str, ty: Ref<Type>, span: Option<Ref<Span>>) -> Var {
        Var {
            base: Expr::typed(ty, span),
            name_hint,
        }
    }
}

/// Makes a variable; the name is only a hint.
#[export("pto.Var")]
pub(super) fn make_var(name_hint: Str, r#type: Ref<Type>, span: Option<Ref<Span>>) -> Ref<Var> {
    Ref::new(Var::of(name_hint, r#type, span))
}

/// A variable carried by a loop from one iteration to the next.
#[derive(Node)]
#[node(key = "pto.IterArg", kind = var, init = make_iter_arg, no_new)]
#[repr(C)]
pub struct IterArg {
    #[node(base)]
    base: Var,
    /// The value in the first iteration; the value is outside of the loop's scope.
    #[node(uses)]
    pub init_value: Ref<Expr>,
}

impl IterArg {
    /// A variable carried by a loop, and the value in the first iteration.
    pub fn new(
        name_hint: impl Into<Str>,
        ty: impl IntoField<Ref<Type>>,
        init_value: impl IntoField<Ref<Expr>>,
    ) -> Ref<IterArg> {
        Ref::new(IterArg {
            base: Var::of(name_hint.into(), ty.into_field(), None),
            init_value: init_value.into_field(),
        })
    }
}

/// Makes a variable carried by a loop.
#[export("pto.IterArg")]
#[allow(non_snake_case, reason = "the name is that of the parameter in Python")]
pub(super) fn make_iter_arg(
    name_hint: Str,
    r#type: Ref<Type>,
    initValue: Ref<Expr>,
    span: Option<Ref<Span>>,
) -> Ref<IterArg> {
    Ref::new(IterArg {
        base: Var::of(name_hint, r#type, span),
        init_value: initValue,
    })
}

/// An integer literal.
#[derive(Node)]
#[node(key = "pto.ConstInt", init = make_const_int, no_new)]
#[repr(C)]
pub struct ConstInt {
    #[node(base)]
    base: Expr,
    /// The number.
    pub value: i64,
}

impl ConstInt {
    /// The literal of a number in a format, without conversion.
    pub fn new(value: i64, dtype: impl IntoField<Enumerator<DataType>>) -> Ref<Self> {
        make_const_int(value, dtype.into_field(), None)
    }
}

/// Makes an integer literal.
#[export("pto.ConstInt")]
pub(super) fn make_const_int(
    value: i64,
    dtype: Ref<DataTypeObject>,
    span: Option<Ref<Span>>,
) -> Ref<ConstInt> {
    Ref::new(ConstInt {
        base: Expr::scalar(dtype, span),
        value,
    })
}

/// A float literal.
#[derive(Node)]
#[node(key = "pto.ConstFloat", init = make_const_float, no_new)]
#[repr(C)]
pub struct ConstFloat {
    #[node(base)]
    base: Expr,
    /// The number.
    pub value: f64,
}

impl ConstFloat {
    /// The literal of a number in a format, without conversion.
    pub fn new(value: f64, dtype: impl IntoField<Enumerator<DataType>>) -> Ref<Self> {
        make_const_float(value, dtype.into_field(), None)
    }
}

/// Makes a float literal.
#[export("pto.ConstFloat")]
pub(super) fn make_const_float(
    value: f64,
    dtype: Ref<DataTypeObject>,
    span: Option<Ref<Span>>,
) -> Ref<ConstFloat> {
    Ref::new(ConstFloat {
        base: Expr::scalar(dtype, span),
        value,
    })
}

/// A truth value.
#[derive(Node)]
#[node(key = "pto.ConstBool", init = make_const_bool, no_new)]
#[repr(C)]
pub struct ConstBool {
    #[node(base)]
    base: Expr,
    /// The truth value.
    pub value: bool,
}

impl ConstBool {
    /// The literal of a truth value.
    pub fn new(value: bool) -> Ref<Self> {
        make_const_bool(value, None)
    }
}

/// Makes the literal of a truth value.
#[export("pto.ConstBool")]
pub(super) fn make_const_bool(value: bool, span: Option<Ref<Span>>) -> Ref<ConstBool> {
    Ref::new(ConstBool {
        base: Expr::scalar(DataType::Bool, span),
        value,
    })
}
