//! Basic block normal form: values that several blocks need are bound where the blocks
//! begin.

use super::a_normal_form::is_for_this_compiler;
use super::blocks::Blocks;
use super::effects::{Effect, Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::module::map_functions;
use super::scopes::{Scope, Scopes};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Binds expressions used by several blocks: a `let` binds the expression in the
/// innermost block around all its uses, unless the first use is in that block itself.
/// All other expressions stay unchanged.
///
/// The body of a function, the branches of an `if` and the results of the clauses of a
/// match are blocks. Names and constants may be used in any block. The pass keeps the
/// order of evaluation where the order matters. If a value is bound, so are earlier
/// values of the same block with uses in inner blocks. If the value has an effect,
/// earlier values with effects are bound, too.
///
/// Functions for another compiler, and functions marked `Primitive`, stay unchanged. A
/// pass without changes returns the same object; spans and checked types are kept. New
/// variables are named like the variables of
/// [`to_a_normal_form`](super::to_a_normal_form). O(n log n) in the number of
/// expressions.
///
/// ```
/// use isoform_relay::passes::to_basic_block_normal_form_expr;
/// use isoform_relay::{AsExpr, Function, If, Let, Tuple, Var};
/// use isoform::structural_equal;
///
/// let [c, x, v] = ["c", "x", "v"].map(Var::new);
/// let pair = Tuple::new([x.expr(), x.expr()]);
/// let choice = If::new(&c, &pair, Tuple::new([pair.expr()]));
/// let func = Function::new([c.clone(), x.clone()], choice).expr();
/// let choice = If::new(&c, &v, Tuple::new([v.expr()]));
/// let expected = Function::new([c.clone(), x.clone()], Let::new(&v, &pair, choice));
/// assert!(structural_equal(to_basic_block_normal_form_expr(&func)?, expected)?);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// Errors of [`to_a_normal_form`](super::to_a_normal_form).
pub fn to_basic_block_normal_form(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let globals = Globals::of(module)?;
    map_functions(module, is_for_this_compiler, |func| in_expr(func, &globals))
}

/// [`to_basic_block_normal_form`] of an expression. Calls of functions of a module have
/// effects, because the module is unknown.
///
/// # Errors
///
/// Errors of [`to_basic_block_normal_form`].
pub fn to_basic_block_normal_form_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    in_expr(expr, &Globals::default())
}

fn in_expr(expr: &Ref<RelayExpr>, globals: &Globals) -> Result<Ref<RelayExpr>> {
    let graph = Graph::of(expr)?;
    let scopes = Scopes::of(&graph, true)?;
    let plan = Plan::of(&graph, &scopes, globals)?;
    let Some(plan) = plan else {
        return Ok(expr.clone());
    };
    let mut blocks = Blocks::new(&graph, &scopes);
    for step in &graph.steps {
        match *step {
            Step::Bind(id) => {
                if let Form::Let(binding) = graph.form(id)? {
                    let value = graph.operands(id)[0];
                    let list = plan.list[scopes.of_operand(graph.form(id)?, id, 0) as usize];
                    let value = blocks.results[value as usize].clone();
                    blocks.bind_source(list, binding, value);
                }
            }
            Step::Done(id) => {
                let form = graph.form(id)?;
                let mut result = match form {
                    form if form.is_atom() => continue,
                    Form::Let(_) => {
                        let inner = scopes.of_operand(form, id, 1);
                        let body = blocks.results[graph.operands(id)[1] as usize].clone();
                        blocks.finish(inner, body)
                    }
                    _ => blocks.rebuilt(id, form)?,
                };
                if plan.is_bound[id as usize] {
                    let list = plan.list[scopes.scope(id) as usize];
                    result = blocks.bind_fresh(list, result);
                }
                blocks.results[id as usize] = result;
            }
        }
    }
    Ok(blocks.into_root())
}

/// Decides which expressions to bind, and in which scope.
struct Plan {
    is_bound: Vec<bool>,
    /// For every scope, the scope whose list takes the bindings. A `let` inside of an
    /// operand passes its bindings to the surrounding scope, if part of the `let` is
    /// bound there.
    list: Vec<Scope>,
}

impl Plan {
    /// Returns the plan, or None if no expression needs a binding.
    fn of(graph: &Graph, scopes: &Scopes, globals: &Globals) -> Result<Option<Plan>> {
        let blocks = scopes.blocks(graph)?;
        let mut is_bound = vec![false; graph.len()];
        let mut any = false;
        for id in 0..graph.len() as Id {
            let form = graph.form(id)?;
            if let Some((user, position)) = graph.arrival(id).filter(|_| is_movable(form)) {
                let first = scopes.of_operand(graph.form(user)?, user, position);
                let here = scopes.scope(id);
                is_bound[id as usize] = blocks[first as usize] != blocks[here as usize];
                any |= is_bound[id as usize];
            }
        }
        if !any {
            return Ok(None);
        }
        let effects = Effects::of(graph, globals)?;
        let mut plan = Plan {
            is_bound,
            list: Vec::new(),
        };
        // A bound expression may leave a `let`; the bindings of the `let` then come
        // earlier, and more expressions have to be bound. Few rounds suffice in
        // practice; the last round treats all values of `let` as leaving.
        for round in 0..5 {
            plan.merge_lets(graph, scopes, &effects)?;
            if !plan.bind_earlier(graph, scopes, &blocks, &effects, round == 4)? {
                break;
            }
        }
        plan.merge_lets(graph, scopes, &effects)?;
        Ok(Some(plan))
    }

    fn moves_effect(&self, effects: &Effects, id: Id) -> bool {
        self.is_bound[id as usize] && effects.of_evaluating(id) == Effect::Any
    }

    /// A value with an effect that leaves a `let` takes earlier computations of the
    /// `let` along: the bindings of the `let` go to the same list.
    fn merge_lets(&mut self, graph: &Graph, scopes: &Scopes, effects: &Effects) -> Result<()> {
        let mut passing = vec![0i64; scopes.len()];
        // An expression without a binding is evaluated at its first use, together with
        // the scopes that it opens. The place may be a `let` inside of the scope of the
        // expression.
        let mut places: Vec<Scope> = Vec::with_capacity(graph.len());
        let mut around: Vec<Scope> = (0..scopes.len() as Scope).collect();
        for id in 0..graph.len() as Id {
            let form = graph.form(id)?;
            let first = match graph.arrival(id) {
                None => scopes.scope(id),
                Some((user, position)) => {
                    let used_in = scopes.of_operand(graph.form(user)?, user, position);
                    if used_in == scopes.scope(user) {
                        places[user as usize]
                    } else {
                        used_in
                    }
                }
            };
            if self.moves_effect(effects, id) {
                passing[first as usize] += 1;
                passing[scopes.scope(id) as usize] -= 1;
            }
            let place = if self.is_bound[id as usize] {
                scopes.scope(id)
            } else {
                first
            };
            places.push(place);
            for position in 0..graph.operands(id).len() {
                let opened = scopes.of_operand(form, id, position);
                if opened != scopes.scope(id) {
                    around[opened as usize] = place;
                }
            }
        }
        let lets = scopes.lets(graph)?;
        // A scope has a larger number than the scope around it.
        for scope in (1..scopes.len()).rev() {
            passing[around[scope] as usize] += passing[scope];
        }
        self.list = (0..scopes.len() as Scope).collect();
        for scope in 1..scopes.len() {
            if lets[scope] && passing[scope] > 0 {
                self.list[scope] = self.list[scopes.parent(scope as Scope) as usize];
            }
        }
        Ok(())
    }

    /// For every block, the time of the last computation bound by the list of the
    /// block, or by a `let` in the block without a list. The first array counts all
    /// expressions, the second only expressions with an effect.
    fn last(
        &self,
        graph: &Graph,
        scopes: &Scopes,
        blocks: &[Scope],
        effects: &Effects,
        all_lets: bool,
    ) -> Result<[Vec<usize>; 2]> {
        let mut last = [vec![0; scopes.len()], vec![0; scopes.len()]];
        for (time, step) in graph.steps.iter().enumerate() {
            let Step::Done(id) = *step else {
                continue;
            };
            let scope = match value_of_let(graph, id)? {
                _ if self.is_bound[id as usize] => scopes.scope(id),
                Some(user) => {
                    let own = scopes.of_operand(graph.form(user)?, user, 0);
                    if !all_lets && self.list[own as usize] == own {
                        continue;
                    }
                    own
                }
                None => continue,
            };
            let block = blocks[scope as usize] as usize;
            last[0][block] = time;
            if effects.of_evaluating(id) == Effect::Any {
                last[1][block] = time;
            }
        }
        Ok(last)
    }

    /// Binds expressions computed before a bound expression in the same block, to keep
    /// their order: expressions with uses in inner blocks, and, before a bound effect,
    /// expressions with effects. Returns true if any expression was bound.
    fn bind_earlier(
        &mut self,
        graph: &Graph,
        scopes: &Scopes,
        blocks: &[Scope],
        effects: &Effects,
        all_lets: bool,
    ) -> Result<bool> {
        let mut has_inner_use = vec![false; graph.len()];
        for id in 0..graph.len() as Id {
            let form = graph.form(id)?;
            for (position, operand) in graph.operands(id).iter().enumerate() {
                let used_in = scopes.of_operand(form, id, position);
                let here = scopes.scope(*operand);
                has_inner_use[*operand as usize] |=
                    blocks[used_in as usize] != blocks[here as usize];
            }
        }
        let [last, last_effect] = self.last(graph, scopes, blocks, effects, all_lets)?;
        let mut any = false;
        for (time, step) in graph.steps.iter().enumerate() {
            let Step::Done(id) = *step else {
                continue;
            };
            let index = id as usize;
            let block = blocks[scopes.scope(id) as usize] as usize;
            if self.is_bound[index] || time >= last[block] {
                continue;
            }
            let is_used = has_inner_use[index] && is_movable(graph.form(id)?);
            let is_effect = time < last_effect[block]
                && value_of_let(graph, id)?.is_none()
                && has_own_effect(graph, effects, id)?;
            if is_used || is_effect {
                self.is_bound[index] = true;
                any = true;
            }
        }
        Ok(any)
    }
}

/// The `let` whose value is the expression, if the expression is first reached there.
fn value_of_let(graph: &Graph, id: Id) -> Result<Option<Id>> {
    Ok(match graph.arrival(id) {
        Some((user, 0)) if matches!(graph.form(user)?, Form::Let(_)) => Some(user),
        _ => None,
    })
}

/// True unless the expression may be used in any block.
fn is_movable(form: Form<'_>) -> bool {
    !form.is_atom() && !matches!(form, Form::Constant(_))
}

/// True if an expression does more than its operands do in the same scope.
fn has_own_effect(graph: &Graph, effects: &Effects, id: Id) -> Result<bool> {
    let operands = graph.operands(id);
    let has_effect = |id: &Id| effects.of_evaluating(*id) == Effect::Any;
    Ok(match graph.form(id)? {
        Form::RefRead(_) | Form::RefWrite(_) => true,
        Form::Call(_) => effects.of_calling(operands[0]) == Effect::Any,
        Form::If(_) | Form::Match(_) => operands[1..].iter().any(has_effect),
        Form::Let(_) => operands.iter().any(has_effect),
        _ => false,
    })
}
