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
use super::levels::{Levels, Needs};
use super::scope::Region;

/// A left node and the right node that it was proven equal to.
#[derive(Clone, Copy)]
struct Pair {
    left: u64,
    right: u64,
    date: u64,
    needs: Needs,
}

/// What is known of a pair.
pub(crate) enum Known {
    /// It was proven, once or on the way over other nodes.
    Proven(Needs, Option<Needs>),
    /// A proof of one of its nodes has become void.
    Void,
    Nothing,
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

    /// What is known of the pair, and what its proof needs.
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
        if !levels.holds(pair.needs, pair.date, region) {
            Known::Void
        } else if pair.right == right {
            Known::Proven(pair.needs, None)
        } else {
            Known::Nothing
        }
    }

    /// Remembers that the pair was proven.
    #[inline]
    pub(crate) fn prove(&mut self, left: u64, right: u64, needs: Needs, levels: &mut Levels) {
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
    fn make_classes(&mut self, pair: &Pair, levels: &mut Levels) {
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

    fn find(&mut self, left: u64, right: u64, region: Region, levels: &Levels) -> Known {
        let sides = (self.left.get(left), self.right.get(right));
        let holds = |side: Option<u32>| {
            side.is_none_or(|side| {
                let member = &self.members[side as usize];
                levels.holds(member.needs, member.date, region)
            })
        };
        if !holds(sides.0) || !holds(sides.1) {
            return Known::Void;
        }
        match sides {
            (Some(left), Some(right)) if self.root(left) == self.root(right) => {
                let (left, right) = (&self.members[left as usize], &self.members[right as usize]);
                let other = (!levels.same_needs(left.needs, right.needs)).then_some(right.needs);
                Known::Proven(left.needs, other)
            }
            _ => Known::Nothing,
        }
    }

    fn prove(&mut self, pair: &Pair, levels: &mut Levels) {
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
        // Members of one class need the same bindings, so that the class ends
        // as a whole; a member that was proven with fewer starts over.
        let needs = levels.both(self.members[l as usize].needs, pair.needs);
        let needs = levels.both(needs, self.members[r as usize].needs);
        let member = Member { needs, ..member };
        let l = renew(
            &mut self.left,
            &mut self.members,
            pair.left,
            (l, member),
            levels,
        );
        let r = renew(
            &mut self.right,
            &mut self.members,
            pair.right,
            (r, member),
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
    (index, member): (u32, Member),
    levels: &Levels,
) -> u32 {
    if levels.same_needs(members[index as usize].needs, member.needs) {
        return index;
    }
    fresh(map, members, ident, member)
}
