//! Maps access paths to the parts of a graph.

use hashbrown::HashMap;

use super::graph::{Graph, Item, NodeKind};
use super::plan::Plan;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::value::Value;

/// A part of a node, and its position in the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Edge {
    pub(super) node: u32,
    pub(super) part: u32,
}

impl Edge {
    /// The value itself.
    pub(super) const ROOT: Edge = Edge {
        node: u32::MAX,
        part: 0,
    };

    pub(super) fn new(node: u32, part: u32) -> Edge {
        Edge { node, part }
    }
}

/// The marks of the options.
#[derive(Default)]
pub(super) struct Marks {
    by_edge: HashMap<Edge, Vec<usize>>,
    /// True for each mark exactly at the place of its path.
    pub(super) are_exact: bool,
}

impl Marks {
    /// The numbers of the marks of a part.
    pub(super) fn of(&self, edge: Edge) -> &[usize] {
        if self.by_edge.is_empty() {
            return &[];
        }
        self.by_edge.get(&edge).map_or(&[], Vec::as_slice)
    }
}

/// The marks of the options, by the marked part.
pub(super) fn find(graph: &Graph<'_>, plan: &Plan, value: &Value) -> Marks {
    let mut found = Marks {
        by_edge: HashMap::new(),
        are_exact: true,
    };
    for (number, mark) in graph.options().marks.iter().enumerate() {
        let (edge, depth) = follow(graph, plan, value, &mark.path);
        found.by_edge.entry(edge).or_default().push(number);
        found.are_exact &= depth == mark.path.depth();
    }
    found
}

/// The last printed part on a path, and the number of steps to this part.
fn follow(graph: &Graph<'_>, plan: &Plan, value: &Value, path: &AccessPath) -> (Edge, usize) {
    let (mut edge, mut node, mut value) = (Edge::ROOT, graph.root(), value.clone());
    let mut depth = 0;
    for step in path.steps() {
        let Some(position) = position_of(graph, node, &value, step) else {
            break;
        };
        let Some(part) = graph.parts_of(node).get(position) else {
            break;
        };
        if !plan.prints(graph, node, part) {
            break;
        }
        edge = Edge::new(node, position as u32);
        depth += 1;
        let Item::Node(item) = part.item else {
            break;
        };
        let step_path = AccessPath::from_steps(vec![step.clone()]);
        match step_path.get(&value) {
            Ok(next) => value = next,
            Err(_) => break,
        }
        node = item;
    }
    (edge, depth)
}

fn position_of(graph: &Graph<'_>, node: u32, value: &Value, step: &AccessStep) -> Option<usize> {
    match (graph.node(node).what, step) {
        (NodeKind::Object(ty), AccessStep::Attr(name)) => {
            let field = graph.types[ty as usize].info.field_index(name)?;
            let mut parts = graph.parts_of(node).iter();
            parts.position(|part| part.field as usize == field)
        }
        (NodeKind::Sequence(_), AccessStep::ArrayItem(index)) => Some(*index),
        (NodeKind::Mapping(_), AccessStep::ArrayItem(index)) => entry(value, &Value::from(*index)),
        (NodeKind::Mapping(_), AccessStep::MapItem(key)) => entry(value, key),
        _ => None,
    }
}

/// The position of a key's value among the parts of a map.
fn entry(value: &Value, key: &Value) -> Option<usize> {
    Some(value.entries()?.reference().position(key)? * 2 + 1)
}
