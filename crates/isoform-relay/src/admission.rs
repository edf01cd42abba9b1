//! Checks and conversions of expressions added to modules.

use isoform::{Array, Error, Node, Ref, Result, attrs, export};
use isoform_ir::ir::{ADMIT, BaseFunc, GlobalVar, IRModule, RelayExpr};

use super::analysis::{check_well_formed, free_vars, type_vars};
use super::call::Call;
use super::expr::{AsExpr, ExprWithOp};
use super::function::Function;
use super::rewrite::dedup;

/// Returns a function for a module: the function is well formed, and has no free
/// variables or type variables.
#[export("relay.ir.Function.admit")]
fn admit_function(
    func: Ref<Function>,
    var: Ref<GlobalVar>,
    module: Ref<IRModule>,
) -> Result<Ref<BaseFunc>> {
    let refused = |why: String| {
        Error::value_error(format!(
            "ir.IRModule: the function @{}: {why}",
            var.name_hint
        ))
    };
    let expr = func.expr();
    check_well_formed(&expr).map_err(|error| refused(error.message().to_owned()))?;
    if let Some(free) = free_vars(&expr)?.first() {
        return Err(refused(format!(
            "expected no free variables, got %{}; make it a parameter",
            free.name_hint
        )));
    }
    if let Some(free) = type_vars(&expr, Some(&module))?.free().first() {
        return Err(refused(format!(
            "expected no free type variables, got {}; make it a type parameter",
            free.name_hint
        )));
    }
    Ok(func.upcast())
}

/// Returns the function without parameters for computing an expression.
#[export("relay.ir.admit_expr")]
fn admit_expr(
    expr: Ref<RelayExpr>,
    var: Ref<GlobalVar>,
    module: Ref<IRModule>,
) -> Result<Ref<BaseFunc>> {
    admit_function(Function::new([], expr), var, module)
}

/// Returns the function that calls a function of the module: another name for the
/// function.
#[export("relay.ir.admit_global_var")]
fn admit_global_var(
    callee: Ref<GlobalVar>,
    var: Ref<GlobalVar>,
    module: Ref<IRModule>,
) -> Result<Ref<BaseFunc>> {
    let base_func = module.lookup(&callee)?;
    let Some(func) = base_func.downcast_ref::<Function>() else {
        return Err(Error::type_error(format!(
            "ir.IRModule: the function @{}: expected the variable of a relay.Function, got that \
             of {}",
            var.name_hint,
            base_func.type_info().key()
        )));
    };
    // The copy has fresh variables, and keeps types and type parameters.
    let copy: Ref<Function> = dedup(&func.with_body(&callee).expr())?.cast()?;
    let args: Array<Ref<RelayExpr>> = copy.params.iter().map(AsExpr::expr).collect();
    let types: Array<_> = copy
        .type_params
        .iter()
        .map(|param| param.clone().upcast())
        .collect();
    let call = Call::new(&callee, args).with_type_args(types);
    Ok(copy.with_body(call).upcast())
}

pub(super) fn register() -> Result<()> {
    attrs::replace(Function::type_index(), ADMIT, admit_function::function())?;
    attrs::replace(ExprWithOp::type_index(), ADMIT, admit_expr::function())?;
    attrs::replace(GlobalVar::type_index(), ADMIT, admit_global_var::function())?;
    isoform::register_functions![admit_function, admit_expr, admit_global_var]
}
