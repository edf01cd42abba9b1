//! A graph IR of tensors, with the classic names: variables, calls, functions.
//!
//! Expressions other than constants are of kind `dag`: computing a value once
//! and using it twice is not the same program as computing it twice.

use isoform_macros::{Node, export};

use crate::ir::module::globals;
use crate::ir::{
    Attrs, BaseFunc, DictAttrs, GlobalTypeVar, GlobalVar, IRModule, NameSupply, RelayExpr,
    SourceMap, Span, Type, TypeData, TypeVar,
};
use crate::kernel::container::{Array, Dict, Str};
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::{WalkOptions, WalkOrder, WalkResult};

isoform_macros::dialect! {
    "relay", crate = crate;
    use self::{Var, Call, Function};
}

/// A variable.
#[derive(Node)]
#[node(key = "relay.Var", kind = var, init = make_var, crate = crate)]
#[repr(C)]
pub struct Var {
    #[node(base, default)]
    base: RelayExpr,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
    /// The type of its value, if it was written down.
    #[node(default)]
    pub type_annotation: Option<Ref<Type>>,
}

/// Makes a variable; the name is only a hint.
#[export("relay.Var", crate = crate)]
fn make_var(
    name_hint: Str,
    type_annotation: Option<Ref<Type>>,
    span: Option<Ref<Span>>,
) -> Ref<Var> {
    Ref::new(Var {
        base: RelayExpr::typed(None, span),
        name_hint,
        type_annotation,
    })
}

/// The call of an operator, a function or a constructor.
#[derive(Node)]
#[node(key = "relay.Call", kind = dag, init = make_call, crate = crate)]
#[repr(C)]
pub struct Call {
    #[node(base, default)]
    base: RelayExpr,
    /// The callee.
    pub op: Ref<RelayExpr>,
    /// The arguments.
    pub args: Array<Ref<RelayExpr>>,
    /// The attributes of an operator.
    #[node(default)]
    pub attrs: Option<Ref<Attrs>>,
    /// The arguments for the type parameters of a function.
    #[node(default)]
    pub type_args: Array<Ref<Type>>,
}

/// Makes a call.
#[export("relay.Call", crate = crate)]
fn make_call(
    op: Ref<RelayExpr>,
    args: Array<Ref<RelayExpr>>,
    attrs: Option<Ref<Attrs>>,
    type_args: Option<Array<Ref<Type>>>,
    span: Option<Ref<Span>>,
) -> Ref<Call> {
    Ref::new(Call {
        base: RelayExpr::typed(None, span),
        op,
        args,
        attrs,
        type_args: type_args.unwrap_or_default(),
    })
}

/// A function: its parameters are bound in it, and only in it.
#[derive(Node)]
#[node(key = "relay.Function", kind = dag, scope, init = make_function, no_new, crate = crate)]
#[repr(C)]
pub struct Function {
    #[node(base)]
    base: BaseFunc,
    /// The parameters.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The result.
    pub body: Ref<RelayExpr>,
    /// The type of the result, if it was written down.
    pub ret_type: Option<Ref<Type>>,
    /// The parameters of its type.
    #[node(def)]
    pub type_params: Array<Ref<TypeVar>>,
}

impl Function {
    /// Returns the function with an expression as its body, and the free variables and
    /// type variables of the expression as parameters, in order of occurrence.
    ///
    /// # Errors
    ///
    /// As a walk of the expression.
    pub fn closing(body: &Ref<RelayExpr>) -> Result<Ref<Function>> {
        let (params, type_params) = (free(body)?, free(body)?);
        Ok(make_function(
            params,
            body.clone(),
            None,
            Some(type_params),
            None,
            None,
        ))
    }
}

/// The variables of a type that an expression uses without binding them, in order of
/// occurrence.
fn free<T: Node>(body: &Ref<RelayExpr>) -> Result<Array<Ref<T>>> {
    let mut found = Vec::new();
    // Definitions come first, so a bound variable is visited where it is bound.
    let options = WalkOptions::default().order(WalkOrder::Pre);
    options.walk_objects(body, |object: &Ref<Obj>, region| {
        if let (RegionKind::Use, Some(var)) = (region, object.downcast_ref::<T>()) {
            found.push(var.clone());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found.into())
}

/// Makes a function.
#[export("relay.Function", crate = crate)]
fn make_function(
    params: Array<Ref<Var>>,
    body: Ref<RelayExpr>,
    ret_type: Option<Ref<Type>>,
    type_params: Option<Array<Ref<TypeVar>>>,
    attrs: Option<Ref<DictAttrs>>,
    span: Option<Ref<Span>>,
) -> Ref<Function> {
    Ref::new(Function {
        base: BaseFunc::with_parts(attrs, span),
        params,
        body,
        ret_type,
        type_params: type_params.unwrap_or_default(),
    })
}

impl Ref<IRModule> {
    /// Returns the module with an expression as its entry point: a function, or an
    /// expression that becomes one with its free variables as parameters.
    ///
    /// The function is named by its attribute `global_symbol`, or otherwise `main`, made
    /// unique.
    ///
    /// # Errors
    ///
    /// `ValueError` if there is already a function named `global_symbol`.
    pub fn from_expr(
        expr: &Ref<RelayExpr>,
        functions: Dict<Ref<GlobalVar>, Ref<BaseFunc>>,
        type_definitions: Dict<Ref<GlobalTypeVar>, Ref<TypeData>>,
    ) -> Result<Ref<IRModule>> {
        let module = Ref::new(IRModule {
            functions,
            type_definitions,
            attrs: None,
            global_infos: Dict::new(),
            source_map: SourceMap::new(),
        });
        let func = match expr.downcast_ref::<BaseFunc>() {
            Some(func) => func.clone(),
            None => Function::closing(expr)?.upcast(),
        };
        let symbol = func.attribute("global_symbol").and_then(Value::as_str);
        let name = match symbol {
            Some(symbol) => symbol.to_owned(),
            None => {
                let supply = NameSupply::new();
                for var in module.global_vars() {
                    supply.reserve_name(&var.name_hint, false)?;
                }
                supply.fresh_name("main", false, true)?
            }
        };
        module.update_func(&GlobalVar::new(&*name), func)?;
        Ok(module)
    }
}

/// The module with an expression as its entry point.
#[export("ir.IRModule.from_expr", crate = crate)]
fn from_expr(
    expr: &Ref<RelayExpr>,
    functions: Option<Value>,
    type_defs: Option<Value>,
) -> Result<Ref<IRModule>> {
    Ref::<IRModule>::from_expr(
        expr,
        globals("functions", functions.as_ref())?,
        globals("type_definitions", type_defs.as_ref())?,
    )
}

/// Registers the node types of this module.
///
/// # Errors
///
/// `ValueError` if another definition owns one of the keys.
pub fn register() -> Result<()> {
    register_types()?;
    crate::ir::functions![from_expr]
}
