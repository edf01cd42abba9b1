//! The changes that a walk notes where parts differ.

use super::change::ChangeKind;
use super::pairs::Mode;
use super::tables::{Cell, NONE};
use super::walk::{Finding, SideValue, Walk};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

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
        (left, right): (&Cell, &Cell),
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
        self.note(kind, place, pair, (Some(spots.0), Some(spots.1)), sizes);
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
            (Some(spot), None),
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
            (None, Some(spot)),
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

    pub(super) fn note(
        &mut self,
        kind: ChangeKind,
        place: u32,
        pair: u32,
        (left, right): (Option<SideValue>, Option<SideValue>),
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
