//! The memo of proven pairs: union-find over both sides' shared nodes.
//!
//! A table of pairs alone is quadratic when many nodes of one side meet many
//! of the other. Equality under a fixed bijection of variables is transitive,
//! so proven pairs form classes, and two nodes of one class need no visit.
//! (Tarjan, "Efficiency of a Good But Not Linear Set Union Algorithm", 1975;
//! used for equality of shared terms since Hopcroft and Karp's automata
//! equivalence, 1971.)

use super::ident_map::IdentMap;
use super::scope::{Levels, Needs, Region};

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// A shared node of one side that takes part in a proven pair.
#[derive(Clone, Copy)]
struct Member {
    parent: u32,
    rank: u32,
    /// Position in [`PairMemo::proofs`].
    proof: u32,
}

/// When a member was proven, and what with. Most proofs have a neighbour like
/// themselves, so members hold a number only.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Proof {
    date: u64,
    needs: Needs,
}

/// Proven pairs of shared nodes.
#[derive(Default)]
pub(crate) struct PairMemo {
    left: IdentMap,
    right: IdentMap,
    members: Vec<Member>,
    proofs: Vec<Proof>,
}

impl PairMemo {
    pub(crate) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        self.members.clear();
        self.members.shrink_to(1 << 14);
        self.proofs.clear();
        self.proofs.shrink_to(1 << 12);
    }

    /// What the pair's proof needs, if it was proven and still holds.
    #[inline]
    pub(crate) fn find(
        &mut self,
        left: u64,
        right: u64,
        region: Region,
        levels: &Levels,
    ) -> Option<Needs> {
        if self.members.is_empty() {
            return None;
        }
        let left = self.left.get(left)?;
        let right = self.right.get(right)?;
        if self.root(left) != self.root(right) {
            return None;
        }
        let (left, right) = (self.proof_of(left), self.proof_of(right));
        let needs = left.needs.both(right.needs);
        let date = left.date.min(right.date);
        levels.holds(needs, date, region).then_some(needs)
    }

    /// Remembers that the pair was proven.
    pub(crate) fn prove(&mut self, left: u64, right: u64, needs: Needs, levels: &Levels) {
        let (l, r) = (self.left.get(left), self.right.get(right));
        if l.is_none() && r.is_none() {
            let l = self.fresh(Side::Left, left, needs, levels);
            let r = self.fresh(Side::Right, right, needs, levels);
            self.members[l as usize].rank = 1;
            self.members[r as usize].parent = l;
            return;
        }
        let l = self.live(Side::Left, left, l, needs, levels);
        let r = self.live(Side::Right, right, r, needs, levels);
        let all = needs
            .both(self.proof_of(l).needs)
            .both(self.proof_of(r).needs);
        // Members of one class need the same bindings, so that the class ends
        // as a whole; a member that was proven with fewer starts over.
        let l = self.renew(Side::Left, left, l, all, levels);
        let r = self.renew(Side::Right, right, r, all, levels);
        self.join(l, r);
    }

    #[inline]
    fn proof_of(&self, member: u32) -> Proof {
        self.proofs[self.members[member as usize].proof as usize]
    }

    #[inline]
    fn fresh(&mut self, side: Side, ident: u64, needs: Needs, levels: &Levels) -> u32 {
        let proof = Proof {
            date: levels.now(),
            needs,
        };
        if self.proofs.last() != Some(&proof) {
            self.proofs.push(proof);
        }
        let index = self.members.len() as u32;
        self.members.push(Member {
            parent: index,
            rank: 0,
            proof: (self.proofs.len() - 1) as u32,
        });
        let map = match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        };
        map.set(ident, Some(index));
        index
    }

    /// The node's member, made anew when its earlier proofs no longer hold.
    fn live(
        &mut self,
        side: Side,
        ident: u64,
        known: Option<u32>,
        needs: Needs,
        levels: &Levels,
    ) -> u32 {
        if let Some(index) = known {
            let proof = self.proof_of(index);
            if levels.holds(proof.needs, proof.date, Region::USE) {
                return index;
            }
        }
        self.fresh(side, ident, needs, levels)
    }

    fn renew(&mut self, side: Side, ident: u64, index: u32, needs: Needs, levels: &Levels) -> u32 {
        if self.proof_of(index).needs == needs {
            return index;
        }
        self.fresh(side, ident, needs, levels)
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
