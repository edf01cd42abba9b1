//! How the parts of a program are called: by the names of nodes, or by their places.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use isoform::objects::field_value;
use isoform::paths::{Above, AccessStep, PathTree};
use isoform::text::TextOptions;
use isoform::traverse::{Uses, children_of};
use isoform::types::{Kind, RegionKind};
use isoform::{Obj, Ref, Value};
use isoform_ir::ir::Op;
use isoform_onnx::NodeOrigin;
use isoform_onnx::ir::{Call, Function, Graph, Output as CallOutput};

/// Levels printed of a subterm, and the width of its line.
const TEXT_DEPTH: usize = 3;
const TEXT_WIDTH: usize = 100;

/// The names of the parts of one program. Each name is found from the part, and the
/// surroundings are visited once for all names: O(1) for each name, and O(n)
/// altogether.
pub(super) struct Names {
    uses: Uses,
    is_model: bool,
    tree: PathTree,
    places: HashMap<Part, u32>,
    use_counts: HashMap<u64, usize>,
}

/// An object, known by its identity.
#[derive(Clone)]
struct Part(Value);

impl Part {
    fn identity(&self) -> u64 {
        self.0.as_object().map_or(0, |object| object.identity())
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Part {}

impl Hash for Part {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl Names {
    pub(super) fn new(uses: Uses, is_model: bool) -> Self {
        Names {
            uses,
            is_model,
            tree: PathTree::default(),
            places: HashMap::new(),
            use_counts: HashMap::new(),
        }
    }

    /// A subterm in a few words: the operator of a node, or the start of its text.
    pub(super) fn text(&self, object: &Ref<Obj>) -> String {
        if !self.is_model {
            return excerpt(object);
        }
        match self.owner(object) {
            (part, None) => operator(&part),
            (part, Some(field)) => format!("{field} of {}", operator(&part)),
        }
    }

    /// The end of a copy for people: the node of the file, or the place.
    pub(super) fn end(&mut self, object: &Ref<Obj>) -> String {
        if self.is_model {
            let part = self.owner(object).0;
            let origin = NodeOrigin::of_part(&Value::from(&part));
            return origin.map_or_else(|| operator(&part), |origin| origin.to_string());
        }
        let place = self.place(object);
        self.tree.abbreviated(place)
    }

    /// The place in a form for programs; None if a model has no such place.
    pub(super) fn path(&mut self, object: &Ref<Obj>) -> Option<String> {
        if !self.is_model {
            let place = self.place(object);
            return Some(self.tree.text(place));
        }
        let part = self.owner(object).0;
        if let Some(graph) = part.downcast_ref::<Graph>() {
            return Some(format!("<graph '{}'>", graph.name));
        }
        if let Some(function) = part.downcast_ref::<Function>() {
            return Some(format!("<function '{}'>", function.name));
        }
        let origin = NodeOrigin::of_part(&Value::from(&part))?;
        Some(format!("<node {} of '{}'>", origin.position, origin.graph))
    }

    /// The beginnings to which paths refer.
    pub(super) fn beginnings(&self) -> &[String] {
        self.tree.beginnings()
    }

    /// The number of nodes in a copy of a subterm that nothing else uses. In a dataflow
    /// graph, the dataflow nodes count, and otherwise all objects except variables.
    /// O(size of the counted part).
    pub(super) fn own_nodes(&mut self, object: &Ref<Obj>) -> usize {
        let (mut dataflow, mut all) = (0, 0);
        // The number of visits of each part. A part with more uses than visits is used
        // elsewhere.
        let mut met: HashMap<u64, usize> = HashMap::new();
        let mut stack = vec![Value::from(node_of(object))];
        while let Some(value) = stack.pop() {
            if let Some(object) = value.as_object() {
                let info = object.type_info();
                if !info.is_builtin() {
                    dataflow += usize::from(info.kind() == Kind::Dag);
                    all += usize::from(info.kind() != Kind::Var);
                }
            }
            let children = children_of(&value);
            for child in children.iter(RegionKind::Use) {
                let Some(object) = child.value.as_object() else {
                    continue;
                };
                let identity = object.identity();
                let times = met.entry(identity).or_default();
                *times += 1;
                let uses = &self.uses;
                let count = self.use_counts.entry(identity);
                if *times == *count.or_insert_with(|| uses.use_count(&child.value)) {
                    stack.push(child.value.clone());
                }
            }
        }
        if dataflow > 0 { dataflow } else { all }
    }

    /// The part of a model that contains or is the object, and the field of the part
    /// with the object.
    fn owner(&self, object: &Ref<Obj>) -> (Ref<Obj>, Option<&'static str>) {
        let mut at = node_of(object).clone();
        let mut field = None;
        while !is_part(&at) {
            let value = Value::from(&at);
            let Some(user) = self.uses.users(&value).next() else {
                break;
            };
            let Some(owner) = user.owner().as_object() else {
                break;
            };
            field = match user.step() {
                Some(AccessStep::Attr(name)) if name == "attrs" => Some("attributes"),
                Some(AccessStep::Attr(name)) if name == "inputs" => Some("inputs"),
                _ => Some("part"),
            };
            at = owner.clone();
        }
        (at, field)
    }

    fn place(&mut self, object: &Ref<Obj>) -> u32 {
        let uses = &self.uses;
        let start = Part(Value::from(object));
        self.tree.add(&mut self.places, start, |part| {
            let user = uses.users(&part.0).next();
            let step = user.and_then(|user| Some((user.owner().clone(), user.step()?)));
            step.map_or(Above::Root, |(owner, step)| Above::Step(Part(owner), step))
        })
    }
}

/// The node of which an object is a result, or the object itself.
pub(crate) fn node_of(object: &Ref<Obj>) -> &Ref<Obj> {
    match object.downcast_ref::<CallOutput>() {
        Some(made) => made.call.as_object(),
        None => object,
    }
}

/// True for objects that have a name in a model.
fn is_part(object: &Ref<Obj>) -> bool {
    object.downcast_ref::<Call>().is_some()
        || object.downcast_ref::<Graph>().is_some()
        || object.downcast_ref::<Function>().is_some()
}

/// The name of an object's operator, or else of its type.
pub(crate) fn operator(object: &Ref<Obj>) -> String {
    let call = match object.downcast_ref::<CallOutput>() {
        Some(output) => Some(&output.call),
        None => object.downcast_ref::<Call>(),
    };
    if let Some(call) = call {
        return match call.op_name.as_str() {
            "" => call.op.to_string(),
            name => name.to_owned(),
        };
    }
    if let Some(graph) = object.downcast_ref::<Graph>() {
        return format!("graph '{}'", graph.name);
    }
    if let Some(function) = object.downcast_ref::<Function>() {
        return format!("function '{}'", function.name);
    }
    let op = field_value(object, "op").ok();
    let op = op
        .as_ref()
        .and_then(|op| op.as_object()?.downcast_ref::<Op>());
    let key = object.type_info().key();
    op.map_or_else(
        || key.rsplit('.').next().unwrap_or(key).to_owned(),
        |op| op.name.to_string(),
    )
}

/// The start of a subterm as text.
pub(crate) fn excerpt(object: &Ref<Obj>) -> String {
    let options = TextOptions::default()
        .width(TEXT_WIDTH)
        .depth(TEXT_DEPTH)
        .metadata(false)
        .placeholders(true);
    let text = options.to_text(object).unwrap_or_else(|_| operator(object));
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first,
    }
}
