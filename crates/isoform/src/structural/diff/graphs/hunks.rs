//! Connected changes, and groups of similar changes: "3 nodes (MatMul, Add, Relu)
//! became 1 (Gemm), 12 times".

use std::collections::BTreeSet;

use super::graph::{Alignment, Graph};
use crate::kernel::mixing::Mixing;
use crate::kernel::union_find::UnionFind;

/// A use of a node as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    /// The node being used.
    pub(crate) value: u32,
    /// The user of the node; None for a result of the graph.
    pub(crate) user: Option<u32>,
    /// The position among the operands of the user, or among the results.
    pub(crate) slot: u32,
}

/// Connected changed nodes: without partners, or replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The changed nodes of the left side, in order.
    pub(crate) left: Vec<u32>,
    /// The changed nodes of the right side, in order.
    pub(crate) right: Vec<u32>,
    /// Uses of nodes with partners by changed nodes, per side.
    pub(crate) entering: [Vec<Edge>; 2],
    /// Uses of changed nodes by nodes with partners or as results, per side.
    pub(crate) leaving: [Vec<Edge>; 2],
    /// True if the nodes of one side do the work of the other side's nodes: the same
    /// places use both, and all values used by one side have partners used by the other
    /// side. If one side is empty, these places use a value that enters the other side.
    pub(crate) is_enclosed: bool,
    /// A hash of operators and edges between changed nodes. Equal hunks have equal
    /// hashes, for any numbering of their nodes; a few unequal hunks may share a hash,
    /// too.
    pub(crate) hash: u64,
}

/// Returns the hunks of an alignment, by their first nodes, hunks with left nodes
/// first.
///
/// Changed nodes of one side belong together if one uses the other. Changed nodes of
/// both sides belong together if one replaced the other, or if the same place uses
/// them. O(n log n) for n nodes and edges.
pub(crate) fn hunks(left: &Graph, right: &Graph, alignment: &Alignment) -> Vec<Hunk> {
    let sides = Sides::new([left, right], alignment);
    let mut found = sides.connected();
    for hunk in &mut found {
        hunk.hash = sides.hash(hunk);
    }
    sides.add_edges(&mut found);
    for hunk in &mut found {
        hunk.is_enclosed = sides.is_enclosed(hunk);
    }
    found
}

struct Sides<'g> {
    graphs: [&'g Graph; 2],
    alignment: &'g Alignment,
    /// The changed nodes, per side.
    changed: [Vec<bool>; 2],
}

impl<'g> Sides<'g> {
    fn new(graphs: [&'g Graph; 2], alignment: &'g Alignment) -> Self {
        let changed = [&alignment.left, &alignment.right]
            .map(|side| side.iter().map(Option::is_none).collect());
        Sides {
            graphs,
            alignment,
            changed,
        }
    }

    fn partner(&self, side: usize, node: u32) -> Option<u32> {
        let partners = [&self.alignment.left, &self.alignment.right];
        partners[side][node as usize]
    }

    fn is_changed(&self, side: usize, node: u32) -> bool {
        self.changed[side][node as usize]
    }

    /// All edges of a side, edges of results at the end.
    fn edges(&self, side: usize) -> impl Iterator<Item = Edge> + use<'g> {
        let graph = self.graphs[side];
        let nodes = (0..graph.len() as u32).map(Some).chain([None]);
        nodes.flat_map(move |user| {
            let slots = (0..).zip(operands(graph, user));
            slots.map(move |(slot, &value)| Edge { value, user, slot })
        })
    }

    /// The value used by the other side at the place of an edge, if the user has a
    /// partner.
    fn value_at(&self, side: usize, edge: Edge) -> Option<u32> {
        let user = match edge.user {
            Some(user) => Some(self.partner(side, user)?),
            None => None,
        };
        let operands = operands(self.graphs[1 - side], user);
        operands.get(edge.slot as usize).copied()
    }

    /// The changed nodes, without edges.
    fn connected(&self) -> Vec<Hunk> {
        let mut classes = UnionFind::<()>::default();
        let count = self.graphs[0].len() as u32;
        let member = |side: usize, node: u32| if side == 0 { node } else { count + node };
        for _ in 0..self.graphs[0].len() + self.graphs[1].len() {
            classes.add(());
        }
        for side in [0, 1] {
            for edge in self
                .edges(side)
                .filter(|edge| self.is_changed(side, edge.value))
            {
                match edge.user {
                    Some(user) if self.is_changed(side, user) => {
                        classes.join(member(side, edge.value), member(side, user));
                    }
                    _ => {
                        let other = self.value_at(side, edge);
                        if let Some(other) = other.filter(|other| self.is_changed(1 - side, *other))
                        {
                            classes.join(member(side, edge.value), member(1 - side, other));
                        }
                    }
                }
            }
        }
        for &(l, r) in &self.alignment.replaced {
            classes.join(member(0, l), member(1, r));
        }
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut numbers = vec![None; self.graphs[0].len() + self.graphs[1].len()];
        for side in [0, 1] {
            let nodes = 0..self.graphs[side].len() as u32;
            for node in nodes.filter(|node| self.is_changed(side, *node)) {
                let root = classes.root(member(side, node)) as usize;
                let number = *numbers[root].get_or_insert_with(|| {
                    hunks.push(Hunk::default());
                    hunks.len() - 1
                });
                let hunk = &mut hunks[number];
                if side == 0 {
                    &mut hunk.left
                } else {
                    &mut hunk.right
                }
                .push(node);
            }
        }
        hunks
    }

    fn add_edges(&self, hunks: &mut [Hunk]) {
        for side in [0, 1] {
            let mut number_of = vec![usize::MAX; self.graphs[side].len()];
            for (number, hunk) in hunks.iter().enumerate() {
                for &node in hunk.nodes(side) {
                    number_of[node as usize] = number;
                }
            }
            for edge in self.edges(side) {
                let value = number_of[edge.value as usize];
                let user = edge
                    .user
                    .map_or(usize::MAX, |user| number_of[user as usize]);
                if value != usize::MAX && user == usize::MAX {
                    hunks[value].leaving[side].push(edge);
                } else if value == usize::MAX && user != usize::MAX {
                    hunks[user].entering[side].push(edge);
                }
            }
        }
    }

    fn is_enclosed(&self, hunk: &Hunk) -> bool {
        let values = [0, 1].map(|side| {
            let entering = hunk.entering[side].iter();
            entering.map(|edge| edge.value).collect::<BTreeSet<u32>>()
        });
        let partners: BTreeSet<u32> = values[0]
            .iter()
            .filter_map(|value| self.partner(0, *value))
            .collect();
        let same_places = [0, 1].into_iter().all(|side| {
            let others = hunk.nodes(1 - side);
            hunk.leaving[side].iter().all(|edge| {
                self.value_at(side, *edge).is_some_and(|other| {
                    if !others.is_empty() {
                        return others.binary_search(&other).is_ok();
                    }
                    let other = self.partner(1 - side, other);
                    other.is_some_and(|other| values[side].contains(&other))
                })
            })
        });
        same_places
            && (hunk.left.is_empty()
                || hunk.right.is_empty()
                || partners.is_subset(&values[1])
                || partners.is_superset(&values[1]))
    }

    fn hash(&self, hunk: &Hunk) -> u64 {
        let mix = |state: u64, word: u64| Mixing::FIXED.fold(state.rotate_left(5) ^ word);
        [0, 1].into_iter().fold(0, |state, side| {
            let (graph, nodes) = (self.graphs[side], hunk.nodes(side));
            let place = |node: &u32| nodes.binary_search(node).ok();
            let mut hashes: Vec<u64> = Vec::with_capacity(nodes.len());
            for &node in nodes {
                let start = mix(1, graph.ops[node as usize]);
                hashes.push(graph.operands_of(node).iter().fold(start, |hash, operand| {
                    mix(hash, place(operand).map_or(2, |place| hashes[place]))
                }));
            }
            // The users of a node tell apart nodes with the same operands.
            let mut above = vec![0u64; nodes.len()];
            for (number, &node) in nodes.iter().enumerate().rev() {
                let hash = mix(hashes[number], above[number]);
                hashes[number] = hash;
                for (slot, operand) in (0u64..).zip(graph.operands_of(node)) {
                    if let Some(place) = place(operand) {
                        above[place] = above[place].wrapping_add(mix(hash, slot));
                    }
                }
            }
            let all = hashes
                .iter()
                .fold(0u64, |sum, hash| sum.wrapping_add(*hash));
            mix(mix(state, nodes.len() as u64), all)
        })
    }
}

impl Hunk {
    /// The changed nodes of a side, 0 or 1, in order.
    pub(crate) fn nodes(&self, side: usize) -> &[u32] {
        if side == 0 { &self.left } else { &self.right }
    }
}

fn operands(graph: &Graph, user: Option<u32>) -> &[u32] {
    match user {
        Some(user) => graph.operands_of(user),
        None => &graph.results,
    }
}
