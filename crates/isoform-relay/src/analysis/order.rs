//! The order in which expressions are visited, and a depth-first visit without recursion.
//!
//! Visitors and analyses share this order, over the forms that passes use. Variables are
//! found by the general walk, and free variables by the scopes of substitution.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::AsExpr;
use crate::passes::form::Form;
use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Result, Value};
use isoform_ir::ir::RelayExpr;

/// The expressions directly below an expression, in the order of visitors. A tuple has
/// its fields, a function its parameters and its body, a call the callee and the
/// arguments. A binding has value, variable and body, an `if` the condition and the
/// branches, a match the value and the results.
///
/// Types, attributes and patterns are left out. The expressions of a type that is declared
/// elsewhere are those in its fields, in the order of comparison.
pub(crate) fn expressions_below(expr: &Ref<RelayExpr>, found: &mut Vec<Ref<RelayExpr>>) {
    let Some(form) = Form::find(expr) else {
        return fields_below(expr.as_object(), found);
    };
    if let Form::Function(func) = form {
        found.extend(func.params.iter().map(AsExpr::expr));
    }
    for position in 0..form.operand_count() {
        if position == 1
            && let Form::Let(binding) = form
        {
            found.push(binding.var.expr());
        }
        found.extend(form.operand(position).cloned());
    }
}

/// The expressions in the fields of a node, and in sequences in fields.
fn fields_below(node: &Ref<Obj>, found: &mut Vec<Ref<RelayExpr>>) {
    let expr = |value: &Value| {
        let object = value.as_object()?;
        object.downcast_ref::<RelayExpr>().cloned()
    };
    for child in children_of(node).iter(RegionKind::Use) {
        match child.value.items() {
            Some(items) => found.extend(items.iter().filter_map(expr)),
            None => found.extend(expr(&child.value)),
        }
    }
}

/// The next step of a visit: another expression, or something else in between.
pub(crate) enum Step<T> {
    Visit(Ref<RelayExpr>),
    Then(T),
}

/// A depth-first visit; the visitor decides at every expression how to go on.
pub(crate) trait Visitor {
    /// Work between expressions.
    type VisitAction;

    /// Arrives at an expression, for the first time or again, and says what follows, in
    /// this order.
    ///
    /// # Errors
    ///
    /// Whatever ends the visit.
    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<Self::VisitAction>>,
    ) -> Result<()>;

    /// Performs an action between visits.
    ///
    /// # Errors
    ///
    /// Whatever ends the visit.
    fn then(&mut self, then: Self::VisitAction) -> Result<()>;
}

/// Runs a visit. Depth is limited by memory only.
///
/// # Errors
///
/// Those of the visitor.
pub(crate) fn visit<V: Visitor>(root: &Ref<RelayExpr>, visitor: &mut V) -> Result<()> {
    let mut arrivals: HashMap<u64, u32, RandomState> = HashMap::default();
    let mut stack = vec![Step::Visit(root.clone())];
    let mut next = Vec::new();
    while let Some(step) = stack.pop() {
        match step {
            Step::Then(then) => visitor.then(then)?,
            Step::Visit(expr) => {
                let count = arrivals.entry(expr.identity()).or_insert(0);
                *count += 1;
                visitor.arrive(&expr, *count, &mut next)?;
                stack.extend(next.drain(..).rev());
            }
        }
    }
    Ok(())
}

/// Adds visits of all expressions below an expression.
pub(crate) fn visit_below<T>(expr: &Ref<RelayExpr>, next: &mut Vec<Step<T>>) {
    let mut below = Vec::new();
    expressions_below(expr, &mut below);
    next.extend(below.into_iter().map(Step::Visit));
}
