//! Graph normal form: values are shared by reference instead of by name.

use super::effects::{Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Step};
use super::let_list::with_let;
use super::module::map_functions;
use crate::dialect::relay::{AsExpr, Function};
use crate::ir::{IRModule, RelayExpr};
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;

/// Removes each `let`, and puts its value in the place of its variable: all uses share one
/// expression.
///
/// A `let` whose value has an effect, or makes a reference, is kept, so that nothing is
/// lost, repeated or reordered. A function that calls itself becomes `let f = … in f`,
/// which all uses share.
///
/// Functions for which [`Function::is_optimizable`] is false are kept. The result is the
/// same object if there is nothing to remove; spans and checked types of everything else
/// are kept. Linear in the number of expressions.
///
/// ```
/// use isoform::dialect::relay::passes::to_graph_normal_form_expr;
/// use isoform::dialect::relay::{AsExpr, Function, Let, Tuple, Var};
/// use isoform::structural_equal;
///
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// let pair = Tuple::new([x.expr(), x.expr()]);
/// let body = Let::new(&y, &pair, Tuple::new([y.expr(), y.expr()]));
/// let func = Function::new([x.clone()], body).expr();
/// let expected = Function::new([x.clone()], Tuple::new([pair.expr(), pair.expr()]));
/// assert!(structural_equal(to_graph_normal_form_expr(&func)?, expected)?);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if a variable is bound twice, or if an expression is used both inside of a
/// recursive function that it calls and outside; `TypeError` for an expression of a class
/// that is declared elsewhere.
pub fn to_graph_normal_form(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let globals = Globals::of(module)?;
    map_functions(module, Function::is_optimizable, |func| {
        in_expr(func, &globals)
    })
}

/// [`to_graph_normal_form`] of an expression. Calls of functions of a module, which are not
/// known here, have effects.
///
/// # Errors
///
/// As [`to_graph_normal_form`].
pub fn to_graph_normal_form_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    in_expr(expr, &Globals::default())
}

fn in_expr(expr: &Ref<RelayExpr>, globals: &Globals) -> Result<Ref<RelayExpr>> {
    let graph = Graph::with_primitives(expr)?;
    let effects = Effects::of(&graph, globals)?;
    let mut results = graph.exprs.clone();
    for step in &graph.steps {
        match *step {
            Step::Bind(id) => {
                let value = graph.operands(id)[0];
                let Form::Let(binding) = graph.form(id)? else {
                    continue;
                };
                let Some(var) = graph.var(&binding.var) else {
                    continue;
                };
                if effects.may_move(value) {
                    let value = results[value as usize].clone();
                    results[var as usize] = match graph.is_recursive(id) {
                        true => with_let(binding, value, binding.var.expr()),
                        false => value,
                    };
                }
            }
            Step::Done(id) => {
                results[id as usize] = match graph.form(id)? {
                    Form::Var(_) => continue,
                    Form::Let(binding) => {
                        let [value, body] = [0, 1].map(|at| graph.operands(id)[at]);
                        let result = results[body as usize].clone();
                        match effects.may_move(value) {
                            true => result,
                            false => with_let(binding, results[value as usize].clone(), result),
                        }
                    }
                    _ => graph.rebuilt(id, &results)?,
                };
            }
        }
    }
    Ok(results[0].clone())
}
