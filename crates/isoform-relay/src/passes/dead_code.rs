//! Dead code elimination.

use super::effects::{Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::let_list::with_let;
use super::live::Live;
use super::module::map_functions;
use super::scopes::Scopes;
use crate::Function;
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// How dead code is eliminated.
///
/// ```
/// use isoform_relay::passes::DeadCodeOptions;
/// use isoform_relay::{AsExpr, Function, Let, Tuple, Var};
/// use isoform::structural_equal;
///
/// // fn(x) { let y = (x, x); (y,) }   becomes   fn(x) { ((x, x),) }
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// let pair = Tuple::new([x.expr(), x.expr()]);
/// let body = Let::new(&y, &pair, Tuple::new([y.expr()]));
/// let func = Function::new([x.clone()], body).expr();
/// let short = DeadCodeOptions::default().inline_once(true).eliminate_dead_code_expr(&func)?;
/// let expected = Function::new([x.clone()], Tuple::new([pair.expr()]));
/// assert!(structural_equal(short, expected)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeadCodeOptions {
    inline_once: bool,
    ignore_impurity: bool,
}

/// Removes every `let` of an unused variable, if evaluating the value has no effect.
///
/// A variable used only by removed values, or only by its own value, counts as unused.
/// Reading and writing references are effects. Calls of operators whose attribute
/// `TOpIsStateful` is true, of functions with effects, and of unknown functions are
/// effects, too. Making a reference is not an effect.
///
/// A `let` also stays if removing it would move work into nested functions: the value
/// contains the only use, outside of functions, of an expression shared with a nested
/// function. Every call of the nested function would otherwise compute the expression
/// again.
///
/// Functions for which [`Function::is_optimizable`] is false, and functions of other
/// languages, stay unchanged. A pass without changes returns the same object; spans and
/// checked types are kept. Linear in the number of expressions, except that scopes of
/// inlined values, and scopes of programs with nested functions, take O(n log n).
///
/// # Errors
///
/// `ValueError` for a variable bound twice, or used outside of its scope; `TypeError`
/// for an expression of a class declared elsewhere.
pub fn eliminate_dead_code(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    DeadCodeOptions::default().eliminate_dead_code(module)
}

impl DeadCodeOptions {
    /// Also replaces a variable by its value, if the value has no effect and the
    /// variable has a single use, in the same function. False by default.
    #[must_use]
    pub fn inline_once(mut self, inline_once: bool) -> Self {
        self.inline_once = inline_once;
        self
    }

    /// Assumes that no expression has an effect, so all expressions can be removed and
    /// inlined. False by default.
    #[must_use]
    pub fn ignore_impurity(mut self, ignore_impurity: bool) -> Self {
        self.ignore_impurity = ignore_impurity;
        self
    }

    /// [`eliminate_dead_code`] with these options.
    pub fn eliminate_dead_code(self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        let globals = if self.ignore_impurity {
            Globals::default()
        } else {
            Globals::of(module)?
        };
        map_functions(module, Function::is_optimizable, |func| {
            self.in_expr(func, &globals)
        })
    }

    /// [`eliminate_dead_code`] in an expression. Calls of functions of a module have
    /// effects, because the module is unknown.
    pub fn eliminate_dead_code_expr(self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        self.in_expr(expr, &Globals::default())
    }

    fn in_expr(self, root: &Ref<RelayExpr>, globals: &Globals) -> Result<Ref<RelayExpr>> {
        let graph = Graph::with_primitives(root)?;
        let effects = Effects::of(&graph, globals)?;
        let mut live = Live::of(&graph, |value| {
            self.ignore_impurity || effects.may_drop(value)
        })?;
        live.keep_outer_uses()?;
        let inlined = if self.inline_once {
            used_once(&live)?
        } else {
            vec![false; graph.len()]
        };
        let mut results = graph.exprs.clone();
        for step in &graph.steps {
            match *step {
                Step::Bind(id) if live.is_live(id) && inlined[id as usize] => {
                    if let Form::Let(binding) = graph.form(id)?
                        && let Some(var) = graph.var(&binding.var)
                    {
                        results[var as usize] = results[graph.operands(id)[0] as usize].clone();
                    }
                }
                Step::Bind(_) => {}
                Step::Done(id) if !live.is_live(id) => {}
                Step::Done(id) => {
                    results[id as usize] = match graph.form(id)? {
                        Form::Var(_) => continue,
                        Form::Let(binding) => {
                            let [value, body] =
                                [0, 1].map(|position| graph.operands(id)[position] as usize);
                            if live.is_kept(id)? && !inlined[id as usize] {
                                with_let(binding, results[value].clone(), results[body].clone())
                            } else {
                                results[body].clone()
                            }
                        }
                        _ => graph.rebuilt(id, &results)?,
                    };
                }
            }
        }
        Ok(results[0].clone())
    }
}

/// For every `let`, true if its variable is used exactly once, in the function of the
/// `let` itself.
fn used_once(live: &Live<'_>) -> Result<Vec<bool>> {
    let graph = live.graph;
    let scopes = Scopes::of(graph, false)?;
    let functions = scopes.functions(graph)?;
    let mut uses = vec![0u8; graph.len()];
    for id in 0..graph.len() as Id {
        if !live.is_live(id) {
            continue;
        }
        let form = graph.form(id)?;
        // The value of a removed `let` is not a use.
        let skipped = usize::from(!live.is_kept(id)?);
        for (position, operand) in graph.operands(id).iter().enumerate().skip(skipped) {
            let Form::Var(var) = graph.form(*operand)? else {
                continue;
            };
            let Some(binder) = graph.binder(var) else {
                continue;
            };
            let here = functions[scopes.of_operand(form, id, position) as usize];
            let there = functions[scopes.scope(binder) as usize];
            let count = if here == there { 1 } else { 2 };
            let use_count = &mut uses[binder as usize];
            *use_count = use_count.saturating_add(count);
        }
    }
    let mut flags = vec![false; graph.len()];
    for id in 0..graph.len() as Id {
        flags[id as usize] =
            uses[id as usize] == 1 && live.may_drop[id as usize] && !graph.is_recursive(id);
    }
    Ok(flags)
}
