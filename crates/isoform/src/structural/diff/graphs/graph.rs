//! Graphs as arrays, and the result of their alignment.

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
