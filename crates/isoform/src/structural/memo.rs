//! The memo of proven pairs of shared nodes.
//!
//! Most shared nodes meet one partner, so proofs start as a table of pairs. A table of
//! pairs alone is quadratic if many left nodes meet many right nodes; at the first left
//! node that meets a second partner, the pairs therefore become classes. Equality under
//! a fixed bijection of variables is transitive, and two nodes of one class need no
//! visit.

use super::ident_map::IdentMap;
use super::levels::{Levels, ValidUntil};
use super::scope::Region;
use crate::kernel::pages::empty;
use crate::kernel::union_find::UnionFind;

/// A left node and the right node proven equal to the left node.
#[derive(Clone, Copy)]
struct Pair {
    left: u64,
    right: u64,
    /// The index of the proof.
    proof: u32,
}

/// The validity of a proof. Neighbours often need the same bindings, and many pairs
/// share one proof.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Proof {
    date: u64,
    needs: ValidUntil,
}

impl Proof {
    fn holds(&self, region: Region, levels: &Levels) -> bool {
        levels.holds(self.needs, self.date, region)
    }
}

/// The remembered result of a pair.
pub(crate) enum MemoResult {
    /// The pair was proven, directly or by way of other nodes.
    Proven(ValidUntil, Option<ValidUntil>),
    /// A proof of one of the two nodes has become void.
    Void,
    Nothing,
}

/// Proven pairs of shared nodes.
#[derive(Default)]
pub(crate) struct PairMemo {
    /// Left identity to an index in `pairs`.
    partners: IdentMap,
    pairs: Vec<Pair>,
    proofs: Vec<Proof>,
    /// Used instead of the pairs as soon as the classes are not empty.
    classes: Classes,
}

impl PairMemo {
    pub(crate) fn clear(&mut self) {
        self.partners.clear();
        empty(&mut self.pairs);
        empty(&mut self.proofs);
        self.classes.clear();
    }

    /// The remembered result of the pair, and the conditions of its proof.
    #[inline]
    pub(crate) fn find(
        &mut self,
        left: u64,
        right: u64,
        region: Region,
        levels: &Levels,
    ) -> MemoResult {
        if !self.classes.is_empty() {
            return self.classes.find(left, right, region, levels);
        }
        if self.pairs.is_empty() {
            return MemoResult::Nothing;
        }
        let Some(index) = self.partners.get(left) else {
            return MemoResult::Nothing;
        };
        let pair = &self.pairs[index as usize];
        let proof = &self.proofs[pair.proof as usize];
        if !proof.holds(region, levels) {
            MemoResult::Void
        } else if pair.right == right {
            MemoResult::Proven(proof.needs, None)
        } else {
            MemoResult::Nothing
        }
    }

    /// Remembers that the pair was proven.
    #[inline]
    pub(crate) fn prove(&mut self, left: u64, right: u64, needs: ValidUntil, levels: &mut Levels) {
        let proof = Proof {
            date: levels.now(),
            needs,
        };
        if !self.classes.is_empty() {
            self.classes.prove(left, right, proof, levels);
            return;
        }
        if self.proofs.last() != Some(&proof) {
            self.proofs.push(proof);
        }
        let pair = Pair {
            left,
            right,
            proof: (self.proofs.len() - 1) as u32,
        };
        match self.partners.get(left) {
            None => {
                self.partners.set(left, Some(self.pairs.len() as u32));
                self.pairs.push(pair);
            }
            Some(index) => {
                let first_pair = &mut self.pairs[index as usize];
                let before = &self.proofs[first_pair.proof as usize];
                if first_pair.right == right || !before.holds(Region::USE, levels) {
                    *first_pair = pair;
                } else {
                    self.pairs.push(pair);
                    self.make_classes(levels);
                }
            }
        }
    }

    #[cold]
    fn make_classes(&mut self, levels: &mut Levels) {
        for pair in &self.pairs {
            let proof = self.proofs[pair.proof as usize];
            if proof.holds(Region::USE, levels) {
                self.classes.prove(pair.left, pair.right, proof, levels);
            }
        }
    }
}

/// Proven pairs as classes of nodes. A member is a shared node, left or right, of a
/// proven pair.
#[derive(Default)]
struct Classes {
    left: IdentMap,
    right: IdentMap,
    members: UnionFind<Proof>,
}

impl Classes {
    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        self.members.clear();
    }

    fn find(&mut self, left: u64, right: u64, region: Region, levels: &Levels) -> MemoResult {
        let sides = (self.left.get(left), self.right.get(right));
        let holds = |side: Option<u32>| {
            side.is_none_or(|side| self.members.data(side).holds(region, levels))
        };
        if !holds(sides.0) || !holds(sides.1) {
            return MemoResult::Void;
        }
        match sides {
            (Some(left), Some(right)) if self.members.root(left) == self.members.root(right) => {
                let needs = |member: u32| self.members.data(member).needs;
                let (left, right) = (needs(left), needs(right));
                MemoResult::Proven(left, (!levels.same_needs(left, right)).then_some(right))
            }
            _ => MemoResult::Nothing,
        }
    }

    fn prove(&mut self, left: u64, right: u64, proof: Proof, levels: &mut Levels) {
        let members = &mut self.members;
        let l = live(&mut self.left, members, left, proof, levels);
        let r = live(&mut self.right, members, right, proof, levels);
        // Members of one class need the same bindings, and the class ends as a whole; a
        // member proven with fewer bindings starts over.
        let needs = levels.both(members.data(l).needs, proof.needs);
        let needs = levels.both(needs, members.data(r).needs);
        let proof = Proof { needs, ..proof };
        let l = renew(&mut self.left, members, left, l, proof, levels);
        let r = renew(&mut self.right, members, right, r, proof, levels);
        members.join(l, r);
    }
}

fn fresh(map: &mut IdentMap, members: &mut UnionFind<Proof>, ident: u64, proof: Proof) -> u32 {
    let member = members.add(proof);
    map.set(ident, Some(member));
    member
}

/// The node's member, replaced by a new one if its earlier proofs are void.
fn live(
    map: &mut IdentMap,
    members: &mut UnionFind<Proof>,
    ident: u64,
    proof: Proof,
    levels: &Levels,
) -> u32 {
    match map.get(ident) {
        Some(member) if members.data(member).holds(Region::USE, levels) => member,
        _ => fresh(map, members, ident, proof),
    }
}

fn renew(
    map: &mut IdentMap,
    members: &mut UnionFind<Proof>,
    ident: u64,
    member: u32,
    proof: Proof,
    levels: &Levels,
) -> u32 {
    if levels.same_needs(members.data(member).needs, proof.needs) {
        return member;
    }
    fresh(map, members, ident, proof)
}
