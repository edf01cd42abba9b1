//! Graphs as arrays, and the result of their alignment.

/// One side: nodes in any topological order, parts before wholes.
///
/// An operand that is not a node, such as a constant or the number of an output, belongs to
/// the labels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Everything local to each node: operator, attributes, contents of constants, arity.
    pub(crate) labels: Vec<u64>,
    /// The weaker label: operator and arity only.
    pub(crate) ops: Vec<u64>,
    /// Where the operands of each node start in `operands`, and at the end their number.
    pub(crate) starts: Vec<u32>,
    /// The operands of all nodes in order, as numbers of nodes.
    pub(crate) operands: Vec<u32>,
    /// The nodes that the results use, in order.
    pub(crate) results: Vec<u32>,
    /// The hash of each node's name; 0 for a node without a name.
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

/// Which nodes correspond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alignment {
    /// The partner of each left node. Partners have the same `op`.
    pub(crate) left: Vec<Option<u32>>,
    /// The partner of each right node.
    pub(crate) right: Vec<Option<u32>>,
    /// Nodes without partners that differ in `op` only: their operands are partners, and
    /// so are their users.
    pub(crate) replaced: Vec<(u32, u32)>,
    /// The work that was done.
    pub(crate) costs: AlignmentCosts,
}

/// The number of steps of each part of the work; the measure of the complexity tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AlignmentCosts {
    /// Nodes and edges that were hashed.
    pub(crate) hashed: u64,
    /// Comparisons of words.
    pub(crate) compared: u64,
    /// Edges that were looked at to judge pairs.
    pub(crate) judged: u64,
}
