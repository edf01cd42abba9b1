//! Alignment of two dataflow graphs: which node of one side corresponds to which of the
//! other.
//!
//! Works on plain arrays; its caller reads values, and explains the result. No step trusts
//! the order in which a file lists nodes, and names only decide between candidates
//! that wiring and labels leave equal.
//!
//! | file | job |
//! |---|---|
//! | `side.rs` | one graph with its edges in both directions, and its canonical order |
//! | `pairs.rs` | the pairs so far, and how well their neighbours agree |
//! | `anchors.rs` | nodes that only one node of the other side resembles |
//! | `sequence.rs` | both graphs as texts, one word per node |
//! | `myers.rs` | what two texts have in common, at bounded cost |
//! | `spread.rs` | pairs that their neighbours suggest |
//! | `repair.rs` | pairs that their neighbours refute, and nodes replaced in place |
//! | `hunks.rs` | connected changes, and which of them are alike |
//!
//! Anchors alone fail on repetitive models, where every node resembles its counterpart in
//! each other layer, and texts alone lose nodes that moved. The texts come before most
//! anchors, because in a repetitive graph that was edited on both sides, two nodes may be
//! the only ones with their surroundings by chance.

mod anchors;
mod hunks;
mod myers;
mod pairs;
mod repair;
mod sequence;
mod side;
mod spread;
#[cfg(test)]
mod tests;

#[allow(unused_imports)]
pub(crate) use hunks::{Edge, Hunk, hunks};

use pairs::Pairs;
use side::Side;

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
    /// The hash of each node's name; 0 if it has none.
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

impl AlignmentCosts {
    /// The number of all steps.
    pub(crate) fn total(self) -> u64 {
        self.hashed + self.compared + self.judged
    }
}

/// The distances up to which the surroundings of nodes are compared.
const RADII: [usize; 6] = [8, 6, 4, 3, 2, 1];

/// Aligns two graphs. `fixed` has pairs that are known before, such as inputs by position;
/// they are kept whatever their operators are, and a node occurs in at most one of them.
///
/// The result depends on nothing but the arguments. It takes O(n log n) time for n nodes and
/// edges: every step visits a node a bounded number of times, and the comparison of texts
/// ends after a number of steps in proportion to n. Where this bound cuts it short, nodes may
/// remain without partners; the neighbours of pairs are still found.
pub(crate) fn align(left: &Graph, right: &Graph, fixed: &[(u32, u32)]) -> Alignment {
    let mut costs = AlignmentCosts::default();
    let sides = [Side::new(left), Side::new(right)];
    let mut pairs = Pairs::new(&sides, fixed);
    anchors::cones(&sides, &mut pairs, &mut costs);
    sequence::align(&sides, &mut pairs, &mut costs);
    for _ in 0..2 {
        repair::prune(&sides, &mut pairs, &mut costs);
    }
    anchors::neighbourhoods(&sides, &mut pairs, &RADII, &mut costs);
    repair::settle(&sides, &mut pairs, &mut costs);
    let replaced = repair::replaced(&sides, &mut pairs, &mut costs);
    let [left, right] = pairs.partners();
    Alignment {
        left,
        right,
        replaced,
        costs,
    }
}
