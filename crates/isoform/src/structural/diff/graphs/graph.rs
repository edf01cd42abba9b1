//! Graphs: the arrays for the input and output of an alignment, and one graph with its
//! edges in both directions and its canonical order.

use super::reason::PairReason;
use crate::kernel::rows::Rows;

/// One side: nodes in any topological order, parts before wholes.
///
/// The labels include operands that are not nodes, such as a constant or the number of
/// an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The local properties of a node: operator, attributes, contents of constants,
    /// arity.
    pub(crate) labels: Vec<u64>,
    /// The weaker label: operator and arity only.
    pub(crate) ops: Vec<u64>,
    /// The starts of the nodes' operands in `operands`, and the number of operands at
    /// the end.
    pub(crate) starts: Vec<u32>,
    /// The operands of all nodes in order, as numbers of nodes.
    pub(crate) operands: Vec<u32>,
    /// The nodes used by the results, in order.
    pub(crate) results: Vec<u32>,
    /// The hash of a node's name; 0 for a node without a name.
    pub(crate) names: Vec<u64>,
}

impl Graph {
    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The operands of a node in order.
    pub(crate) fn operands_of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.operands[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// Pairs of nodes that correspond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alignment {
    /// The partner of a left node, by node. Partners have the same `op`.
    pub(crate) left: Vec<Option<u32>>,
    /// The partner of a right node, by node.
    pub(crate) right: Vec<Option<u32>>,
    /// Why a left node has its partner, by node; without a meaning for a node without a
    /// partner.
    pub(crate) reasons: Vec<PairReason>,
    /// Nodes without partners that differ in `op` only: their operands are partners,
    /// and their users are, too.
    pub(crate) replaced: Vec<(u32, u32)>,
    /// The work done.
    pub(crate) costs: AlignmentCosts,
}

/// The number of steps in each part of the work; the measure of the complexity tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AlignmentCosts {
    /// Nodes and edges hashed.
    pub(crate) hashed: u64,
    /// Comparisons of words.
    pub(crate) compared: u64,
    /// Edges examined to judge pairs.
    pub(crate) judged: u64,
}

/// The word of the node that uses the results.
const SINK: u64 = 0x51f0_7a3c_9d2e_b845;

/// A graph with the users of its nodes.
///
/// The results are the operands of an additional node after all other nodes, which
/// makes a use by a result an ordinary use.
pub(super) struct Side<'g> {
    pub(super) graph: &'g Graph,
    users: Rows<(u32, u32)>,
}

impl<'g> Side<'g> {
    /// O(nodes + edges).
    pub(super) fn new(graph: &'g Graph) -> Self {
        debug_assert_eq!(graph.starts.len(), graph.len() + 1);
        let nodes = (0..graph.len() as u32).map(|node| (node, graph.operands_of(node)));
        let all = nodes.chain([(graph.len() as u32, &graph.results[..])]);
        let uses = all.flat_map(|(user, operands)| {
            let slots = (0..).zip(operands);
            slots.map(move |(slot, &operand)| (operand, (user, slot)))
        });
        let users = Rows::new(graph.len() + 1, uses);
        Side { graph, users }
    }

    /// The number of nodes, including the node that uses the results.
    pub(super) fn len(&self) -> usize {
        self.graph.len() + 1
    }

    /// The node that uses the results.
    pub(super) fn sink(&self) -> u32 {
        self.graph.len() as u32
    }

    /// The operands of a node in order.
    pub(super) fn operands(&self, node: u32) -> &'g [u32] {
        if (node as usize) < self.graph.len() {
            self.graph.operands_of(node)
        } else {
            &self.graph.results
        }
    }

    /// The users of a node, with the positions of the operand.
    pub(super) fn users(&self, node: u32) -> &[(u32, u32)] {
        self.users.of(node)
    }

    /// Operator and arity of a node.
    pub(super) fn op(&self, node: u32) -> u64 {
        let ops = &self.graph.ops;
        ops.get(node as usize).copied().unwrap_or(SINK)
    }

    /// All local properties of a node.
    pub(super) fn label(&self, node: u32) -> u64 {
        let labels = &self.graph.labels;
        labels.get(node as usize).copied().unwrap_or(SINK)
    }

    /// The hash of the name of a node; 0 without a name.
    pub(super) fn name(&self, node: u32) -> u64 {
        self.graph.names.get(node as usize).copied().unwrap_or(0)
    }

    /// All nodes in the order in which a depth-first visit from the results leaves
    /// them, operands in order: independent of the order of the file, except for nodes
    /// that no result needs. O(nodes + edges).
    pub(super) fn canonical_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.len());
        let mut seen = vec![false; self.len()];
        let mut stack: Vec<(u32, u32)> = Vec::new();
        let unused = (0..self.sink()).filter(|node| self.users(*node).is_empty());
        for root in [self.sink()].into_iter().chain(unused) {
            seen[root as usize] = true;
            stack.push((root, 0));
            while let Some((node, next)) = stack.last_mut() {
                match self.operands(*node).get(*next as usize) {
                    Some(&operand) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[operand as usize], true) {
                            stack.push((operand, 0));
                        }
                    }
                    None => {
                        order.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        order
    }
}
