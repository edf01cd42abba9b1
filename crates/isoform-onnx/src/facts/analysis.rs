//! Facts about the values of a program, computed on demand.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use isoform::values::ValueRef;
use isoform::{Map, Ref, Str, Value};

use super::fact::{Fact, fact_of_type};
use super::scopes::{Depends, Scope, Scopes};
use super::size::Symbol;
use super::symbols::Symbols;
use super::values::name_unknown;
use crate::ir::{Call, Function, Graph, Input, Output};

/// Facts about the values of a program, computed on demand and remembered.
///
/// Facts belong to values by the identity of calls and inputs, which are kept alive.
/// Calls may therefore be added at any time, for instance by rewriting, and queried at
/// once. A body belongs to one call: if a second call takes over the body of another
/// call, facts of the body's inputs are extended to both calls, and derived facts are
/// derived again.
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
    pub(super) calls: HashMap<u64, CallFacts>,
    pub(super) params: HashMap<u64, Param>,
    pub(super) constants: HashMap<u64, (Value, Arc<Fact>)>,
    /// The calls whose bodies' inputs have facts, by the body.
    pub(super) owners: HashMap<u64, (Ref<Graph>, Ref<Call>)>,
    /// Loops with unsettled facts, outermost first.
    pub(super) open: Vec<OpenLoop>,
    pub(super) scopes: Scopes,
    pub(super) visits: usize,
    /// The attributes of the function call whose body this is about.
    pub(super) attrs: Option<Map<Str, Value>>,
    pub(super) depth: usize,
    pub(super) function_visits: usize,
}

/// The facts of a call.
#[derive(Debug)]
pub(super) struct CallFacts {
    /// Keeps the identity from being used again.
    _call: Ref<Call>,
    pub(super) facts: Vec<Arc<Fact>>,
    depends: Depends,
}

#[derive(Debug)]
pub(super) struct Param {
    /// Keeps the identity from being used again.
    _input: Ref<Input>,
    fact: Arc<Fact>,
    depends: Depends,
    /// None for inputs of the main graph and of functions.
    scope: Option<Scope>,
}

/// A loop whose facts have not settled.
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub(super) scope: Scope,
    pub(super) body: Ref<Graph>,
    pub(super) rounds: usize,
    /// Symbols that stand for any number in each iteration.
    pub(super) own: HashSet<Symbol>,
    /// The first symbol made inside the body.
    pub(super) first_symbol: u64,
}

pub(super) enum Step {
    /// The facts of the call are needed.
    Visit(Ref<Call>),
    /// The facts of the call's inputs are known.
    Enter(Ref<Call>),
    /// The facts of the branches' results are known.
    Join(Ref<Call>),
    /// The facts of the results of the innermost open loop are known.
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
    /// This assumption decides more, because a zero in the target of a Reshape copies
    /// an extent of the input. By default, facts hold for empty tensors too.
    #[must_use]
    pub fn assume_nonempty(mut self) -> Self {
        self.symbols.assume_nonempty();
        self
    }

    /// The symbols of this analysis.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// The number of calls analysed so far; a call in a loop counts once for each
    /// round.
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
            self.set_param(param, Arc::new(fact));
        }
    }

    /// Declares the inputs of a function, with unknown facts.
    pub fn enter_function(&mut self, function: &Function) {
        for param in function.params.iter() {
            self.set_param(param, Arc::new(Fact::unknown()));
        }
    }

    /// Binds an input that never changes.
    pub(super) fn set_param(&mut self, input: &Ref<Input>, fact: Arc<Fact>) {
        self.bind(input, fact, None, Depends::default());
    }

    /// Binds an input of a body to a fact that depends on scopes.
    pub(super) fn bind(
        &mut self,
        input: &Ref<Input>,
        fact: Arc<Fact>,
        scope: Option<Scope>,
        depends: Depends,
    ) {
        let param = Param {
            _input: input.clone(),
            fact,
            depends,
            scope,
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

    fn depends_of(&self, value: &Value) -> Depends {
        let Some(object) = value.as_object() else {
            return Depends::default();
        };
        let depends = if let Some(output) = object.downcast_ref::<Output>() {
            let known = self.calls.get(&output.call.identity());
            known.map(|known| known.depends)
        } else if let Some(input) = object.downcast_ref::<Input>() {
            let param = self.params.get(&input.identity());
            param.map(|param| param.depends)
        } else {
            None
        };
        depends.unwrap_or_default()
    }

    /// The bodies on whose inputs the facts of values depend.
    pub(super) fn depends<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) -> Depends {
        let mut depends = Depends::default();
        for value in values {
            let more = self.depends_of(value);
            depends = self.scopes.union(depends, more);
        }
        depends
    }

    /// Visits the unknown values first.
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

    pub(super) fn remember(&mut self, call: &Ref<Call>, facts: Vec<Fact>, depends: Depends) {
        let known = CallFacts {
            _call: call.clone(),
            facts: facts.into_iter().map(Arc::new).collect(),
            depends,
        };
        self.scopes.note(call, depends, Depends::default());
        self.calls.insert(call.identity(), known);
    }

    pub(super) fn forget(&mut self, calls: Vec<Ref<Call>>) {
        for call in calls {
            self.calls.remove(&call.identity());
        }
    }

    /// The scope of the inputs of a body, before binding the inputs. With `again`, all
    /// facts derived from the inputs are forgotten.
    pub(super) fn begin(&mut self, body: &Graph, again: bool) -> Scope {
        let params = body.params.iter();
        let mut known: Vec<Scope> = params
            .filter_map(|param| self.params.get(&param.identity())?.scope)
            .collect();
        known.sort_unstable();
        known.dedup();
        for scope in &known {
            if again {
                let calls = self.scopes.take_all(*scope);
                self.forget(calls);
            } else {
                self.scopes.begin(*scope);
            }
        }
        let known = known.first().copied();
        known.unwrap_or_else(|| self.scopes.add())
    }

    /// Facts of a closed loop live as long as the facts of the loop call.
    pub(super) fn close(&mut self, scope: Scope, params: &[Ref<Input>], depends: Depends) {
        let own = self.scopes.only(scope);
        let inside = self.scopes.union(own, depends);
        for param in params {
            if let Some(param) = self.params.get_mut(&param.identity()) {
                param.depends = inside;
            }
        }
        for call in self.scopes.take_round(scope) {
            if let Some(known) = self.calls.get_mut(&call.identity()) {
                // The round was taken out of the journal of this scope alone.
                let noted = self.scopes.without(known.depends, scope);
                known.depends = self.scopes.union(known.depends, depends);
                self.scopes.note(&call, known.depends, noted);
            }
        }
    }

    /// The facts of another call, if known.
    pub(super) fn facts_of(&self, call: &Ref<Call>) -> Option<(Vec<Fact>, Depends)> {
        let known = self.calls.get(&call.identity())?;
        let facts = known.facts.iter().map(|fact| Fact::clone(fact)).collect();
        Some((facts, known.depends))
    }
}

/// The output that a value is.
pub(super) fn output_of(value: &Value) -> Option<&Output> {
    match value.view() {
        ValueRef::Object(object) => object.downcast_ref::<Output>().map(|output| &**output),
        _ => None,
    }
}
