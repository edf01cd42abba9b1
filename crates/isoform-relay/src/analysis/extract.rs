//! Parts of programs as separate programs.

use isoform::{Error, Map, Ref, Result, export, structural_hash};
use isoform_ir::ir::{IRModule, RelayExpr};

use super::post_order_visit;
use crate::passes::FuseOptions;
use crate::{AsExpr, Call, Function, Tuple, TupleGetItem, attribute, infer_type};

/// Returns a module whose `main` computes one expression of the `main` of the given
/// module: its free variables become parameters. Type definitions are kept.
///
/// Calls, tuples and items of tuples are numbered from 0 in post-order. Linear in the number
/// of expressions.
///
/// # Errors
///
/// `ValueError` without a `main`, or without an expression of this number.
pub fn extract_intermediate_expr(module: &Ref<IRModule>, id: usize) -> Result<Ref<IRModule>> {
    let main = main_of(module)?;
    let mut count = 0;
    let mut found = None;
    post_order_visit(&main.expr(), |expr| {
        if expr.isa::<Call>() || expr.isa::<Tuple>() || expr.isa::<TupleGetItem>() {
            if count == id {
                found = Some(expr.clone());
            }
            count += 1;
        }
        Ok(())
    })?;
    let Some(expr) = found else {
        return Err(Error::value_error(format!(
            "extract_intermediate_expr: expected the number of one of the {count} calls, tuples \
             and items of main, got {id}"
        )));
    };
    crate::module_from_expr(&expr, Default::default(), module.type_definitions.clone())
}

/// The kernels into which [`fuse_ops`](crate::passes::fuse_ops) splits the `main` of a module,
/// by their structural hashes: functions marked `Primitive`, including those that `main` has
/// already.
///
/// Types are inferred first. The cost is that of inference and of fusion, plus a hash of each
/// function.
///
/// # Errors
///
/// `ValueError` without a `main`; errors of [`infer_type`], of fusion and of hashing.
pub fn extract_fused_functions(module: &Ref<IRModule>) -> Result<Vec<(u64, Ref<Function>)>> {
    main_of(module)?;
    let main = main_of(&infer_type(module)?)?.expr();
    let fused = FuseOptions::default().fuse_ops_expr(&main)?;
    let mut found: Vec<Ref<Function>> = Vec::new();
    post_order_visit(&fused, |expr| {
        if let Some(func) = expr.downcast_ref::<Function>()
            && func.has_nonzero_attribute(attribute::PRIMITIVE)
        {
            found.push(func.clone());
        }
        Ok(())
    })?;
    let mut functions: Vec<(u64, Ref<Function>)> = Vec::new();
    let mut known = hashbrown::HashSet::new();
    for func in found {
        let hash = structural_hash(&func)?;
        if known.insert(hash) {
            functions.push((hash, func));
        }
    }
    Ok(functions)
}

fn main_of(module: &Ref<IRModule>) -> Result<Ref<Function>> {
    let main = module.lookup(&module.global_var("main")?)?;
    let Some(main) = main.downcast_ref::<Function>() else {
        return Err(Error::value_error(format!(
            "the function main: expected relay.Function, got {}",
            main.type_info().key()
        )));
    };
    Ok(main.clone())
}

/// Returns a module whose `main` computes one expression of the `main` of the given
/// module.
#[export("relay.analysis.extract_intermediate_expr")]
fn exported_extract_intermediate_expr(
    r#mod: &Ref<IRModule>,
    expr_id: i64,
) -> Result<Ref<IRModule>> {
    let id = usize::try_from(expr_id).map_err(|_| {
        Error::value_error(format!(
            "extract_intermediate_expr: expected a number that is not negative, got {expr_id}"
        ))
    })?;
    extract_intermediate_expr(r#mod, id)
}

/// The kernels of the `main` of a module after fusion, by their structural hashes.
#[export("relay.analysis.extract_fused_functions")]
fn exported_extract_fused_functions(r#mod: &Ref<IRModule>) -> Result<Map<i64, Ref<RelayExpr>>> {
    let functions = extract_fused_functions(r#mod)?.into_iter();
    Ok(functions
        .map(|(hash, func)| (hash as i64, func.expr()))
        .collect())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![
        exported_extract_intermediate_expr,
        exported_extract_fused_functions
    ]
}
