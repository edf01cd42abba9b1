//! Alignment of two dataflow graphs: which node of one side corresponds to which of the
//! other.
//!
//! Works on plain arrays; its caller reads values, and explains the result. No step trusts
//! the order in which a file lists nodes, and names only decide between candidates
//! that wiring and labels leave equal.
//!
//! | file | job |
//! |---|---|
//! | `graph.rs` | the arrays that come in, and those that go out |
//! | `side.rs` | one graph with its edges in both directions, and its canonical order |
//! | `pairs.rs` | the pairs so far, and how well their neighbours agree |
//! | `anchors.rs` | nodes that only one node of the other side resembles |
//! | `sequence.rs` | both graphs as texts, one word per node |
//! | `spread.rs` | pairs that their neighbours suggest |
//! | `repair.rs` | pairs that their neighbours refute, and nodes replaced in place |
//! | `hunks.rs` | connected changes, and which of them are alike |
//!
//! Anchors alone fail on repetitive models, where every node resembles its counterpart in
//! each other layer, and texts alone lose nodes that moved. The texts come before most
//! anchors, because in a repetitive graph that was edited on both sides, two nodes may be
//! the only ones with their surroundings by chance.

mod anchors;
mod graph;
mod hunks;
mod pairs;
mod repair;
mod sequence;
mod side;
mod spread;
#[cfg(test)]
mod tests;

pub(crate) use graph::{Alignment, AlignmentCosts, Graph};
pub(crate) use hunks::{Hunk, hunks};

use pairs::Pairs;
use side::Side;

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
