//! Removal of uncalled functions.

use super::form::ByIdent;
use crate::analysis::call_graph::mentioned;
use isoform::{Ref, Result};
use isoform_ir::ir::{GlobalVar, IRModule};

/// Removes the functions that cannot be reached from the entries of a module through global
/// variables.
///
/// Functions of all languages are searched. The module is not changed; the result is the
/// same object if all functions are reached. Linear in the number of objects.
///
/// ```
/// use isoform_ir::ir::IRModuleRef;
/// use isoform_relay::passes::remove_unused_functions;
/// use isoform_relay::{Function, Tuple};
/// use isoform_ir::ir::{GlobalVar, IRModule};
///
/// let module = IRModule::new();
/// for name in ["main", "helper"] {
///     let func = Function::new([], Tuple::new([]));
///     module.update_func(&GlobalVar::new(name), func.upcast())?;
/// }
/// let main = remove_unused_functions(&module, &["main"])?;
/// assert_eq!((module.functions.len(), main.functions.len()), (2, 1));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` with the names of the functions, if an entry is unknown.
pub fn remove_unused_functions(module: &Ref<IRModule>, entries: &[&str]) -> Result<Ref<IRModule>> {
    let mut reached: ByIdent<()> = ByIdent::default();
    let mut stack: Vec<Ref<GlobalVar>> = Vec::new();
    for entry in entries {
        stack.push(module.global_var(entry)?);
    }
    while let Some(var) = stack.pop() {
        if reached.insert(var.identity(), ()).is_some() {
            continue;
        }
        // A variable that the module does not define is a function of something else.
        let Some(func) = module.functions.get(&var) else {
            continue;
        };
        stack.extend(mentioned(&func)?);
    }
    let vars = module.global_vars().into_iter();
    let unused: Vec<_> = vars
        .filter(|var| !reached.contains_key(&var.identity()))
        .collect();
    if unused.is_empty() {
        return Ok(module.clone());
    }
    let copy = module.copied();
    for var in unused {
        copy.functions.remove(&var);
    }
    Ok(copy)
}
