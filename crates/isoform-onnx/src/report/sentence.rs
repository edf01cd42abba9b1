//! Sentences about changes, with equal sentences merged.

use std::collections::HashMap;

use isoform::Str;
use isoform::compare::ChangeKind;

use super::coverage::Parts;
use super::options::ChangeGroup;
use super::place::{Around, Part, field, index};
use super::values::{label, node, node_name};
use crate::NodeOrigin;
use crate::ir::{Call, Input};
use crate::summary::Role;

/// Nodes that are named in any case where a change occurs several times.
const FEW_NAMES: usize = 3;

/// More are named until their names have this length.
const NAMES_LENGTH: usize = 100;

/// The order of groups.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Rank {
    Opsets,
    Interface,
    Hunks,
    Nodes,
    Attributes,
    Operands,
    Weights,
    Others,
}

/// An occurrence of a change. Occurrences with the same words and operator form a
/// group.
pub(super) struct Item {
    pub(super) rank: Rank,
    pub(super) kind: &'static str,
    /// The words before the node.
    pub(super) before: String,
    /// The operator of the node, if the sentence has one.
    pub(super) op: String,
    /// The words after the node.
    pub(super) after: String,
    /// The words after the operator for several occurrences, if different.
    pub(super) many: String,
    /// More words if it occurs only once.
    pub(super) once: String,
    /// The name of the node for use in a sentence.
    pub(super) name: String,
    /// The name of the node for use in a list.
    pub(super) label: String,
    pub(super) node: Option<NodeOrigin>,
    pub(super) place: String,
    pub(super) role: Role,
    /// The key of the group, if it is not the words.
    pub(super) key: String,
    /// Groups of one rank come in the order of this, the largest first.
    pub(super) weight: f64,
    /// The changes of the difference that the sentence tells.
    pub(super) changes: Vec<usize>,
    /// The nodes and inputs concerned, by side.
    pub(super) parts: Parts,
}

impl Item {
    pub(super) fn new(rank: Rank, kind: &'static str, before: String, after: String) -> Self {
        Item {
            rank,
            kind,
            before,
            op: String::new(),
            after,
            many: String::new(),
            once: String::new(),
            name: String::new(),
            label: String::new(),
            node: None,
            place: String::new(),
            role: Role::Changed,
            key: String::new(),
            weight: 0.0,
            changes: Vec::new(),
            parts: Default::default(),
        }
    }

    pub(super) fn of_call(mut self, call: &Call, main: &Str) -> Self {
        self.op = call.shown_op();
        self.name = node_name(call) + &outside(call, main);
        self.label = label(call) + &outside(call, main);
        self.node = Some(NodeOrigin::of_call(call));
        self
    }

    pub(super) fn of_input(mut self, input: &Input) -> Self {
        self.node = Some(NodeOrigin::of_input(input));
        self
    }

    pub(super) fn after_many(&self) -> &str {
        match self.many.as_str() {
            "" => &self.after,
            many => many,
        }
    }

    pub(super) fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

/// Where a node is, unless that is the main graph.
pub(super) fn outside(call: &Call, main: &Str) -> String {
    if call.in_function {
        format!(" in function '{}'", call.graph)
    } else if call.graph != *main {
        format!(" in graph '{}'", call.graph)
    } else {
        String::new()
    }
}

/// Describes an added or removed node, with a node that uses its results.
pub(super) fn alone(verb: &str, role: Role, call: &Call, main: &Str, place: &Around) -> Item {
    let kind = match role {
        Role::Left => ChangeKind::Deleted.name(),
        _ => ChangeKind::Inserted.name(),
    };
    let mut item = Item::new(Rank::Nodes, kind, verb.to_owned(), String::new())
        .of_call(call, main)
        .role(role);
    item.once = used_by(place);
    item
}

/// The operand position at which a node is used, after a comma.
pub(super) fn used_by(place: &Around) -> String {
    match place.around() {
        Some((Part::Call(user), steps)) if field(steps.first()) == "inputs" => {
            let at = index(steps.get(1));
            at.map_or_else(String::new, |at| format!(", input {at} of {}", node(user)))
        }
        _ => String::new(),
    }
}

/// A replaced node, with its replacement.
pub(super) fn became(left: &Call, right: &Call, main: &Str) -> Item {
    let kind = ChangeKind::Replaced.name();
    let with = |call: &Call| {
        if left.shown_op() == right.shown_op() {
            format!(" with {} inputs", call.inputs.len())
        } else {
            String::new()
        }
    };
    let mut item = Item::new(Rank::Nodes, kind, String::new(), String::new()).of_call(left, main);
    item.after = format!("{} became {}{}", with(left), right.shown_op(), with(right));
    if left.name != right.name {
        item.once = format!(" {}", node_name(right));
    }
    item
}

impl Item {
    pub(super) fn became_call(mut self, right: &Call, main: &Str) -> Self {
        self = self.of_call(right, main);
        self.before.push_str("became ");
        self
    }
}

pub(super) fn weight_name(left: Option<&Str>, right: Option<&Str>) -> String {
    let name = |it: Option<&Str>| it.map(ToString::to_string).filter(|it| !it.is_empty());
    match (name(left), name(right)) {
        (Some(left), Some(right)) if left != right => format!(" '{left}' -> '{right}'"),
        (Some(name), _) | (None, Some(name)) => format!(" '{name}'"),
        (None, None) => String::new(),
    }
}

/// Groups items with the same words. Groups are sorted by rank, then by weight, and
/// then by first occurrence.
pub(super) fn grouped(items: Vec<Item>) -> Vec<ChangeGroup> {
    let mut indices: HashMap<(Rank, String), usize> = HashMap::new();
    let mut groups: Vec<(Rank, Vec<Item>)> = Vec::new();
    for item in items {
        let key = match item.key.as_str() {
            "" => format!("{}\0{}\0{}", item.before, item.op, item.after_many()),
            key => key.to_owned(),
        };
        match indices.get(&(item.rank, key.clone())) {
            Some(&index) => groups[index].1.push(item),
            None => {
                indices.insert((item.rank, key), groups.len());
                groups.push((item.rank, vec![item]));
            }
        }
    }
    let order = |(rank, items): &(Rank, Vec<Item>)| (*rank, items[0].weight);
    groups.sort_by(|left, right| {
        let ((rank, weight), (other_rank, other_weight)) = (order(left), order(right));
        rank.cmp(&other_rank).then(other_weight.total_cmp(&weight))
    });
    groups.into_iter().map(|(_, items)| group(items)).collect()
}

fn group(mut items: Vec<Item>) -> ChangeGroup {
    let count = items.len();
    // Readers look for nodes in the order of the file.
    items.sort_by_key(|item| item.node.as_ref().map(|node| node.position));
    let changes = items.iter_mut();
    let mut changes: Vec<usize> = changes
        .flat_map(|item| std::mem::take(&mut item.changes))
        .collect();
    changes.sort_unstable();
    changes.dedup();
    let parts = items.iter_mut();
    let parts = parts.map(|item| std::mem::take(&mut item.parts)).collect();
    let names: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
    let first = &items[0];
    let Item {
        before, op, after, ..
    } = first;
    let mut text = match (count, op.is_empty()) {
        (1, false) => format!("{before}{op} {}{after}{}", first.name, first.once),
        (_, false) => format!("{before}{op}{}", first.after_many()),
        (_, true) => format!("{before}{after}"),
    };
    if count > 1 {
        text.push_str(&format!(", {count} times"));
        let named: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| !name.is_empty())
            .collect();
        if !named.is_empty() {
            let mut shown = 0;
            let mut length = 0;
            while shown < named.len() && (shown < FEW_NAMES || length < NAMES_LENGTH) {
                length += named[shown].len();
                shown += 1;
            }
            let more = if named.len() > shown { ", ..." } else { "" };
            text.push_str(&format!(", in {}{more}", named[..shown].join(", ")));
        }
    } else if first.rank == Rank::Hunks {
        text.push_str(&format!(", in {}", first.name));
    } else if op.is_empty() && first.rank == Rank::Others && !first.label.is_empty() {
        text.push_str(&format!(", in {}", first.label));
    }
    ChangeGroup {
        kind: first.kind,
        count,
        place: first.place.clone(),
        text,
        role: first.role,
        changes,
        parts,
        nodes: items.into_iter().filter_map(|item| item.node).collect(),
    }
}
