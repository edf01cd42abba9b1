//! The pairs found, and the agreement of their neighbours.

use super::graph::{AlignmentCosts, Side};
use super::reason::PairReason;

/// No partner.
const NONE: u32 = u32::MAX;

/// The number of operands, and of users, examined to judge a pair. A node with very
/// many neighbours is judged once for each neighbour.
const LOOKED_AT: usize = 32;

/// Pairs of nodes, at most one for each node of either side.
pub(super) struct Pairs {
    partners: [Vec<u32>; 2],
    /// Why a left node has its partner.
    reasons: Vec<PairReason>,
    /// True for a left node whose pair is given.
    fixed: Vec<bool>,
}

/// The relation between the neighbours of a pair.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Support {
    /// Edges at the same position whose other ends are a pair.
    pub(super) agreeing: u32,
    /// Edges with a partner elsewhere at the other end.
    pub(super) contradicting: u32,
}

impl Pairs {
    /// The given pairs, and the pair of the nodes that use the results.
    pub(super) fn new([left, right]: &[Side<'_>; 2], given: &[(u32, u32)]) -> Self {
        let mut pairs = Pairs {
            partners: [vec![NONE; left.len()], vec![NONE; right.len()]],
            reasons: vec![PairReason::Given; left.len()],
            fixed: vec![false; left.len()],
        };
        for &(l, r) in given.iter().chain([&(left.sink(), right.sink())]) {
            debug_assert!(pairs.is_free(l, r), "{l} or {r} is in two given pairs");
            pairs.join(l, r, PairReason::Given);
            pairs.fixed[l as usize] = true;
        }
        pairs
    }

    /// The partner of a left node.
    pub(super) fn of_left(&self, node: u32) -> Option<u32> {
        Some(self.partners[0][node as usize]).filter(|partner| *partner != NONE)
    }

    /// The partner of a right node.
    pub(super) fn of_right(&self, node: u32) -> Option<u32> {
        Some(self.partners[1][node as usize]).filter(|partner| *partner != NONE)
    }

    /// True if a node of a side, 0 or 1, has a partner.
    pub(super) fn has(&self, side: usize, node: u32) -> bool {
        self.partners[side][node as usize] != NONE
    }

    /// True if neither node has a partner.
    pub(super) fn is_free(&self, left: u32, right: u32) -> bool {
        !self.has(0, left) && !self.has(1, right)
    }

    /// True if the pair of a left node is given.
    pub(super) fn is_fixed(&self, left: u32) -> bool {
        self.fixed[left as usize]
    }

    /// Why a left node has its partner.
    pub(super) fn reason(&self, left: u32) -> PairReason {
        self.reasons[left as usize]
    }

    /// Makes a pair of two nodes without partners.
    pub(super) fn join(&mut self, left: u32, right: u32, reason: PairReason) {
        self.partners[0][left as usize] = right;
        self.reasons[left as usize] = reason;
        self.partners[1][right as usize] = left;
    }

    /// Removes the pair of a left node.
    pub(super) fn part(&mut self, left: u32) {
        if let Some(right) = self.of_left(left) {
            self.partners[0][left as usize] = NONE;
            self.partners[1][right as usize] = NONE;
        }
    }

    /// All pairs, by the left node.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..)
            .zip(&self.partners[0])
            .filter(|(_, right)| **right != NONE)
            .map(|(left, right)| (left, *right))
    }

    /// The reasons for the partners of all left nodes, without the node that uses the
    /// results.
    pub(super) fn reasons(&self) -> Vec<PairReason> {
        self.reasons[..self.reasons.len() - 1].to_vec()
    }

    /// The partners of all nodes of both sides, without the nodes that use the results.
    pub(super) fn partners(self) -> [Vec<Option<u32>>; 2] {
        self.partners.map(|mut partners| {
            partners.pop();
            let partner = |partner| Some(partner).filter(|partner| *partner != NONE);
            partners.into_iter().map(partner).collect()
        })
    }

    /// Compares the neighbours of two nodes, paired or not. O(1): the number of edges
    /// examined is bounded.
    pub(super) fn support(
        &self,
        [left, right]: &[Side<'_>; 2],
        pair: (u32, u32),
        costs: &mut AlignmentCosts,
    ) -> Support {
        let (l, r) = pair;
        let mut support = Support::default();
        let mut count = |agrees: bool| {
            if agrees {
                support.agreeing += 1
            } else {
                support.contradicting += 1
            }
        };
        let operands = left.operands(l).iter().zip(right.operands(r));
        for (&x, &y) in operands.take(LOOKED_AT) {
            costs.judged += 1;
            match (self.of_left(x), self.has(1, y)) {
                (None, false) => {}
                (partner, _) => count(partner == Some(y)),
            }
        }
        for &(user, slot) in left.users(l).iter().take(LOOKED_AT) {
            costs.judged += 1;
            if let Some(user) = self.of_left(user) {
                count(right.operands(user).get(slot as usize) == Some(&r));
            }
        }
        for &(user, slot) in right.users(r).iter().take(LOOKED_AT) {
            costs.judged += 1;
            if let Some(user) = self.of_right(user)
                && left.operands(user).get(slot as usize) != Some(&l)
            {
                count(false);
            }
        }
        support
    }
}
