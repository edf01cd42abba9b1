//! Basic block normal form: values that several blocks need are bound where the blocks
//! begin.

use super::a_normal_form::is_for_this_compiler;
use super::blocks::Blocks;
use super::effects::{Effect, Effects, Globals};
use super::form::Form;
use super::graph::{Graph, Id, Step};
use super::module::map_functions;
use super::scopes::{Scope, Scopes};
use crate::ir::{IRModule, RelayExpr};
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;

/// Binds each expression that several blocks use by a `let`, in the innermost block around
/// all its uses, unless it is first used in that block itself; everything else stays as it
/// is.
///
/// The body of a function, each branch of an `if` and the result of each clause of a match
/// are blocks. Names and constants may be used in any of them. The order of evaluation is
/// kept where it matters: if a value is bound, so are values before it in the same block
/// that inner blocks use; and if it has an effect, those that have effects.
///
/// Functions for another compiler, and functions marked `Primitive`, are kept as they are.
/// The result is the same object if nothing changes; spans and checked types are kept. New
/// variables are named as those of [`to_a_normal_form`](super::to_a_normal_form). O(n log n)
/// in the number of expressions.
///
/// ```
/// use isoform::dialect::relay::passes::to_basic_block_normal_form_expr;
/// use isoform::dialect::relay::{AsExpr, Function, If, Let, Tuple, Var};
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
/// As [`to_a_normal_form`](super::to_a_normal_form).
pub fn to_basic_block_normal_form(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let globals = Globals::of(module)?;
    map_functions(module, is_for_this_compiler, |func| in_expr(func, &globals))
}

/// [`to_basic_block_normal_form`] of an expression. Calls of functions of a module, which
/// are not known here, have effects.
///
/// # Errors
///
/// As [`to_basic_block_normal_form`].
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

/// Decides which expressions are bound, and where.
struct Plan {
    is_bound: Vec<bool>,
    /// For each scope, the one whose list its bindings go to: a `let` inside of an operand
    /// gives its bindings to the scope around it, if something in it is bound there.
    list: Vec<Scope>,
}

impl Plan {
    /// The plan; None if there is nothing to bind.
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
        plan.bind_earlier_uses(graph, scopes, &blocks)?;
        plan.bind_earlier_effects(graph, scopes, &blocks, &effects)?;
        plan.merge_lets(graph, scopes, &effects)?;
        Ok(Some(plan))
    }

    fn moves_effect(&self, effects: &Effects, id: Id) -> bool {
        self.is_bound[id as usize] && effects.of_evaluating(id) == Effect::Any
    }

    /// A value with an effect that leaves a `let` takes along what is computed before it
    /// there: the bindings of the `let` go to the same list.
    fn merge_lets(&mut self, graph: &Graph, scopes: &Scopes, effects: &Effects) -> Result<()> {
        let mut passing = vec![0i64; scopes.len()];
        for id in 0..graph.len() as Id {
            if self.moves_effect(effects, id)
                && let Some((user, position)) = graph.arrival(id)
            {
                let first = scopes.of_operand(graph.form(user)?, user, position);
                passing[first as usize] += 1;
                passing[scopes.scope(id) as usize] -= 1;
            }
        }
        let lets = scopes.lets(graph)?;
        // A scope has a larger number than the one around it.
        for scope in (1..scopes.len()).rev() {
            passing[scopes.parent(scope as Scope) as usize] += passing[scope];
        }
        self.list = (0..scopes.len() as Scope).collect();
        for scope in 1..scopes.len() {
            if lets[scope] && passing[scope] > 0 {
                self.list[scope] = self.list[scopes.parent(scope as Scope) as usize];
            }
        }
        Ok(())
    }

    /// For each block, when the last of its bound expressions that are wanted is computed.
    fn last(
        &self,
        graph: &Graph,
        scopes: &Scopes,
        blocks: &[Scope],
        wanted: impl Fn(Id) -> bool,
    ) -> Vec<usize> {
        let mut last = vec![0; scopes.len()];
        for (time, step) in graph.steps.iter().enumerate() {
            if let Step::Done(id) = *step
                && self.is_bound[id as usize]
                && wanted(id)
            {
                last[blocks[scopes.scope(id) as usize] as usize] = time;
            }
        }
        last
    }

    /// Binds what has effects and is computed before something else in the same block that
    /// has effects and is bound.
    fn bind_earlier_effects(
        &mut self,
        graph: &Graph,
        scopes: &Scopes,
        blocks: &[Scope],
        effects: &Effects,
    ) -> Result<()> {
        let has_effect = |id| effects.of_evaluating(id) == Effect::Any;
        let last = self.last(graph, scopes, blocks, has_effect);
        for (time, step) in graph.steps.iter().enumerate() {
            let Step::Done(id) = *step else {
                continue;
            };
            let block = blocks[scopes.scope(id) as usize];
            let is_value = match graph.arrival(id) {
                Some((user, 0)) => matches!(graph.form(user)?, Form::Let(_)),
                _ => false,
            };
            if time < last[block as usize] && !is_value && has_own_effect(graph, effects, id)? {
                self.is_bound[id as usize] = true;
            }
        }
        Ok(())
    }

    /// Binds what inner blocks use, although it is first needed in its own block, if
    /// something after it is bound there: that is computed first then, inner blocks and all.
    fn bind_earlier_uses(
        &mut self,
        graph: &Graph,
        scopes: &Scopes,
        blocks: &[Scope],
    ) -> Result<()> {
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
        let last = self.last(graph, scopes, blocks, |_| true);
        for (time, step) in graph.steps.iter().enumerate() {
            let Step::Done(id) = *step else {
                continue;
            };
            let block = blocks[scopes.scope(id) as usize];
            if has_inner_use[id as usize] && time < last[block as usize] {
                self.is_bound[id as usize] |= is_movable(graph.form(id)?);
            }
        }
        Ok(())
    }
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
