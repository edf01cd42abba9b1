//! Simplification of expressions by rules.
//!
//! | file | job |
//! |---|---|
//! | `row.rs` | a rule as data |
//! | `table.rs` | all of them, and the rules of the driver that they become |
//! | `rules/` | the rows by topic |
//! | `found.rs` | a match as rules see it, and typed expressions in its place |
//! | `purity.rs` | what can be left out |
//!
//! The driver is the worklist of `pattern`. A row has templates, a guard, a
//! replacement, and the values for which the replacement keeps every bit. One function
//! checks that the type stays and that dropped expressions have no effect.

mod purity;
mod row;
mod rule_match;
mod rules;
mod table;

use std::sync::{Mutex, PoisonError};

use self::row::Exact;
use self::table::{Prepared, prepared, rows};
use super::form::ByIdent;
use super::graph::{Graph, Id, Step, is_primitive};
use super::module::map_functions;
use crate::{AsExpr, Function, Var, infer_type, infer_type_expr};
use isoform::pattern::GreedyOptions;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// The settings of simplification.
///
/// ```
/// use isoform_relay::passes::SimplifyOptions;
/// use isoform_relay::{AsExpr, Constant, Function, Var, op};
/// use isoform_ir::ir::TensorType;
/// use isoform::values::{DType, Tensor};
///
/// let zero = Constant::new(Tensor::new(DType::FLOAT32, vec![], vec![0; 4])?);
/// let x = Var::typed("x", TensorType::new([]));
/// let sum = Function::new([x.clone()], op::add(&x, &zero)).expr();
/// let simple = SimplifyOptions::default().simplify_expr(&sum)?;
/// assert!(simple.cast::<Function>()?.body.isa::<Var>());
///
/// // -0.0 + 0.0 is 0.0, so this keeps the sum.
/// let exact = SimplifyOptions::default().exact(true).simplify_expr(&sum)?;
/// assert!(!exact.cast::<Function>()?.body.isa::<Var>());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimplifyOptions {
    exact: bool,
    max_rewrites: u64,
}

impl Default for SimplifyOptions {
    fn default() -> Self {
        SimplifyOptions {
            exact: false,
            max_rewrites: 100,
        }
    }
}

/// The description of a rule of [`simplify`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct SimplifyRule {
    /// The name.
    pub name: &'static str,
    /// True if the rule keeps every bit of integers.
    pub exact_for_integers: bool,
    /// True if the rule keeps every bit of floats, too.
    pub exact_for_floats: bool,
    /// The argument for the rule's correctness.
    pub reason: &'static str,
}

/// The rules of [`simplify`], in the order of trials on an expression.
///
/// ```
/// use isoform_relay::passes::simplify_rules;
///
/// let moves = simplify_rules().find(|rule| rule.name == "transpose_transpose");
/// assert!(moves.is_some_and(|rule| rule.exact_for_floats));
/// ```
pub fn simplify_rules() -> impl Iterator<Item = SimplifyRule> {
    rows().map(|row| SimplifyRule {
        name: row.name,
        exact_for_integers: row.exact != Exact::Never,
        exact_for_floats: row.exact == Exact::Always,
        reason: row.reason,
    })
}

/// Simplifies the expressions of a module's functions: identities of arithmetic,
/// combinable constants, consecutive moves of elements. Also simplifies casts and clips
/// without effect on values, and operators that take a shape from a tensor.
///
/// The [rules](simplify_rules) are applied until no rule applies. By default, results
/// may be rounded differently, like in Relay: sums and products are regrouped,
/// `a / sqrt(b)` becomes `a * rsqrt(b)`, and -0 may become 0.
/// [`SimplifyOptions::exact`] leaves out such rules. In both cases, types stay the
/// same, even with unknown sizes, and effects stay in order: only operands without
/// effects are dropped. A rule for two calls or more applies only if the inner calls
/// have no other users, unless the rule never adds work.
///
/// Types are inferred first, also for new expressions. Functions marked `Primitive`,
/// and functions for which [`Function::is_optimizable`] is false, are kept. A pass with
/// no changes besides types returns the same object. Linear in the number of
/// expressions and of rewrites, besides the time for computing constants.
///
/// # Errors
///
/// Errors of [`infer_type`]; `ValueError` for a variable bound twice; `TypeError` for
/// an expression of a class declared elsewhere.
pub fn simplify(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    SimplifyOptions::default().simplify(module)
}

/// The result of a run, with statistics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Simplified {
    /// The expression, with its types.
    pub expr: Ref<RelayExpr>,
    /// The applied rules, with their counts.
    pub applied: Vec<(&'static str, u64)>,
    /// The number of times a rule was tried on an expression.
    pub attempts: u64,
}

/// Rules not in use, the exact rules second: making rules takes longer than simplifying
/// a small function.
static READY: [Mutex<Vec<Prepared>>; 2] = [Mutex::new(Vec::new()), Mutex::new(Vec::new())];

impl SimplifyOptions {
    /// Sets whether to keep all bits of results, except the bits that distinguish NaNs;
    /// false by default.
    #[must_use]
    pub fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// Sets the maximal number of rewrites, as a multiple of the number of expressions;
    /// more rewrites are an error. 100 by default.
    #[must_use]
    pub fn max_rewrites(mut self, max_rewrites: u64) -> Self {
        self.max_rewrites = max_rewrites;
        self
    }

    /// Simplifies the functions of a module. See [`simplify`].
    ///
    /// # Errors
    ///
    /// As [`simplify`].
    pub fn simplify(self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        let typed = infer_type(module)?;
        map_functions(&typed, Function::is_optimizable, |func| {
            Ok(self.run(func)?.expr)
        })
    }

    /// Simplifies an expression without names of functions of a module. See
    /// [`simplify`].
    ///
    /// # Errors
    ///
    /// As [`simplify`].
    pub fn simplify_expr(self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        Ok(self.run(&infer_type_expr(expr, None)?)?.expr)
    }

    /// Simplifies an expression with types, and reports the applied rules.
    ///
    /// # Errors
    ///
    /// Errors of [`simplify`], except for errors of type inference: rules do not apply
    /// to expressions without types.
    pub fn run(self, expr: &Ref<RelayExpr>) -> Result<Simplified> {
        let graph = Graph::of(expr)?;
        let mut kernels = Kernels::default();
        let hidden = if is_primitive(graph.form(0)?) {
            return Ok(Simplified::unchanged(expr));
        } else {
            kernels.hide(&graph)?
        };
        let ready = &READY[usize::from(self.exact)];
        let take = || ready.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let prepared = match take() {
            Some(prepared) => prepared,
            None => prepared(self.exact)?,
        };
        let max_steps = self.max_rewrites.saturating_mul(graph.len() as u64);
        let options = GreedyOptions::default()
            .max_steps(max_steps)
            .drop_dead(false);
        let done = options.rewrite_greedily(&hidden, &prepared.rules);
        prepared.purity.clear();
        let mut applied: Vec<(&'static str, u64)> = Vec::new();
        if let Ok(done) = &done {
            for (name, count) in prepared.names.iter().zip(&done.applied) {
                match applied.last_mut() {
                    Some((last, total)) if last == name => *total += count,
                    _ => applied.push((name, *count)),
                }
            }
        }
        applied.retain(|(_, count)| *count > 0);
        ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(prepared);
        let done = done.map_err(|error| error.in_context("SimplifyExpr"))?;
        if applied.is_empty() {
            return Ok(Simplified {
                attempts: done.attempts,
                ..Simplified::unchanged(expr)
            });
        }
        let simple = done.value.extract::<Ref<RelayExpr>>()?;
        Ok(Simplified {
            expr: kernels.show(&simple)?,
            applied,
            attempts: done.attempts,
        })
    }
}

impl Simplified {
    fn unchanged(expr: &Ref<RelayExpr>) -> Simplified {
        Simplified {
            expr: expr.clone(),
            applied: Vec::new(),
            attempts: 0,
        }
    }
}

/// The functions marked `Primitive`; variables represent the functions during
/// rewriting.
#[derive(Default)]
struct Kernels(ByIdent<Ref<RelayExpr>>);

impl Kernels {
    fn hide(&mut self, graph: &Graph) -> Result<Ref<RelayExpr>> {
        let mut results = graph.exprs.clone();
        let mut any = false;
        for (id, result) in results.iter_mut().enumerate() {
            if is_primitive(graph.form(id as Id)?) {
                let var = Var::holding("kernel", result);
                let kernel = std::mem::replace(result, var.expr());
                self.0.insert(var.identity(), kernel);
                any = true;
            }
        }
        if any {
            rebuilt(graph, results)
        } else {
            Ok(graph.expr(0).clone())
        }
    }

    fn show(&self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        if self.0.is_empty() {
            return Ok(expr.clone());
        }
        let graph = Graph::of(expr)?;
        let kernel = |expr: &Ref<RelayExpr>| self.0.get(&expr.identity()).unwrap_or(expr).clone();
        rebuilt(&graph, graph.exprs.iter().map(kernel).collect())
    }
}

/// The root of a graph with some replaced expressions without operands.
fn rebuilt(graph: &Graph, mut results: Vec<Ref<RelayExpr>>) -> Result<Ref<RelayExpr>> {
    for step in &graph.steps {
        if let Step::Done(id) = *step
            && !graph.operands(id).is_empty()
        {
            results[id as usize] = graph.rebuilt(id, &results)?;
        }
    }
    results
        .into_iter()
        .next()
        .ok_or_else(|| Error::value_error("expected an expression"))
}
