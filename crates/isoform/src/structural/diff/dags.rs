//! Pairs of dag nodes, whose identity counts: partners, copies, and dag nodes without a
//! partner.

use super::change::ChangeKind;
use super::pairs::{Mode, TOP};
use super::places::{Link, ROOT};
use super::tables::{Cell, NONE};
use super::walk::Walk;
use crate::kernel::error::Result;

impl Walk<'_> {
    /// Compares two dag nodes as operands. Returns the mode for comparing the parts;
    /// None if the parts are not to be compared.
    pub(super) fn dag_nodes(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
    ) -> Option<Mode> {
        let partners = (
            self.partners[0][left as usize],
            self.partners[1][right as usize],
        );
        if partners.0 == right {
            let Some(is_told) = self.replaced_dags.get_mut(&(left, right)) else {
                return Some(Mode::Partners);
            };
            if !std::mem::replace(is_told, true) {
                let sizes = (self.own_size(0, left), self.own_size(1, right));
                self.mode = Mode::Partners;
                self.note_nodes(ChangeKind::Replaced, place, TOP, left, right, sizes);
            }
            return Some(Mode::Replaced);
        }
        let is_alone = (partners.0 == NONE, partners.1 == NONE);
        if is_alone == (true, true) {
            return Some(Mode::Partners);
        }
        if is_alone == (false, false) && self.is_aligned() {
            self.mode = Mode::Partners;
            self.note_nodes(ChangeKind::Rewired, place, pair, left, right, (1, 1));
            return None;
        }
        if self.is_copy(left, right, partners) {
            if self.mode != Mode::Copy {
                self.note_nodes(ChangeKind::Sharing, place, pair, left, right, (1, 1));
            }
            // The copy is neither inserted nor deleted.
            for (side, node) in [left, right].into_iter().enumerate() {
                if self.partners[side][node as usize] == NONE {
                    self.reported[side][node as usize] = true;
                }
            }
            return Some(Mode::Copy);
        }
        // The insertion or deletion is the whole difference.
        match is_alone {
            (true, _) => self.dag_alone(0, left, place),
            _ => self.dag_alone(1, right, place),
        }
        None
    }

    /// True if one of two dag nodes is a copy of the other node, which has a different
    /// partner.
    pub(super) fn is_copy(&mut self, left: u32, right: u32, partners: (u32, u32)) -> bool {
        let Some(flow) = &self.flow else {
            return true;
        };
        if !flow.have_one_op(left, right) {
            return false;
        }
        // A node after another node of the same kind was put there.
        let follows = match partners {
            (NONE, partner) => flow.takes(0, left, partner),
            (partner, _) => flow.takes(1, right, partner),
        };
        !follows
    }

    /// Notes a dag node without a partner, once for all of its uses.
    pub(super) fn dag_alone(&mut self, side: usize, node: u32, place: u32) {
        self.mode = Mode::Partners;
        if std::mem::replace(&mut self.reported[side][node as usize], true) {
            return;
        }
        let spot = self.spot_of(side, node);
        let size = self.own_size(side, node);
        match side {
            0 => self.note(ChangeKind::Deleted, place, TOP, Some(spot), None, (size, 0)),
            _ => self.note(
                ChangeKind::Inserted,
                place,
                TOP,
                None,
                Some(spot),
                (0, size),
            ),
        }
    }

    /// The number of nodes of a dag node without the nodes of its operands.
    pub(super) fn own_size(&self, side: usize, node: u32) -> u64 {
        self.tables(side).node(node).own_size
    }

    /// Dag nodes that are paired but were not met together, and dag nodes without a
    /// partner.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons.
    pub(super) fn sweep(&mut self) -> Result<()> {
        self.mode = Mode::Partners;
        let is_covered = self.covered();
        for right in 0..self.right.nodes.len() as u32 {
            let is_told = is_covered[1][right as usize] || self.reported[1][right as usize];
            if !self.right.node(right).is_dag() || is_told {
                continue;
            }
            match self.partners[1][right as usize] {
                NONE if self.is_aligned() => {
                    let place = self.places.add(ROOT, Link::Nowhere, Link::Node(right));
                    self.dag_alone(1, right, place);
                }
                NONE => {}
                _ if self.is_met[right as usize] => {}
                left => {
                    let (top, place) = self.open_apart(left, right, None);
                    self.apart(left, right, top, place)?;
                }
            }
        }
        for left in 0..self.left.nodes.len() as u32 {
            let is_alone = self.left.node(left).is_dag()
                && self.partners[0][left as usize] == NONE
                && !is_covered[0][left as usize];
            if is_alone && self.is_aligned() {
                let place = self.places.add(ROOT, Link::Node(left), Link::Nowhere);
                self.dag_alone(0, left, place);
            }
        }
        Ok(())
    }

    /// The nodes inside of inserted, deleted or replaced parts.
    pub(super) fn covered(&self) -> [Vec<bool>; 2] {
        [0, 1].map(|side| {
            let tables = self.tables(side);
            let mut covered = vec![false; tables.nodes.len()];
            let mut stack: Vec<u32> = Vec::new();
            for finding in &self.findings {
                let spot = [&finding.left, &finding.right][side];
                let is_whole = matches!(
                    finding.kind,
                    ChangeKind::Inserted | ChangeKind::Deleted | ChangeKind::Replaced
                );
                if let Some(spot) = spot
                    && is_whole
                    && spot.node != NONE
                    && !tables.node(spot.node).is_dag()
                    && !std::mem::replace(&mut covered[spot.node as usize], true)
                {
                    // A replacement may have the replaced part as its partner, so only
                    // the parts below are tested for partners.
                    let parts = tables.cells(spot.node).iter();
                    stack.extend(parts.filter_map(Cell::node_number));
                }
            }
            while let Some(node) = stack.pop() {
                let table_node = tables.node(node);
                // A tree node may have its partner at another place, a dag node has one
                // place.
                let is_one = table_node.is_dag() || table_node.is_var() || table_node.is_mutable();
                let is_paired = is_one && self.partners[side][node as usize] != NONE;
                if !is_paired && !std::mem::replace(&mut covered[node as usize], true) {
                    stack.extend(tables.cells(node).iter().filter_map(Cell::node_number));
                }
            }
            covered
        })
    }
}
