//! Applying a function to the functions of a module.

use crate::{AsExpr, Function};
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// The module with changed functions; the same module if no function changes.
///
/// Unwanted functions and functions outside of Relay are kept, and so are all other
/// parts of the module.
///
/// # Errors
///
/// The errors of `change`, with the name of the function.
pub(super) fn map_functions(
    module: &Ref<IRModule>,
    wanted: impl Fn(&Function) -> bool,
    mut change: impl FnMut(&Ref<RelayExpr>) -> Result<Ref<RelayExpr>>,
) -> Result<Ref<IRModule>> {
    let mut changed = Vec::new();
    for var in module.global_vars() {
        let func = module.lookup(&var)?;
        let Some(func) = func.downcast_ref::<Function>() else {
            continue;
        };
        if !wanted(func) {
            continue;
        }
        let noted = |error: Error| error.noted(format!("in function '{}'", var.name_hint));
        let result = change(&func.expr()).map_err(noted)?;
        if !result.same_as(func) {
            changed.push((var, result.cast::<Function>()?));
        }
    }
    if changed.is_empty() {
        return Ok(module.clone());
    }
    let copy = module.copied();
    for (var, func) in changed {
        // The function was admitted to the module, and passes keep programs well
        // formed.
        copy.functions.insert(var, func.upcast())?;
    }
    Ok(copy)
}
