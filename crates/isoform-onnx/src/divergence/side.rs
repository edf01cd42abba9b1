//! One of the two models: its nodes in an order of computation, and what each of them uses.

use std::collections::HashMap;

use isoform::{Array, Error, Node as _, Ref, Str, Value};

use super::outcome::ValuePlace;
use crate::NodeOrigin;
use crate::ir::{Call, Graph, Input, Program};
use crate::layout::{BodyKind, Listing, list, list_body, made_by, operands};
use crate::optimize::draws_numbers;

/// A program with the nodes of its main graph.
pub(super) struct Side {
    pub(super) program: Ref<Program>,
    /// The nodes of the main graph, operands before users.
    pub(super) nodes: Vec<Ref<Call>>,
    /// The values that each node uses, also inside of its bodies.
    pub(super) uses: Vec<Vec<Value>>,
    /// The number of nodes inside of bodies and functions.
    pub(super) inner: usize,
    positions: HashMap<u64, usize>,
}

impl Side {
    /// Lists the nodes. O(nodes × depth of bodies).
    ///
    /// # Errors
    ///
    /// `ValueError` for a node with random results; `name` tells which model has it.
    pub(super) fn new(name: &str, program: Ref<Program>) -> isoform::Result<Side> {
        let everything = list(&program);
        let all = || everything.bodies.iter().flat_map(|body| &body.nodes);
        if let Some(node) = all().find(|node| draws_numbers(&node.call)) {
            return Err(Error::value_error(format!(
                "the {name} model: {} draws random numbers, so its results cannot be compared; \
                 export the model for inference",
                NodeOrigin::of_call(&node.call)
            )));
        }
        let listing = list_body(BodyKind::Graph(program.graph.clone()));
        let nodes: Vec<Ref<Call>> = listing.bodies[0]
            .nodes
            .iter()
            .map(|node| node.call.clone())
            .collect();
        let positions = nodes.iter().enumerate();
        Ok(Side {
            uses: (0..nodes.len()).map(|node| uses(&listing, node)).collect(),
            inner: all().count() - nodes.len(),
            positions: positions
                .map(|(index, call)| (call.identity(), index))
                .collect(),
            nodes,
            program,
        })
    }

    /// The position of the node of the main graph that makes a value.
    pub(super) fn maker(&self, value: &Value) -> Option<usize> {
        self.position(made_by(value)?.0)
    }

    /// The position of a node of the main graph.
    pub(super) fn position(&self, call: &Ref<Call>) -> Option<usize> {
        self.positions.get(&call.identity()).copied()
    }

    pub(super) fn results(&self) -> &[Value] {
        self.program.graph.results.values()
    }

    /// The place of an output of the model that no node computes.
    pub(super) fn output_place(&self, position: usize) -> Option<ValuePlace> {
        let graph = &self.program.graph;
        let node = NodeOrigin::of_output(&graph.name, false, &graph.result_names, position)?;
        Some(ValuePlace {
            value: node.name.clone(),
            node,
        })
    }

    /// The program that computes these values. Nothing else remains of the outputs, so only
    /// the needed nodes run.
    pub(super) fn exposing(&self, values: &[Value]) -> Ref<Program> {
        let names = (0..values.len()).map(|number| Str::from(format!("isoform:value:{number}")));
        let graph = Ref::new(Graph {
            results: Array::from(values.to_vec()),
            // Runtimes infer types of outputs.
            result_types: Array::from(vec![Value::NONE; values.len()]),
            result_names: names.collect(),
            ..self.program.graph.clone_fields()
        });
        Ref::new(Program {
            graph,
            io_names: Array::default(),
            ..self.program.clone_fields()
        })
    }
}

/// The values used by a node of the outermost body.
fn uses(listing: &Listing, node: usize) -> Vec<Value> {
    let node = &listing.bodies[0].nodes[node];
    let mut values: Vec<Value> = operands(&node.call).into_iter().cloned().collect();
    let mut pending: Vec<usize> = node.bodies.iter().map(|(_, body)| *body).collect();
    while let Some(body) = pending.pop() {
        let body = &listing.bodies[body];
        values.extend(body.kind.results().values().iter().cloned());
        for inner in &body.nodes {
            values.extend(operands(&inner.call).into_iter().cloned());
            pending.extend(inner.bodies.iter().map(|(_, body)| *body));
        }
    }
    values
}

/// The place of an output of a node, or of an input; None for other values.
pub(super) fn place(value: &Value) -> Option<ValuePlace> {
    if let Some((call, index)) = made_by(value) {
        let index = usize::try_from(index).ok()?;
        let name = call.output_names.get(index).map(Str::to_string);
        return Some(ValuePlace {
            node: NodeOrigin::of_call(call),
            value: name.unwrap_or_default(),
        });
    }
    let input = value.as_object()?.downcast_ref::<Input>()?;
    Some(ValuePlace {
        node: NodeOrigin::of_input(input),
        value: input.name.to_string(),
    })
}
