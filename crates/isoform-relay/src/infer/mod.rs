//! Type inference.
//!
//! The type of an expression follows from the types of its parts. An unknown type is a
//! hole. Operators are relations between the types of arguments and results; a relation
//! is asked as soon as its arguments are known, and again when more types are known. No
//! step is recursive, and the work is linear in the size of the program and its types,
//! times the number of calls of relations.
//!
//! | file | job |
//! |---|---|
//! | `collect.rs` | the types of expressions, from the innermost outwards |
//! | `calls.rs`, `patterns.rs` | those of calls, and of matches |
//! | `types.rs`, `unify.rs` | holes, and making two types the same |
//! | `known.rs` | which types are equal or have holes, remembered |
//! | `relations.rs` | relations that wait for types |
//! | `escapes.rs` | type variables outside of the functions that bind them |
//! | `rebuild.rs` | the program with its types |
//! | `problems.rs` | messages with the place in the source or in the text of the program |
//!
//! Inference of a module with complete types returns the same module.
//!
//! Absent: the types of global variables. The nodes are shared and immutable, so the
//! type of a function is the type of its definition.

mod calls;
mod collect;
mod escapes;
mod known;
mod patterns;
mod problems;
mod rebuild;
mod relations;
mod types;
mod unify;

use isoform::types::IntoField;
use isoform::{Error, Ref, Result, export};
use isoform_ir::ir::{IRModule, RelayExpr, Type};

use self::collect::{Inference, functions_of};
use crate::AsExpr;

/// Finds the types of all expressions of a module.
///
/// The result is a module whose expressions have their types
/// ([`RelayExpr::checked_type`](isoform_ir::ir::RelayExpr::checked_type)), whose variables and
/// functions have annotations, and whose calls have type arguments. Nodes whose types are
/// already right stay the same objects; if that holds for all of them, the result is the
/// module itself.
///
/// * Parameters without an annotation get the type required by their uses. A variable
///   whose annotation is complete stays the same object.
/// * Operators and names of functions have no type, because programs share them. The
///   type of a function is the type of its definition.
/// * An unknown size ([`Any`](super::Any)) fits every size, and stays unknown. A
///   symbolic size fits every number.
/// * A function with type parameters may be called with different types; a call has the
///   chosen types as its type arguments. An argument, result or branch of a function type
///   without type parameters may be such a function, too. Outside of the function, no type
///   may mention the type parameters.
///
/// Linear in the size of the module and its types, and in the number of calls of
/// operators' relations. A relation is called once if all inputs are known, otherwise
/// at most once more per input.
///
/// # Errors
///
/// `DiagnosticError` with all problems and their places in the source text or in the
/// text of the function.
///
/// ```
/// use isoform_ir::ir::IRModuleRef;
/// use isoform_relay::attrs::BiasAddAttrs;
/// use isoform_relay::{Function, Var, infer_type, op};
/// use isoform_ir::ir::{GlobalVar, IRModule, TensorType};
/// use isoform_ir::tir;
/// use isoform::values::DType;
///
/// let vector = TensorType::new([tir::constant(DType::INT32, 3)?]);
/// let (x, y) = (Var::typed("x", &vector), Var::new("y"));
/// let sum = op::bias_add(&x, &y, BiasAddAttrs::new().with_axis(0));
/// let main = Function::new([x, y], sum);
/// let module = IRModule::new();
/// let name = GlobalVar::new("main");
/// module.update_func(&name, main.upcast())?;
/// let typed = infer_type(&module)?;
/// let main: isoform::Ref<Function> = typed.lookup(&name)?.cast()?;
/// let y = main.params.get(1).expect("there are two parameters");
/// assert!(isoform::structural_equal(y.checked_type()?, &vector)?);
/// assert!(infer_type(&typed)?.same_as(&typed));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn infer_type(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let functions = functions_of(module)?;
    let mut inference = Inference::new(module);
    for (var, function) in &functions {
        inference.add_root(Some(var.name_hint.to_string()), function.expr())?;
    }
    inference.run()?;
    let made = finished(inference)?;
    let is_new = |(old, new): (&Ref<RelayExpr>, &Ref<RelayExpr>)| !old.same_as(new);
    let old: Vec<Ref<RelayExpr>> = functions.iter().map(|(_, old)| old.expr()).collect();
    if !old.iter().zip(&made).any(is_new) {
        return Ok(module.clone());
    }
    let copy = module.copied();
    for ((var, _), function) in functions.iter().zip(made) {
        // The function was admitted to the module, and has only more types since then.
        copy.functions.insert(var.clone(), function.cast()?)?;
    }
    Ok(copy)
}

/// Finds the types of an expression and all its parts, and returns the expression with
/// its types. `module` defines the functions and data types named in the expression.
///
/// Cost and result are the same as for [`infer_type`].
///
/// # Errors
///
/// As [`infer_type`].
pub fn infer_type_expr(
    expr: impl IntoField<Ref<RelayExpr>>,
    module: Option<&Ref<IRModule>>,
) -> Result<Ref<RelayExpr>> {
    let expr = expr.into_field();
    let empty = IRModule::new();
    let mut inference = Inference::new(module.unwrap_or(&empty));
    inference.add_root(None, expr.clone())?;
    inference.run()?;
    let made = finished(inference)?;
    Ok(made.into_iter().next().unwrap_or(expr))
}

/// Returns the type of one expression, from the present types of its parts: for passes
/// that build nodes. Parts without a type are inferred.
///
/// O(parts) if all parts have types; otherwise linear in the inferred expressions.
///
/// # Errors
///
/// As [`infer_type`].
pub fn infer_type_local(expr: impl IntoField<Ref<RelayExpr>>) -> Result<Ref<Type>> {
    let expr = expr.into_field();
    let module = IRModule::new();
    let mut inference = Inference::new(&module).trusting();
    inference.add_root(None, expr.clone())?;
    inference.run()?;
    let types = inference.complete();
    let number = inference.number(&expr);
    if !inference.problems.is_empty() {
        let Inference {
            problems,
            exprs,
            roots,
            ..
        } = inference;
        return Err(problems.into_error(&exprs, &roots, &module));
    }
    let ty = number.and_then(|number| types.into_iter().nth(number as usize));
    ty.ok_or_else(|| {
        Error::type_error(format!(
            "expected an expression with a type of its own, got {}",
            expr.type_info().key()
        ))
    })
}

/// The roots with their types.
fn finished(mut inference: Inference<'_>) -> Result<Vec<Ref<RelayExpr>>> {
    let types = inference.complete();
    if !inference.problems.is_empty() {
        let Inference {
            problems,
            exprs,
            roots,
            module,
            ..
        } = inference;
        return Err(problems.into_error(&exprs, &roots, module));
    }
    let made = inference.rebuild(&types)?;
    let root = |root: &problems::Root| match inference.number(&root.expr) {
        Some(number) => made[number as usize].clone(),
        None => root.expr.clone(),
    };
    Ok(inference.roots.iter().map(root).collect())
}

/// Returns the module with the types of all expressions; DiagnosticError with all problems
/// and their places.
#[export("relay._transform.InferTypeModule")]
fn infer_module(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    infer_type(module)
}

/// Returns the expression with the types of all its parts; DiagnosticError with all
/// problems and their places.
#[export("relay._transform.InferTypeExpr")]
fn infer_expr(expr: Ref<RelayExpr>, module: Option<Ref<IRModule>>) -> Result<Ref<RelayExpr>> {
    infer_type_expr(expr, module.as_ref())
}

/// Returns the type of one expression, from the present types of its parts.
#[export("relay._transform.InferTypeLocal")]
fn infer_local(expr: Ref<RelayExpr>) -> Result<Ref<Type>> {
    infer_type_local(expr)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![infer_module, infer_expr, infer_local]
}
