//! The differences that a walk notes where parts differ, and the changes made of them.

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::change::{Change, ChangeKind};
use super::pairs::Mode;
use super::places::{Places, ROOT};
use super::tables::{Cell, NONE};
use super::walk::Walk;
use crate::kernel::rows::Rows;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// A difference.
pub(super) struct Finding {
    pub(super) kind: ChangeKind,
    pub(super) place: u32,
    /// The pair whose occurrences count.
    pub(super) pair: u32,
    pub(super) left: Option<SideValue>,
    pub(super) right: Option<SideValue>,
    pub(super) sizes: (u64, u64),
    /// The number of occurrences that turned out to be moves.
    pub(super) moved: u64,
}

/// A value of one side.
#[derive(Clone)]
pub(super) struct SideValue {
    pub(super) value: Value,
    /// Equal for values that differ only in the names of variables.
    pub(super) class: u64,
    /// The number of the node; [`NONE`] for a value without parts.
    pub(super) node: u32,
}

impl Walk<'_> {
    /// Marks two nodes as reported after one replaced the other, except for a node with
    /// another partner.
    pub(super) fn told(&mut self, nodes: [Option<u32>; 2]) {
        for (side, node) in nodes.into_iter().enumerate() {
            if let Some(node) = node {
                let partner = self.partners[side][node as usize];
                self.reported[side][node as usize] |=
                    partner == NONE || nodes[1 - side] == Some(partner);
            }
        }
    }

    pub(super) fn replaced(
        &mut self,
        left: &Cell,
        right: &Cell,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) {
        self.define_alone(0, left, region);
        self.define_alone(1, right, region);
        self.told([left.node_number(), right.node_number()]);
        let spots = (self.spot(0, left), self.spot(1, right));
        let sizes = (self.left.size_of(left), self.right.size_of(right));
        let kind = ChangeKind::Replaced;
        self.note(kind, place, pair, Some(spots.0), Some(spots.1), sizes);
    }

    pub(super) fn deleted(&mut self, cell: &Cell, place: u32, pair: u32) {
        if let Some(node) = cell.node_number()
            && self.left.node(node).is_dag()
        {
            // An element that is still used elsewhere was only rewired.
            if self.partners[0][node as usize] == NONE {
                return self.dag_alone(0, node, place);
            }
        }
        let (spot, size) = (self.spot(0, cell), self.size_at(0, cell));
        self.note(
            ChangeKind::Deleted,
            place,
            pair,
            Some(spot),
            None,
            (size, 0),
        );
    }

    pub(super) fn inserted(&mut self, cell: &Cell, place: u32, pair: u32) {
        if let Some(node) = cell.node_number()
            && self.right.node(node).is_dag()
            && self.partners[1][node as usize] == NONE
        {
            return self.dag_alone(1, node, place);
        }
        let (spot, size) = (self.spot(1, cell), self.size_at(1, cell));
        self.note(
            ChangeKind::Inserted,
            place,
            pair,
            None,
            Some(spot),
            (0, size),
        );
    }

    /// The size of a part without a partner; for a dag node with a partner, only the
    /// use.
    fn size_at(&self, side: usize, cell: &Cell) -> u64 {
        match cell.node_number() {
            Some(node) if self.tables(side).node(node).is_dag() => 1,
            _ => self.tables(side).size_of(cell),
        }
    }

    pub(super) fn spot(&self, side: usize, cell: &Cell) -> SideValue {
        match cell.node_number() {
            Some(node) => self.spot_of(side, node),
            None => SideValue {
                value: cell.value.clone(),
                class: self.aligner.token(side, cell),
                node: NONE,
            },
        }
    }

    pub(super) fn spot_of(&self, side: usize, node: u32) -> SideValue {
        let found = self.tables(side).node(node);
        SideValue {
            value: Value::from(&found.object),
            class: found.skeleton,
            node,
        }
    }

    /// Notes a difference of two nodes.
    pub(super) fn note_nodes(
        &mut self,
        kind: ChangeKind,
        place: u32,
        pair: u32,
        left: u32,
        right: u32,
        sizes: (u64, u64),
    ) {
        let (left, right) = (self.spot_of(0, left), self.spot_of(1, right));
        self.note(kind, place, pair, Some(left), Some(right), sizes);
    }

    pub(super) fn note(
        &mut self,
        kind: ChangeKind,
        place: u32,
        pair: u32,
        left: Option<SideValue>,
        right: Option<SideValue>,
        sizes: (u64, u64),
    ) {
        let is_told = self.mode == Mode::Replaced && kind != ChangeKind::Rewired;
        if is_told {
            return;
        }
        self.findings.push(Finding {
            kind,
            place,
            pair,
            left,
            right,
            sizes,
            moved: 0,
        });
    }
}

/// The finding that both values differ, without further detail.
pub(super) fn whole(left: &Value, right: &Value) -> Finding {
    let spot = |value: &Value, class| SideValue {
        value: value.clone(),
        class,
        node: NONE,
    };
    Finding {
        kind: ChangeKind::Replaced,
        place: ROOT,
        pair: 0,
        left: Some(spot(left, 0)),
        right: Some(spot(right, 1)),
        sizes: (1, 1),
        moved: 0,
    }
}

/// The occurrences of pairs: one for each way from the roots, or from the dag node around
/// them.
pub(super) fn occurrences(walk: &Walk<'_>) -> Vec<u64> {
    let count = walk.pair_count();
    let mut times = vec![0u64; count];
    // The number of pairs around a pair, by pair.
    let mut around = vec![0u32; count];
    for &(_, to) in &walk.edges {
        around[to as usize] = around[to as usize].saturating_add(1);
    }
    let mut is_dag = vec![false; count];
    for &pair in &walk.dag_pairs {
        is_dag[pair as usize] = true;
    }
    let inside = Rows::new(count, walk.edges.iter().copied());
    for pair in 0..count {
        times[pair] = u64::from(around[pair] == 0);
    }
    for &(pair, occurrences) in &walk.times_apart {
        let is_met = inside
            .of(pair)
            .iter()
            .any(|&inner| around[inner as usize] > 1);
        times[pair as usize] = occurrences.unwrap_or(u64::from(!is_met));
    }
    // A pair is left before the pairs around it.
    for &pair in walk.left_pairs.iter().rev() {
        let own = &mut times[pair as usize];
        if is_dag[pair as usize] {
            *own = (*own).min(1);
        }
        let own = *own;
        for &to in inside.of(pair) {
            times[to as usize] = times[to as usize].saturating_add(own);
        }
    }
    times
}

/// One change for all findings of the same kind with values of the same classes.
pub(super) fn grouped(
    findings: Vec<Finding>,
    occurrences: &[u64],
    places: Arc<Places>,
) -> Vec<Change> {
    type Group = (ChangeKind, Option<u64>, Option<u64>);
    let mut groups: HashMap<Group, usize, RandomState> = HashMap::default();
    let mut changes: Vec<Change> = Vec::new();
    for finding in findings {
        let class = |spot: &Option<SideValue>| spot.as_ref().map(|spot| spot.class);
        let group = (finding.kind, class(&finding.left), class(&finding.right));
        let times = occurrences.get(finding.pair as usize);
        let times = times
            .map_or(1, |&times| times.max(1))
            .saturating_sub(finding.moved);
        if times == 0 {
            continue;
        }
        if let Some(&number) = groups.get(&group) {
            let change = &mut changes[number];
            change.count = change.count.saturating_add(times);
            change.at.push(finding.place);
            continue;
        }
        groups.insert(group, changes.len());
        changes.push(Change {
            kind: finding.kind,
            count: times,
            left: finding.left.map(|spot| spot.value),
            right: finding.right.map(|spot| spot.value),
            sizes: finding.sizes,
            at: vec![finding.place],
            places: places.clone(),
            is_inverse: false,
        });
    }
    changes
}
