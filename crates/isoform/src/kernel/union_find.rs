//! Disjoint classes of numbered members: a union-find.
//!
//! Union by rank and path halving keep the trees flat. (Tarjan, "Efficiency of a
//! Good But Not Linear Set Union Algorithm", 1975; used for equality of shared terms
//! since Hopcroft and Karp's automata equivalence, 1971.)

use super::pages::empty;

/// Classes of members, each class with data of the user. If `UNDOES`, joins can be
/// recorded and undone.
pub struct UnionFind<T, const UNDOES: bool = false> {
    members: Vec<Member<T>>,
    recording: bool,
    /// Members with overwritten links, with their earlier parent and rank.
    trail: Vec<(u32, u32, u32)>,
}

struct Member<T> {
    parent: u32,
    rank: u32,
    data: T,
}

impl<T, const UNDOES: bool> Default for UnionFind<T, UNDOES> {
    fn default() -> Self {
        UnionFind {
            members: Vec::new(),
            recording: false,
            trail: Vec::new(),
        }
    }
}

impl<T, const UNDOES: bool> UnionFind<T, UNDOES> {
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Removes all members, keeping part of the memory for the next use.
    pub(crate) fn clear(&mut self) {
        empty(&mut self.members);
    }

    /// Adds a member in a new class and returns its number, counted from 0.
    pub fn add(&mut self, data: T) -> u32 {
        let parent = self.members.len() as u32;
        self.members.push(Member {
            parent,
            rank: 0,
            data,
        });
        parent
    }

    /// The data of a member.
    pub fn data(&self, member: u32) -> &T {
        &self.members[member as usize].data
    }

    /// Joins two classes. Returns false if both members are in one class already.
    pub fn join(&mut self, left: u32, right: u32) -> bool {
        let (left, right) = (self.root(left), self.root(right));
        if left == right {
            return false;
        }
        let rank = |member: u32| self.members[member as usize].rank;
        let (left_rank, right_rank) = (rank(left), rank(right));
        let (child, parent) = if left_rank < right_rank {
            (left, right)
        } else {
            (right, left)
        };
        self.change(child).parent = parent;
        if left_rank == right_rank {
            self.change(parent).rank += 1;
        }
        true
    }

    /// The representative of the member's class.
    #[inline]
    pub fn root(&mut self, mut member: u32) -> u32 {
        loop {
            let parent = self.members[member as usize].parent;
            if parent == member {
                return member;
            }
            let above = self.members[parent as usize].parent;
            self.change(member).parent = above;
            member = above;
        }
    }

    #[inline(always)]
    fn change(&mut self, member: u32) -> &mut Member<T> {
        let link = &mut self.members[member as usize];
        if UNDOES && self.recording {
            self.trail.push((member, link.parent, link.rank));
        }
        link
    }
}

impl<T> UnionFind<T, true> {
    /// Starts or ends recording, and returns true if changes were recorded before.
    /// Ending a recording discards the record.
    pub(crate) fn record(&mut self, recording: bool) -> bool {
        if !recording {
            self.trail.clear();
        }
        std::mem::replace(&mut self.recording, recording)
    }

    /// The current place in the record, for [`roll_back`](UnionFind::roll_back).
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes the joins recorded since the mark.
    pub(crate) fn roll_back(&mut self, mark: usize) {
        for (member, parent, rank) in self.trail.drain(mark..).rev() {
            let changed = &mut self.members[member as usize];
            (changed.parent, changed.rank) = (parent, rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UnionFind;

    #[test]
    fn joins_are_undone_back_to_the_mark() {
        let mut classes = UnionFind::<(), true>::default();
        for _ in 0..100 {
            classes.add(());
        }
        assert!(classes.join(0, 1));
        classes.record(true);
        assert!(classes.join(2, 3));
        let mark = classes.mark();
        for member in 1..100 {
            classes.join(0, member);
        }
        assert!(!classes.join(0, 99));
        classes.roll_back(mark);
        assert!(!classes.join(0, 1));
        assert!(!classes.join(2, 3));
        assert!((4..100).all(|member| classes.join(2, member)));
        assert!(classes.join(0, 2));
    }
}
