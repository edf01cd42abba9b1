//! The parts of a model that pictures show, with their uses.

use std::collections::HashMap;

use isoform::values::ValueRef;
use isoform::{Ref, Value};
use isoform_onnx::NodeOrigin;
use isoform_onnx::elements::{self, tensor_type};
use isoform_onnx::ir::{Call, Dim, Input, Output, Program, TensorType};
use isoform_onnx::layout::{BodyKind, attributes, holds_graphs, list};
use isoform_page::picture::{NodeShape, PictureNode};

/// Items that are written of a list.
const ITEMS: usize = 8;

/// A node, an input or an output.
pub(super) struct Part {
    pub(super) kind: PartKind,
    /// The graph or function that contains the part.
    pub(super) body: usize,
}

pub(super) enum PartKind {
    Call(Ref<Call>),
    Input(Ref<Input>),
    /// The name of an output, and its position.
    Output(String, usize),
}

/// A use of a part by another part.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Use {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The position among the operands of the user.
    pub(super) slot: usize,
}

/// A graph or function.
pub(super) struct BodyInfo {
    pub(super) label: String,
    /// The body around it; None for the main graph and for functions.
    pub(super) parent: Option<usize>,
    /// The node whose attribute holds the graph, and the name of the attribute.
    pub(super) owner: Option<(u64, String)>,
    /// The calls of a function.
    pub(super) calls: usize,
    pub(super) is_main: bool,
}

/// The parts of a model, operands before their users, with their uses.
pub(super) struct Parts {
    pub(super) list: Vec<Part>,
    pub(super) numbers: HashMap<u64, usize>,
    pub(super) uses: Vec<Use>,
    pub(super) bodies: Vec<BodyInfo>,
}

impl Parts {
    /// O(nodes × depth of bodies + operands).
    pub(super) fn of(program: &Program) -> Self {
        let listing = list(program);
        let mut parts = Parts {
            list: Vec::new(),
            numbers: HashMap::new(),
            uses: Vec::new(),
            bodies: Vec::new(),
        };
        let mut results = Vec::new();
        let mut owners = HashMap::new();
        let mut calls: HashMap<u64, usize> = HashMap::new();
        for (number, body) in listing.bodies.iter().enumerate() {
            for input in body.kind.params().iter() {
                parts.add(input.identity(), PartKind::Input(input.clone()), number);
            }
            for node in &body.nodes {
                let call = &node.call;
                parts.add(call.identity(), PartKind::Call(call.clone()), number);
                let inner = node.bodies.iter();
                owners.extend(inner.map(|(label, inner)| (*inner, (call.clone(), label, number))));
                if let Some(callee) = &call.callee {
                    *calls.entry(callee.identity()).or_default() += 1;
                }
            }
            for (position, value) in body.kind.results().values().iter().enumerate() {
                let name = result_name(&body.kind, position);
                results.push((parts.list.len(), value.clone()));
                parts.list.push(Part {
                    kind: PartKind::Output(name, position),
                    body: number,
                });
            }
        }
        for (number, body) in listing.bodies.iter().enumerate() {
            let owner = owners.get(&number);
            parts.bodies.push(BodyInfo {
                label: body_label(
                    &body.kind,
                    owner.map(|(call, label, _)| (call, label.as_str())),
                ),
                parent: owner.map(|(.., around)| *around),
                owner: owner.map(|(call, label, _)| (call.identity(), (*label).clone())),
                calls: match &body.kind {
                    BodyKind::Function(it) => calls.get(&it.identity()).copied().unwrap_or(0),
                    BodyKind::Graph(_) => 1,
                },
                is_main: number == 0,
            });
        }
        parts.add_uses(results);
        parts
    }

    fn add(&mut self, identity: u64, kind: PartKind, body: usize) {
        self.numbers.insert(identity, self.list.len());
        self.list.push(Part { kind, body });
    }

    fn add_uses(&mut self, results: Vec<(usize, Value)>) {
        for to in 0..self.list.len() {
            if let PartKind::Call(call) = &self.list[to].kind {
                let operands = call.inputs.values().iter().enumerate();
                let numbers = &self.numbers;
                let uses = operands.filter_map(|(slot, value)| {
                    let from = *numbers.get(&producer(value)?)?;
                    Some(Use { from, to, slot })
                });
                self.uses.extend(uses);
            }
        }
        let numbers = &self.numbers;
        let uses = results.iter().filter_map(|(to, value)| {
            let from = *numbers.get(&producer(value)?)?;
            Some(Use {
                from,
                to: *to,
                slot: 0,
            })
        });
        self.uses.extend(uses);
    }

    /// The number of a node or input.
    pub(super) fn number(&self, value: &Value) -> Option<usize> {
        self.numbers.get(&value.as_object()?.identity()).copied()
    }
}

/// The identity of the node or input that makes a value; None for constants.
fn producer(value: &Value) -> Option<u64> {
    let object = value.as_object()?;
    match object.downcast_ref::<Output>() {
        Some(output) => Some(output.call.identity()),
        None => object.downcast_ref::<Input>().map(|_| object.identity()),
    }
}

fn result_name(kind: &BodyKind, position: usize) -> String {
    let names = match kind {
        BodyKind::Graph(graph) => &graph.result_names,
        BodyKind::Function(function) => &function.result_names,
    };
    let name = names.get(position).map(ToString::to_string);
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| format!("output {position}"))
}

fn body_label(kind: &BodyKind, owner: Option<(&Ref<Call>, &str)>) -> String {
    match (kind, owner) {
        (BodyKind::Function(function), _) => format!("function {}", function.name),
        (BodyKind::Graph(_), Some((call, attribute))) => {
            let name = [&*call.name, &*call.op]
                .into_iter()
                .find(|name| !name.is_empty());
            format!("{attribute} of {}", name.unwrap_or_default())
        }
        (BodyKind::Graph(graph), None) => graph.name.to_string(),
    }
}

impl Part {
    pub(super) fn call(&self) -> Option<&Ref<Call>> {
        match &self.kind {
            PartKind::Call(call) => Some(call),
            PartKind::Input(_) | PartKind::Output(..) => None,
        }
    }

    /// The name in the file; empty for nodes without one.
    pub(super) fn name(&self) -> &str {
        match &self.kind {
            PartKind::Call(call) => call.name.as_str(),
            PartKind::Input(input) => input.name.as_str(),
            PartKind::Output(name, _) => name,
        }
    }

    /// The part as it is drawn.
    pub(super) fn picture_node(&self) -> PictureNode {
        match &self.kind {
            PartKind::Call(call) => call_node(call),
            PartKind::Input(input) => PictureNode {
                label: named(input.name.as_str(), "input"),
                lines: type_text(&input.ty).into_iter().collect(),
                tooltip: NodeOrigin::of_part(&input.clone().into())
                    .map_or_else(String::new, |origin| origin.to_string()),
                shape: NodeShape::Port,
                ..PictureNode::default()
            },
            PartKind::Output(name, _) => PictureNode {
                label: name.clone(),
                tooltip: format!("output '{name}'"),
                shape: NodeShape::Port,
                ..PictureNode::default()
            },
        }
    }
}

fn named(name: &str, other: &str) -> String {
    [name, other][usize::from(name.is_empty())].to_owned()
}

fn call_node(call: &Ref<Call>) -> PictureNode {
    let origin = NodeOrigin::of_part(&call.clone().into());
    let label = origin
        .as_ref()
        .map_or_else(String::new, |origin| origin.op.clone());
    let mut tooltip = vec![origin.map_or_else(String::new, |origin| origin.to_string())];
    let constants = call.inputs.values().iter().enumerate();
    tooltip.extend(
        constants
            .filter(|(_, value)| is_constant(value))
            .map(|(slot, value)| {
                let name = call.input_names.get(slot).map_or("", |name| name.as_str());
                format!("input {slot}: {name} {}", words(value))
            }),
    );
    for (name, value) in attributes(call) {
        let text = if holds_graphs(value) {
            "a graph".to_owned()
        } else {
            words(value)
        };
        tooltip.push(format!("{name} = {text}"));
    }
    PictureNode {
        label,
        lines: vec![call.name.to_string()],
        tooltip: tooltip.join("\n"),
        ..PictureNode::default()
    }
}

/// True for an operand that is neither made by a node, nor an input, nor omitted.
pub(super) fn is_constant(value: &Value) -> bool {
    !value.is_none() && producer(value).is_none()
}

/// A constant as a node, by the name of the operand.
pub(super) fn constant_node(call: &Call, slot: usize) -> Option<PictureNode> {
    let value = call
        .inputs
        .values()
        .get(slot)
        .filter(|value| is_constant(value))?;
    let name = call.input_names.get(slot).map_or("", |name| name.as_str());
    Some(PictureNode {
        label: named(name, "constant"),
        lines: vec![words(value)],
        shape: NodeShape::Constant,
        ..PictureNode::default()
    })
}

/// A value in a few words.
pub(super) fn words(value: &Value) -> String {
    match value.view() {
        ValueRef::Tensor(tensor) => tensor_type(tensor),
        ValueRef::Float(number) => elements::float(number),
        ValueRef::Array(items) => {
            let mut texts: Vec<String> = items.values().iter().take(ITEMS).map(plain).collect();
            if items.len() > ITEMS {
                texts.push("…".to_owned());
            }
            format!("[{}]", texts.join(", "))
        }
        _ => plain(value),
    }
}

fn plain(value: &Value) -> String {
    match value.view() {
        ValueRef::Int(number) => number.to_string(),
        ValueRef::Float(number) => elements::float(number),
        ValueRef::Str(text) => format!("{text:?}"),
        ValueRef::Object(object) => object.type_info().key().to_owned(),
        ValueRef::Tensor(tensor) => tensor_type(tensor),
        ValueRef::Array(_) => "[…]".to_owned(),
        _ => format!("{value:?}"),
    }
}

/// The type of a tensor, such as `float32[batch, 3]`; None for other types.
fn type_text(ty: &Value) -> Option<String> {
    let ty = ty.as_object()?.downcast_ref::<TensorType>()?;
    let elem = match ty.elem.view() {
        ValueRef::None => "?".to_owned(),
        ValueRef::Str(name) => name.to_string(),
        ValueRef::DType(dtype) => dtype.to_string(),
        _ => return None,
    };
    let Some(shape) = &ty.shape else {
        return Some(elem);
    };
    let dim = |value: &Value| match value.view() {
        ValueRef::Int(size) => size.to_string(),
        ValueRef::Object(object) => {
            let dim = object.downcast_ref::<Dim>();
            dim.map_or_else(|| "?".to_owned(), |dim| dim.name.to_string())
        }
        _ => "?".to_owned(),
    };
    let dims: Vec<String> = shape.values().iter().map(dim).collect();
    Some(format!("{elem}[{}]", dims.join(", ")))
}
