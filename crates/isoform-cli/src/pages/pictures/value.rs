//! An IR value as a picture: objects, and the fields that lead to other objects.

use std::collections::{HashMap, VecDeque};

use isoform::objects::field_value;
use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Value};
use isoform_page::picture::{NodeShape, Picture, PictureEdge, PictureNode};

use super::parts::words;

/// Objects that are drawn.
const MOST: usize = 400;

/// Parts of one object that are visited, and lines of plain fields.
const PARTS: usize = 2_000;
const LINES: usize = 4;

/// An IR value: each object once, with an edge for each field that leads to another object.
/// Containers are part of the fields that hold them. Of a large value, the first objects in the
/// order of distance are drawn. O(objects that are drawn).
#[must_use]
pub fn value_picture(value: &Value, title: &str) -> Picture {
    let mut drawing = Drawing {
        picture: Picture {
            title: title.to_owned(),
            ..Picture::default()
        },
        numbers: HashMap::new(),
        pending: VecDeque::new(),
        rest: None,
    };
    drawing.node(value);
    while let Some((number, value)) = drawing.pending.pop_front() {
        drawing.open(number, &value);
    }
    drawing.picture
}

struct Drawing {
    picture: Picture,
    numbers: HashMap<u64, usize>,
    /// Nodes whose fields are still to visit.
    pending: VecDeque<(usize, Value)>,
    /// The node for objects that are left out.
    rest: Option<usize>,
}

impl Drawing {
    /// The node of an object, which is made at the first call.
    fn node(&mut self, value: &Value) -> usize {
        let identity = value.as_object().map(|object| object.identity());
        if let Some(&number) = identity.and_then(|identity| self.numbers.get(&identity)) {
            return number;
        }
        let number = self.picture.nodes.len();
        if number >= MOST {
            let rest = *self.rest.get_or_insert(number);
            if rest == number {
                self.picture.nodes.push(PictureNode {
                    label: "… more".to_owned(),
                    tooltip: format!("only the first {MOST} objects are drawn"),
                    shape: NodeShape::Ellipsis,
                    ..PictureNode::default()
                });
            }
            return rest;
        }
        self.picture.nodes.push(object_node(value));
        if let Some(identity) = identity {
            self.numbers.insert(identity, number);
            self.pending.push_back((number, value.clone()));
        }
        number
    }

    /// Visits the fields of an object, and the parts of containers in them.
    fn open(&mut self, number: usize, value: &Value) {
        let mut stack = vec![(value.clone(), String::new())];
        let mut budget = PARTS;
        while let Some((holder, path)) = stack.pop() {
            let children = children_of(&holder);
            let mut inner = Vec::new();
            for position in 0..children.len().min(budget) {
                budget -= 1;
                let (child, step) = (
                    children.get(position, RegionKind::Use),
                    children.step(position),
                );
                let Some((child, step)) = child.zip(step) else {
                    continue;
                };
                let path = format!("{path}{step}");
                if is_node(&child.value) {
                    let to = self.node(&child.value);
                    self.add_edge(number, to, path);
                } else if !children_of(&child.value).is_empty() {
                    inner.push((child.value, path));
                }
            }
            stack.extend(inner.into_iter().rev());
        }
    }

    fn add_edge(&mut self, from: usize, to: usize, path: String) {
        self.picture.edges.push(PictureEdge {
            from,
            to,
            label: path.trim_start_matches('.').to_owned(),
            ..PictureEdge::default()
        });
    }
}

/// True for objects of declared types.
pub(super) fn is_node(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| !object.type_info().is_builtin())
}

/// An object with its plain fields as lines; names that comparison ignores are among them.
pub(super) fn object_node(value: &Value) -> PictureNode {
    let Some(object) = value.as_object() else {
        return PictureNode {
            label: words(value),
            ..PictureNode::default()
        };
    };
    let key = object.type_info().key();
    let fields = plain_fields(object);
    let tooltip = std::iter::once(key.to_owned()).chain(fields.iter().cloned());
    PictureNode {
        label: key.rsplit('.').next().unwrap_or(key).to_owned(),
        tooltip: tooltip.collect::<Vec<_>>().join("\n"),
        lines: fields.into_iter().take(LINES).collect(),
        ..PictureNode::default()
    }
}

fn plain_fields(object: &Ref<Obj>) -> Vec<String> {
    if object.type_info().is_builtin() {
        return vec![format!("{} parts", children_of(object).len())];
    }
    let fields = object.type_info().fields().iter();
    let fields = fields.filter_map(|field| {
        let value = field_value(object, field.name()).ok()?;
        let is_plain = !value.is_none() && !is_node(&value) && children_of(&value).is_empty();
        let text = words(&value);
        let is_shown = is_plain && !matches!(text.as_str(), "\"\"" | "[]");
        is_shown.then(|| format!("{} = {text}", field.name()))
    });
    fields.collect()
}
