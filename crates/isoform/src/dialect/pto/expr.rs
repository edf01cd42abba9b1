//! Expressions besides operations on numbers: variables, literals, calls,
//! tuples.

use isoform_macros::{Node, export};

use super::arguments::Overload;
use super::datatype::{DataType, DataTypeObject};
use super::enums::MemorySpace;
use super::node::{IRNode, Span};
use super::ty::{ScalarType, ShapedType, TupleType, Type, UnknownType};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::convert::IntoField;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::types::Enumerator;
use crate::kernel::value::{Value, ValueRef};

/// The base of all expressions.
///
/// Numbers become literals where an expression is expected: a bool of type
/// BOOL, an int of type INT64, a float of type FP32.
#[derive(Node)]
#[node(key = "pto.Expr", convert = expr_from, no_new, crate = crate)]
#[repr(C)]
pub struct Expr {
    #[node(base, default)]
    base: IRNode,
    /// The type of its value.
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

    /// The fields of an expression whose value is a number of this format.
    pub fn scalar(dtype: impl IntoField<Enumerator<DataType>>, span: Option<Ref<Span>>) -> Self {
        Expr::typed(ScalarType::of(&dtype.into_field()), span)
    }

    /// The format of its value or of the elements of its value; None when its
    /// type has none.
    pub fn dtype(&self) -> Option<DataType> {
        if let Some(scalar) = self.ty.downcast_ref::<ScalarType>() {
            return Some(scalar.dtype.get());
        }
        let shaped = self.ty.downcast_ref::<ShapedType>()?;
        Some(shaped.dtype.get())
    }

    /// The format of its value, if that is a number.
    pub fn scalar_dtype(&self) -> Option<DataType> {
        let scalar = self.ty.downcast_ref::<ScalarType>()?;
        Some(scalar.dtype.get())
    }

    /// The buffer in which its value is, if that is known.
    pub fn memory_space(&self) -> Option<MemorySpace> {
        self.ty.downcast_ref::<ShapedType>()?.memory_space()
    }
}

/// The literal of a number.
#[export("pto.Expr.__ffi_convert__", crate = crate)]
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

/// The format of the value of an expression or of its elements; None when its
/// type has none.
#[export("pto.Expr.dtype", crate = crate)]
fn expr_dtype(this: &Ref<Expr>) -> Option<Ref<DataTypeObject>> {
    use crate::kernel::types::NodeEnum;
    this.dtype().map(NodeEnum::object)
}

/// A variable: equal by where it is bound, whatever its name.
#[derive(Node)]
#[node(key = "pto.Var", kind = var, init = make_var, no_new, crate = crate)]
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
#[export("pto.Var", crate = crate)]
pub(super) fn make_var(name_hint: Str, r#type: Ref<Type>, span: Option<Ref<Span>>) -> Ref<Var> {
    Ref::new(Var::of(name_hint, r#type, span))
}

/// A variable that a loop carries from one iteration to the next.
#[derive(Node)]
#[node(key = "pto.IterArg", kind = var, init = make_iter_arg, no_new, crate = crate)]
#[repr(C)]
pub struct IterArg {
    #[node(base)]
    base: Var,
    /// Its value in the first iteration, of which the loop defines nothing.
    #[node(uses)]
    pub init_value: Ref<Expr>,
}

impl IterArg {
    /// A variable that a loop carries, and its value in the first iteration.
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

/// Makes a variable that a loop carries.
#[export("pto.IterArg", crate = crate)]
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
#[node(key = "pto.ConstInt", init = make_const_int, no_new, crate = crate)]
#[repr(C)]
pub struct ConstInt {
    #[node(base)]
    base: Expr,
    /// The number.
    pub value: i64,
}

impl ConstInt {
    /// The literal of a number in a format, as it is said.
    pub fn new(value: i64, dtype: impl IntoField<Enumerator<DataType>>) -> Ref<Self> {
        make_const_int(value, dtype.into_field(), None)
    }
}

/// Makes an integer literal.
#[export("pto.ConstInt", crate = crate)]
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
#[node(key = "pto.ConstFloat", init = make_const_float, no_new, crate = crate)]
#[repr(C)]
pub struct ConstFloat {
    #[node(base)]
    base: Expr,
    /// The number.
    pub value: f64,
}

impl ConstFloat {
    /// The literal of a number in a format, as it is said.
    pub fn new(value: f64, dtype: impl IntoField<Enumerator<DataType>>) -> Ref<Self> {
        make_const_float(value, dtype.into_field(), None)
    }
}

/// Makes a float literal.
#[export("pto.ConstFloat", crate = crate)]
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
#[node(key = "pto.ConstBool", init = make_const_bool, no_new, crate = crate)]
#[repr(C)]
pub struct ConstBool {
    #[node(base)]
    base: Expr,
    /// Whether it is true.
    pub value: bool,
}

impl ConstBool {
    /// The literal of a truth value.
    pub fn new(value: bool) -> Ref<Self> {
        make_const_bool(value, None)
    }
}

/// Makes the literal of a truth value.
#[export("pto.ConstBool", crate = crate)]
pub(super) fn make_const_bool(value: bool, span: Option<Ref<Span>>) -> Ref<ConstBool> {
    Ref::new(ConstBool {
        base: Expr::scalar(DataType::Bool, span),
        value,
    })
}

/// An operator: equal to others of its name.
///
/// Its attributes are those of the operator of that name in the registry of
/// [`ir`](crate::ir::OpRegistry).
#[derive(Node)]
#[node(key = "pto.Op", crate = crate)]
#[repr(C)]
pub struct Op {
    /// The name.
    pub name: Str,
}

impl Op {
    /// The value of an attribute, if it is set on the operator of this name.
    pub fn attribute(&self, name: &str) -> Option<&'static Value> {
        crate::ir::Op::get(&self.name).ok()?.attribute(name)
    }

    /// The names of its attributes, sorted.
    pub fn attribute_names(&self) -> Vec<String> {
        let found = crate::ir::Op::get(&self.name);
        found.map_or_else(|_| Vec::new(), |op| op.attribute_names())
    }
}

/// The value of an attribute of the operator; KeyError when it is not set.
#[export("pto.Op.get_attr", crate = crate)]
fn get_attr(this: &Ref<Op>, key: &str) -> Result<Value> {
    this.attribute(key).cloned().ok_or_else(|| {
        let known = this.attribute_names();
        Error::new(
            ErrorKind::Key,
            format!(
                "operator {} has no attribute '{key}', expected one of {known:?}",
                this.name
            ),
        )
    })
}

/// Whether the operator has the attribute.
#[export("pto.Op.has_attr", crate = crate)]
fn has_attr(this: &Ref<Op>, key: &str) -> bool {
    this.attribute(key).is_some()
}

/// The names of the attributes of the operator, sorted.
#[export("pto.Op.get_attr_keys", crate = crate)]
fn get_attr_keys(this: &Ref<Op>) -> Vec<String> {
    this.attribute_names()
}

/// The name of a function of a program, as what is called.
#[derive(Node)]
#[node(key = "pto.GlobalVar", init = make_global_var, no_new, crate = crate)]
#[repr(C)]
pub struct GlobalVar {
    #[node(base)]
    base: Op,
}

impl GlobalVar {
    /// The name of a function.
    pub fn new(name: impl Into<Str>) -> Ref<Self> {
        make_global_var(name.into())
    }
}

/// Makes the name of a function.
#[export("pto.GlobalVar", crate = crate)]
fn make_global_var(name: Str) -> Ref<GlobalVar> {
    Ref::new(GlobalVar { base: Op { name } })
}

/// The call of an operator or of a function of the program.
#[derive(Node)]
#[node(key = "pto.Call", init = make_call, no_new, crate = crate)]
#[repr(C)]
pub struct Call {
    #[node(base)]
    base: Expr,
    /// What is called.
    pub op: Ref<Op>,
    /// The arguments.
    pub args: Array<Ref<Expr>>,
    /// The arguments by name, which are no expressions.
    #[node(default)]
    pub kwargs: Map<Str, Value>,
    /// What passes have found out about the call.
    #[node(default)]
    pub attrs: Map<Str, Value>,
}

impl Call {
    /// The call with these arguments, whose type is not known.
    pub fn new(op: impl IntoField<Ref<Op>>, args: impl IntoField<Array<Ref<Expr>>>) -> Ref<Self> {
        Call::typed(op, args, UnknownType::new())
    }

    /// The call with these arguments and a result of this type.
    pub fn typed(
        op: impl IntoField<Ref<Op>>,
        args: impl IntoField<Array<Ref<Expr>>>,
        ty: impl IntoField<Ref<Type>>,
    ) -> Ref<Self> {
        Ref::new(Call {
            base: Expr::typed(ty, None),
            op: op.into_field(),
            args: args.into_field(),
            kwargs: Map::new(),
            attrs: Map::new(),
        })
    }
}

/// Makes a call. Behind the arguments come, in any order, the arguments by
/// name, the type of the result and the place in the source text.
#[export("pto.Call", crate = crate)]
fn make_call(
    op: Ref<Op>,
    args: Array<Ref<Expr>>,
    #[default = ()] kwargs: Value,
    #[default = ()] r#type: Value,
    #[default = ()] span: Value,
    #[default = ()] attrs: Value,
) -> Result<Ref<Call>> {
    let given = [
        ("kwargs", kwargs),
        ("type", r#type),
        ("span", span),
        ("attrs", attrs),
    ];
    let given = Overload::sort("pto.Call", given)?;
    let ty = given.ty.unwrap_or_else(|| UnknownType::new().upcast());
    Ok(Ref::new(Call {
        base: Expr::typed(ty, given.span),
        op,
        args,
        kwargs: given.kwargs.unwrap_or_default(),
        attrs: given.attrs.unwrap_or_default(),
    }))
}

/// Several values as one.
#[derive(Node)]
#[node(key = "pto.MakeTuple", init = make_tuple, no_new, crate = crate)]
#[repr(C)]
pub struct MakeTuple {
    #[node(base)]
    base: Expr,
    /// The values.
    pub elements: Array<Ref<Expr>>,
}

impl MakeTuple {
    /// The tuple of these values.
    pub fn new(elements: impl IntoField<Array<Ref<Expr>>>) -> Ref<Self> {
        make_tuple(elements.into_field(), None)
    }
}

/// Makes a tuple, whose type is that of the types of its elements.
#[export("pto.MakeTuple", crate = crate)]
pub(super) fn make_tuple(elements: Array<Ref<Expr>>, span: Option<Ref<Span>>) -> Ref<MakeTuple> {
    let types: Vec<_> = elements.iter().map(|element| element.ty.clone()).collect();
    Ref::new(MakeTuple {
        base: Expr::typed(TupleType::new(types), span),
        elements,
    })
}

/// A value of a tuple.
#[derive(Node)]
#[node(key = "pto.TupleGetItemExpr", init = make_get_item, no_new, crate = crate)]
#[repr(C)]
pub struct TupleGetItemExpr {
    #[node(base)]
    base: Expr,
    /// The tuple.
    pub tuple: Ref<Expr>,
    /// Which of its values, from 0.
    pub index: i64,
}

impl TupleGetItemExpr {
    /// The value of a tuple at a position.
    ///
    /// # Errors
    ///
    /// `TypeError` when the expression is no tuple, `ValueError` when it has
    /// no such position.
    pub fn new(tuple: impl IntoField<Ref<Expr>>, index: i64) -> Result<Ref<Self>> {
        make_get_item(tuple.into_field(), index, None)
    }
}

/// Takes a value out of a tuple.
#[export("pto.TupleGetItemExpr", crate = crate)]
pub(super) fn make_get_item(
    tuple: Ref<Expr>,
    index: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<TupleGetItemExpr>> {
    let Some(types) = tuple.ty.downcast_ref::<TupleType>() else {
        return Err(Error::type_error(format!(
            "pto.TupleGetItemExpr.tuple: expected an expression of type pto.TupleType, got {}",
            tuple.ty.type_info().key()
        )));
    };
    let position = usize::try_from(index).ok();
    let Some(ty) = position.and_then(|position| types.types.get(position)) else {
        return Err(Error::value_error(format!(
            "pto.TupleGetItemExpr.index: expected a position in a tuple of {}, got {index}",
            types.types.len()
        )));
    };
    let base = Expr::typed(ty, span);
    Ok(Ref::new(TupleGetItemExpr { base, tuple, index }))
}

pub(super) fn register() -> Result<()> {
    crate::ir::types![
        Expr,
        Var,
        IterArg,
        ConstInt,
        ConstFloat,
        ConstBool,
        Op,
        GlobalVar,
        Call,
        MakeTuple,
        TupleGetItemExpr,
    ];
    crate::ir::methods! { Op:
        get_attr = get_attr,
        has_attr = has_attr,
        get_attr_keys = get_attr_keys,
    }
    crate::ir::functions![expr_dtype]
}
