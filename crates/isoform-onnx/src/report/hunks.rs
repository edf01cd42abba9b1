//! Hunks: groups of nodes that were added, removed or replaced together.

use std::collections::HashSet;

use isoform::compare::Hunk;
use isoform::{Ref, Str, Value};

use super::place::{call_identity, head_of_node};
use super::rewired::Wiring;
use super::sentence::{Item, Rank, outside};
use crate::NodeOrigin;
use crate::ir::Call;
use crate::summary::Role;

use super::values::label;

/// Nodes that are named.
const MOST_NAMES: usize = 5;

/// Operators that are listed.
const MOST_OPERATORS: usize = 6;

/// Adds the hunks of several nodes, and returns the nodes in them. A single added,
/// removed or replaced node is reported as a separate change instead.
pub(super) fn add(
    main: &Str,
    hunks: &[Hunk],
    wiring: &Wiring,
    items: &mut Vec<Item>,
) -> HashSet<u64> {
    let mut told = HashSet::new();
    for hunk in hunks {
        if hunk.left.len() <= 1 && hunk.right.len() <= 1 {
            continue;
        }
        let nodes = || hunk.left.iter().chain(&hunk.right);
        told.extend(nodes().filter_map(|node| call_identity(Some(node))));
        let calls: Vec<&Ref<Call>> = nodes()
            .filter_map(|node| node.peek::<Ref<Call>>())
            .collect();
        let Some(first) = calls.first() else {
            continue;
        };
        let (mut text, role) = text(hunk);
        if let Some(call) = hunk
            .right
            .first()
            .and_then(|node| call_identity(Some(node)))
        {
            text += &wiring.sources(call);
        }
        let outside = outside(first, main);
        let (name, single_label) = match common_place(&calls) {
            Some(place) => (place.clone(), place),
            None => (names(&calls), label(first)),
        };
        items.push(Item {
            rank: Rank::Hunks,
            kind: "hunk",
            key: format!("{} {text}", hunk.group),
            once: String::new(),
            many: String::new(),
            before: text,
            op: String::new(),
            after: String::new(),
            node: Some(NodeOrigin::of_call(first)),
            name: name + &outside,
            label: single_label + &outside,
            place: head_of_node(first),
            role,
            weight: 0.0,
            changes: Vec::new(),
            parts: [&hunk.left, &hunk.right].map(|side| side.to_vec()),
        });
    }
    told
}

fn text(hunk: &Hunk) -> (String, Role) {
    let [left, right] = [&hunk.left, &hunk.right].map(|side| described(side));
    match (hunk.left.is_empty(), hunk.right.is_empty()) {
        (_, true) => (format!("removed {left}"), Role::Left),
        (true, _) => (format!("added {right}"), Role::Right),
        _ if hunk.is_enclosed => (format!("{left} became {right}"), Role::Changed),
        _ => (format!("removed {left}, and added {right}"), Role::Changed),
    }
}

/// Text like `3 nodes (MatMul, Add, Relu)`, with counts for repeated operators.
fn described(nodes: &[Value]) -> String {
    let mut operators: Vec<(String, usize)> = Vec::new();
    let calls: Vec<&Ref<Call>> = nodes
        .iter()
        .filter_map(|node| node.peek::<Ref<Call>>())
        .collect();
    for call in &calls {
        let op = call.shown_op();
        match operators.iter_mut().find(|(other, _)| *other == op) {
            Some((_, count)) => *count += 1,
            None => operators.push((op, 1)),
        }
    }
    let mut shown: Vec<String> = operators
        .iter()
        .take(MOST_OPERATORS)
        .map(|(op, count)| match count {
            1 => op.clone(),
            count => format!("{count} {op}"),
        })
        .collect();
    if operators.len() > MOST_OPERATORS {
        shown.push("...".to_owned());
    }
    let shown = shown.join(", ");
    match nodes.len() {
        1 => format!("1 node ({shown})"),
        count => format!("{count} nodes ({shown})"),
    }
}

/// The names of a few nodes.
fn names(calls: &[&Ref<Call>]) -> String {
    let mut shown: Vec<String> = calls
        .iter()
        .take(MOST_NAMES)
        .map(|call| label(call))
        .collect();
    shown.dedup();
    if calls.len() > MOST_NAMES {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}

/// The folder shared by the names of all nodes, as in `/layer.0/...`.
fn common_place(calls: &[&Ref<Call>]) -> Option<String> {
    let mut names = calls.iter().map(|call| call.name.as_str());
    let mut common = names.next()?;
    for name in names {
        let same = common
            .char_indices()
            .zip(name.chars())
            .find(|((_, left), right)| left != right);
        let end = same.map_or(common.len().min(name.len()), |((at, _), _)| at);
        common = &common[..end];
    }
    let end = common.rfind('/')?;
    (end > 0).then(|| format!("'{}/...'", &common[..end]))
}
