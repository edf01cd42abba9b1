//! The nodes of parts without a partner, and their places.

use std::cmp::Reverse;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::change::ChangeKind;
use super::findings::Finding;
use super::tables::{Cell, IS_HOOKED, IS_IGNORED, NONE, Node, Tables};
use super::walk::Walk;

type Map<K, V> = HashMap<K, V, RandomState>;

/// True for parts that can move: leaves and containers are everywhere, and dag nodes
/// and variables are used, not placed.
fn can_move(node: &Node) -> bool {
    node.size > 1 && node.counts() && !node.is_dag() && is_open(node)
}

/// True if the places of a node are places of its parts, too. The fields of a variable
/// go with the variable, and a type with a custom comparison is compared as a whole.
fn is_open(node: &Node) -> bool {
    !node.is_var() && !node.has(IS_HOOKED | IS_IGNORED)
}

/// The node on one side of a finding that affects the whole node; [`NONE`] for a value
/// without parts.
pub(super) fn part_of_one_side(finding: &Finding, side: usize) -> Option<u32> {
    let kind = [ChangeKind::Deleted, ChangeKind::Inserted][side];
    // If only the node itself was replaced, the parts below are paired.
    let is_whole = finding.kind == kind
        || (finding.kind == ChangeKind::Replaced && finding.sizes.0.max(finding.sizes.1) > 1);
    let spot = [&finding.left, &finding.right][side].as_ref();
    spot.filter(|_| is_whole).map(|spot| spot.node)
}

/// A node inside of parts that are on one side only, and the places of the node that
/// have not moved.
pub(super) struct UnpairedNode {
    pub(super) node: u32,
    /// The position of the first whole part around the node.
    pub(super) top: usize,
    /// The findings about the node itself, with the number of places per finding.
    pub(super) wholes: Vec<(usize, u64)>,
    /// The places inside of larger parts.
    pub(super) inner: u64,
    /// All places, including moved places.
    pub(super) all: u64,
    /// The number of nodes that moved out of the node.
    pub(super) lost: u128,
}

impl UnpairedNode {
    pub(super) fn whole_places(&self) -> u64 {
        let wholes = self.wholes.iter().map(|&(_, places)| places);
        wholes.fold(0, u64::saturating_add)
    }

    pub(super) fn places(&self) -> u64 {
        self.whole_places().saturating_add(self.inner)
    }
}

/// Places of a node: all places of a single finding about the node, or all inner places.
pub(super) struct Places {
    /// The position of the node among the loose nodes.
    pub(super) loose: usize,
    /// The position of the finding among the findings about the node.
    pub(super) whole: Option<usize>,
    pub(super) count: u64,
}

/// Places with equal tokens, in the order in which they move: a list of whole parts,
/// and a list of inner places.
pub(super) struct MoveCandidates {
    pub(super) token: u64,
    pub(super) places: [Vec<Places>; 2],
    /// The first places that have not moved.
    pub(super) next: [usize; 2],
}

impl MoveCandidates {
    pub(super) fn has_moved(&self, kind: usize) -> bool {
        self.next[kind] == self.places[kind].len()
    }

    pub(super) fn places(&self) -> u64 {
        let counts = self.places.iter().flatten().map(|places| places.count);
        counts.fold(0, u64::saturating_add)
    }
}

/// The loose nodes of one side.
pub(super) struct Side<'t> {
    tables: &'t Tables,
    /// In the order in which a visit meets the nodes.
    pub(super) loose: Vec<UnpairedNode>,
    by_node: Map<u32, usize>,
    /// The largest nodes first, and wholes before their parts.
    order: Vec<usize>,
    next: usize,
}

impl<'t> Side<'t> {
    /// `times` contains the number of occurrences per pair.
    pub(super) fn of(walk: &Walk<'t>, side: usize, times: &[u64]) -> Self {
        let mut unpaired = Side {
            tables: walk.tables(side),
            loose: Vec::new(),
            by_node: Map::default(),
            order: Vec::new(),
            next: 0,
        };
        let tables = unpaired.tables;
        let tops: Vec<(usize, u32)> = (walk.findings.iter().enumerate())
            .filter_map(|(number, finding)| Some((number, part_of_one_side(finding, side)?)))
            .filter(|&(_, top)| top != NONE)
            .collect();
        let is_dag = |node: u32| tables.node(node).is_dag();
        // Dag nodes with findings of their own.
        let dags: HashSet<u32, RandomState> = (tops.iter().map(|&(_, top)| top))
            .filter(|&top| is_dag(top))
            .collect();
        // Either only a use of the dag node has gone, or the node's parts were compared
        // with the parts of another node.
        let is_paired = |node: u32| is_dag(node) && walk.partners[side][node as usize] != NONE;
        let mut stack = Vec::new();
        for (number, top) in tops {
            if is_paired(top) {
                continue;
            }
            let number_of_top = unpaired
                .by_node
                .get(&top)
                .copied()
                .unwrap_or(unpaired.loose.len());
            stack.push(top);
            while let Some(node) = stack.pop() {
                if unpaired.by_node.contains_key(&node) {
                    continue;
                }
                unpaired.add(node, number_of_top);
                if is_open(tables.node(node)) {
                    let parts = tables
                        .cells(node)
                        .iter()
                        .rev()
                        .filter_map(Cell::node_number);
                    stack.extend(parts.filter(|&part| !is_paired(part) && !dags.contains(&part)));
                }
            }
            let times = times[walk.findings[number].pair as usize].max(1);
            let top = &mut unpaired.loose[number_of_top];
            top.wholes.push((number, times));
            top.all = top.all.saturating_add(times);
        }
        unpaired.order = (0..unpaired.loose.len()).collect();
        unpaired.order.sort_unstable_by_key(|&number| {
            let number = unpaired.loose[number].node;
            let node = tables.node(number);
            // A container is as large as its only part, and numbers of parts are
            // smaller.
            (Reverse(node.size), can_move(node), Reverse(number))
        });
        unpaired
    }

    fn add(&mut self, node: u32, top: usize) {
        self.by_node.insert(node, self.loose.len());
        self.loose.push(UnpairedNode {
            node,
            top,
            wholes: Vec::new(),
            inner: 0,
            all: 0,
            lost: 0,
        });
    }

    pub(super) fn node(&self, loose: usize) -> &'t Node {
        self.tables.node(self.loose[loose].node)
    }

    /// The size of the largest nodes to come.
    pub(super) fn next_size(&self) -> Option<u64> {
        let next = self.order.get(self.next);
        next.map(|&loose| self.node(loose).size)
    }

    /// The next movable nodes of a size, in the order in which a visit meets them. All
    /// larger nodes and the nodes around them pass on their places first.
    pub(super) fn level(&mut self, size: u64) -> Vec<usize> {
        let mut level = Vec::new();
        while let Some(&loose) = self.order.get(self.next) {
            let node = self.node(loose);
            if node.size < size {
                break;
            }
            if can_move(node) {
                level.push(loose)
            } else {
                self.pass_on(loose)
            }
            self.next += 1;
        }
        level.sort_unstable();
        level
    }

    /// Adds the places of a node to the places of its parts.
    pub(super) fn pass_on(&mut self, loose: usize) {
        let node = self.node(loose);
        if !is_open(node) {
            return;
        }
        let limit = if node.is_dag() { 1 } else { u64::MAX };
        let places = self.loose[loose].places().min(limit);
        let all = self.loose[loose].all.min(limit);
        let parts = self.tables.cells(self.loose[loose].node).iter();
        for part in parts.filter_map(Cell::node_number) {
            if let Some(&part) = self.by_node.get(&part) {
                let part = &mut self.loose[part];
                part.inner = part.inner.saturating_add(places);
                part.all = part.all.saturating_add(all);
            }
        }
    }

    /// The number of places in the whole value, per class of nodes that can move.
    pub(super) fn places_by_class(&self) -> Map<u64, u64> {
        let mut places = vec![0u64; self.tables.nodes.len()];
        if let Some(root) = self.tables.root.node_number() {
            places[root as usize] = 1;
        }
        let mut classes: Map<u64, u64> = Map::default();
        for &loose in &self.order {
            if can_move(self.node(loose)) {
                classes.insert(self.node(loose).skeleton, 0);
            }
        }
        for number in (0..places.len()).rev() {
            let node = &self.tables.nodes[number];
            let own = if node.is_dag() {
                places[number].min(1)
            } else {
                places[number]
            };
            if let Some(class) = classes.get_mut(&node.skeleton) {
                *class = class.saturating_add(own);
            }
            if is_open(node) {
                let parts = self.tables.cells(number as u32).iter();
                for part in parts.filter_map(Cell::node_number) {
                    let part = &mut places[part as usize];
                    *part = part.saturating_add(own);
                }
            }
        }
        classes
    }

    /// The places of some nodes of a class by token, in the order in which a visit
    /// meets the nodes.
    pub(super) fn alike(
        &self,
        nodes: &[usize],
        tokens: &[u64],
        ranks: &[usize],
    ) -> Vec<MoveCandidates> {
        let mut indices: Map<u64, usize> = Map::default();
        let mut candidates: Vec<MoveCandidates> = Vec::new();
        for &loose in nodes {
            let UnpairedNode {
                node,
                wholes,
                inner,
                ..
            } = &self.loose[loose];
            let token = tokens[*node as usize];
            let index = *indices.entry(token).or_insert_with(|| {
                candidates.push(MoveCandidates {
                    token,
                    places: Default::default(),
                    next: [0, 0],
                });
                candidates.len() - 1
            });
            let wholes = wholes.iter().enumerate();
            candidates[index].places[0].extend(wholes.map(|(position, &(_, count))| Places {
                loose,
                whole: Some(position),
                count,
            }));
            candidates[index].places[1].push(Places {
                loose,
                whole: None,
                count: *inner,
            });
        }
        for alike in &mut candidates {
            for places in &mut alike.places {
                places.retain(|places| places.count > 0);
            }
            // The first of several equal findings depends on the sharing.
            alike.places[0].sort_by_key(|places| {
                let wholes = &self.loose[places.loose].wholes;
                places.whole.map(|whole| ranks[wholes[whole].0])
            });
        }
        candidates
    }
}
