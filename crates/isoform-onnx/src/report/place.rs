//! The node, graph and input that a place of a program belongs to.

use isoform::paths::{AccessPath, AccessStep};
use isoform::{Ref, Str, Value};

use crate::ir::{Call, Function, Graph, Input};

/// A part of a model that has a name.
#[derive(Clone)]
pub(super) enum Part {
    Call(Ref<Call>),
    Graph(Ref<Graph>),
    Function(Ref<Function>),
    Input(Ref<Input>),
}

/// The parts that a path leads through.
pub(super) struct Place {
    /// Each with the number of steps that lead to it.
    parts: Vec<(Part, usize)>,
    steps: Vec<AccessStep>,
}

impl Place {
    /// Follows a path as far as it exists. O(depth).
    pub(super) fn new(root: &Value, path: &AccessPath) -> Self {
        let steps = path.steps();
        let mut parts = Vec::new();
        let mut value = root.clone();
        for (at, step) in steps.iter().enumerate() {
            let Ok(next) = AccessPath::from_steps(vec![step.clone()]).get(&value) else {
                break;
            };
            value = next;
            let part = if let Some(call) = value.peek::<Ref<Call>>() {
                Part::Call(call.clone())
            } else if let Some(graph) = value.peek::<Ref<Graph>>() {
                Part::Graph(graph.clone())
            } else if let Some(function) = value.peek::<Ref<Function>>() {
                Part::Function(function.clone())
            } else if let Some(input) = value.peek::<Ref<Input>>() {
                Part::Input(input.clone())
            } else {
                continue;
            };
            parts.push((part, at + 1));
        }
        Place {
            parts,
            steps: steps.to_vec(),
        }
    }

    /// The innermost part that the place is inside of, and the steps from there. A node at
    /// the very place is an operand of what contains it.
    pub(super) fn around(&self) -> Option<(&Part, &[AccessStep])> {
        let inside = self.parts.iter().rev();
        let mut inside = inside.filter(|(_, steps)| *steps < self.steps.len());
        let (part, steps) = inside.next()?;
        Some((part, &self.steps[*steps..]))
    }

    /// The node at the place or around it.
    pub(super) fn last_call(&self) -> Option<&Ref<Call>> {
        self.parts.iter().rev().find_map(|(part, _)| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The node that the place is inside of, unless a graph or input inside of it is nearer.
    pub(super) fn user(&self) -> Option<&Ref<Call>> {
        match self.around() {
            Some((Part::Call(call), _)) => Some(call),
            _ => None,
        }
    }
}

/// The name of the field that a step leads into.
pub(super) fn field(step: Option<&AccessStep>) -> &str {
    match step {
        Some(AccessStep::Attr(name)) => name,
        _ => "",
    }
}

/// The position that a step leads to.
pub(super) fn index(step: Option<&AccessStep>) -> Option<usize> {
    match step {
        Some(AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index)) => Some(*index),
        _ => None,
    }
}

/// The name under which a step leads to the value of a map.
pub(super) fn key(step: Option<&AccessStep>) -> Option<String> {
    match step {
        Some(AccessStep::MapItem(key) | AccessStep::MapItemMissing(key)) => {
            Some(key.peek::<Str>()?.to_string())
        }
        _ => None,
    }
}

/// The identity of a node, if the value is one.
pub(super) fn call_identity(value: Option<&Value>) -> Option<u64> {
    value?.peek::<Ref<Call>>().map(|call| call.identity())
}
