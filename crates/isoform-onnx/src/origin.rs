//! From a place inside a program back to the node of the file.

use std::fmt;

use isoform::paths::{AccessPath, AccessStep};
use isoform::{Array, Ref, Str, Value};

use crate::ir::{Call, Function, Graph, Input, Program};

/// The kind of part that a place belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OriginKind {
    /// A node.
    Node,
    /// An input of a graph or a function.
    Input,
    /// An output of a graph or a function.
    Output,
}

/// The part of a model that a place in its program comes from.
///
/// It displays as `node 'Conv_3' (Conv) producing 'x12' in graph 'main'`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NodeOrigin {
    /// The kind of the part.
    pub kind: OriginKind,
    /// Name of the graph or function that contains it.
    pub graph: String,
    /// True if that is a function.
    pub in_function: bool,
    /// Name of the node, input or output; may be empty for a node.
    pub name: String,
    /// Name of the node's operator or function, with its domain if that is not
    /// `ai.onnx`; empty for an input or output.
    pub op: String,
    /// Names of the node's outputs, empty for unnamed ones.
    pub outputs: Vec<String>,
    /// Position among the nodes, inputs or outputs.
    pub position: usize,
    /// Name of the node's input that contains the place, if there is one.
    ///
    /// Constants are not nodes here, so this is how to name a weight.
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

/// Returns the innermost part of the model that contains the place; None above all parts.
///
/// A path that ends at a missing element is followed as far as it exists.
pub(crate) fn origin_at(root: &Value, path: &AccessPath) -> Option<NodeOrigin> {
    if let [
        AccessStep::Attr(field),
        AccessStep::ArrayItem(list),
        AccessStep::ArrayItem(index),
    ] = path.steps()
        && field == "io_names"
        && let Some(program) = root.peek::<Ref<Program>>()
    {
        let graph = &program.graph;
        return match list {
            0 => graph
                .params
                .get(*index)
                .map(|input| NodeOrigin::of_input(input)),
            _ => NodeOrigin::of_output(&graph.name, false, &graph.result_names, *index),
        };
    }
    let mut found = None;
    // The object whose field was entered last and the name of that field.
    let mut field: Option<(Value, &str)> = None;
    let mut value = root.clone();
    for step in path.steps() {
        match step {
            AccessStep::Attr(name) => field = Some((value.clone(), name)),
            AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index) => {
                if let Some((owner, name)) = field.take() {
                    enter_item(&owner, name, *index, &mut found);
                }
            }
            _ => field = None,
        }
        let Ok(next) = AccessPath::from_steps(vec![step.clone()]).get(&value) else {
            break;
        };
        value = next;
        if let Some(call) = value.peek::<Ref<Call>>() {
            found = Some(NodeOrigin::of_call(call));
        } else if let Some(input) = value.peek::<Ref<Input>>() {
            found = Some(NodeOrigin::of_input(input));
        }
    }
    found
}

/// Records an element of a field of `owner`, if it is informative.
fn enter_item(owner: &Value, field: &str, index: usize, found: &mut Option<NodeOrigin>) {
    let is_result = matches!(field, "results" | "result_types");
    if let Some(graph) = owner.peek::<Ref<Graph>>() {
        if is_result {
            let names = &graph.result_names;
            let output = NodeOrigin::of_output(&graph.name, false, names, index);
            // An output that is missing here belongs to whatever contains the graph.
            *found = output.or(found.take());
        }
    } else if let Some(function) = owner.peek::<Ref<Function>>() {
        if is_result {
            let names = &function.result_names;
            *found = NodeOrigin::of_output(&function.name, true, names, index).or(found.take());
        }
    } else if let Some(call) = owner.peek::<Ref<Call>>()
        && let ("inputs", Some(origin)) = (field, found)
    {
        origin.input = call.input_names.get(index).map(Str::to_string);
    }
}
