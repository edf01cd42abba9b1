//! Alignment of two dataflow graphs: pairs of corresponding nodes.
//!
//! Works on plain arrays; the caller reads values, and explains the result. No step
//! trusts the order in which a file lists nodes, and names only decide between
//! candidates with equal wiring and labels.
//!
//! | file | job |
//! |---|---|
//! | `graph.rs` | the arrays for input and output; one graph with its edges in both directions |
//! | `pairs.rs`, `reason.rs` | the pairs found, with their reasons, and the agreement of their neighbours |
//! | `anchors.rs` | the first pairs: nodes that only one node of the other side resembles, and both graphs as texts |
//! | `spread.rs` | pairs suggested by their neighbours |
//! | `repair.rs` | pairs refuted by their neighbours, and nodes replaced in place |
//! | `hunks.rs` | connected changes, and groups of similar changes |
//!
//! Anchors alone fail on repetitive models, where every node resembles its counterpart
//! in all other layers, and texts alone lose nodes that moved. The texts come before
//! most anchors: in a repetitive graph edited on both sides, two nodes may be the only
//! nodes with their surroundings by chance.

mod anchors;
mod graph;
mod hunks;
mod pairs;
mod reason;
mod repair;
mod spread;
#[cfg(test)]
mod tests;

pub(crate) use graph::{Alignment, AlignmentCosts, Graph};
pub(crate) use hunks::{Hunk, hunks};
pub use reason::PairReason;

use graph::Side;
use pairs::Pairs;

/// The distances up to which the surroundings of nodes are compared.
const RADII: [usize; 6] = [8, 6, 4, 3, 2, 1];

/// Aligns two graphs. `fixed` has pairs known in advance, such as inputs by position;
/// these pairs are kept for any operators, and a node occurs in at most one of them.
///
/// The result depends only on the arguments. The time is O(n log n) for n nodes and
/// edges: every step visits a node a bounded number of times, and the comparison of
/// texts ends after O(n) steps. If this bound ends the comparison early, nodes may
/// remain without partners; the neighbours of pairs are still found.
pub(crate) fn align(left: &Graph, right: &Graph, fixed: &[(u32, u32)]) -> Alignment {
    let mut costs = AlignmentCosts::default();
    let sides = [Side::new(left), Side::new(right)];
    let mut pairs = Pairs::new(&sides, fixed);
    anchors::cones(&sides, &mut pairs, &mut costs);
    anchors::common_order(&sides, &mut pairs, &mut costs);
    for _ in 0..2 {
        repair::prune(&sides, &mut pairs, &mut costs);
    }
    anchors::neighbourhoods(&sides, &mut pairs, &RADII, &mut costs);
    repair::settle(&sides, &mut pairs, &mut costs);
    let replaced = repair::replaced(&sides, &mut pairs, &mut costs);
    let reasons = pairs.reasons();
    let [left, right] = pairs.partners();
    Alignment {
        left,
        right,
        reasons,
        replaced,
        costs,
    }
}
