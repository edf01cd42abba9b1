//! Copies of the body of a function with other arguments.

use super::effects::{Effect, Effects, Globals};
use super::form::{ByIdent, Form, with_bound};
use super::graph::{Graph, Id, Step};
use crate::{AsExpr, Function, Let, Var};
use isoform::traverse::shallow_copy;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{Op, RelayExpr};

/// A function with a body to copy into callers.
pub(super) struct Template {
    func: Ref<Function>,
    graph: Graph,
    effects: Effects,
}

/// An argument of a call.
pub(super) struct Argument {
    pub(super) expr: Ref<RelayExpr>,
    /// True if the argument may be evaluated elsewhere, any number of times.
    pub(super) may_move: bool,
}

impl Template {
    /// Prepares a function. Linear in the number of its expressions.
    pub(super) fn new(func: &Ref<Function>, globals: &Globals) -> Result<Template> {
        let graph = Graph::with_primitives(&func.expr())?;
        let effects = Effects::of(&graph, globals)?;
        Ok(Template {
            func: func.clone(),
            graph,
            effects,
        })
    }

    pub(super) fn func(&self) -> &Ref<Function> {
        &self.func
    }

    /// The times of the parameters' first uses in the body, as ascending numbers; None
    /// unless the body consists of operators without effects. Arguments in place of
    /// parameters are then evaluated once, and in this order.
    pub(super) fn first_uses(&self) -> Result<Option<Vec<Option<Id>>>> {
        let Template {
            func,
            graph,
            effects,
        } = self;
        for id in 1..graph.len() as Id {
            let is_plain = match graph.form(id)? {
                Form::Call(call) => call.op.isa::<Op>(),
                Form::Var(var) => graph.binder(var) == Some(0),
                Form::Constant(_) | Form::Op(_) | Form::Tuple(_) | Form::TupleGetItem(_) => true,
                _ => false,
            };
            if !is_plain || effects.of_evaluating(id) > Effect::None {
                return Ok(None);
            }
        }
        let params = func.params.iter();
        Ok(Some(params.map(|param| graph.var(param)).collect()))
    }

    /// The body with arguments in place of the parameters. Arguments that may not move
    /// are bound before the body. Variables bound in the body become fresh variables,
    /// and all expressions with computation are copied. Two bodies with a shared
    /// expression would evaluate the expression once, before the branches that guard
    /// the expression in the bodies.
    ///
    /// # Errors
    ///
    /// `ValueError` for a wrong number of arguments.
    pub(super) fn body(&self, name: &str, arguments: &[Argument]) -> Result<Ref<RelayExpr>> {
        let Template { func, graph, .. } = self;
        if arguments.len() != func.params.len() {
            return Err(Error::value_error(format!(
                "relay.Call.args: expected {} arguments for @{name}, got {}",
                func.params.len(),
                arguments.len()
            )));
        }
        let mut results = graph.exprs.clone();
        let mut bindings: Vec<(Ref<Var>, Ref<RelayExpr>)> = Vec::new();
        for (param, argument) in func.params.iter().zip(arguments) {
            let result = if argument.may_move {
                argument.expr.clone()
            } else {
                let var = param.renewed();
                bindings.push((var.clone(), argument.expr.clone()));
                var.expr()
            };
            if let Some(var) = graph.var(param) {
                results[var as usize] = result;
            }
        }
        let mut fresh: ByIdent<Ref<Var>> = ByIdent::default();
        for id in 1..graph.len() as Id {
            graph.form(id)?.for_each_bound(&mut |var| {
                let renewed = var.renewed();
                if let Some(used) = graph.var(var) {
                    results[used as usize] = renewed.expr();
                }
                fresh.insert(var.identity(), renewed);
            });
        }
        for step in &graph.steps {
            let Step::Done(id) = *step else {
                continue;
            };
            let form = graph.form(id)?;
            if id == 0 || form.is_atom() {
                continue;
            }
            let mut rebuilt = graph.rebuilt(id, &results)?;
            if matches!(form, Form::Let(_) | Form::Function(_) | Form::Match(_)) {
                rebuilt = with_bound(&rebuilt, &fresh)?;
            }
            if rebuilt.same_as(graph.expr(id)) {
                rebuilt = shallow_copy(rebuilt.as_object())?.cast()?;
            }
            results[id as usize] = rebuilt;
        }
        let body = match graph.operands(0) {
            [body] => results[*body as usize].clone(),
            _ => func.body.clone(),
        };
        let wrap = |body, (var, value)| Let::made(var, value, body).expr();
        Ok(bindings.into_iter().rev().fold(body, wrap))
    }
}
