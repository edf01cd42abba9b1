//! The expressions needed for the result of a program.
//!
//! Some bindings are needed to keep work out of functions.

use super::form::Form;
use super::graph::{Graph, Id};
use super::scopes::{Scope, Scopes};
use isoform::Result;

/// The number of rounds in which the values of kept bindings may show more bindings to keep,
/// before all that may be needed are kept at once.
const MAX_ROUNDS: usize = 4;

/// The expressions needed for the result, if every removable `let` of an unneeded
/// variable disappears.
pub(super) struct Live<'g> {
    pub(super) graph: &'g Graph,
    /// For every `let`, true if the `let` may disappear.
    pub(super) may_drop: Vec<bool>,
    live: Vec<bool>,
}

/// How the expressions of a graph are used.
struct Uses {
    /// True for expressions used in their own function.
    own: Vec<bool>,
    /// True for expressions used in a nested function.
    inner: Vec<bool>,
}

impl<'g> Live<'g> {
    /// Searches a graph; every `let` with a value that satisfies a condition may
    /// disappear. Linear in the number of expressions.
    pub(super) fn of(graph: &'g Graph, may_drop: impl Fn(Id) -> bool) -> Result<Live<'g>> {
        let mut live = Live {
            graph,
            may_drop: Vec::with_capacity(graph.len()),
            live: vec![false; graph.len()],
        };
        for id in 0..graph.len() as Id {
            let is_let = matches!(graph.form(id)?, Form::Let(_));
            let drops = is_let && may_drop(graph.operands(id)[0]);
            live.may_drop.push(drops);
        }
        live.search(vec![0])?;
        Ok(live)
    }

    pub(super) fn is_live(&self, id: Id) -> bool {
        self.live[id as usize]
    }

    /// True for a live `let` that stays: the variable is used, or the `let` may not
    /// disappear.
    pub(super) fn is_kept(&self, id: Id) -> Result<bool> {
        let Form::Let(binding) = self.graph.form(id)? else {
            return Ok(true);
        };
        let var = self.graph.var(&binding.var);
        let is_used = var.is_some_and(|var| self.is_live(var));
        Ok(is_used || !self.may_drop[id as usize])
    }

    fn search(&mut self, mut stack: Vec<Id>) -> Result<()> {
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut self.live[id as usize], true) {
                continue;
            }
            let operands = self.graph.operands(id);
            match self.graph.form(id)? {
                // The value is needed once the variable is.
                Form::Let(_) if self.may_drop[id as usize] => stack.push(operands[1]),
                Form::Var(var) => {
                    let binder = self.graph.binder(var);
                    let binder = binder.filter(|binder| self.may_drop[*binder as usize]);
                    stack.extend(binder.map(|binder| self.graph.operands(binder)[0]));
                }
                _ => stack.extend(operands),
            }
        }
        Ok(())
    }

    /// Keeps each `let` whose value shares work by reference with functions nested in
    /// the same function, if no expression outside of the nested functions needs the
    /// work. Without the `let`, every call of a nested function would repeat the work.
    ///
    /// Returns, for every expression, true if the expression contains work needed only
    /// in nested functions, but computed by the function around them. Linear without
    /// nested functions, otherwise O(n log n).
    pub(super) fn keep_outer_uses(&mut self) -> Result<Vec<bool>> {
        let graph = self.graph;
        let mut holds = vec![false; graph.len()];
        let mut nested = false;
        for id in 1..graph.len() as Id {
            nested |= matches!(graph.form(id)?, Form::Function(_));
        }
        if !nested || !self.may_drop.contains(&true) {
            return Ok(holds);
        }
        let scopes = Scopes::of(graph, false)?;
        let functions = scopes.functions(graph)?;
        let users_first: Vec<Id> = graph.users_first().collect();
        for round in 0..=MAX_ROUNDS {
            let is_last = round == MAX_ROUNDS;
            let uses = self.uses(&scopes, &functions, is_last)?;
            for &id in users_first.iter().rev() {
                let operands = graph.operands(id);
                let index = id as usize;
                let does_work = match graph.form(id)? {
                    Form::Constant(_) | Form::Function(_) | Form::Let(_) => false,
                    form => !form.is_atom(),
                };
                holds[index] = (does_work && uses.inner[index] && !uses.own[index])
                    || operands.iter().any(|operand| holds[*operand as usize]);
            }
            let mut values = Vec::new();
            for id in 0..graph.len() as Id {
                if (self.is_live(id) || is_last)
                    && !self.is_kept(id)?
                    && let [value, _] = *graph.operands(id)
                    && holds[value as usize]
                {
                    self.may_drop[id as usize] = false;
                    values.extend(self.is_live(id).then_some(value));
                }
            }
            if values.is_empty() {
                break;
            }
            self.search(values)?;
        }
        Ok(holds)
    }

    /// Finds the uses of expressions by live expressions; with `all`, all expressions
    /// in functions use the expressions they share.
    fn uses(&self, scopes: &Scopes, functions: &[Scope], all: bool) -> Result<Uses> {
        let graph = self.graph;
        let mut uses = Uses {
            own: vec![false; graph.len()],
            inner: vec![false; graph.len()],
        };
        uses.own[0] = true;
        for id in graph.users_first() {
            let form = graph.form(id)?;
            let is_live = self.is_live(id);
            if !is_live && !all {
                continue;
            }
            // The operands of a `let` are used in the functions that use the `let`.
            let [own, inner] = match form {
                Form::Let(_) => [uses.own[id as usize], uses.inner[id as usize]],
                _ => [is_live, false],
            };
            // The value of a removed `let` is not a use.
            let is_kept = self.is_kept(id)?;
            for (position, operand) in graph.operands(id).iter().enumerate() {
                let counts = is_kept || position > 0;
                let used_in = functions[scopes.of_operand(form, id, position) as usize];
                let is_same = used_in == functions[scopes.scope(*operand) as usize];
                uses.own[*operand as usize] |= counts && is_same && own;
                uses.inner[*operand as usize] |=
                    (counts || all) && (inner || (!is_same && (own || all)));
            }
        }
        Ok(uses)
    }
}
