//! Expressions made of other expressions: calls of operators and functions, and tuples.

use isoform::errors::ErrorKind;
use isoform::types::IntoField;
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, export};

use super::arguments::Overload;
use super::expr::Expr;
use super::node::Span;
use super::ty::{TupleType, Type, UnknownType};

/// An operator: equal to operators with the same name.
///
/// Its attributes are those of the operator of that name in the registry of
/// [`ir`](isoform_ir::ir::OpRegistry).
#[derive(Node)]
#[node(key = "pto.Op")]
#[repr(C)]
pub struct Op {
    /// The name.
    pub name: Str,
}

impl Op {
    /// The value of an attribute, if it is set on the operator of this name.
    pub fn attribute(&self, name: &str) -> Option<&'static Value> {
        isoform_ir::ir::Op::get(&self.name).ok()?.attribute(name)
    }

    /// The names of the attributes, sorted.
    pub fn attribute_names(&self) -> Vec<String> {
        let found = isoform_ir::ir::Op::get(&self.name);
        found.map_or_else(|_| Vec::new(), |op| op.attribute_names())
    }
}

/// The value of an attribute of the operator; KeyError if unset.
#[export("pto.Op.get_attr")]
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

/// True if the operator has the attribute.
#[export("pto.Op.has_attr")]
fn has_attr(this: &Ref<Op>, key: &str) -> bool {
    this.attribute(key).is_some()
}

/// The names of the attributes of the operator, sorted.
#[export("pto.Op.get_attr_keys")]
fn get_attr_keys(this: &Ref<Op>) -> Vec<String> {
    this.attribute_names()
}

/// The name of a function of a program, as a callee.
#[derive(Node)]
#[node(key = "pto.GlobalVar", init = make_global_var, no_new)]
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
#[export("pto.GlobalVar")]
fn make_global_var(name: Str) -> Ref<GlobalVar> {
    Ref::new(GlobalVar { base: Op { name } })
}

/// The call of an operator or of a function of the program.
#[derive(Node)]
#[node(key = "pto.Call", init = make_call, no_new)]
#[repr(C)]
pub struct Call {
    #[node(base)]
    base: Expr,
    /// The callee.
    pub op: Ref<Op>,
    /// The arguments.
    pub args: Array<Ref<Expr>>,
    /// The keyword arguments; their values are not expressions.
    #[node(default)]
    pub kwargs: Map<Str, Value>,
    /// Results of passes about the call.
    #[node(default)]
    pub attrs: Map<Str, Value>,
}

impl Call {
    /// The call with these arguments, of unknown type.
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

/// Makes a call. The positional arguments are followed, in any order, by the keyword
/// arguments, the type of the result and the source location.
#[export("pto.Call")]
fn make_call(
    op: Ref<Op>,
    args: Array<Ref<Expr>>,
    #[default = ()] kwargs: Value,
    #[default = ()] r#type: Value,
    #[default = ()] span: Value,
    #[default = ()] attrs: Value,
) -> Result<Ref<Call>> {
    let arguments = [
        ("kwargs", kwargs),
        ("type", r#type),
        ("span", span),
        ("attrs", attrs),
    ];
    let overload = Overload::sort("pto.Call", arguments)?;
    let ty = overload.ty.unwrap_or_else(|| UnknownType::new().upcast());
    Ok(Ref::new(Call {
        base: Expr::typed(ty, overload.span),
        op,
        args,
        kwargs: overload.kwargs.unwrap_or_default(),
        attrs: overload.attrs.unwrap_or_default(),
    }))
}

/// Several values as one.
#[derive(Node)]
#[node(key = "pto.MakeTuple", init = make_tuple, no_new)]
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

/// Makes a tuple; the type is the tuple of the types of the elements.
#[export("pto.MakeTuple")]
pub(super) fn make_tuple(elements: Array<Ref<Expr>>, span: Option<Ref<Span>>) -> Ref<MakeTuple> {
    let types: Vec<_> = elements.iter().map(|element| element.ty.clone()).collect();
    Ref::new(MakeTuple {
        base: Expr::typed(TupleType::new(types), span),
        elements,
    })
}

/// A value of a tuple.
#[derive(Node)]
#[node(key = "pto.TupleGetItemExpr", init = make_get_item, no_new)]
#[repr(C)]
pub struct TupleGetItemExpr {
    #[node(base)]
    base: Expr,
    /// The tuple.
    pub tuple: Ref<Expr>,
    /// The index of the value, from 0.
    pub index: i64,
}

impl TupleGetItemExpr {
    /// The value of a tuple at a position.
    ///
    /// # Errors
    ///
    /// `TypeError` if the expression is not a tuple, `ValueError` for a position
    /// outside of the tuple.
    pub fn new(tuple: impl IntoField<Ref<Expr>>, index: i64) -> Result<Ref<Self>> {
        make_get_item(tuple.into_field(), index, None)
    }
}

/// Takes a value out of a tuple.
#[export("pto.TupleGetItemExpr")]
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
    isoform::register_methods! { Op:
        get_attr = get_attr,
        has_attr = has_attr,
        get_attr_keys = get_attr_keys,
    }?;
    Ok(())
}
