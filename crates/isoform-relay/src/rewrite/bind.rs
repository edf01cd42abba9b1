//! Values for variables.

use hashbrown::{HashMap, HashSet};
use isoform::objects::with_field;
use isoform::traverse::substitute;
use isoform::values::Tensor;
use isoform::{Error, Map, Obj, Ref, Result, Str, Value, export};
use isoform_ir::ir::{RelayExpr, Type, TypeVar};
use rapidhash::fast::RandomState;

use crate::analysis::{bound_vars, free_vars};
use crate::{AsExpr, Constant, ExprRewriter, Function, Tuple, Var};

/// Replaces variables in an expression by values, inserted by reference.
///
/// Of a function, the variables are replaced in the body and are no longer parameters;
/// variables that the values bring in become parameters at the end. Everything else about
/// the function is kept, except for its checked type. An expression in which nothing is
/// replaced is returned itself. Variables of the program never capture those of values:
/// [`substitute`](isoform::traverse::substitute()) renames them. Linear in the number of objects.
///
/// ```
/// use isoform_relay::{AsExpr, Function, Tuple, Var, bind};
///
/// let [x, y, z] = ["x", "y", "z"].map(Var::new);
/// let func = Function::new([x.clone(), y.clone()], Tuple::new([x.expr(), y.expr()]));
/// let bound = bind(&func.expr(), &[(x, z.expr())])?;
/// let bound = bound.downcast_ref::<Function>().expect("a function");
/// assert!(bound.params.iter().eq([&y, &z]));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` for a variable that the expression, or the body of the function, binds
/// itself.
pub fn bind(expr: &Ref<RelayExpr>, binds: &[(Ref<Var>, Ref<RelayExpr>)]) -> Result<Ref<RelayExpr>> {
    let replaced: HashSet<u64, RandomState> = binds.iter().map(|(var, _)| var.identity()).collect();
    let func = expr.downcast_ref::<Function>();
    let inside = func.map_or_else(|| expr.clone(), |func| func.body.clone());
    let bound = bound_vars(&inside)?;
    if let Some(var) = bound.iter().find(|var| replaced.contains(&var.identity())) {
        return Err(Error::value_error(format!(
            "bind: Cannot bind an internal variable: %{} is bound inside of the expression",
            var.name_hint
        )));
    }
    let bound: HashSet<u64, RandomState> = bound.iter().map(Ref::identity).collect();
    let values: Vec<Ref<RelayExpr>> = binds.iter().map(|(_, value)| value.clone()).collect();
    let brought = free_vars(Tuple::new(values))?;
    let body = if brought.iter().any(|var| bound.contains(&var.identity())) {
        let pair = |(var, value): &(Ref<Var>, Ref<RelayExpr>)| (var.into(), value.into());
        let pairs: Vec<(Value, Value)> = binds.iter().map(pair).collect();
        substitute(inside.clone(), &pairs)?.extract()?
    } else {
        replace_free(&inside, binds)?
    };
    let Some(func) = func else {
        return Ok(body);
    };
    let kept = func
        .params
        .iter()
        .filter(|param| !replaced.contains(&param.identity()));
    let mut params: Vec<Ref<Var>> = kept.cloned().collect();
    if body.same_as(&func.body) && params.len() == func.params.len() {
        return Ok(expr.clone());
    }
    let open = func.with_body(body).with_params(params.clone());
    let before: HashSet<u64, RandomState> = free_vars(func)?.iter().map(Ref::identity).collect();
    let brought = free_vars(&open)?.into_iter();
    params.extend(brought.filter(|var| !before.contains(&var.identity())));
    let function = open.with_params(params);
    with_field(function.as_object(), "checked_type_", Value::NONE)?.cast()
}

/// Replaces variables that an expression does not bind by expressions whose free variables
/// it does not bind either. Types stay, so that types of inner functions go on to mention
/// type variables and sizes of the functions around.
pub(crate) fn replace_free(
    expr: &Ref<RelayExpr>,
    pairs: &[(Ref<Var>, Ref<RelayExpr>)],
) -> Result<Ref<RelayExpr>> {
    let images: HashMap<u64, &Ref<RelayExpr>, RandomState> = pairs
        .iter()
        .map(|(var, value)| (var.identity(), value))
        .collect();
    let image = |(): &mut (), var: &Ref<Var>, _: &Ref<Var>| {
        Ok(images.get(&var.identity()).map(|value| (*value).clone()))
    };
    ExprRewriter::new().on(image).rewrite(&mut (), expr)
}

/// Replaces the type variables of a type by types. Linear in the number of objects.
///
/// # Errors
///
/// As [`substitute`](isoform::traverse::substitute()).
pub fn bind_types(ty: &Ref<Type>, binds: &[(Ref<TypeVar>, Ref<Type>)]) -> Result<Ref<Type>> {
    let pairs: Vec<(Value, Value)> = binds
        .iter()
        .map(|(var, ty)| (var.into(), ty.into()))
        .collect();
    substitute(ty.clone(), &pairs)?.extract()
}

/// Replaces the parameters of a function with certain names by constants. Names without
/// a parameter are ignored. Linear in the number of objects.
///
/// # Errors
///
/// `ValueError` for a name of several parameters.
pub fn bind_params_by_name<'n>(
    func: &Ref<Function>,
    params: impl IntoIterator<Item = (&'n str, Tensor)>,
) -> Result<Ref<Function>> {
    let mut named: HashMap<&str, Option<&Ref<Var>>, RandomState> = HashMap::default();
    for param in func.params.iter() {
        let entry = named.entry(&param.name_hint);
        entry.and_modify(|var| *var = None).or_insert(Some(param));
    }
    let mut binds = Vec::new();
    for (name, data) in params {
        match named.get(name) {
            None => {}
            Some(Some(var)) => binds.push(((*var).clone(), Constant::new(data).expr())),
            Some(None) => {
                return Err(Error::value_error(format!(
                    "bind_params_by_name: Multiple args in the function have name {name:?}"
                )));
            }
        }
    }
    bind(&func.expr(), &binds)?.cast()
}

/// Replaces variables in an expression, or type variables in a type.
#[export("relay.ir.bind")]
fn exported_bind(expr: Ref<Obj>, binds: Map<Value, Value>) -> Result<Ref<Obj>> {
    let entries = binds.iter();
    if let Some(ty) = expr.downcast_ref::<Type>() {
        let pairs: Vec<_> = entries
            .map(|(var, ty)| Ok((var.extract()?, ty.extract()?)))
            .collect::<Result<_>>()?;
        return Ok(bind_types(ty, &pairs)?.into_object());
    }
    let pairs: Vec<_> = entries
        .map(|(var, value)| Ok((var.extract()?, value.extract()?)))
        .collect::<Result<_>>()?;
    Ok(bind(&expr.cast()?, &pairs)?.into_object())
}

/// Replaces the parameters of a function with certain names by constants.
#[export("relay.ir.bind_params_by_name")]
fn exported_bind_params(func: &Ref<Function>, params: Map<Str, Tensor>) -> Result<Ref<Function>> {
    let params = params.iter().map(|(name, data)| (&**name, data.clone()));
    bind_params_by_name(func, params)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_bind, exported_bind_params]
}
