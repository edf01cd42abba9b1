//! The cheapest edit from one small tree to another.
//!
//! All other matching is from the roots down, and cannot see the removal of a node from
//! between its parent and its children. For small parts the optimum is affordable: K.
//! Zhang and D. Shasha, "Simple fast algorithms for the editing distance between trees
//! and related problems", SIAM Journal on Computing 18 (1989).

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
    /// The way from the parent, as a range of the tree's ways.
    way: Range<u32>,
    /// The element's own contents, without other elements.
    label: u64,
    /// The leftmost leaf below; the element itself for a leaf.
    leftmost: u32,
}

impl Element {
    /// True if both have the same contents, apart from other elements.
    pub(super) fn is_same(&self, other: &Element) -> bool {
        self.label == other.label
    }

    /// The first element of the tree that ends with this element.
    pub(super) fn leftmost(&self) -> u32 {
        self.leftmost
    }
}

/// A small tree, children before parents and the root last.
pub(super) struct SmallTree {
    pub(super) elements: Vec<Element>,
    /// The ways of all elements: nodes, with the positions of their parts.
    ways: Vec<(u32, u32)>,
    /// The roots of the subproblems: the root, and all elements with a sibling to the
    /// left.
    roots: Vec<u32>,
    /// The leftmost leaves of all elements, side by side.
    leftmost: Vec<u32>,
}

impl SmallTree {
    /// The tree below a node, with every occurrence of a shared node as a separate
    /// element. None for a large node, or if the comparison of a node inside depends on
    /// more than its parts.
    pub(super) fn of(tables: &Tables, tokens: &Tokens, root: u32, binds: bool) -> Option<Self> {
        struct Open {
            node: u32,
            next: u32,
            label: u64,
            way: Range<u32>,
            /// The number of elements before the first inner element.
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
                // The tree below a child is a stretch of elements that ends with the
                // child.
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

    /// The number of nodes in the tree below an element, at least one.
    pub(super) fn nodes(&self, element: u32) -> u64 {
        let all = self.elements[element as usize].leftmost as usize..=element as usize;
        let nodes = self.elements[all].iter().filter(|one| one.node != NONE);
        (nodes.count() as u64).max(1)
    }

    pub(super) fn is_leaf(&self, element: usize) -> bool {
        self.leftmost[element] as usize == element
    }

    /// Calls `set` with the savings between the trees on the left edge below an element
    /// and a leaf: one of the elements becomes the leaf, or equals the leaf.
    #[inline]
    fn saved_by_leaf(&self, root: usize, leaf: u64, mut set: impl FnMut(usize, u16)) {
        let first = self.leftmost[root];
        let mut saved = 1;
        for element in first as usize..=root {
            if self.elements[element].label == leaf {
                saved = 2;
            }
            if self.leftmost[element] == first {
                set(element, saved);
            }
        }
    }

    /// The number of steps of [`Savings::mapping`], for a budget.
    pub(super) fn weight(&self) -> u64 {
        let sizes = self.roots.iter().map(|&root| {
            let leftmost = self.elements[root as usize].leftmost;
            u64::from(root) + 1 - u64::from(leftmost)
        });
        sizes.sum()
    }
}

fn key_roots(leftmost: &[u32]) -> Vec<u32> {
    // Of all elements with one leftmost leaf, the last element is nearest to the root.
    let mut last = vec![NONE; leftmost.len()];
    for (number, &leaf) in leftmost.iter().enumerate() {
        last[leaf as usize] = number as u32;
    }
    last.retain(|&root| root != NONE);
    last.sort_unstable();
    last
}

/// The tables of a cheapest edit, reused from tree to tree. Every entry is written
/// before it is read.
///
/// An entry is the saving compared to deleting all left elements and inserting all
/// right elements: two for an unchanged element, one for a changed element. Deletions
/// and insertions then add no cost, which leaves one step on the way from entry to
/// entry.
#[derive(Default)]
pub(super) struct Savings {
    /// The savings of the trees below two elements.
    trees: Vec<u16>,
    /// The savings of the forests of a subproblem.
    forest: Vec<u16>,
}

impl Savings {
    /// Pairs of corresponding elements in a cheapest edit, at a cost of one per
    /// insertion, deletion or change of an element. O(n m) subproblems of the sizes of
    /// both trees.
    pub(super) fn mapping(&mut self, left: &SmallTree, right: &SmallTree) -> Vec<(u32, u32)> {
        let (rows, columns) = (left.len(), right.len());
        self.trees.resize(rows * columns, 0);
        // An empty forest has no savings.
        self.forest.clear();
        self.forest.resize((rows + 1) * (columns + 1), 0);
        for &l in &left.roots {
            for &r in &right.roots {
                let (l, r) = (l as usize, r as usize);
                if right.is_leaf(r) {
                    left.saved_by_leaf(l, right.elements[r].label, |other, saved| {
                        self.trees[other * columns + r] = saved;
                    });
                } else if left.is_leaf(l) {
                    right.saved_by_leaf(r, left.elements[l].label, |other, saved| {
                        self.trees[l * columns + other] = saved;
                    });
                } else {
                    self.fill(left, right, l, r);
                }
            }
        }
        // Pairs of trees whose mapping is yet to be found.
        let mut pairs = Vec::new();
        let mut open = vec![(rows - 1, columns - 1)];
        // The subproblem of the roots was filled last.
        let mut is_filled = !left.is_leaf(rows - 1) && !right.is_leaf(columns - 1);
        while let Some((l, r)) = open.pop() {
            if !std::mem::take(&mut is_filled) {
                self.fill(left, right, l, r);
            }
            let first = (left.leftmost[l] as usize, right.leftmost[r] as usize);
            let saving =
                |i: usize, j: usize| self.forest[(i - first.0) * (columns + 1) + (j - first.1)];
            let (mut i, mut j) = (l + 1, r + 1);
            while i > first.0 || j > first.1 {
                let here = saving(i, j);
                if i > first.0 && here == saving(i - 1, j) {
                    i -= 1;
                    continue;
                }
                if j > first.1 && here == saving(i, j - 1) {
                    j -= 1;
                    continue;
                }
                let (row, column) = (i - 1, j - 1);
                let (below, beside) =
                    (left.leftmost[row] as usize, right.leftmost[column] as usize);
                if (below, beside) == first {
                    pairs.push((row as u32, column as u32));
                    (i, j) = (i - 1, j - 1);
                } else {
                    open.push((row, column));
                    (i, j) = (below, beside);
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Finds the savings between all forests of the trees below two elements.
    fn fill(&mut self, left: &SmallTree, right: &SmallTree, l: usize, r: usize) {
        let line = right.len() + 1;
        let first = (left.leftmost[l] as usize, right.leftmost[r] as usize);
        let others = &right.leftmost[first.1..=r];
        let labels = &right.elements[first.1..=r];
        let width = others.len() + 1;
        for (row, element) in left.elements[first.0..=l].iter().enumerate() {
            let start = (row + 1) * line;
            let (done, rest) = self.forest.split_at_mut(start);
            let above = &done[start - line..][1..width];
            let here = &mut rest[1..width];
            // The forests without the tree that ends with this element.
            let before = &done[(element.leftmost as usize - first.0) * line..][..width];
            let trees = &mut self.trees[(first.0 + row) * (line - 1) + first.1..][..width - 1];
            let mut last = 0;
            if element.leftmost as usize != first.0 {
                let steps = here.iter_mut().zip(above).zip(others.iter().zip(trees));
                for ((here, &above), (&leaf, &mut tree)) in steps {
                    // Values independent of the last entry need not wait for that
                    // entry.
                    let best = above.max(before[leaf as usize - first.1] + tree);
                    last = best.max(last);
                    *here = last;
                }
                continue;
            }
            // The savings without both elements.
            let mut corner = 0;
            let steps = here.iter_mut().zip(above).zip(labels.iter().zip(trees));
            for ((here, &above), (other, tree)) in steps {
                let beside = other.leftmost as usize - first.1;
                if beside == 0 {
                    let saved = 1 + u16::from(element.is_same(other));
                    last = above.max(last).max(corner + saved);
                    *tree = last;
                } else {
                    last = above.max(last).max(before[beside] + *tree);
                }
                *here = last;
                corner = above;
            }
        }
    }
}
