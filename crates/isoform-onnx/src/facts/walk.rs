//! The walk that computes facts on demand.
//!
//! The walk keeps an explicit stack, because chains of calls are as long as memory
//! allows. Only calls of local functions recurse, to a limited depth.

use std::sync::Arc;

use isoform::{Node as _, Ref, Str, Value};

use super::analysis::{Analysis, Step, output_of};
use super::control;
use super::fact::Fact;
use super::ops::infer;
use super::scopes::Depends;
use crate::ir::{AttrRef, Call, Function, Program};
use crate::layout::{BodyKind, list};

/// No file requests more results of a call than it has names for.
const MAX_RESULTS: usize = 1 << 20;

/// The depth to which functions that call functions are followed.
const MAX_FUNCTION_DEPTH: usize = 24;

/// The total number of calls visited inside of functions. A function is analysed again
/// for each call, so nested calls would otherwise take exponential time.
const MAX_FUNCTION_VISITS: usize = 1 << 18;

impl Analysis {
    /// The facts of all values of a program, including values inside of bodies. Inputs
    /// of functions are unknown, because every call has different inputs. Costs the
    /// nodes times the depth of bodies, times the rounds of nested loops.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let mut analysis = Self::new();
        analysis.enter_graph(&program.graph);
        // Outer bodies are listed before the bodies inside.
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

    /// Facts about any value: an output, an input or a constant. O(1) for a known
    /// value, and otherwise linear in the unknown calls that the value depends on.
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

    /// Facts about all results of a call, like [`fact`](Self::fact) for each result.
    ///
    /// Inside of a body, only the values named by a call reveal the call's body. Query
    /// bodies after the call that holds them.
    pub fn results(&mut self, call: &Ref<Call>) -> Vec<Arc<Fact>> {
        self.bind_bodies(call);
        let known = self.calls.get(&call.identity());
        let mut facts = known.map_or_else(Vec::new, |known| known.facts.clone());
        // One fact for every result requested by the call. In a file, this number is
        // the number of listed outputs.
        let count = usize::try_from(call.outputs).unwrap_or(0).min(MAX_RESULTS);
        facts.resize_with(count, || Arc::new(Fact::unknown()));
        facts
    }

    /// Makes the facts of the inputs of a call's bodies known, before values inside of them
    /// are asked about. For bodies inside of bodies, begin with the outermost one.
    ///
    /// An input of a Loop body has the facts common to all iterations, and an input of
    /// a Scan body is a slice of the call's input. Bodies of unknown operators have
    /// unknown inputs.
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
                        self.remember(&call, Vec::new(), Depends::default());
                        continue;
                    }
                    stack.push(Step::Enter(call.clone()));
                    self.need(&mut stack, call.inputs.values());
                }
                Step::Enter(call) => self.enter(&mut stack, call),
                Step::Join(call) => {
                    let (facts, depends) = control::join_branches(self, &call);
                    self.remember(&call, facts, depends);
                }
                Step::Round(call) => control::end_round(self, &mut stack, &call),
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
                let depends = self.depends(call.inputs.values());
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
                self.remember(&call, facts, depends);
            }
        }
    }

    fn may_visit_function(&mut self) -> bool {
        self.function_visits += 1;
        self.function_visits <= MAX_FUNCTION_VISITS
    }

    /// Analyses the body of a function for one particular call.
    fn call_function(&mut self, call: &Ref<Call>, function: &Ref<Function>) -> Vec<Fact> {
        if self.depth >= MAX_FUNCTION_DEPTH || self.function_visits >= MAX_FUNCTION_VISITS {
            return Vec::new();
        }
        let resolved = self.resolved(call);
        let call_attrs = resolved.as_ref().map_or(&call.attrs, |call| &call.attrs);
        let mut attrs: Vec<(Str, Value)> = Vec::new();
        for (name, value) in function.attr_defaults.iter().chain(call_attrs.iter()) {
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
        for (index, param) in function.params.iter().enumerate() {
            let fact = inputs
                .get(index)
                .cloned()
                .flatten()
                .unwrap_or_else(|| Arc::new(Fact::unknown()));
            inner.set_param(param, fact);
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

    /// Replaces references to attributes of the enclosing function by the attributes of the
    /// function call. None if the call has no references.
    fn resolved(&self, call: &Ref<Call>) -> Option<Call> {
        let outer = self.attrs.as_ref()?;
        let reference = |value: &Value| {
            let object = value.as_object()?;
            object
                .downcast_ref::<AttrRef>()
                .map(|attr_ref| attr_ref.name.clone())
        };
        call.attrs.iter().find_map(|(_, value)| reference(value))?;
        let attrs = call.attrs.iter().filter_map(|(name, value)| {
            let value = match reference(value) {
                // An attribute omitted by the caller is omitted here as well.
                Some(outer_name) => {
                    let mut entries = outer.iter();
                    entries.find(|(name, _)| **name == outer_name)?.1.clone()
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
