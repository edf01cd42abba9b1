//! The memo of proven pairs of shared nodes.
//!
//! Most shared nodes meet one partner, so proofs start as a table of pairs. A
//! table of pairs alone is quadratic if many nodes of one side meet many of the
//! other; so at the first left node that meets a second partner, the pairs
//! become classes. Equality under a fixed bijection of variables is transitive,
//! and two nodes of one class need no visit. (Tarjan, "Efficiency of a Good But
//! Not Linear Set Union Algorithm", 1975; used for equality of shared terms
//! since Hopcroft and Karp's automata equivalence, 1971.)

use super::ident_map::IdentMap;
use super::levels::{Levels, ValidUntil};
use super::scope::Region;
use crate::kernel::pages::empty;

/// A left node and the right node that it was proven equal to.
#[derive(Clone, Copy)]
struct Pair {
    left: u64,
    right: u64,
    /// The index of the proof.
    proof: u32,
}

/// The validity of a proof. Neighbours often need the same bindings, so many
/// pairs share one.
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
pub(crate) enum Known {
    /// It was proven, directly or by way of other nodes.
    Proven(ValidUntil, Option<ValidUntil>),
    /// A proof of one of its nodes has become void.
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
    /// Used instead of the pairs as soon as it is not empty.
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
    pub(crate) fn find(&mut self, left: u64, right: u64, region: Region, levels: &Levels) -> Known {
        if !self.classes.is_empty() {
            return self.classes.find(left, right, region, levels);
        }
        if self.pairs.is_empty() {
            return Known::Nothing;
        }
        let Some(index) = self.partners.get(left) else {
            return Known::Nothing;
        };
        let pair = &self.pairs[index as usize];
        let proof = &self.proofs[pair.proof as usize];
        if !proof.holds(region, levels) {
            Known::Void
        } else if pair.right == right {
            Known::Proven(proof.needs, None)
        } else {
            Known::Nothing
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
                let known = &mut self.pairs[index as usize];
                let before = &self.proofs[known.proof as usize];
                if known.right == right || !before.holds(Region::USE, levels) {
                    *known = pair;
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

/// A shared node of one side that takes part in a proven pair.
#[derive(Clone, Copy)]
struct Member {
    parent: u32,
    rank: u32,
    proof: Proof,
}

/// Proven pairs as classes of a union-find.
#[derive(Default)]
struct Classes {
    left: IdentMap,
    right: IdentMap,
    members: Vec<Member>,
}

impl Classes {
    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        empty(&mut self.members);
    }

    fn find(&mut self, left: u64, right: u64, region: Region, levels: &Levels) -> Known {
        let sides = (self.left.get(left), self.right.get(right));
        let holds = |side: Option<u32>| {
            side.is_none_or(|side| self.members[side as usize].proof.holds(region, levels))
        };
        if !holds(sides.0) || !holds(sides.1) {
            return Known::Void;
        }
        match sides {
            (Some(left), Some(right)) if self.root(left) == self.root(right) => {
                let needs = |member: u32| self.members[member as usize].proof.needs;
                let (left, right) = (needs(left), needs(right));
                Known::Proven(left, (!levels.same_needs(left, right)).then_some(right))
            }
            _ => Known::Nothing,
        }
    }

    fn prove(&mut self, left: u64, right: u64, proof: Proof, levels: &mut Levels) {
        let l = live(&mut self.left, &mut self.members, left, proof, levels);
        let r = live(&mut self.right, &mut self.members, right, proof, levels);
        // Members of one class need the same bindings, so that the class ends
        // as a whole; a member that was proven with fewer starts over.
        let needs = levels.both(self.members[l as usize].proof.needs, proof.needs);
        let needs = levels.both(needs, self.members[r as usize].proof.needs);
        let proof = Proof { needs, ..proof };
        let l = renew(&mut self.left, &mut self.members, left, (l, proof), levels);
        let r = renew(
            &mut self.right,
            &mut self.members,
            right,
            (r, proof),
            levels,
        );
        self.join(l, r);
    }

    fn join(&mut self, left: u32, right: u32) {
        let (left, right) = (self.root(left), self.root(right));
        if left == right {
            return;
        }
        let (left_rank, right_rank) = (
            self.members[left as usize].rank,
            self.members[right as usize].rank,
        );
        let (child, parent) = if left_rank < right_rank {
            (left, right)
        } else {
            (right, left)
        };
        self.members[child as usize].parent = parent;
        if left_rank == right_rank {
            self.members[parent as usize].rank += 1;
        }
    }

    fn root(&mut self, mut member: u32) -> u32 {
        // Path halving keeps the trees flat without a second pass.
        loop {
            let parent = self.members[member as usize].parent;
            if parent == member {
                return member;
            }
            let grandparent = self.members[parent as usize].parent;
            self.members[member as usize].parent = grandparent;
            member = grandparent;
        }
    }
}

fn fresh(map: &mut IdentMap, members: &mut Vec<Member>, ident: u64, proof: Proof) -> u32 {
    let index = members.len() as u32;
    members.push(Member {
        parent: index,
        rank: 0,
        proof,
    });
    map.set(ident, Some(index));
    index
}

/// The node's member, replaced by a new one if its earlier proofs are void.
fn live(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    proof: Proof,
    levels: &Levels,
) -> u32 {
    match map.get(ident) {
        Some(index) if members[index as usize].proof.holds(Region::USE, levels) => index,
        _ => fresh(map, members, ident, proof),
    }
}

fn renew(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    (index, proof): (u32, Proof),
    levels: &Levels,
) -> u32 {
    if levels.same_needs(members[index as usize].proof.needs, proof.needs) {
        return index;
    }
    fresh(map, members, ident, proof)
}
