//! From a place inside a program back to the node of the file.

use std::fmt;

use isoform::paths::{AccessPath, AccessStep};
use isoform::{Array, Ref, Str, Value};

use crate::ir::{Call, Function, Graph, Input, Program};

/// The kind of part that a place belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum OriginKind {
    /// A node.
    Node,
    /// An input of a graph or a function.
    Input,
    /// An output of a graph or a function.
    Output,
}

impl OriginKind {
    /// The name in lower case. O(1).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            OriginKind::Node => "node",
            OriginKind::Input => "input",
            OriginKind::Output => "output",
        }
    }
}

/// The part of a model from which a place in the program originates.
///
/// An origin displays as `node 'Conv_3' (Conv) producing 'x12' in graph 'main'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct NodeOrigin {
    /// The kind of the part.
    pub kind: OriginKind,
    /// Name of the graph or function that contains the part.
    pub graph: String,
    /// True if that is a function.
    pub in_function: bool,
    /// Name of the node, input or output; may be empty for a node.
    pub name: String,
    /// Name of the node's operator or function, with the domain unless `ai.onnx`; empty
    /// for an input or output.
    pub op: String,
    /// Names of the node's outputs, empty for unnamed ones.
    pub outputs: Vec<String>,
    /// Position among the nodes, inputs or outputs.
    pub position: usize,
    /// Name of the node's input that contains the place, if any.
    ///
    /// Constants are not nodes, so this field identifies a weight.
    pub input: Option<String>,
}

impl fmt::Display for NodeOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.in_function {
            "function"
        } else {
            "graph"
        };
        match self.kind {
            OriginKind::Input => write!(f, "input '{}' of", self.name)?,
            OriginKind::Output => write!(f, "output '{}' of", self.name)?,
            OriginKind::Node => {
                match self.name.as_str() {
                    "" => write!(f, "node #{} ({})", self.position, self.op)?,
                    name => write!(f, "node '{name}' ({})", self.op)?,
                }
                let named = self.outputs.iter().filter(|output| !output.is_empty());
                for (index, output) in named.enumerate() {
                    let before = if index == 0 { " producing" } else { "," };
                    write!(f, "{before} '{output}'")?;
                }
                f.write_str(" in")?;
            }
        }
        write!(f, " {place} '{}'", self.graph)
    }
}

impl NodeOrigin {
    pub(crate) fn of_call(call: &Call) -> Self {
        NodeOrigin {
            kind: OriginKind::Node,
            graph: call.graph.to_string(),
            in_function: call.in_function,
            name: call.name.to_string(),
            op: call.shown_op(),
            outputs: call.output_names.iter().map(Str::to_string).collect(),
            position: usize::try_from(call.position).unwrap_or(0),
            input: None,
        }
    }

    /// The origin of a node or an input; None for other values. O(names of the node).
    ///
    /// ```
    /// use isoform_onnx::NodeOrigin;
    /// assert_eq!(NodeOrigin::of_part(&1.into()), None);
    /// ```
    #[must_use]
    pub fn of_part(value: &Value) -> Option<Self> {
        if let Some(call) = value.peek::<Ref<Call>>() {
            return Some(NodeOrigin::of_call(call));
        }
        let input = value.peek::<Ref<Input>>()?;
        Some(NodeOrigin::of_input(input))
    }

    pub(crate) fn of_input(input: &Input) -> Self {
        NodeOrigin {
            kind: OriginKind::Input,
            graph: input.graph.to_string(),
            in_function: input.in_function,
            name: input.name.to_string(),
            op: String::new(),
            outputs: Vec::new(),
            position: usize::try_from(input.position).unwrap_or(0),
            input: None,
        }
    }

    /// None if there is no such output.
    pub(crate) fn of_output(
        graph: &Str,
        in_function: bool,
        names: &Array<Str>,
        position: usize,
    ) -> Option<Self> {
        Some(NodeOrigin {
            kind: OriginKind::Output,
            graph: graph.to_string(),
            in_function,
            name: names.get(position)?.to_string(),
            op: String::new(),
            outputs: Vec::new(),
            position,
            input: None,
        })
    }
}

/// Returns the innermost part of the model that contains the place; None above all
/// parts.
///
/// If the path ends at a missing element, its existing part is followed. O(depth).
pub(crate) fn origin_at(root: &Value, path: &AccessPath) -> Option<NodeOrigin> {
    let mut around = Vec::with_capacity(path.steps().len());
    let mut value = Some(root.clone());
    for step in path.steps() {
        let Some(owner) = value else {
            break;
        };
        value = AccessPath::from_steps(vec![step.clone()]).get(&owner).ok();
        around.push((owner, step.clone()));
    }
    origin_in(value.as_ref(), around.into_iter().rev())
}

/// Returns the innermost part of a model that contains a value. `around` lists the
/// objects around the value, innermost first, with the steps that lead to it. O(steps
/// to the found part).
pub(crate) fn origin_in(
    value: Option<&Value>,
    around: impl Iterator<Item = (Value, AccessStep)>,
) -> Option<NodeOrigin> {
    if let Some(origin) = value.and_then(NodeOrigin::of_part) {
        return Some(origin);
    }
    // The next two steps from the owner towards the value.
    let (mut inner, mut innermost) = (None, None);
    for (owner, step) in around {
        if let Some(origin) = origin_of_owner(&owner, &step, [&inner, &innermost]) {
            return Some(origin);
        }
        innermost = inner.replace(step);
    }
    None
}

/// The part that a step leads inside of; `inner` are the next two steps.
fn origin_of_owner(
    owner: &Value,
    step: &AccessStep,
    [inner, innermost]: [&Option<AccessStep>; 2],
) -> Option<NodeOrigin> {
    let AccessStep::Attr(field) = step else {
        return None;
    };
    let index = |step: &Option<AccessStep>| match step {
        Some(AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index)) => Some(*index),
        _ => None,
    };
    let number = index(inner);
    let is_result = matches!(field.as_str(), "results" | "result_types");
    if let Some(call) = owner.peek::<Ref<Call>>() {
        let mut origin = NodeOrigin::of_call(call);
        if field == "inputs" {
            origin.input =
                number.and_then(|number| call.input_names.get(number).map(Str::to_string));
        }
        return Some(origin);
    }
    if let Some(input) = owner.peek::<Ref<Input>>() {
        return Some(NodeOrigin::of_input(input));
    }
    // A missing output belongs to the owner of the graph.
    if let Some(graph) = owner.peek::<Ref<Graph>>() {
        let names = &graph.result_names;
        return number
            .filter(|_| is_result)
            .and_then(|number| NodeOrigin::of_output(&graph.name, false, names, number));
    }
    if let Some(function) = owner.peek::<Ref<Function>>() {
        let names = &function.result_names;
        return number
            .filter(|_| is_result)
            .and_then(|number| NodeOrigin::of_output(&function.name, true, names, number));
    }
    let graph = &owner.peek::<Ref<Program>>()?.graph;
    let position = index(innermost).filter(|_| field == "io_names")?;
    match number? {
        0 => graph
            .params
            .get(position)
            .map(|input| NodeOrigin::of_input(input)),
        _ => NodeOrigin::of_output(&graph.name, false, &graph.result_names, position),
    }
}
