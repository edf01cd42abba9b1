//! Failures that programs have or not.

use std::collections::{HashMap, HashSet};

use isoform::Ref;
use isoform_onnx::ir::{Call, Output, Program};
use isoform_onnx::layout::{BodyKind, list};

use super::models::{Family, Planted};

/// The nodes of a program, and the nodes that each one uses.
pub(super) struct Seen {
    nodes: Vec<(Ref<Call>, Vec<usize>)>,
}

impl Seen {
    pub(super) fn of(program: &Program) -> Seen {
        let listing = list(program);
        let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
        let calls: Vec<&Ref<Call>> = nodes.clone().map(|node| &node.call).collect();
        let places: HashMap<u64, usize> = calls
            .iter()
            .enumerate()
            .map(|(at, call)| (call.identity(), at))
            .collect();
        let made_by = |value: &isoform::Value| {
            let output = value.as_object()?.downcast_ref::<Output>()?;
            places.get(&output.call.identity()).copied()
        };
        let seen = nodes.map(|node| {
            let mut used: Vec<usize> = node
                .call
                .inputs
                .values()
                .iter()
                .filter_map(made_by)
                .collect();
            for (_, body) in &node.bodies {
                let BodyKind::Graph(graph) = &listing.bodies[*body].kind else {
                    continue;
                };
                used.extend(graph.results.values().iter().filter_map(made_by));
            }
            (node.call.clone(), used)
        });
        Seen {
            nodes: seen.collect(),
        }
    }

    pub(super) fn operators(&self) -> Vec<String> {
        let nodes = self.nodes.iter();
        nodes.map(|(call, _)| call.op.to_string()).collect()
    }

    pub(super) fn count(&self, op: &str) -> usize {
        self.nodes.iter().filter(|(call, _)| call.is(op)).count()
    }

    /// True if nodes with these operators use each other, the last one first.
    pub(super) fn row(&self, ops: &[&str]) -> bool {
        let mut here: Vec<usize> = (0..self.nodes.len()).collect();
        for (step, op) in ops.iter().rev().enumerate() {
            here.retain(|at| self.nodes[*at].0.is(op));
            if step + 1 < ops.len() {
                here = here
                    .iter()
                    .flat_map(|at| self.nodes[*at].1.iter().copied())
                    .collect();
            }
        }
        !here.is_empty()
    }

    /// True if a node with the operator `last` needs one with the operator `first`.
    pub(super) fn path(&self, first: &str, last: &str) -> bool {
        let ends = (0..self.nodes.len()).filter(|at| self.nodes[*at].0.is(last));
        let mut stack: Vec<usize> = ends.collect();
        let mut seen: HashSet<usize> = HashSet::new();
        while let Some(at) = stack.pop() {
            if self.nodes[at].0.is(first) {
                return true;
            }
            if seen.insert(at) {
                stack.extend(&self.nodes[at].1);
            }
        }
        false
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// One operator.
    Single,
    /// A node that uses another.
    Edge,
    /// Three nodes in a row.
    Row,
    /// A node that needs another far before.
    Path,
    /// Three nodes anywhere.
    Apart,
}

impl Failure {
    pub(super) const ALL: [Failure; 5] = [
        Failure::Single,
        Failure::Edge,
        Failure::Row,
        Failure::Path,
        Failure::Apart,
    ];

    pub(super) fn planted(self, family: Family) -> Planted {
        match self {
            // Ends of one of the ten chains.
            Failure::Path if family == Family::Wide => &[(505, &["Softsign"]), (570, &["Erf"])],
            Failure::Single => &[(630, &["Erf"])],
            Failure::Edge => &[(210, &["Softsign"]), (420, &["Softsign", "Erf"])],
            Failure::Row => &[(770, &["Softsign", "Exp", "Erf"])],
            Failure::Path => &[(50, &["Softsign"]), (930, &["Erf"])],
            Failure::Apart => &[(120, &["Softsign"]), (510, &["Exp"]), (840, &["Erf"])],
        }
    }

    pub(super) fn is_in(self, seen: &Seen) -> bool {
        match self {
            Failure::Single => seen.count("Erf") > 0,
            Failure::Edge => seen.row(&["Softsign", "Erf"]),
            Failure::Row => seen.row(&["Softsign", "Exp", "Erf"]),
            Failure::Path => seen.path("Softsign", "Erf"),
            Failure::Apart => ["Softsign", "Exp", "Erf"]
                .iter()
                .all(|op| seen.count(op) > 0),
        }
    }
}
