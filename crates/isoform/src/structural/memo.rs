//! The memo of proven pairs of shared nodes.
//!
//! Most shared nodes meet one partner, so proofs start as a table of pairs. A
//! table of pairs alone is quadratic when many nodes of one side meet many of
//! the other; so at the first left node that meets a second partner, the pairs
//! become classes. Equality under a fixed bijection of variables is
//! transitive, and two nodes of one class need no visit. (Tarjan, "Efficiency
//! of a Good But Not Linear Set Union Algorithm", 1975; used for equality of
//! shared terms since Hopcroft and Karp's automata equivalence, 1971.)

use super::ident_map::IdentMap;
use super::scope::{Levels, Needs, Region};

/// A left node and the right node that it was proven equal to.
#[derive(Clone, Copy)]
struct Pair {
    left: u64,
    right: u64,
    date: u64,
    needs: Needs,
}

/// Proven pairs of shared nodes.
#[derive(Default)]
pub(crate) struct PairMemo {
    /// Left identity to a place in `pairs`.
    partners: IdentMap,
    pairs: Vec<Pair>,
    /// Used instead of the pairs as soon as it is not empty.
    classes: Classes,
}

impl PairMemo {
    pub(crate) fn clear(&mut self) {
        self.partners.clear();
        self.pairs.clear();
        self.pairs.shrink_to(1 << 14);
        self.classes.clear();
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
        if !self.classes.is_empty() {
            return self.classes.find(left, right, region, levels);
        }
        if self.pairs.is_empty() {
            return None;
        }
        let pair = &self.pairs[self.partners.get(left)? as usize];
        let holds = pair.right == right && levels.holds(pair.needs, pair.date, region);
        holds.then_some(pair.needs)
    }

    /// Remembers that the pair was proven.
    #[inline]
    pub(crate) fn prove(&mut self, left: u64, right: u64, needs: Needs, levels: &Levels) {
        let date = levels.now();
        let pair = Pair {
            left,
            right,
            date,
            needs,
        };
        if !self.classes.is_empty() {
            self.classes.prove(&pair, levels);
            return;
        }
        match self.partners.get(left) {
            None => {
                self.partners.set(left, Some(self.pairs.len() as u32));
                self.pairs.push(pair);
            }
            Some(index) => {
                let known = &mut self.pairs[index as usize];
                if known.right == right || !levels.holds(known.needs, known.date, Region::USE) {
                    *known = pair;
                } else {
                    self.make_classes(&pair, levels);
                }
            }
        }
    }

    #[cold]
    fn make_classes(&mut self, pair: &Pair, levels: &Levels) {
        for known in &self.pairs {
            if levels.holds(known.needs, known.date, Region::USE) {
                self.classes.prove(known, levels);
            }
        }
        self.classes.prove(pair, levels);
    }
}

/// A shared node of one side that takes part in a proven pair.
#[derive(Clone, Copy)]
struct Member {
    parent: u32,
    rank: u32,
    date: u64,
    needs: Needs,
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
        self.members.clear();
        self.members.shrink_to(1 << 14);
    }

    fn find(&mut self, left: u64, right: u64, region: Region, levels: &Levels) -> Option<Needs> {
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

    fn prove(&mut self, pair: &Pair, levels: &Levels) {
        let member = Member {
            parent: 0,
            rank: 0,
            date: pair.date,
            needs: pair.needs,
        };
        let l = live(&mut self.left, &mut self.members, pair.left, member, levels);
        let r = live(
            &mut self.right,
            &mut self.members,
            pair.right,
            member,
            levels,
        );
        let of = |index: u32| self.members[index as usize];
        let needs = pair.needs.both(of(l).needs).both(of(r).needs);
        // Members of one class need the same bindings, so that the class ends
        // as a whole; a member that was proven with fewer starts over.
        let member = Member { needs, ..member };
        let l = renew(&mut self.left, &mut self.members, pair.left, l, member);
        let r = renew(&mut self.right, &mut self.members, pair.right, r, member);
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

fn fresh(map: &mut IdentMap, members: &mut Vec<Member>, ident: u64, member: Member) -> u32 {
    let index = members.len() as u32;
    members.push(Member {
        parent: index,
        ..member
    });
    map.set(ident, Some(index));
    index
}

/// The node's member, made anew when its earlier proofs no longer hold.
fn live(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    member: Member,
    levels: &Levels,
) -> u32 {
    let holds = |known: Member| levels.holds(known.needs, known.date, Region::USE);
    match map.get(ident) {
        Some(index) if holds(members[index as usize]) => index,
        _ => fresh(map, members, ident, member),
    }
}

fn renew(
    map: &mut IdentMap,
    members: &mut Vec<Member>,
    ident: u64,
    index: u32,
    member: Member,
) -> u32 {
    if members[index as usize].needs == member.needs {
        return index;
    }
    fresh(map, members, ident, member)
}
