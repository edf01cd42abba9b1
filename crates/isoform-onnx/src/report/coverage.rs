//! The changes of the diff that each sentence tells, and the nodes and inputs concerned.
//!
//! Some changes have no sentence of their own: a hunk stands for its added and removed
//! nodes, and a sentence about an attribute for all parts of the attribute. Such a change
//! belongs to a sentence about the same node.

use std::collections::HashMap;

use isoform::compare::{Change, ChangeKind};
use isoform::{Ref, Value};

use super::place::Around;
use super::sentence::Item;
use crate::ir::{Call, Input};

/// The nodes and inputs concerned, of the left model and of the right one.
pub(super) type Parts = [Vec<Value>; 2];

/// A change at a place without a sentence of its own.
pub(super) struct UntoldChange {
    /// The place of the change in the list of the difference.
    number: usize,
    kind: ChangeKind,
    parts: Parts,
}

impl UntoldChange {
    /// A change that concerns these parts.
    pub(super) fn new(number: usize, change: &Change, parts: Parts) -> Self {
        UntoldChange {
            number,
            kind: change.kind(),
            parts,
        }
    }
}

/// The nodes and inputs of both sides that a change concerns at a place: the changed ones
/// themselves, or those around the changed part.
pub(super) fn parts_of(change: &Change, sides: &[Around; 2]) -> Parts {
    let whole = whole_parts(change);
    if whole.iter().any(|parts| !parts.is_empty()) && change.kind() != ChangeKind::Rewired {
        return whole;
    }
    sides
        .each_ref()
        .map(|side| side.node_or_input().into_iter().collect())
}

/// The nodes and inputs that a change adds, removes or replaces.
pub(super) fn whole_parts(change: &Change) -> Parts {
    let is_part = |value: &&Value| {
        value.peek::<Ref<Call>>().is_some() || value.peek::<Ref<Input>>().is_some()
    };
    [change.left(), change.right()]
        .map(|value| value.filter(is_part).cloned().into_iter().collect())
}

/// Adds untold changes to the sentences about the same parts, if possible to a sentence
/// of the same kind. O(items + changes).
pub(super) fn assign(items: &mut [Item], untold: Vec<UntoldChange>) {
    if untold.is_empty() {
        return;
    }
    let mut by_part: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        for part in item.parts.iter().flatten().filter_map(identity) {
            by_part.entry(part).or_default().push(number);
        }
    }
    for UntoldChange {
        number,
        kind,
        parts,
    } in untold
    {
        let about = || {
            let parts = parts.iter().flatten().filter_map(identity);
            parts.filter_map(|part| by_part.get(&part)).flatten()
        };
        let same_kind = about().find(|&&item| items[item].kind == kind.name());
        if let Some(&item) = same_kind.or_else(|| about().next()) {
            items[item].changes.push(number);
        }
    }
}

fn identity(part: &Value) -> Option<u64> {
    part.as_object().map(|object| object.identity())
}
