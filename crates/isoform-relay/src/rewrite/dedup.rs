//! Fresh variables for binders.

use hashbrown::{HashMap, HashSet};
use isoform::traverse::NodeMutator;
use isoform::{Ref, Result, Value, export};
use isoform_ir::ir::{RelayExpr, TypeVar};
use rapidhash::fast::RandomState;

use crate::analysis::{bound_vars, check_well_formed, type_vars};
use crate::{Pattern, Var};

/// Returns the expression with fresh variables for its bound variables, and fresh type
/// variables for its type parameters, so both expressions can be parts of one program.
/// Free variables are kept. Linear in the number of objects.
///
/// ```
/// use isoform_relay::{AsExpr, Function, Var, dedup};
/// use isoform::structural_equal;
///
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// let func = Function::new([x.clone()], &y);
/// let copy = dedup(&func.expr())?;
/// assert!(structural_equal(&func, &copy)?);
/// let copy = copy.downcast_ref::<Function>().expect("a function");
/// assert!(!copy.params.iter().any(|param| param.same_as(&x)) && copy.body.same_as(&y));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` for an expression that is not
/// [well formed](crate::analysis::well_formed).
pub fn dedup(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    check_well_formed(expr)?;
    let vars = bound_vars(expr)?;
    let mut bound: HashSet<u64, RandomState> = vars.iter().map(Ref::identity).collect();
    let types = type_vars(expr, None)?.bound;
    bound.extend(types.iter().map(Ref::identity));
    // A variable with a changed annotation is already fresh.
    NodeMutator::new()
        .on(|bound: &mut HashSet<u64, RandomState>, var: &Ref<Var>| {
            let is_bound = bound.contains(&var.identity());
            Ok(is_bound.then(|| fresh_var(var).into()))
        })
        .on(|bound, var: &Ref<TypeVar>| {
            let is_bound = bound.contains(&var.identity());
            Ok(is_bound.then(|| var.with_kind(var.kind).into()))
        })
        .mutate(&mut bound, expr)?
        .extract()
}

fn fresh_var(var: &Ref<Var>) -> Ref<Var> {
    var.with_type_annotation(var.type_annotation.clone())
}

/// Pairs of a variable and its replacement.
pub type Renaming = Vec<(Ref<Var>, Ref<Var>)>;

/// Returns a copy of the pattern that binds fresh variables, and the pairs of old and fresh
/// variables. Linear in the size of the pattern.
///
/// # Errors
///
/// As [`NodeMutator::mutate`].
pub fn fresh_pattern(pattern: &Ref<Pattern>) -> Result<(Ref<Pattern>, Renaming)> {
    let mut fresh: Renaming = Vec::new();
    let mut known: HashMap<u64, Value, RandomState> = HashMap::default();
    for var in super::super::analysis::pattern_vars(pattern) {
        known.entry(var.identity()).or_insert_with(|| {
            let made = fresh_var(&var);
            fresh.push((var.clone(), made.clone()));
            made.into()
        });
    }
    let pattern = NodeMutator::new()
        .on(
            |known: &mut HashMap<u64, Value, RandomState>, var: &Ref<Var>| {
                Ok(known.get(&var.identity()).cloned())
            },
        )
        .mutate(&mut known, pattern)?
        .extract()?;
    Ok((pattern, fresh))
}

/// Returns the expression with fresh variables for its bound variables; ValueError if
/// the expression is not well formed.
#[export("relay._transform.dedup")]
fn exported_dedup(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    dedup(expr)
}

/// Returns a pattern that binds fresh variables.
#[export("relay.ir.fresh_pattern")]
fn exported_fresh_pattern(pattern: &Ref<Pattern>) -> Result<Ref<Pattern>> {
    Ok(fresh_pattern(pattern)?.0)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_dedup, exported_fresh_pattern]
}
