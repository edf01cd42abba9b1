//! Which calls are functions of their inputs, so that equal ones may become one.

use std::collections::HashMap;

use isoform::{Ref, Value};

use super::constants::ints;
use crate::ir::{Call, Graph};
use crate::layout::{BodyKind, list_body};

/// Operators whose results differ from run to run.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Domains whose operators are functions of their inputs.
const PURE_DOMAINS: &[&str] = &["", "ai.onnx.ml"];

/// Purity of calls; remembers that of bodies and functions.
#[derive(Default)]
pub(super) struct Purity {
    bodies: HashMap<u64, bool>,
}

impl Purity {
    /// True if the results of a call depend on nothing but its inputs: no random numbers,
    /// no training, no operators that are not known; neither in bodies and functions.
    pub(super) fn is_pure(&mut self, call: &Ref<Call>) -> bool {
        if let Some(function) = &call.callee {
            let key = function.identity();
            return self.of_body(key, || BodyKind::Function(function.clone()));
        }
        is_pure_operator(call)
            && graphs(call)
                .all(|graph| self.of_body(graph.identity(), || BodyKind::Graph(graph.clone())))
    }

    fn of_body(&mut self, key: u64, body: impl FnOnce() -> BodyKind) -> bool {
        if let Some(known) = self.bodies.get(&key) {
            return *known;
        }
        // The listing has the bodies inside, so that only functions are left to look into.
        let listing = list_body(body());
        let mut nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
        let is_pure = nodes.all(|node| match &node.call.callee {
            Some(_) => self.is_pure(&node.call),
            None => is_pure_operator(&node.call),
        });
        self.bodies.insert(key, is_pure);
        is_pure
    }
}

fn is_pure_operator(call: &Call) -> bool {
    if !PURE_DOMAINS.contains(&call.domain.as_str()) || RANDOM.contains(&call.op.as_str()) {
        return false;
    }
    match call.standard_op() {
        Some("Dropout") => !may_train(call),
        Some("BatchNormalization") => {
            call.int("training_mode")
                .is_ok_and(|mode| mode.unwrap_or(0) == 0)
                && call.outputs == 1
        }
        _ => true,
    }
}

/// True for a Dropout that may drop elements.
pub(super) fn may_train(call: &Call) -> bool {
    match call.version {
        ..7 => !call.int("is_test").is_ok_and(|test| test.unwrap_or(0) != 0),
        7..12 => false,
        _ => match call.input(2) {
            None => false,
            Some(mode) => ints(mode).is_none_or(|mode| mode != [0]),
        },
    }
}

fn graphs(call: &Ref<Call>) -> impl Iterator<Item = Ref<Graph>> {
    let mut found = Vec::new();
    for (_, value) in call.attrs.iter() {
        collect(value, &mut found);
    }
    found.into_iter()
}

fn collect(value: &Value, found: &mut Vec<Ref<Graph>>) {
    if let Some(graph) = crate::layout::graph_in(value) {
        found.push(graph.clone());
    } else if let isoform::values::ValueRef::Array(items) = value.view() {
        let graphs = items.values().iter().filter_map(crate::layout::graph_in);
        found.extend(graphs.cloned());
    }
}
