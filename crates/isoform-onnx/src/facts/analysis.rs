//! Facts about the values of a program, as far as they were computed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isoform::values::ValueRef;
use isoform::{Map, Ref, Str, Value};

use super::fact::{Fact, fact_of_type};
use super::size::Symbol;
use super::symbols::Symbols;
use super::values::name_unknown;
use crate::ir::{Call, Function, Graph, Input, Output};

/// Facts about the values of a program, computed on demand and remembered.
///
/// Facts belong to values by the identity of calls and inputs, which are kept alive. So
/// calls may be added at any time, as rewriting does, and asked about at once. Each body
/// belongs to one call: if a second call takes over the body of another one, facts of
/// the body's inputs are extended to both, and everything that was remembered is derived
/// again.
///
/// Visiting all values takes time linear in the program, times the rounds that the facts
/// of nested loops need to settle; those are bounded by a constant.
///
/// ```
/// use isoform_onnx::facts::Analysis;
/// use isoform_onnx::ir::Program;
///
/// fn print_result_shapes(program: &Program) {
///     let mut analysis = Analysis::of_program(program);
///     for result in program.graph.results.values() {
///         println!("{:?}", analysis.fact(result).shape);
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct Analysis {
    pub(super) symbols: Symbols,
    pub(super) calls: HashMap<u64, Known>,
    pub(super) params: HashMap<u64, Param>,
    pub(super) constants: HashMap<u64, (Value, Arc<Fact>)>,
    /// The calls whose bodies' inputs have facts, by the body.
    pub(super) owners: HashMap<u64, (Ref<Graph>, Ref<Call>)>,
    /// Loops whose facts have not settled, outermost first.
    pub(super) open: Vec<Open>,
    pub(super) visits: usize,
    /// The attributes of the function call whose body this is about.
    pub(super) attrs: Option<Map<Str, Value>>,
    pub(super) depth: usize,
    pub(super) function_visits: usize,
}

/// The facts of a call.
#[derive(Debug)]
pub(super) struct Known {
    /// Keeps the identity from being used again.
    _call: Ref<Call>,
    pub(super) facts: Vec<Arc<Fact>>,
    level: Level,
}

#[derive(Debug)]
pub(super) struct Param {
    /// Keeps the identity from being used again.
    _input: Ref<Input>,
    fact: Arc<Fact>,
    level: Level,
}

/// Which open loops a fact depends on: the innermost one, counted from 1, and the next, or 0 if
/// there is no such loop. A fact is forgotten when the assumptions of such a loop change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) top: usize,
    pub(super) below: usize,
}

impl Level {
    pub(super) fn of_loop(top: usize) -> Self {
        Level { top, below: 0 }
    }

    pub(super) fn merge(self, other: Level) -> Level {
        let top = self.top.max(other.top);
        let below_top = |level: Level| {
            if level.top < top {
                level.top
            } else {
                level.below
            }
        };
        let below = below_top(self).max(below_top(other));
        Level { top, below }
    }

    /// The level outside of the innermost loop with this number.
    pub(super) fn outside(self, index: usize) -> usize {
        if self.top < index {
            self.top
        } else {
            self.below
        }
    }
}

/// A loop whose facts have not settled.
#[derive(Debug)]
pub(super) struct Open {
    /// The calls whose facts depend on its inputs.
    pub(super) journal: Vec<u64>,
    pub(super) body: Ref<Graph>,
    pub(super) rounds: usize,
    /// Symbols that stand for any number in each iteration.
    pub(super) own: HashSet<Symbol>,
    /// The first symbol that was made inside the body.
    pub(super) first_symbol: u64,
}

pub(super) enum Step {
    /// The facts of the call are needed.
    Visit(Ref<Call>),
    /// Those of its inputs are known.
    Enter(Ref<Call>),
    /// Those of the results of its branches are known.
    Join(Ref<Call>),
    /// Those of the results of the innermost open loop are known.
    Round(Ref<Call>),
}

impl Analysis {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Assumes that no tensor of an unknown extent is empty; has to be called before any graph
    /// is entered.
    ///
    /// This decides more, because a zero in the target of a Reshape copies an extent of the
    /// input. Without it, facts hold for empty tensors too.
    #[must_use]
    pub fn assume_nonempty(mut self) -> Self {
        self.symbols.assume_nonempty();
        self
    }

    /// The symbols of this analysis.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// The number of calls looked at so far, a call in a loop once for each round.
    #[must_use]
    pub fn visits(&self) -> usize {
        self.visits
    }

    /// Declares the inputs of the main graph: their types and shapes hold, because callers
    /// have to provide them. A default does not fix the value.
    pub fn enter_graph(&mut self, graph: &Graph) {
        for param in graph.params.iter() {
            let mut fact = fact_of_type(&param.ty, &mut self.symbols);
            name_unknown(&mut self.symbols, &mut fact);
            self.set_param(param, Arc::new(fact), Level::default());
        }
    }

    /// Declares the inputs of a function, of which nothing is known.
    pub fn enter_function(&mut self, function: &Function) {
        for param in function.params.iter() {
            self.set_param(param, Arc::new(Fact::unknown()), Level::default());
        }
    }

    pub(super) fn set_param(&mut self, input: &Ref<Input>, fact: Arc<Fact>, level: Level) {
        let param = Param {
            _input: input.clone(),
            fact,
            level,
        };
        self.params.insert(input.identity(), param);
    }

    /// The fact of an input of a body, if it is bound.
    pub(super) fn param(&self, input: &Ref<Input>) -> Option<Arc<Fact>> {
        let found = self.params.get(&input.identity());
        found.map(|param| param.fact.clone())
    }

    /// The fact of a value, without any further analysis.
    pub(super) fn known(&mut self, value: &Value) -> Arc<Fact> {
        let Some(object) = value.as_object() else {
            return Arc::new(Fact::unknown());
        };
        let found = if let Some(output) = object.downcast_ref::<Output>() {
            let known = self.calls.get(&output.call.identity());
            let index = usize::try_from(output.index).ok();
            known.and_then(|known| known.facts.get(index?).cloned())
        } else if let Some(input) = object.downcast_ref::<Input>() {
            self.param(input)
        } else {
            let make = || (value.clone(), Arc::new(Fact::of_constant(value)));
            let entry = self.constants.entry(object.identity()).or_insert_with(make);
            Some(entry.1.clone())
        };
        found.unwrap_or_else(|| Arc::new(Fact::unknown()))
    }

    pub(super) fn level(&self, value: &Value) -> Level {
        let Some(object) = value.as_object() else {
            return Level::default();
        };
        let level = if let Some(output) = object.downcast_ref::<Output>() {
            let known = self.calls.get(&output.call.identity());
            known.map(|known| known.level)
        } else if let Some(input) = object.downcast_ref::<Input>() {
            self.params.get(&input.identity()).map(|param| param.level)
        } else {
            None
        };
        level.unwrap_or_default()
    }

    pub(super) fn levels<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Level {
        let levels = values.into_iter().map(|value| self.level(value));
        levels.fold(Level::default(), Level::merge)
    }

    /// Visits what is not known of the values first.
    pub(super) fn need<'v>(
        &self,
        stack: &mut Vec<Step>,
        values: impl IntoIterator<Item = &'v Value>,
    ) {
        for value in values {
            if let Some(output) = output_of(value)
                && !self.calls.contains_key(&output.call.identity())
            {
                stack.push(Step::Visit(output.call.clone()));
            }
        }
    }

    pub(super) fn input_facts(&mut self, call: &Call) -> Vec<Option<Arc<Fact>>> {
        let inputs = call.inputs.values().iter();
        inputs
            .map(|input| (!input.is_none()).then(|| self.known(input)))
            .collect()
    }

    pub(super) fn remember(&mut self, call: &Ref<Call>, facts: Vec<Fact>, level: Level) {
        let known = Known {
            _call: call.clone(),
            facts: facts.into_iter().map(Arc::new).collect(),
            level,
        };
        if let Some(open) = level
            .top
            .checked_sub(1)
            .and_then(|at| self.open.get_mut(at))
        {
            open.journal.push(call.identity());
        }
        self.calls.insert(call.identity(), known);
    }

    /// Forgets the calls of a journal.
    pub(super) fn forget(&mut self, journal: &[u64]) {
        for identity in journal {
            self.calls.remove(identity);
        }
    }

    /// Forgets all calls; inputs keep their facts.
    pub(super) fn forget_all(&mut self) {
        self.calls.clear();
    }

    /// Facts of a closed loop live as long as those of the loop itself.
    pub(super) fn close_level(&mut self, journal: Vec<u64>, params: &[Ref<Input>], level: usize) {
        let level = Level {
            top: level,
            below: level.saturating_sub(1),
        };
        for param in params {
            if let Some(param) = self.params.get_mut(&param.identity()) {
                param.level = level;
            }
        }
        for identity in &journal {
            if let Some(known) = self.calls.get_mut(identity) {
                known.level = level;
            }
        }
        if let Some(outer) = level
            .top
            .checked_sub(1)
            .and_then(|at| self.open.get_mut(at))
        {
            outer.journal.extend(journal);
        }
    }

    /// The facts of another call, if they are known.
    pub(super) fn facts_of(&self, call: &Ref<Call>) -> Option<(Vec<Fact>, Level)> {
        let known = self.calls.get(&call.identity())?;
        let facts = known.facts.iter().map(|fact| Fact::clone(fact)).collect();
        Some((facts, known.level))
    }
}

/// The output that a value is.
pub(super) fn output_of(value: &Value) -> Option<&Output> {
    match value.view() {
        ValueRef::Object(object) => object.downcast_ref::<Output>().map(|output| &**output),
        _ => None,
    }
}
