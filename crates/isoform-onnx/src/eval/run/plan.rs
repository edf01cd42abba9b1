//! Bodies with their calls in order, and where values are used last.

use std::collections::HashMap;

use isoform::Value;
use isoform::values::ValueRef;

use crate::ir::Program;
use crate::layout::{self, Body, BodyKind, Listing, call_of};

/// A program that is ready to run.
pub(super) struct Plan {
    pub(super) bodies: Vec<Body>,
    /// The body of a local function, by the function's identity.
    pub(super) functions: HashMap<u64, usize>,
    /// For each node of each body, the calls whose results are unused after the node.
    pub(super) dead: Vec<Vec<Vec<u64>>>,
}

impl Plan {
    /// O(nodes × depth of bodies).
    pub(super) fn new(program: &Program) -> Self {
        let Listing { bodies, functions } = layout::list(program);
        let functions = functions
            .into_iter()
            .filter_map(|index| match &bodies[index].kind {
                BodyKind::Function(function) => Some((function.identity(), index)),
                BodyKind::Graph(_) => None,
            })
            .collect();
        let mut owners: Vec<Option<(usize, usize)>> = vec![None; bodies.len()];
        let mut place: HashMap<u64, usize> = HashMap::new();
        for (number, body) in bodies.iter().enumerate() {
            for (position, node) in body.nodes.iter().enumerate() {
                place.insert(node.call.identity(), number);
                for (_, inner) in &node.bodies {
                    owners[*inner] = Some((number, position));
                }
            }
        }
        let mut last: HashMap<u64, usize> = HashMap::new();
        let mut used = |value: &Value, mut body: usize, mut position: usize| {
            let Some(call) = call_of(value) else { return };
            let id = call.identity();
            let Some(home) = place.get(&id).copied() else {
                return;
            };
            while body != home {
                let Some((outer, node)) = owners[body] else {
                    return;
                };
                (body, position) = (outer, node);
            }
            let held = last.entry(id).or_insert(position);
            *held = (*held).max(position);
        };
        for (number, body) in bodies.iter().enumerate() {
            for (position, node) in body.nodes.iter().enumerate() {
                for input in node.call.inputs.values() {
                    used(input, number, position);
                }
            }
            for result in body.kind.results().values() {
                used(result, number, usize::MAX);
            }
        }
        let mut dead: Vec<Vec<Vec<u64>>> = bodies
            .iter()
            .map(|body| vec![Vec::new(); body.nodes.len()])
            .collect();
        for (id, position) in last {
            if position != usize::MAX
                && let Some(home) = place.get(&id)
            {
                dead[*home][position].push(id);
            }
        }
        Plan {
            bodies,
            functions,
            dead,
        }
    }

    /// The body in an attribute of a node.
    pub(super) fn body_of(&self, body: usize, at: usize, label: &str) -> Option<usize> {
        let node = &self.bodies[body].nodes[at];
        let found = node.bodies.iter().find(|(name, _)| name == label);
        found.map(|(_, inner)| *inner)
    }
}

/// The items of a sequence.
pub(super) fn items(value: &Value) -> Option<&[Value]> {
    match value.view() {
        ValueRef::Array(items) => Some(items.values()),
        _ => None,
    }
}
