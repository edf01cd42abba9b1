//! Variables are bound once, and used only in their scope.

use hashbrown::{HashMap, HashSet};
use isoform::{Array, Error, Ref, Result, export};
use isoform_ir::ir::RelayExpr;
use rapidhash::fast::RandomState;

use super::order::{Step, Visitor, visit, visit_below};
use super::patterns::pattern_vars;
use super::variables::free_vars;
use crate::{Function, Let, Match, Pattern, Var};

/// True if every variable is bound at one place at most, is not bound after a free
/// occurrence, and is not used after the end of its scope.
///
/// A shared node is one place. Free variables are allowed. Linear in the number of
/// expressions.
pub fn well_formed(expr: &Ref<RelayExpr>) -> bool {
    check_well_formed(expr).is_ok()
}

/// Checks the conditions of [`well_formed`].
///
/// # Errors
///
/// `ValueError` with the name of a variable, and a description of the fault.
pub fn check_well_formed(expr: &Ref<RelayExpr>) -> Result<()> {
    let mut scopes = Scopes::default();
    visit(expr, &mut scopes)?;
    if scopes.is_doubtful {
        check_scopes(expr, |var| scopes.bound.contains(&var.identity()))
    } else {
        Ok(())
    }
}

/// Checks that no bound variable is used outside of its scope through a shared
/// expression that is also used inside; one look per expression does not suffice for
/// this check. Linear in the number of expressions.
///
/// # Errors
///
/// `ValueError` with the name of a variable.
pub(crate) fn check_scopes(
    expr: &Ref<RelayExpr>,
    is_bound: impl Fn(&Ref<Var>) -> bool,
) -> Result<()> {
    match free_vars(expr)?.into_iter().find(is_bound) {
        Some(var) => Err(wrong(&var, OUTSIDE)),
        None => Ok(()),
    }
}

const OUTSIDE: &str = "is used outside of the scope that binds it";

#[derive(Default)]
struct Scopes {
    open: HashSet<u64, RandomState>,
    /// The open scopes in order, and the innermost scope of every expression at its
    /// first arrival.
    order: Vec<u64>,
    around: HashMap<u64, u64, RandomState>,
    /// True if an expression of a scope is used after the end of that scope.
    is_doubtful: bool,
    bound: HashSet<u64, RandomState>,
    free: HashSet<u64, RandomState>,
}

/// The work at the borders of scopes.
enum Border {
    Bind(Ref<Var>),
    BindPattern(Ref<Pattern>),
    Close(Array<Ref<Var>>),
    CloseVar(Ref<Var>),
    ClosePattern(Ref<Pattern>),
}

fn wrong(var: &Ref<Var>, what: &str) -> Error {
    Error::value_error(format!("the variable %{} {what}", var.name_hint))
}

impl Scopes {
    fn bind(&mut self, var: &Ref<Var>) -> Result<()> {
        let identity = var.identity();
        if self.free.contains(&identity) {
            return Err(wrong(var, "is bound after it was used as a free variable"));
        }
        if !self.bound.insert(identity) {
            return Err(wrong(
                var,
                "is bound twice; give each binding its own variable",
            ));
        }
        self.open.insert(identity);
        self.order.push(identity);
        Ok(())
    }

    /// Scopes end in reverse order of their beginnings.
    fn close(&mut self, var: &Ref<Var>) {
        self.open.remove(&var.identity());
        self.order.pop();
    }
}

impl Visitor for Scopes {
    type VisitAction = Border;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<Border>>,
    ) -> Result<()> {
        if let Some(var) = expr.downcast_ref::<Var>() {
            let identity = var.identity();
            if self.open.contains(&identity) {
                return Ok(());
            }
            if self.bound.contains(&identity) {
                return Err(wrong(var, OUTSIDE));
            }
            self.free.insert(identity);
            return Ok(());
        }
        if arrivals > 1 {
            let around = self.around.get(&expr.identity());
            self.is_doubtful |= around.is_some_and(|var| !self.open.contains(var));
            return Ok(());
        }
        if let Some(innermost) = self.order.last() {
            self.around.insert(expr.identity(), *innermost);
        }
        if let Some(binding) = expr.downcast_ref::<Let>() {
            next.push(Step::Then(Border::Bind(binding.var.clone())));
            next.push(Step::Visit(binding.value.clone()));
            next.push(Step::Visit(binding.body.clone()));
            next.push(Step::Then(Border::CloseVar(binding.var.clone())));
        } else if let Some(func) = expr.downcast_ref::<Function>() {
            let params = func.params.iter().cloned();
            next.extend(params.map(|param| Step::Then(Border::Bind(param))));
            next.push(Step::Visit(func.body.clone()));
            next.push(Step::Then(Border::Close(func.params.clone())));
        } else if let Some(cases) = expr.downcast_ref::<Match>() {
            next.push(Step::Visit(cases.data.clone()));
            for clause in cases.clauses.iter() {
                next.push(Step::Then(Border::BindPattern(clause.lhs.clone())));
                next.push(Step::Visit(clause.rhs.clone()));
                next.push(Step::Then(Border::ClosePattern(clause.lhs.clone())));
            }
        } else {
            visit_below(expr, next);
        }
        Ok(())
    }

    fn then(&mut self, border: Border) -> Result<()> {
        match border {
            Border::Bind(var) => self.bind(&var)?,
            Border::BindPattern(pattern) => {
                for var in pattern_vars(&pattern) {
                    self.bind(&var)?;
                }
            }
            Border::Close(vars) => vars.iter().for_each(|var| self.close(var)),
            Border::CloseVar(var) => self.close(&var),
            Border::ClosePattern(pattern) => {
                pattern_vars(&pattern)
                    .iter()
                    .for_each(|var| self.close(var));
            }
        }
        Ok(())
    }
}

/// True if every variable is bound at one place at most, is not bound after a free
/// occurrence, and is not used after the end of its scope.
#[export("relay.analysis.well_formed")]
fn exported_well_formed(expr: &Ref<RelayExpr>) -> bool {
    well_formed(expr)
}

/// Raises ValueError with the name of the variable for an expression that is not well
/// formed.
#[export("relay.analysis.check_well_formed")]
fn exported_check_well_formed(expr: &Ref<RelayExpr>) -> Result<()> {
    check_well_formed(expr)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_well_formed, exported_check_well_formed]
}
