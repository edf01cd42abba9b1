//! The cheapest way to edit one small tree into another one.
//!
//! Elsewhere nodes are matched from the roots down, which cannot see that a node was taken
//! out from between its parent and its children. For small parts the optimum is affordable:
//! K. Zhang and D. Shasha, "Simple fast algorithms for the editing distance between trees and
//! related problems", SIAM Journal on Computing 18 (1989).

use std::ops::Range;

use super::tables::{HAS_DAGS, HAS_DEFS, HAS_VARS, IS_HOOKED, IS_IGNORED, NONE, Tables};
use super::tokens::{Tokens, of_plain, step};

/// A part with more nodes than this is matched from the roots down.
pub(super) const SMALL: u64 = 64;

/// A node of a small tree: an object of a declared type, or an element of a list.
pub(super) struct Element {
    /// The number of the node; [`NONE`] for a value without parts.
    pub(super) node: u32,
    /// The parent's position; [`NONE`] for the root.
    pub(super) parent: u32,
    /// The way from the parent, among those of the tree.
    way: Range<u32>,
    /// Its own contents, without other elements.
    label: u64,
    /// The leftmost leaf below, itself if there is none.
    leftmost: u32,
}

impl Element {
    /// True if both have the same contents, apart from other elements.
    pub(super) fn is_same(&self, other: &Element) -> bool {
        self.label == other.label
    }
}

/// A small tree, children before parents and the root last.
pub(super) struct SmallTree {
    pub(super) elements: Vec<Element>,
    /// The ways of all elements: nodes, with the positions of their parts.
    ways: Vec<(u32, u32)>,
    /// The roots of the subproblems: each element that has a sibling to its left, and the
    /// root.
    roots: Vec<u32>,
    /// The leftmost leaves of all elements, side by side.
    leftmost: Vec<u32>,
}

impl SmallTree {
    /// The tree below a node, every occurrence of a shared one for itself; None if it is
    /// large, or has something in it whose comparison depends on more than its parts.
    pub(super) fn of(tables: &Tables, tokens: &Tokens, root: u32, binds: bool) -> Option<Self> {
        struct Open {
            node: u32,
            next: u32,
            label: u64,
            way: Range<u32>,
            /// The number of elements before the first one inside.
            first: u32,
        }
        let refused = HAS_DEFS | HAS_DAGS | if binds { HAS_VARS } else { 0 };
        if tables.node(root).size > SMALL || tables.node(root).has(refused) {
            return None;
        }
        let size = tables.node(root).size as usize;
        let mut elements: Vec<Element> = Vec::with_capacity(size);
        let mut ways: Vec<(u32, u32)> = Vec::with_capacity(size);
        let open = |node: u32, way, first| Open {
            node,
            next: 0,
            label: step(tables.node(node).info().seed, u64::from(node == NONE)),
            way,
            first,
        };
        let mut stack = vec![open(root, 0..0, 0)];
        while let Some(top) = stack.last_mut() {
            if elements.len() > SMALL as usize {
                return None;
            }
            let node = tables.node(top.node);
            if node.has(IS_HOOKED | IS_IGNORED) || node.is_mapping() {
                return None;
            }
            let is_leaf = node.is_var() || node.is_singleton();
            if is_leaf {
                top.label = tokens[top.node as usize];
            }
            if is_leaf || top.next == node.count {
                let done = stack.pop()?;
                let node = tables.node(done.node);
                if !node.counts() && !stack.is_empty() {
                    // A container only passes on its elements.
                    let around = stack.last_mut()?;
                    around.label = step(around.label, node.info().seed);
                    continue;
                }
                let number = elements.len() as u32;
                // The tree below each child is a stretch that ends with it.
                let mut end = number;
                while end > done.first {
                    let child = &mut elements[end as usize - 1];
                    child.parent = number;
                    end = child.leftmost;
                }
                elements.push(Element {
                    node: done.node,
                    parent: NONE,
                    way: done.way,
                    label: done.label,
                    leftmost: done.first,
                });
                continue;
            }
            let position = top.next;
            top.next += 1;
            let cell = tables.cell(top.node, position);
            // The way leads from the last element, through containers.
            let start = ways.len() as u32;
            if !node.counts() {
                ways.extend_from_within(top.way.start as usize..top.way.end as usize);
            }
            ways.push((top.node, position));
            let way = start..ways.len() as u32;
            let number = elements.len() as u32;
            match cell.node_number() {
                Some(part) => stack.push(open(part, way, number)),
                None if node.counts() => top.label = step(top.label, of_plain(cell.word)),
                None => {
                    elements.push(Element {
                        node: NONE,
                        parent: NONE,
                        way,
                        label: of_plain(cell.word),
                        leftmost: number,
                    });
                }
            }
        }
        let leftmost: Vec<u32> = elements.iter().map(|element| element.leftmost).collect();
        Some(SmallTree {
            roots: key_roots(&leftmost),
            elements,
            ways,
            leftmost,
        })
    }

    /// The way to an element from its parent.
    pub(super) fn way(&self, element: &Element) -> &[(u32, u32)] {
        &self.ways[element.way.start as usize..element.way.end as usize]
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    /// The number of steps that [`Distances::mapping`] takes, for a budget.
    pub(super) fn weight(&self) -> u64 {
        let sizes = self.roots.iter().map(|&root| {
            let leftmost = self.elements[root as usize].leftmost;
            u64::from(root) + 1 - u64::from(leftmost)
        });
        sizes.sum()
    }
}

fn key_roots(leftmost: &[u32]) -> Vec<u32> {
    // Of all elements with one leftmost leaf, the last one is nearest to the root.
    let mut last = vec![NONE; leftmost.len()];
    for (number, &leaf) in leftmost.iter().enumerate() {
        last[leaf as usize] = number as u32;
    }
    last.retain(|&root| root != NONE);
    last.sort_unstable();
    last
}

/// The tables of a cheapest edit, reused from tree to tree. Each entry is written before it
/// is read.
#[derive(Default)]
pub(super) struct Distances {
    /// Those of the trees below two elements.
    trees: Vec<u16>,
    /// Those of the forests of a subproblem.
    forest: Vec<u16>,
}

impl Distances {
    /// Pairs of elements that stand for each other in a cheapest edit, where inserting,
    /// deleting and changing an element cost one each. O(n m) subproblems of the sizes of
    /// both trees.
    pub(super) fn mapping(&mut self, left: &SmallTree, right: &SmallTree) -> Vec<(u32, u32)> {
        let (rows, columns) = (left.len(), right.len());
        self.trees.resize(rows * columns, 0);
        self.forest.resize((rows + 1) * (columns + 1), 0);
        for &l in &left.roots {
            for &r in &right.roots {
                self.fill(left, right, (l as usize, r as usize));
            }
        }
        // Each pair of trees whose mapping is to be found. That of the roots was filled last.
        let mut pairs = Vec::new();
        let mut filled = (rows - 1, columns - 1);
        let mut open = vec![filled];
        while let Some((l, r)) = open.pop() {
            if filled != (l, r) {
                self.fill(left, right, (l, r));
                filled = (l, r);
            }
            let forest = &self.forest;
            let first = (
                left.elements[l].leftmost as usize,
                right.elements[r].leftmost as usize,
            );
            let at = |i: usize, j: usize| (i - first.0) * (columns + 1) + (j - first.1);
            let (mut i, mut j) = (l + 1, r + 1);
            while i > first.0 || j > first.1 {
                let here = forest[at(i, j)];
                if i > first.0 && here == forest[at(i - 1, j)] + 1 {
                    i -= 1;
                    continue;
                }
                if j > first.1 && here == forest[at(i, j - 1)] + 1 {
                    j -= 1;
                    continue;
                }
                let (one, other) = (i - 1, j - 1);
                let (below, beside) = (
                    left.elements[one].leftmost as usize,
                    right.elements[other].leftmost as usize,
                );
                if below == first.0 && beside == first.1 {
                    pairs.push((one as u32, other as u32));
                    (i, j) = (i - 1, j - 1);
                } else {
                    open.push((one, other));
                    (i, j) = (below, beside);
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// The distances between all forests of the trees below two nodes.
    fn fill(&mut self, left: &SmallTree, right: &SmallTree, (l, r): (usize, usize)) {
        let columns = right.len();
        let first = (left.leftmost[l] as usize, right.leftmost[r] as usize);
        let others = &right.leftmost[first.1..=r];
        let labels = &right.elements[first.1..=r];
        let width = others.len() + 1;
        for (j, entry) in self.forest[..width].iter_mut().enumerate() {
            *entry = j as u16;
        }
        for (row, one) in left.elements[first.0..=l].iter().enumerate() {
            let start = (row + 1) * (columns + 1);
            let (done, rest) = self.forest.split_at_mut(start);
            let above = &done[start - (columns + 1)..][..width];
            let here = &mut rest[..width];
            // The forests without the tree that ends with this element.
            let is_tree = one.leftmost as usize == first.0;
            let before = (one.leftmost as usize - first.0) * (columns + 1);
            let before = &done[before..][..width];
            let trees = &mut self.trees[(first.0 + row) * columns + first.1..][..width - 1];
            let mut last = row as u32 + 1;
            here[0] = last as u16;
            let steps = above.windows(2).zip(&mut here[1..]);
            for (j, ((above, here), (&leaf, tree))) in
                steps.zip(others.iter().zip(trees)).enumerate()
            {
                let beside = leaf as usize - first.1;
                let deleted = u32::from(above[1]) + 1;
                // What does not depend on the last entry need not wait for it.
                if is_tree && beside == 0 {
                    let changed = u32::from(one.label != labels[j].label);
                    let best = deleted.min(u32::from(above[0]) + changed);
                    last = best.min(last + 1);
                    *tree = last as u16;
                } else {
                    let best = deleted.min(u32::from(before[beside]) + u32::from(*tree));
                    last = best.min(last + 1);
                }
                *here = last as u16;
            }
        }
    }
}
