//! The effects of evaluating expressions, and of calling their values.
//!
//! Reading and writing references are effects. Calls of operators whose attribute
//! `TOpIsStateful` is true are effects. Calls of functions of another compiler or
//! language are effects, and so are calls of unknown functions (parameters, parts of
//! tuples, results of calls). Making a reference is not an effect, but making two
//! references differs from making one.

use super::form::{ByIdent, Form};
use super::graph::{Graph, Id};
use crate::{AsExpr, Function, attribute};
use isoform::plumbing::Rows;
use isoform::{Ref, Result};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule, Op};

/// The attribute of an operator whose calls have effects.
const STATEFUL: &str = "TOpIsStateful";

/// The attribute of an operator without a result for some arguments.
const MAY_FAIL: &str = "TMayFail";

/// The attribute of an operator whose arguments may be in any order.
const COMMUTATIVE: &str = "TCommutative";

/// True if the arguments of an operator may be in any order.
pub(crate) fn is_commutative(op: &Op) -> bool {
    is_set(op, COMMUTATIVE)
}

/// True if an operator has no result for some arguments of the right types, for example
/// a division by zero.
pub(crate) fn may_fail(op: &Op) -> bool {
    is_set(op, MAY_FAIL)
}

/// True if calls of an operator have effects, or different results for the same arguments.
/// An operator without the attribute `TOpIsStateful` is not stateful.
pub(crate) fn is_stateful(op: &Op) -> bool {
    is_set(op, STATEFUL)
}

fn is_set(op: &Op, name: &str) -> bool {
    let value = op.attribute(name);
    value.is_some_and(|value| {
        value.as_bool() == Some(true) || value.as_int().is_some_and(|number| number != 0)
    })
}

/// How much evaluating something does besides computing a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Effect {
    /// The expression can be computed any number of times, at any time.
    None,
    /// The expression makes references: it can be omitted, but not repeated.
    Reference,
    /// The expression can neither be omitted nor moved across another effect.
    Any,
}

/// The effects of calling the functions of a module.
#[derive(Default)]
pub(super) struct Globals {
    effects: ByIdent<Effect>,
}

impl Globals {
    /// The effects of all functions of a module; a recursive function has no effect
    /// unless another part of the function has an effect. Linear in the number of
    /// expressions.
    ///
    /// # Errors
    ///
    /// Errors of [`Graph::of`], with the name of the function.
    pub(super) fn of(module: &Ref<IRModule>) -> Result<Globals> {
        let vars = module.global_vars();
        let mut effects: Vec<Effect> = Vec::with_capacity(vars.len());
        let mut numbers: ByIdent<usize> = ByIdent::default();
        for (number, var) in vars.iter().enumerate() {
            numbers.insert(var.identity(), number);
        }
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); vars.len()];
        for (number, var) in vars.iter().enumerate() {
            let summary = Summary::of_function(&module.lookup(var)?)
                .map_err(|error| error.noted(format!("in function '{}'", var.name_hint)))?;
            let mut effect = summary.effect;
            for callee in &summary.callees {
                match numbers.get(&callee.identity()) {
                    Some(callee) => callers[*callee].push(number),
                    None => effect = Effect::Any,
                }
            }
            effects.push(effect);
        }
        for level in [Effect::Any, Effect::Reference] {
            let of_level = |number: &usize| effects[*number] == level;
            let mut stack: Vec<usize> = (0..vars.len()).filter(of_level).collect();
            while let Some(callee) = stack.pop() {
                for &caller in &callers[callee] {
                    if effects[caller] < level {
                        effects[caller] = level;
                        stack.push(caller);
                    }
                }
            }
        }
        let pairs = vars.iter().map(Ref::identity).zip(effects);
        Ok(Globals {
            effects: pairs.collect(),
        })
    }

    /// The effect of calling a function; an unknown function could have any effect.
    fn of_calling(&self, var: &Ref<GlobalVar>) -> Effect {
        let known = self.effects.get(&var.identity());
        known.copied().unwrap_or(Effect::Any)
    }
}

/// The effect of calling a function, found from the body alone.
struct Summary {
    effect: Effect,
    /// The functions of the module whose effects add to this effect.
    callees: Vec<Ref<GlobalVar>>,
}

impl Summary {
    fn of_function(func: &Ref<BaseFunc>) -> Result<Summary> {
        match func.downcast_ref::<Function>() {
            Some(func) if !func.has_nonzero_attribute(attribute::EXTERN) => {
                let graph = Graph::with_primitives(&func.expr())?;
                Ok(Equations::of(&graph)?.summary(calling(0)))
            }
            _ => Ok(Summary {
                effect: Effect::Any,
                callees: Vec::new(),
            }),
        }
    }
}

/// The unknown for the effect of evaluating an expression.
fn evaluating(id: Id) -> u32 {
    2 * id
}

/// The unknown that stands for the effect of calling the value of an expression.
fn calling(id: Id) -> u32 {
    2 * id + 1
}

/// Equations of unknown effects: an unknown is at least the effects of its causes, plus
/// possibly an effect of its own. In the least solution, a recursive function has no
/// effects unless an expression in the body has an effect.
struct Equations {
    unknowns: usize,
    /// Pairs of a cause, and an unknown with at least the effect of the cause.
    edges: Vec<(u32, u32)>,
    own: Vec<(u32, Effect)>,
    callees: Vec<(u32, Ref<GlobalVar>)>,
}

impl Equations {
    fn of(graph: &Graph) -> Result<Equations> {
        let mut equations = Equations {
            unknowns: 2 * graph.len(),
            edges: Vec::new(),
            own: Vec::new(),
            callees: Vec::new(),
        };
        for id in 0..graph.len() as Id {
            equations.add(graph, id)?;
        }
        Ok(equations)
    }

    fn add(&mut self, graph: &Graph, id: Id) -> Result<()> {
        let operands = graph.operands(id);
        let form = graph.form(id)?;
        // A function evaluates the body only in calls.
        if !matches!(form, Form::Function(_)) {
            let causes = operands.iter();
            let edges = causes.map(|operand| (evaluating(*operand), evaluating(id)));
            self.edges.extend(edges);
        }
        match form {
            Form::Op(op) if is_stateful(op) => self.own.push((calling(id), Effect::Any)),
            Form::Op(_) | Form::Constructor(_) | Form::Constant(_) => {}
            Form::GlobalVar(var) => self.callees.push((calling(id), var.clone())),
            Form::Var(var) => {
                let binder = graph.binder(var);
                let is_let = binder.map(|binder| graph.form(binder)).transpose()?;
                match (binder, is_let) {
                    (Some(binder), Some(Form::Let(_))) => {
                        let value = graph.operands(binder)[0];
                        self.edges.push((calling(value), calling(id)));
                    }
                    _ => self.own.push((calling(id), Effect::Any)),
                }
            }
            Form::Function(func) if func.has_nonzero_attribute(attribute::EXTERN) => {
                self.own.push((calling(id), Effect::Any));
            }
            Form::Function(func) => match operands {
                [body] => self.edges.push((evaluating(*body), calling(id))),
                // A function not entered by the graph.
                _ => {
                    let summary = Summary::of_function(&func.clone().upcast())?;
                    self.own.push((calling(id), summary.effect));
                    let callees = summary.callees.into_iter();
                    self.callees
                        .extend(callees.map(|callee| (calling(id), callee)));
                }
            },
            Form::Let(_) => self.edges.push((calling(operands[1]), calling(id))),
            Form::If(_) | Form::Match(_) => {
                let results = operands[1..].iter();
                self.edges
                    .extend(results.map(|result| (calling(*result), calling(id))));
            }
            Form::Call(_) => {
                self.edges.push((calling(operands[0]), evaluating(id)));
                self.own.push((calling(id), Effect::Any));
            }
            Form::Tuple(_) | Form::TupleGetItem(_) => {
                self.own.push((calling(id), Effect::Any));
            }
            Form::RefCreate(_) => {
                self.own.push((evaluating(id), Effect::Reference));
                self.own.push((calling(id), Effect::Any));
            }
            Form::RefRead(_) | Form::RefWrite(_) => {
                self.own.push((evaluating(id), Effect::Any));
                self.own.push((calling(id), Effect::Any));
            }
        }
        Ok(())
    }

    /// The causes of one unknown, by searching backwards from it.
    fn summary(&self, wanted: u32) -> Summary {
        let causes = Rows::new(self.unknowns, self.edges.iter().map(|(a, b)| (*b, *a)));
        let mut seen = vec![false; self.unknowns];
        seen[wanted as usize] = true;
        let mut stack = vec![wanted];
        while let Some(unknown) = stack.pop() {
            for &cause in causes.of(unknown) {
                if !std::mem::replace(&mut seen[cause as usize], true) {
                    stack.push(cause);
                }
            }
        }
        let own = self
            .own
            .iter()
            .filter(|(unknown, _)| seen[*unknown as usize]);
        let mut callees: Vec<Ref<GlobalVar>> = Vec::new();
        let mut callee_idents = ByIdent::default();
        for (unknown, callee) in &self.callees {
            if seen[*unknown as usize] && callee_idents.insert(callee.identity(), ()).is_none() {
                callees.push(callee.clone());
            }
        }
        Summary {
            effect: own.map(|(_, effect)| *effect).max().unwrap_or(Effect::None),
            callees,
        }
    }

    /// The least solution.
    fn solve(&self, globals: &Globals) -> Vec<Effect> {
        let results = Rows::new(self.unknowns, self.edges.iter().copied());
        let mut effects = vec![Effect::None; self.unknowns];
        let called = self
            .callees
            .iter()
            .map(|(unknown, callee)| (*unknown, globals.of_calling(callee)));
        for (unknown, effect) in self.own.iter().copied().chain(called) {
            let entry = &mut effects[unknown as usize];
            *entry = effect.max(*entry);
        }
        for level in [Effect::Any, Effect::Reference] {
            let of_level = |unknown: &u32| effects[*unknown as usize] == level;
            let mut stack: Vec<u32> = (0..self.unknowns as u32).filter(of_level).collect();
            while let Some(cause) = stack.pop() {
                for &result in results.of(cause) {
                    if effects[result as usize] < level {
                        effects[result as usize] = level;
                        stack.push(result);
                    }
                }
            }
        }
        effects
    }
}

/// The effects of the expressions of a graph.
pub(super) struct Effects {
    found: Vec<Effect>,
    /// True if a part of the expression, functions included, has an effect and other
    /// uses: the scope of the part depends on this use.
    pinned: Vec<bool>,
}

impl Effects {
    /// The effects of all expressions. Linear in the number of expressions, including
    /// functions not entered by the graph.
    ///
    /// # Errors
    ///
    /// As [`Graph::of`].
    pub(super) fn of(graph: &Graph, globals: &Globals) -> Result<Effects> {
        let found = Equations::of(graph)?.solve(globals);
        let mut users = vec![0u32; graph.len()];
        for id in 0..graph.len() as Id {
            for operand in graph.operands(id) {
                users[*operand as usize] += 1;
            }
        }
        let mut pinned = vec![false; graph.len()];
        let ids: Vec<Id> = graph.users_first().collect();
        for &id in ids.iter().rev() {
            let operands = graph.operands(id).iter();
            pinned[id as usize] = operands.clone().any(|id| pinned[*id as usize])
                || (users[id as usize] > 1 && found[evaluating(id) as usize] > Effect::None);
        }
        Ok(Effects { found, pinned })
    }

    /// The effect of evaluating an expression with its operands.
    pub(super) fn of_evaluating(&self, id: Id) -> Effect {
        self.found[evaluating(id) as usize]
    }

    /// The effect of calling the value of an expression.
    pub(super) fn of_calling(&self, id: Id) -> Effect {
        self.found[calling(id) as usize]
    }

    /// True if a part of an expression has an effect, or makes a reference, and has
    /// other uses. Without this use, the part might be evaluated in another scope, or
    /// later.
    pub(super) fn is_pinned(&self, id: Id) -> bool {
        self.pinned[id as usize]
    }

    /// True if an expression may be evaluated elsewhere, any number of times.
    pub(super) fn may_move(&self, id: Id) -> bool {
        self.of_evaluating(id) == Effect::None && !self.pinned[id as usize]
    }

    /// True if an expression need not be evaluated if its value is not used.
    pub(super) fn may_drop(&self, id: Id) -> bool {
        self.of_evaluating(id) < Effect::Any && !self.pinned[id as usize]
    }
}
