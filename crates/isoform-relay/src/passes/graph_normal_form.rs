//! Graph normal form: values are shared by reference instead of by name.

use super::effects::{Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::let_list::with_let;
use super::live::Live;
use super::module::map_functions;
use super::scopes::Scope;
use crate::{AsExpr, Function};
use isoform::plumbing::AncestorTree;
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Removes every `let`, and replaces its variable by its value: all uses share one
/// expression.
///
/// A `let` is kept if its value has an effect, or makes a reference: no effect is lost,
/// repeated or reordered. A `let` is also kept if its value would move into a nested
/// function, where every call would compute the value again; names, constants and
/// functions may move. A `let` with an unused variable is kept if its value shares work
/// with nested functions by reference. A function that calls itself becomes
/// `let f = … in f`, shared by all uses.
///
/// Functions for which [`Function::is_optimizable`] is false are kept. A pass without
/// removals returns the same object; spans and checked types of all other expressions
/// are kept. A second run may remove more bindings only where the first run kept
/// bindings for shared work. O(n log n) in the number of expressions, because of
/// scopes.
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
/// `ValueError` for a variable bound twice, or used outside of its scope. `ValueError`
/// also for an expression used both inside of a recursive function called by the
/// expression and outside. `TypeError` for an expression of a class declared elsewhere.
pub fn to_graph_normal_form(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let globals = Globals::of(module)?;
    map_functions(module, Function::is_optimizable, |func| {
        in_expr(func, &globals)
    })
}

/// [`to_graph_normal_form`] of an expression. Calls of functions of a module have
/// effects, because the module is unknown.
///
/// # Errors
///
/// Errors of [`to_graph_normal_form`].
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
                        let [value, body] = [0, 1].map(|position| graph.operands(id)[position]);
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

/// For every `let`, true if its value replaces its variable. O(n log n).
///
/// The search visits users before the expressions they use, also for uses through a
/// variable. All places that need a value are therefore known before the value is
/// visited, and with them the scope that will compute the value.
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
        // An expression used only by removed values is not needed.
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

/// For every expression, true if the result is a name, a constant or a function,
/// without computation.
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
    tree: AncestorTree,
    /// The bodies of the innermost functions around scopes.
    functions: Vec<Scope>,
    /// The innermost scopes around all known places that need an expression.
    of: Vec<Option<Scope>>,
}

impl Places {
    fn new(graph: &Graph) -> Places {
        let mut of = vec![None; graph.len()];
        of[0] = Some(0);
        Places {
            tree: AncestorTree::new(1, 0, ()),
            functions: vec![0],
            of,
        }
    }

    fn of(&self, id: Id) -> Option<Scope> {
        self.of[id as usize]
    }

    fn open(&mut self, around: Scope, is_function: bool) -> Scope {
        let scope = self.tree.node_count();
        self.tree.add(around, ());
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
