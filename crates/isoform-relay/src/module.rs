//! Modules made of expressions.

use isoform::values::Dict;
use isoform::{Ref, Result, Value, export};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{
    BaseFunc, GlobalTypeVar, GlobalVar, IRModule, NameSupply, RelayExpr, SourceMap, TypeData,
};
use isoform_ir::plumbing::globals;

use super::function::Function;

/// Returns the module with an expression as its entry point: a function, or an
/// expression made into a function with its free variables as parameters.
///
/// The function is named by its attribute `global_symbol`, or otherwise `main`, made
/// unique.
///
/// # Errors
///
/// `ValueError` if there is already a function named `global_symbol`.
pub fn module_from_expr(
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

/// The module with an expression as its entry point.
#[export("ir.IRModule.from_expr")]
fn from_expr(
    expr: &Ref<RelayExpr>,
    functions: Option<Value>,
    type_defs: Option<Value>,
) -> Result<Ref<IRModule>> {
    module_from_expr(
        expr,
        globals("functions", functions.as_ref())?,
        globals("type_definitions", type_defs.as_ref())?,
    )
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![from_expr]
}
