//! The variables of expressions.

use hashbrown::HashSet;
use isoform::plumbing::free_variables;
use isoform::traverse::{Sharing, WalkOptions, WalkOrder, WalkResult};
use isoform::types::RegionKind;
use isoform::{Array, Obj, Ref, Result, Value, export};
use isoform_ir::ir::RelayExpr;
use rapidhash::fast::RandomState;

use crate::Var;

/// The variables that occur in an expression or a pattern, bound or used, in order of
/// occurrence. Parameters come before the body, a variable before its value and the
/// body, and the variables of a pattern before the result. Linear in the number of
/// objects.
///
/// ```
/// use isoform_relay::{AsExpr, Function, Var, analysis};
///
/// let [x, y, z] = ["x", "y", "z"].map(Var::new);
/// let func = Function::new([x.clone(), y.clone()], &z).expr();
/// assert_eq!(analysis::all_vars(&func)?, [x.clone(), y.clone(), z.clone()]);
/// assert_eq!(analysis::bound_vars(&func)?, [x, y]);
/// assert_eq!(analysis::free_vars(&func)?, [z]);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// As [`structural_walk`](isoform::traverse::structural_walk).
pub fn all_vars(of: impl Into<Value>) -> Result<Vec<Ref<Var>>> {
    occurrences(of.into(), |_| true)
}

/// The variables that an expression or a pattern binds, in order of occurrence. Linear in
/// the number of objects.
///
/// # Errors
///
/// As [`structural_walk`](isoform::traverse::structural_walk).
pub fn bound_vars(of: impl Into<Value>) -> Result<Vec<Ref<Var>>> {
    occurrences(of.into(), |region| region != RegionKind::Use)
}

/// The variables used in an expression at a place outside of their binding, in order of
/// occurrence.
///
/// Scopes count: a variable bound by a function is free in uses next to the function.
/// Linear in the number of objects, if variables are bound once.
///
/// # Errors
///
/// As [`structural_walk`](isoform::traverse::structural_walk).
pub fn free_vars(of: impl Into<Value>) -> Result<Vec<Ref<Var>>> {
    let root = of.into();
    let found = free_variables(&root)?;
    let vars = found.iter().filter_map(|var| var.downcast_ref::<Var>());
    let free: Vec<Ref<Var>> = vars.cloned().collect();
    if free.len() < 2 {
        return Ok(free);
    }
    // A variable with a binding first and a use elsewhere occurs before the use.
    let known: HashSet<u64, RandomState> = free.iter().map(Ref::identity).collect();
    let mut all = all_vars(root)?;
    all.retain(|var| known.contains(&var.identity()));
    Ok(all)
}

/// The variables in wanted regions, without duplicates.
fn occurrences(root: Value, wanted: fn(RegionKind) -> bool) -> Result<Vec<Ref<Var>>> {
    let mut found = Vec::new();
    let mut seen: HashSet<u64, RandomState> = HashSet::default();
    let options = WalkOptions::default()
        .order(WalkOrder::Pre)
        .sharing(Sharing::OncePerRegion);
    options.walk_objects(root, |object: &Ref<Obj>, region| {
        if let Some(var) = object.downcast_ref::<Var>()
            && wanted(region)
            && seen.insert(var.identity())
        {
            found.push(var.clone());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// The variables used in an expression outside of their binding, in order of
/// occurrence.
#[export("relay.analysis.free_vars")]
fn exported_free_vars(expr: &Ref<RelayExpr>) -> Result<Array<Ref<Var>>> {
    Ok(free_vars(expr)?.into())
}

/// The variables bound by an expression or a pattern, in order of occurrence.
#[export("relay.analysis.bound_vars")]
fn exported_bound_vars(expr: Ref<Obj>) -> Result<Array<Ref<Var>>> {
    Ok(bound_vars(expr)?.into())
}

/// The variables that occur in an expression or a pattern, in order of occurrence.
#[export("relay.analysis.all_vars")]
fn exported_all_vars(expr: Ref<Obj>) -> Result<Array<Ref<Var>>> {
    Ok(all_vars(expr)?.into())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_free_vars, exported_bound_vars, exported_all_vars]
}
