//! Maps from variables to positions that have most of their nodes in common.
//!
//! A change copies the nodes on the path to an entry if other maps have them, too, and
//! changes all other nodes in place. The maps of n nested subterms therefore take
//! memory for their differences, O(log n) for each entry made or changed.
//!
//! The nodes form a trie over the digits of identity numbers, without nodes of a single
//! child: no path is longer than a number has digits.

use super::variables::Positions;

/// The map below a node, including the node; [`EMPTY`] for the empty map.
pub(super) type TrieRoot = u32;

/// The map without entries.
pub(super) const EMPTY: TrieRoot = 0;

/// The bits in a digit.
const DIGIT: u32 = 4;

/// The children of a branch.
const WIDTH: usize = 1 << DIGIT;

/// A node with at least two children.
#[derive(Clone, Copy)]
struct Branch {
    /// The maps and branches that have this branch.
    owners: u32,
    /// The place of the digit that selects a child.
    shift: u8,
    /// All [marks](Positions::marks) below, and maybe some earlier marks.
    marks: u8,
    /// A number with the digits before the selecting digit.
    prefix: u64,
    children: [TrieRoot; WIDTH],
}

/// An entry.
struct Leaf {
    owners: u32,
    var: u64,
    positions: Positions,
}

/// A node, by kind and number.
enum Node {
    Empty,
    Branch(usize),
    Leaf(usize),
}

fn node(root: TrieRoot) -> Node {
    match root {
        EMPTY => Node::Empty,
        _ if root.is_multiple_of(2) => Node::Branch(root as usize / 2 - 1),
        _ => Node::Leaf(root as usize / 2),
    }
}

fn branch_root(number: usize) -> TrieRoot {
    // The table of four billion nodes does not fit into any memory.
    2 * number as TrieRoot + 2
}

fn leaf_root(number: usize) -> TrieRoot {
    2 * number as TrieRoot + 1
}

fn digit(var: u64, shift: u8) -> usize {
    (var >> shift) as usize % WIDTH
}

/// The nodes of all maps of a walk.
#[derive(Default)]
pub(super) struct Tries {
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    unused_branches: Vec<usize>,
    unused_leaves: Vec<usize>,
    /// The branches copied because several maps have them.
    pub(super) copies: u64,
}

impl Tries {
    /// The entry of a variable.
    pub(super) fn get(&self, mut root: TrieRoot, var: u64) -> Option<Positions> {
        loop {
            match node(root) {
                Node::Empty => return None,
                Node::Leaf(number) => {
                    let leaf = &self.leaves[number];
                    return (leaf.var == var).then_some(leaf.positions);
                }
                Node::Branch(number) => {
                    let branch = &self.branches[number];
                    root = branch.children[digit(var, branch.shift)];
                }
            }
        }
    }

    /// Adds all entries to a list, by increasing identity number.
    pub(super) fn list(&self, root: TrieRoot, into: &mut Vec<(u64, Positions)>) {
        self.list_if(root, &|_| true, into);
    }

    /// Adds the entries with one of these [marks](Positions::marks) to a list.
    pub(super) fn list_marked(&self, root: TrieRoot, marks: u8, into: &mut Vec<(u64, Positions)>) {
        self.list_if(root, &|found| found & marks != 0, into);
    }

    fn list_if<F>(&self, root: TrieRoot, wanted: &F, into: &mut Vec<(u64, Positions)>)
    where
        F: Fn(u8) -> bool,
    {
        match node(root) {
            _ if !wanted(self.marks(root)) => {}
            Node::Empty => {}
            Node::Leaf(number) => {
                let leaf = &self.leaves[number];
                into.push((leaf.var, leaf.positions));
            }
            Node::Branch(number) => {
                for child in self.branches[number].children {
                    self.list_if(child, wanted, into);
                }
            }
        }
    }

    /// Adds an owner to the map.
    pub(super) fn share(&mut self, root: TrieRoot) -> TrieRoot {
        match node(root) {
            Node::Empty => {}
            Node::Leaf(number) => self.leaves[number].owners += 1,
            Node::Branch(number) => self.branches[number].owners += 1,
        }
        root
    }

    /// Ends the use of a map by one owner.
    pub(super) fn release(&mut self, root: TrieRoot) {
        match node(root) {
            Node::Empty => {}
            Node::Leaf(number) => {
                let leaf = &mut self.leaves[number];
                leaf.owners -= 1;
                if leaf.owners == 0 {
                    self.unused_leaves.push(number);
                }
            }
            Node::Branch(number) => {
                let branch = &mut self.branches[number];
                branch.owners -= 1;
                if branch.owners == 0 {
                    let children = branch.children;
                    self.unused_branches.push(number);
                    children.into_iter().for_each(|child| self.release(child));
                }
            }
        }
    }

    /// Adds or replaces an entry, for one owner of the map, who gets the result.
    pub(super) fn set(&mut self, root: TrieRoot, var: u64, positions: Positions) -> TrieRoot {
        match node(root) {
            Node::Empty => self.leaf(var, positions),
            Node::Leaf(number) => {
                let leaf = &mut self.leaves[number];
                if leaf.var != var {
                    let other = leaf.var;
                    return self.fork(root, other, var, positions);
                }
                if leaf.owners == 1 {
                    leaf.positions = positions;
                    return root;
                }
                leaf.owners -= 1;
                self.leaf(var, positions)
            }
            Node::Branch(number) => {
                let Branch { shift, prefix, .. } = self.branches[number];
                if ((prefix ^ var) >> shift) >> DIGIT != 0 {
                    return self.fork(root, prefix, var, positions);
                }
                let number = self.owned(number);
                let place = digit(var, shift);
                let child = self.branches[number].children[place];
                let child = self.set(child, var, positions);
                let branch = &mut self.branches[number];
                branch.children[place] = child;
                branch.marks |= positions.marks();
                branch_root(number)
            }
        }
    }

    /// Replaces every entry with one of these marks, for one owner of the map, who gets
    /// the result. Entries without positions are removed.
    pub(super) fn change<F>(&mut self, root: TrieRoot, marks: u8, change: &mut F) -> TrieRoot
    where
        F: FnMut(u64, Positions) -> Positions,
    {
        if self.marks(root) & marks == 0 {
            return root;
        }
        match node(root) {
            Node::Empty => root,
            Node::Leaf(number) => {
                let leaf = &mut self.leaves[number];
                let new = change(leaf.var, leaf.positions);
                if new.is_empty() {
                    self.release(root);
                    EMPTY
                } else if leaf.owners == 1 {
                    leaf.positions = new;
                    root
                } else {
                    leaf.owners -= 1;
                    let var = leaf.var;
                    self.leaf(var, new)
                }
            }
            Node::Branch(number) => {
                let number = self.owned(number);
                let mut kept = EMPTY;
                let mut count = 0;
                let mut left = 0;
                for place in 0..WIDTH {
                    let child = self.branches[number].children[place];
                    if child == EMPTY {
                        continue;
                    }
                    let child = self.change(child, marks, change);
                    self.branches[number].children[place] = child;
                    if child != EMPTY {
                        (kept, count) = (child, count + 1);
                        left |= self.marks(child);
                    }
                }
                self.branches[number].marks = left;
                if count > 1 {
                    return branch_root(number);
                }
                self.unused_branches.push(number);
                kept
            }
        }
    }

    fn marks(&self, root: TrieRoot) -> u8 {
        match node(root) {
            Node::Empty => 0,
            Node::Leaf(number) => self.leaves[number].positions.marks(),
            Node::Branch(number) => self.branches[number].marks,
        }
    }

    /// A branch over a new entry and a node with these first digits.
    fn fork(&mut self, root: TrieRoot, prefix: u64, var: u64, positions: Positions) -> TrieRoot {
        let highest = (prefix ^ var).ilog2();
        let shift = (highest - highest % DIGIT) as u8;
        let mut children = [EMPTY; WIDTH];
        children[digit(prefix, shift)] = root;
        children[digit(var, shift)] = self.leaf(var, positions);
        self.branch(Branch {
            owners: 1,
            shift,
            marks: self.marks(root) | positions.marks(),
            prefix,
            children,
        })
    }

    /// The number of a branch with the same children and a single owner, for one owner
    /// of this branch.
    fn owned(&mut self, number: usize) -> usize {
        if self.branches[number].owners == 1 {
            return number;
        }
        self.branches[number].owners -= 1;
        self.copies += 1;
        let mut copy = self.branches[number];
        copy.owners = 1;
        for child in copy.children {
            self.share(child);
        }
        let made = self.branch(copy);
        made as usize / 2 - 1
    }

    fn branch(&mut self, branch: Branch) -> TrieRoot {
        branch_root(put(&mut self.branches, &mut self.unused_branches, branch))
    }

    fn leaf(&mut self, var: u64, positions: Positions) -> TrieRoot {
        let leaf = Leaf {
            owners: 1,
            var,
            positions,
        };
        leaf_root(put(&mut self.leaves, &mut self.unused_leaves, leaf))
    }
}

/// Stores a node in an unused place, and returns its number.
fn put<T>(nodes: &mut Vec<T>, unused: &mut Vec<usize>, made: T) -> usize {
    match unused.pop() {
        Some(number) => {
            nodes[number] = made;
            number
        }
        None => {
            nodes.push(made);
            nodes.len() - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::variables::{Group, OWN, Positions};
    use super::{EMPTY, TrieRoot, Tries};
    use crate::kernel::mixing::Mixing;

    fn positions(group: Group, height: u64) -> Positions {
        Positions::here(Mixing::FIXED, group, height as u32, 0)
    }

    #[track_caller]
    fn check(tries: &Tries, root: TrieRoot, expected: &BTreeMap<u64, Positions>) {
        let mut found = Vec::new();
        tries.list(root, &mut found);
        let expected_list: Vec<_> = expected.iter().map(|(&var, &at)| (var, at)).collect();
        assert_eq!(found, expected_list);
        for (&var, &at) in expected {
            assert_eq!(tries.get(root, var), Some(at));
        }
    }

    /// Compares random maps, including copies of earlier maps, with plain maps.
    #[test]
    fn changes_of_one_map_are_not_seen_in_others() {
        let mut state = 5u64;
        let mut below = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        for _ in 0..60 {
            let mut tries = Tries::default();
            let mut maps = vec![(EMPTY, BTreeMap::new())];
            for step in 0..400 {
                let number = below(maps.len() as u64) as usize;
                let group = [Group::Free, Group::Outer, Group::Own][below(3) as usize];
                match below(10) {
                    0 => {
                        let (root, plain) = &maps[number];
                        let copy = (tries.share(*root), plain.clone());
                        maps.push(copy);
                    }
                    1 if maps.len() > 1 => {
                        let (root, _) = maps.swap_remove(number);
                        tries.release(root);
                    }
                    2 => {
                        let (root, plain) = &mut maps[number];
                        let change = |_: u64, mut positions: Positions| {
                            positions.groups[Group::Own as usize] = 0;
                            positions
                        };
                        *root = tries.change(*root, OWN, &mut { change });
                        plain
                            .values_mut()
                            .for_each(|positions| *positions = change(0, *positions));
                        plain.retain(|_, positions| !positions.is_empty());
                    }
                    _ => {
                        // Neighbours, and numbers that differ in their first digits.
                        let var = below(40) << (4 * below(2) * below(15));
                        let var_positions = positions(group, step);
                        let (root, plain) = &mut maps[number];
                        *root = tries.set(*root, var, var_positions);
                        plain.insert(var, var_positions);
                    }
                }
                let (root, plain) = &maps[below(maps.len() as u64) as usize];
                check(&tries, *root, plain);
            }
            for (root, plain) in &maps {
                check(&tries, *root, plain);
            }
            for (root, _) in maps {
                tries.release(root);
            }
            let sizes = (tries.branches.len(), tries.leaves.len());
            let unused = (tries.unused_branches.len(), tries.unused_leaves.len());
            assert_eq!(sizes, unused, "every node is free again");
        }
    }

    #[test]
    fn maps_inside_each_other_copy_paths_only() {
        const COUNT: u64 = 10_000;
        let mut tries = Tries::default();
        let mut root = EMPTY;
        for var in 0..COUNT {
            let shared = tries.share(root);
            root = tries.set(shared, var, positions(Group::Free, var));
        }
        assert!(tries.copies <= 4 * COUNT, "{}", tries.copies);
        assert_eq!(tries.leaves.len() as u64, COUNT);
    }

    #[test]
    fn a_search_for_marks_skips_the_rest() {
        let mut tries = Tries::default();
        let mut root = EMPTY;
        for var in 0..1000 {
            let group = if var == 77 { Group::Own } else { Group::Free };
            root = tries.set(root, var, positions(group, var));
        }
        let kept = tries.share(root);
        let mut met = Vec::new();
        root = tries.change(root, OWN, &mut |var, _| {
            met.push(var);
            Positions::default()
        });
        assert_eq!((met, tries.get(root, 77)), (vec![77], None));
        assert!(tries.get(kept, 77).is_some() && tries.copies <= 3);
    }
}
