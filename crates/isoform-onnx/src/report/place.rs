//! The node, graph and input that a place of a program belongs to.

use std::fmt::Write as _;

use isoform::compare::{Change, ChangeKind, Place};
use isoform::paths::AccessStep;
use isoform::{Ref, Str, Value};

use crate::NodeOrigin;
use crate::ir::{Call, Function, Graph, Input};
use crate::origin::origin_in;

/// A named part of a model.
#[derive(Clone)]
pub(super) enum Part {
    Call(Ref<Call>),
    Graph(Ref<Graph>),
    Function(Ref<Function>),
    Input(Ref<Input>),
}

/// The part around a place of a change.
pub(super) struct Around {
    place: Place,
    /// The innermost part around the place, and the steps from the part to the place.
    inside: Option<(Part, Vec<AccessStep>)>,
}

impl Around {
    /// Goes outwards to the innermost part. O(steps to that).
    pub(super) fn new(place: Place) -> Self {
        let inside = inside(&place, Part::of);
        Around { place, inside }
    }

    /// The innermost part around the place, and the steps from the part to the place. A
    /// node at the very place is an operand of its container.
    pub(super) fn around(&self) -> Option<(&Part, &[AccessStep])> {
        let (part, steps) = self.inside.as_ref()?;
        Some((part, steps))
    }

    /// The node at the place or around it.
    pub(super) fn last_call(&self) -> Option<Ref<Call>> {
        let call = |value: &Value| value.peek::<Ref<Call>>().cloned();
        let at = self.place.value();
        at.as_ref()
            .and_then(call)
            .or_else(|| self.place.around().find_map(|(value, _)| call(&value)))
    }

    /// The innermost node or input around the place, unless a graph is nearer.
    pub(super) fn node_or_input(&self) -> Option<Value> {
        match self.around()?.0 {
            Part::Call(call) => Some(call.into()),
            Part::Input(input) => Some(input.into()),
            Part::Graph(_) | Part::Function(_) => None,
        }
    }

    /// The innermost node around the place, unless a graph or input is nearer.
    pub(super) fn user(&self) -> Option<&Ref<Call>> {
        match self.around() {
            Some((Part::Call(call), _)) => Some(call),
            _ => None,
        }
    }
}

impl Part {
    fn of(value: &Value) -> Option<Part> {
        if let Some(call) = value.peek::<Ref<Call>>() {
            return Some(Part::Call(call.clone()));
        } else if let Some(graph) = value.peek::<Ref<Graph>>() {
            return Some(Part::Graph(graph.clone()));
        } else if let Some(function) = value.peek::<Ref<Function>>() {
            return Some(Part::Function(function.clone()));
        }
        let input = value.peek::<Ref<Input>>()?;
        Some(Part::Input(input.clone()))
    }

    /// The part, unless it is an input: the position of an input identifies the input.
    fn of_listed(value: &Value) -> Option<Part> {
        Part::of(value).filter(|part| !matches!(part, Part::Input(_)))
    }
}

/// The innermost part around a place, and the steps from there.
fn inside(place: &Place, part: fn(&Value) -> Option<Part>) -> Option<(Part, Vec<AccessStep>)> {
    let mut steps = Vec::new();
    for (value, step) in place.around() {
        steps.push(step);
        if let Some(part) = part(&value) {
            steps.reverse();
            return Some((part, steps));
        }
    }
    None
}

/// True if a part itself changed, rather than its use by another part.
fn is_of_part(change: &Change) -> bool {
    change.kind() != ChangeKind::Rewired
}

/// The changed part of the model, at one place of the change: on the left for a
/// deletion, and otherwise on the right if possible.
pub(super) fn origin(change: &Change, (left, right): &(Place, Place)) -> Option<NodeOrigin> {
    let of = |place: &Place| {
        let value = place.value().filter(|_| is_of_part(change));
        origin_in(value.as_ref(), place.around())
    };
    match change.kind() {
        ChangeKind::Deleted => of(left).or_else(|| of(right)),
        _ => of(right).or_else(|| of(left)),
    }
}

/// The place of a change on one side, from the enclosing node, graph or function, as in
/// `<node 7 of 'main'>.inputs[1]` for node 7 in the file's list of that graph, counted
/// from 0. Above all graphs, the text is `<root>` and the path from there.
pub(super) fn text(change: &Change, place: &Place) -> String {
    let whole = place.value().filter(|_| is_of_part(change));
    let whole = whole.filter(|value| value.peek::<Ref<Call>>().is_some());
    let found = match whole.as_ref().and_then(Part::of) {
        Some(part) => Some((part, Vec::new())),
        None => inside(place, Part::of_listed),
    };
    let Some((part, steps)) = found else {
        return place.path().to_string();
    };
    let mut text = part.head();
    for step in &steps {
        // Writing to a string cannot fail.
        let _ = write!(text, "{step}");
    }
    text
}

impl Part {
    fn head(&self) -> String {
        match self {
            Part::Call(call) => head_of_node(call),
            Part::Graph(graph) => format!("<graph '{}'>", graph.name),
            Part::Function(function) => format!("<function '{}'>", function.name),
            Part::Input(input) => format!("<input '{}' of '{}'>", input.name, input.graph),
        }
    }
}

/// The start of the places in a node.
pub(super) fn head_of_node(call: &Call) -> String {
    format!("<node {} of '{}'>", call.position, call.graph)
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

/// The identity of a node, if the value is a node.
pub(super) fn call_identity(value: Option<&Value>) -> Option<u64> {
    value?.peek::<Ref<Call>>().map(|call| call.identity())
}
