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

/// A shared node of one side that takes part in a proven pair.
#[derive(Clone, Copy)]
struct Member {
    parent: u32,
    rank: u32,
    date: u64,
    needs: Needs,
}

/// Proven pairs of shared nodes.
#[derive(Default)]
pub(crate) struct PairMemo {
    left: IdentMap,
    right: IdentMap,
    members: Vec<Member>,
}

impl PairMemo {
    pub(crate) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        self.members.clear();
        self.members.shrink_to(1 << 14);
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
        let (left, right) = (self.members[left as usize], self.members[right as usize]);
        let needs = left.needs.both(right.needs);
        let date = left.date.min(right.date);
        levels.holds(needs, date, region).then_some(needs)
    }

    /// Remembers that the pair was proven.
    pub(crate) fn prove(&mut self, left: u64, right: u64, needs: Needs, levels: &Levels) {
        let l = live(&mut self.left, &mut self.members, left, needs, levels);
        let r = live(&mut self.right, &mut self.members, right, needs, levels);
        let all = needs
            .both(self.members[l as usize].needs)
            .both(self.members[r as usize].needs);
        // Members of one class need the same bindings, so that the class ends
        // as a whole; a member that was proven with fewer starts over.
        let l = renew(&mut self.left, &mut self.members, left, l, all, levels);
        let r = renew(&mut self.right, &mut self.members, right, r, all, levels);
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

fn fresh(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    needs: Needs,
    levels: &Levels,
) -> u32 {
    let index = members.len() as u32;
    members.push(Member {
        parent: index,
        rank: 0,
        date: levels.now(),
        needs,
    });
    map.set(ident, Some(index));
    index
}

/// The node's member, made anew when its earlier proofs no longer hold.
fn live(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    needs: Needs,
    levels: &Levels,
) -> u32 {
    match map.get(ident) {
        Some(index) if holds(members[index as usize], levels) => index,
        _ => fresh(map, members, ident, needs, levels),
    }
}

fn renew(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    index: u32,
    needs: Needs,
    levels: &Levels,
) -> u32 {
    if members[index as usize].needs == needs {
        return index;
    }
    fresh(map, members, ident, needs, levels)
}

fn holds(member: Member, levels: &Levels) -> bool {
    levels.holds(member.needs, member.date, Region::USE)
}
