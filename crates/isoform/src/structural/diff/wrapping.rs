//! Finds parts that became parts of a new node at their place, and parts whose
//! enclosing node was removed.

use super::change::ChangeKind;
use super::places::Link;
use super::tables::{Cell, NONE, Tables};
use super::walk::Walk;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::ValueRef;

/// The number of nodes searched for a wrapped part.
const WRAPPED_IN: usize = 32;
/// The number of parts searched per node: one long list may be a part of every node.
const WRAPPED_PARTS: usize = 256;
/// The similarity from which a part of another type counts as the wrapped part.
const WRAPPED: f64 = 0.6;

impl<'t> Walk<'t> {
    /// Notes a value without parts that was put into a node, or taken out of a node;
    /// false in any other case.
    pub(super) fn wrapped_plain(
        &mut self,
        left: &'t Cell,
        right: &'t Cell,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> bool {
        let (side, node, plain, kind) = match (left.node_number(), right.node_number()) {
            (None, Some(node)) => (1, node, left, ChangeKind::Wrapped),
            (Some(node), None) => (0, node, right, ChangeKind::Unwrapped),
            _ => return false,
        };
        let tables = self.tables(side);
        // None, true and false are everywhere.
        if matches!(plain.value.view(), ValueRef::None | ValueRef::Bool(_)) {
            return false;
        }
        let cells = tables.cells(node);
        let size = tables.node(node).size;
        // A value is among the parts of a large node by chance.
        if size > 4 || cells.len() > WRAPPED_IN {
            return false;
        }
        let is_inside = cells
            .iter()
            .any(|cell| !cell.is_node() && cell.word == plain.word);
        if !is_inside {
            return false;
        }
        self.reported[side][node as usize] |= self.partners[side][node as usize] == NONE;
        self.define_alone(side, &Cell::node(node), region);
        let sizes = if side == 1 { (0, size) } else { (size, 0) };
        let spots = (self.spot(0, left), self.spot(1, right));
        self.note(kind, place, pair, Some(spots.0), Some(spots.1), sizes);
        true
    }

    /// Notes that one node became a part of the other, and returns the corresponding
    /// nodes, with their place and its region; None in any other case.
    pub(super) fn wrapped(
        &mut self,
        left: u32,
        right: u32,
        pair: u32,
        place: u32,
        region: RegionKind,
    ) -> Option<(u32, u32, u32, RegionKind)> {
        let (l, r) = (self.left.node(left), self.right.node(right));
        if l.info().is_builtin() || r.info().is_builtin() || l.is_var() && r.is_var() {
            return None;
        }
        let both_dag = l.is_dag() && r.is_dag();
        if both_dag && self.is_aligned() {
            return None;
        }
        let wrapping = if r.size > l.size {
            self.inside(1, right, 0, left).map(|inner| (1, inner))
        } else if l.size > r.size {
            self.inside(0, left, 1, right).map(|inner| (0, inner))
        } else {
            None
        };
        let (side, (inner, links)) = wrapping?;
        // The part corresponds to a node inside of the other node, not to the whole.
        if self.partners[0][left as usize] == right {
            self.partners[0][left as usize] = NONE;
            self.partners[1][right as usize] = NONE;
        }
        let (kind, sizes, spots) = match side {
            1 => (
                ChangeKind::Wrapped,
                (0, r.size - self.right.node(inner).size),
                (self.spot_of(0, left), self.spot_of(1, right)),
            ),
            _ => (
                ChangeKind::Unwrapped,
                (l.size - self.left.node(inner).size, 0),
                (self.spot_of(0, left), self.spot_of(1, right)),
            ),
        };
        self.note(kind, place, pair, Some(spots.0), Some(spots.1), sizes);
        self.define_alone(side, &Cell::node([left, right][side]), region);
        let (mut inner_place, mut inner_region) = (place, region);
        for (node, position) in links {
            // A node around a part is reported with the part.
            self.reported[side][node as usize] |= self.partners[side][node as usize] == NONE;
            let around = self.tables(side).node(node);
            inner_region = Tables::region_of(around, position, inner_region);
            let part = Link::Part(node, position);
            inner_place = match side {
                1 => self.places.add(inner_place, Link::Same, part),
                _ => self.places.add(inner_place, part, Link::Same),
            };
        }
        Some(match side {
            1 => (left, inner, inner_place, inner_region),
            _ => (inner, right, inner_place, inner_region),
        })
    }

    /// A node below `outer` that equals `wanted` of the other side, nearest first, or a
    /// similar node if the types of both differ; with the way to the node.
    pub(super) fn inside(
        &mut self,
        side: usize,
        outer: u32,
        other: usize,
        wanted: u32,
    ) -> Option<(u32, Vec<(u32, u32)>)> {
        let tables = self.tables(side);
        let target = self.tables(other).node(wanted);
        let token = self.aligner.tokens[other][wanted as usize];
        let same_type = tables.node(outer).info().index() == target.info().index();
        // Nodes with the number of the entry that led to them.
        let mut queue: Vec<(u32, usize, u32)> = Vec::with_capacity(WRAPPED_IN);
        queue.push((outer, usize::MAX, 0));
        let mut next = 0;
        let mut similar = None;
        while let Some(&(open, _, _)) = queue.get(next) {
            let cells = tables.cells(open).iter().take(WRAPPED_PARTS);
            for (position, cell) in cells.enumerate() {
                let Some(part) = cell.node_number() else {
                    continue;
                };
                if queue.len() >= WRAPPED_IN {
                    break;
                }
                queue.push((part, next, position as u32));
                self.visits += 1;
                let inner = tables.node(part);
                if inner.is_dag() && self.is_aligned() {
                    queue.pop();
                    continue;
                }
                let is_same = self.aligner.tokens[side][part as usize] == token;
                if is_same && (target.size > 1 || !same_type) {
                    return Some((part, way(&queue, queue.len() - 1)));
                }
                if similar.is_none()
                    && !same_type
                    && inner.info().index() == target.info().index()
                    && !inner.info().is_builtin()
                    && !inner.is_var()
                {
                    let (l, r) = if side == 1 {
                        (wanted, part)
                    } else {
                        (part, wanted)
                    };
                    if self.aligner.dice(l, r) >= WRAPPED {
                        similar = Some(queue.len() - 1);
                    }
                }
            }
            next += 1;
        }
        similar.map(|entry| (queue[entry].0, way(&queue, entry)))
    }
}

/// The way from the first entry of a search to another entry.
fn way(queue: &[(u32, usize, u32)], entry: usize) -> Vec<(u32, u32)> {
    let mut steps = Vec::new();
    let mut at = entry;
    while let Some(&(_, before, position)) = queue.get(at) {
        if let Some(&(node, _, _)) = queue.get(before) {
            steps.push((node, position));
        }
        at = before;
    }
    steps.reverse();
    steps
}
