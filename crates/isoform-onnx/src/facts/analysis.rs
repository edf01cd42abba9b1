//! Facts about the values of a program, computed when they are asked for.
//!
//! The walk keeps its own stack, because chains of calls are as long as memory allows; only
//! calls of local functions recurse, to a limited depth.

use std::collections::HashMap;
use std::sync::Arc;

use isoform::values::ValueRef;
use isoform::{Map, Node as _, Ref, Str, Value};

use super::control::{self, Open};
use super::fact::{Fact, fact_of_type};
use super::ops::infer;
use super::symbols::Symbols;
use super::values::name_unknown;
use crate::ir::{AttrRef, Call, Function, Graph, Input, Output, Program};
use crate::layout::{BodyKind, list};

/// No file requests more results of a call than it has names for.
const MAX_RESULTS: usize = 1 << 20;

/// Functions that call functions are followed to this depth.
const MAX_FUNCTION_DEPTH: usize = 24;

/// The calls inside of functions that are visited altogether. A function is analysed again
/// for each call of it, so nested calls would otherwise take exponential time.
const MAX_FUNCTION_VISITS: usize = 1 << 18;

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
    calls: HashMap<u64, Known>,
    params: HashMap<u64, Param>,
    constants: HashMap<u64, (Value, Arc<Fact>)>,
    /// The calls whose bodies' inputs have facts, by the body.
    pub(super) owners: HashMap<u64, (Ref<Graph>, Ref<Call>)>,
    /// Loops whose facts have not settled, outermost first.
    pub(super) open: Vec<Open>,
    visits: usize,
    /// The attributes of the function call whose body this is about.
    attrs: Option<Map<Str, Value>>,
    depth: usize,
    function_visits: usize,
}

/// The facts of a call.
#[derive(Debug)]
struct Known {
    /// Keeps the identity from being used again.
    _call: Ref<Call>,
    facts: Vec<Arc<Fact>>,
    level: Level,
}

#[derive(Debug)]
struct Param {
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

    /// Knows all values of a program, also those inside of its bodies; inputs of functions
    /// are unknown, because each call has its own. Nodes times the depth of bodies, times the
    /// rounds that nested loops need.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let mut analysis = Self::new();
        analysis.enter_graph(&program.graph);
        // Outer bodies are listed before those inside of them.
        for body in list(program).bodies {
            if let BodyKind::Function(function) = &body.kind {
                analysis.enter_function(function);
            }
            for node in &body.nodes {
                analysis.bind_bodies(&node.call);
            }
        }
        analysis
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

    /// Facts about any value: an output, an input or a constant. O(1) if it was asked before,
    /// and else linear in the calls that it depends on and that are not known yet.
    ///
    /// An input of a body is unknown until [`bind_bodies`](Self::bind_bodies) was called.
    pub fn fact(&mut self, value: &Value) -> Arc<Fact> {
        if let Some(output) = output_of(value)
            && !self.calls.contains_key(&output.call.identity())
        {
            self.run(Step::Visit(output.call.clone()));
        }
        self.known(value)
    }

    /// Facts about all results of a call, as [`fact`](Self::fact) for each.
    ///
    /// Inside of a body, only the values that a call names tell which body it belongs to; so
    /// ask about bodies after the call that holds them.
    pub fn results(&mut self, call: &Ref<Call>) -> Vec<Arc<Fact>> {
        self.bind_bodies(call);
        let known = self.calls.get(&call.identity());
        let mut facts = known.map_or_else(Vec::new, |known| known.facts.clone());
        // As many as the call requests, which no file makes more than it lists.
        let count = usize::try_from(call.outputs).unwrap_or(0).min(MAX_RESULTS);
        facts.resize_with(count, || Arc::new(Fact::unknown()));
        facts
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

    /// Makes the facts of the inputs of a call's bodies known, before values inside of them
    /// are asked about. For bodies inside of bodies, begin with the outermost one.
    ///
    /// Inputs of a Loop are what all iterations have in common, and those of a Scan slices
    /// of its inputs; bodies of operators that are not known here have unknown inputs.
    pub fn bind_bodies(&mut self, call: &Ref<Call>) {
        if !self.calls.contains_key(&call.identity()) {
            self.run(Step::Visit(call.clone()));
        }
    }

    fn run(&mut self, first: Step) {
        let mut stack = vec![first];
        while let Some(step) = stack.pop() {
            match step {
                Step::Visit(call) => {
                    if self.calls.contains_key(&call.identity()) {
                        continue;
                    }
                    self.visits += 1;
                    if self.depth > 0 && !self.may_visit_function() {
                        self.remember(&call, Vec::new(), Level::default());
                        continue;
                    }
                    stack.push(Step::Enter(call.clone()));
                    self.need(&mut stack, call.inputs.values());
                }
                Step::Enter(call) => self.enter(&mut stack, call),
                Step::Join(call) => {
                    let (facts, level) = control::join_branches(self, &call);
                    self.remember(&call, facts, level);
                }
                Step::Round(call) => control::end_round(self, &mut stack, &call),
            }
        }
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

    fn enter(&mut self, stack: &mut Vec<Step>, call: Ref<Call>) {
        if self.calls.contains_key(&call.identity()) {
            return;
        }
        match call.standard_op() {
            Some("If") => {
                stack.push(Step::Join(call.clone()));
                for branch in control::branches(self, &call) {
                    self.need(stack, branch.results.values());
                }
            }
            Some("Loop" | "Scan") => control::open(self, stack, &call),
            _ => {
                let level = self.levels(call.inputs.values());
                let facts = match &call.callee {
                    Some(function) => self.call_function(&call, function),
                    None => {
                        let inputs = self.input_facts(&call);
                        match self.resolved(&call) {
                            Some(resolved) => infer(&resolved, &inputs, &mut self.symbols),
                            None => infer(&call, &inputs, &mut self.symbols),
                        }
                    }
                };
                self.remember(&call, facts, level);
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

    fn may_visit_function(&mut self) -> bool {
        self.function_visits += 1;
        self.function_visits <= MAX_FUNCTION_VISITS
    }

    /// Analyses the body of a function for one call of it.
    fn call_function(&mut self, call: &Ref<Call>, function: &Ref<Function>) -> Vec<Fact> {
        if self.depth >= MAX_FUNCTION_DEPTH || self.function_visits >= MAX_FUNCTION_VISITS {
            return Vec::new();
        }
        let resolved = self.resolved(call);
        let given = resolved.as_ref().map_or(&call.attrs, |call| &call.attrs);
        let mut attrs: Vec<(Str, Value)> = Vec::new();
        for (name, value) in function.attr_defaults.iter().chain(given.iter()) {
            attrs.retain(|(other, _)| other.as_str() != name.as_str());
            attrs.push((name.clone(), value.clone()));
        }
        let mut inner = Analysis {
            symbols: std::mem::take(&mut self.symbols),
            attrs: Some(attrs.into_iter().collect()),
            depth: self.depth + 1,
            function_visits: self.function_visits,
            ..Analysis::default()
        };
        let inputs = self.input_facts(call);
        for (at, param) in function.params.iter().enumerate() {
            let fact = inputs.get(at).cloned().flatten();
            let fact = fact.unwrap_or_else(|| Arc::new(Fact::unknown()));
            inner.set_param(param, fact, Level::default());
        }
        let results = function.results.values().iter();
        let facts = results
            .map(|result| Fact::clone(&inner.fact(result)))
            .collect();
        self.symbols = inner.symbols;
        self.visits += inner.visits;
        self.function_visits = inner.function_visits;
        facts
    }

    /// The call with the attributes of the function call that it uses; None if it uses none.
    fn resolved(&self, call: &Ref<Call>) -> Option<Call> {
        let outer = self.attrs.as_ref()?;
        let reference = |value: &Value| {
            let object = value.as_object()?;
            object
                .downcast_ref::<AttrRef>()
                .map(|found| found.name.clone())
        };
        call.attrs.iter().find_map(|(_, value)| reference(value))?;
        let attrs = call.attrs.iter().filter_map(|(name, value)| {
            let value = match reference(value) {
                // An attribute that the caller does not give is not given here either.
                Some(outer_name) => {
                    let mut given = outer.iter();
                    given.find(|(name, _)| **name == outer_name)?.1.clone()
                }
                None => value.clone(),
            };
            Some((name.clone(), value))
        });
        Some(Call {
            attrs: attrs.collect(),
            ..call.clone_fields()
        })
    }
}

/// The output that a value is.
fn output_of(value: &Value) -> Option<&Output> {
    match value.view() {
        ValueRef::Object(object) => object.downcast_ref::<Output>().map(|output| &**output),
        _ => None,
    }
}
