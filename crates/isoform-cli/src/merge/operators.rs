//! Nodes whose operator one side of a merge changed while the other side edited them.
//!
//! A node with another operator may stand for the removal of one node and the change of its
//! neighbour, so an edit of the other side inside of the node may concern what is no longer
//! there, although both sides write the same value at that place.

use std::collections::HashMap;

use isoform::compare::{ChangeKind, Difference, Merge, Place};
use isoform::paths::AccessStep;
use isoform::{Ref, Value};
use isoform_onnx::NodeOrigin;
use isoform_onnx::ir::Call;

/// The changes of one side to the nodes of the base.
#[derive(Default)]
struct NodeChanges {
    /// The nodes with any change.
    touched: HashMap<u64, Ref<Call>>,
    /// The new values of the fields that say which operator a node has.
    operators: HashMap<u64, Vec<(String, Option<Value>)>>,
}

/// The reason why a clean merge may lose a change: both sides changed a node, and one of
/// them changed its operator. O(changes × depth of their places up to the node).
pub(super) fn clash(merge: &Merge) -> Option<String> {
    let sides = [merge.left(), merge.right()].map(NodeChanges::new);
    for (side, other) in [(0, 1), (1, 0)] {
        let operators = &sides[side].operators;
        let mut clashes: Vec<&Ref<Call>> = operators
            .iter()
            .filter(|(node, fields)| sides[other].operators.get(node) != Some(fields))
            .filter_map(|(node, _)| sides[other].touched.get(node))
            .collect();
        clashes.sort_by_key(|call| call.position);
        if let Some(call) = clashes.first() {
            let names = ["LEFT", "RIGHT"];
            return Some(format!(
                "{} changed the operator of {}, which {} edited",
                names[side],
                node_name(call),
                names[other]
            ));
        }
    }
    None
}

impl NodeChanges {
    fn new(difference: &Difference) -> Self {
        let mut changes = NodeChanges::default();
        for change in difference.changes() {
            for (place, _) in change.places() {
                // The new value of a part inserted into a list has no place on the left.
                let Some((call, step)) = node_around(&place) else {
                    continue;
                };
                let node = call.identity();
                changes.touched.insert(node, call);
                let is_value = change.kind() == ChangeKind::Value;
                if is_value && matches!(&*step, "op" | "domain" | "callee") {
                    let fields = changes.operators.entry(node).or_default();
                    fields.push((step, change.right().cloned()));
                }
            }
        }
        changes
    }
}

fn node_name(call: &Ref<Call>) -> String {
    let origin = NodeOrigin::of_part(&Value::from(call));
    origin.map_or_else(|| call.op.to_string(), |origin| origin.to_string())
}

/// The innermost node around a place, and its field that leads there.
fn node_around(place: &Place) -> Option<(Ref<Call>, String)> {
    place.around().find_map(|(value, step)| {
        let call = value.peek::<Ref<Call>>()?.clone();
        match step {
            AccessStep::Attr(field) => Some((call, field)),
            _ => Some((call, String::new())),
        }
    })
}
