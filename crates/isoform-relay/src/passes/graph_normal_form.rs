//! Graph normal form: values are shared by reference instead of by name.

use super::effects::{Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::let_list::with_let;
use super::live::Live;
use super::module::map_functions;
use super::scopes::{Scope, Tree};
use crate::{AsExpr, Function};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Removes each `let`, and puts its value in the place of its variable: all uses share one
/// expression.
///
/// A `let` whose value has an effect, or makes a reference, is kept, so that nothing is
/// lost, repeated or reordered. So is one whose value would move into a function inside of
/// the one with the `let`, unless it is a name, a constant or a function: each call would
/// compute it again; and one whose variable is not used, but whose value shares work with
/// such functions by reference. A function that calls itself becomes `let f = … in f`, which
/// all uses share.
///
/// Functions for which [`Function::is_optimizable`] is false are kept. The result is the
/// same object if there is nothing to remove; spans and checked types of everything else
/// are kept. A second run may remove more only where bindings were kept for what they share.
/// O(n log n) in the number of expressions, because of scopes.
///
/// ```
/// use isoform_relay::passes::to_graph_normal_form_expr;
/// use isoform_relay::{AsExpr, Function, Let, Tuple, Var};
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
/// `ValueError` if a variable is bound twice, or used outside of its scope, or if an
/// expression is used both inside of a recursive function that it calls and outside;
/// `TypeError` for an expression of a class that is declared elsewhere.
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
    let goes = removed(&graph, &Effects::of(&graph, globals)?)?;
    let mut results = graph.exprs.clone();
    for step in &graph.steps {
        match *step {
            Step::Bind(id) => {
                let Form::Let(binding) = graph.form(id)? else {
                    continue;
                };
                let Some(var) = graph.var(&binding.var) else {
                    continue;
                };
                if goes[id as usize] {
                    let value = results[graph.operands(id)[0] as usize].clone();
                    results[var as usize] = if graph.is_recursive(id) {
                        with_let(binding, value, binding.var.expr())
                    } else {
                        value
                    };
                }
            }
            Step::Done(id) => {
                results[id as usize] = match graph.form(id)? {
                    Form::Var(_) => continue,
                    Form::Let(binding) => {
                        let [value, body] = [0, 1].map(|at| graph.operands(id)[at]);
                        let result = results[body as usize].clone();
                        if goes[id as usize] {
                            result
                        } else {
                            with_let(binding, results[value as usize].clone(), result)
                        }
                    }
                    _ => graph.rebuilt(id, &results)?,
                };
            }
        }
    }
    Ok(results[0].clone())
}

/// No expression.
const NONE: Id = Id::MAX;

/// For each `let`, true if its value comes in the place of its variable. O(n log n).
///
/// Users are looked at before what they use, also where a value is used by way of its
/// variable. So all places where a value will be needed are known when it is reached, and
/// with them the scope in which it will be computed.
fn removed(graph: &Graph, effects: &Effects) -> Result<Vec<bool>> {
    let mut goes = vec![false; graph.len()];
    let has_let = |step: &Step| matches!(step, Step::Bind(_));
    if !graph.steps.iter().any(has_let) {
        return Ok(goes);
    }
    let mut live = Live::of(graph, |value| effects.may_move(value))?;
    let is_shared = live.keep_outer_uses()?;
    let is_free = free(&live)?;
    let mut places = Places::new(graph);
    // The `let` expressions that bind each value, as linked lists: `last` has the `let`
    // found last, and `previous` the `let` found before.
    let (mut last, mut previous) = (vec![NONE; graph.len()], vec![NONE; graph.len()]);
    for id in graph.users_first() {
        let form = graph.form(id)?;
        let moves_freely = is_free[id as usize] && !is_shared[id as usize];
        let mut next = last[id as usize];
        while next != NONE {
            let binder = next;
            next = previous[binder as usize];
            let (Form::Let(binding), Some(here)) = (graph.form(binder)?, places.of(binder)) else {
                continue;
            };
            let used = graph.var(&binding.var).and_then(|var| places.of(var));
            goes[binder as usize] = match used {
                Some(used) => moves_freely || places.in_same_function(here, used),
                None => live.may_drop[binder as usize],
            };
            if !goes[binder as usize] {
                places.note(id, here);
            } else if let Some(used) = used {
                places.note(id, used);
            }
        }
        // An expression that only removed values use is not needed.
        let Some(here) = places.of(id) else {
            continue;
        };
        let operands = graph.operands(id);
        match form {
            Form::Let(_) if effects.may_move(operands[0]) => {
                previous[id as usize] = std::mem::replace(&mut last[operands[0] as usize], id);
                places.note(operands[1], here);
            }
            Form::Function(_) => {
                let body = places.open(here, true);
                operands
                    .iter()
                    .for_each(|body_of| places.note(*body_of, body));
            }
            Form::If(_) | Form::Match(_) => {
                places.note(operands[0], here);
                for operand in &operands[1..] {
                    let branch = places.open(here, false);
                    places.note(*operand, branch);
                }
            }
            _ => operands
                .iter()
                .for_each(|operand| places.note(*operand, here)),
        }
    }
    Ok(goes)
}

/// For each expression, true if it becomes a name, a constant or a function, of which nothing
/// needs to be computed.
fn free(live: &Live<'_>) -> Result<Vec<bool>> {
    let graph = live.graph;
    let mut free = vec![false; graph.len()];
    let users_first: Vec<Id> = graph.users_first().collect();
    for &id in users_first.iter().rev() {
        free[id as usize] = match graph.form(id)? {
            Form::Constant(_) | Form::Function(_) => true,
            Form::Let(_) => {
                let [value, body] = [0, 1].map(|at| graph.operands(id)[at] as usize);
                let disappears = free[value] || !live.is_kept(id)?;
                live.may_drop[id as usize] && disappears && free[body]
            }
            form => form.is_atom(),
        };
    }
    Ok(free)
}

/// Where expressions will be computed.
struct Places {
    tree: Tree,
    /// For each scope, the body of the innermost function around it.
    functions: Vec<Scope>,
    /// For each expression, the innermost scope around all places found that need it.
    of: Vec<Option<Scope>>,
}

impl Places {
    fn new(graph: &Graph) -> Places {
        let mut of = vec![None; graph.len()];
        of[0] = Some(0);
        Places {
            tree: Tree::new(),
            functions: vec![0],
            of,
        }
    }

    fn of(&self, id: Id) -> Option<Scope> {
        self.of[id as usize]
    }

    fn open(&mut self, around: Scope, is_function: bool) -> Scope {
        let scope = self.tree.len();
        self.tree.add(around);
        self.functions.push(if is_function {
            scope
        } else {
            self.functions[around as usize]
        });
        scope
    }

    fn note(&mut self, id: Id, used_in: Scope) {
        let known = &mut self.of[id as usize];
        *known = Some(known.map_or(used_in, |known| self.tree.common(known, used_in)));
    }

    fn in_same_function(&self, left: Scope, right: Scope) -> bool {
        self.functions[left as usize] == self.functions[right as usize]
    }
}
