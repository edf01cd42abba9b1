//! The cheapest way to edit one small tree into another one.
//!
//! Elsewhere nodes are matched from the roots down, which cannot see that a node was taken
//! out from between its parent and its children. For small parts the optimum is affordable:
//! K. Zhang and D. Shasha, "Simple fast algorithms for the editing distance between trees and
//! related problems", SIAM Journal on Computing 18 (1989).

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
    /// The way from the parent: nodes, with the positions of their parts.
    pub(super) way: Vec<(u32, u32)>,
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
}

impl SmallTree {
    /// The tree below a node, every occurrence of a shared one for itself; None if it is
    /// large, or has something in it whose comparison depends on more than its parts.
    pub(super) fn of(tables: &Tables, tokens: &Tokens, root: u32, free_vars: bool) -> Option<Self> {
        struct Open {
            node: u32,
            next: u32,
            label: u64,
            way: Vec<(u32, u32)>,
            first: u32,
            kids: Vec<u32>,
        }
        let refused = HAS_DEFS | HAS_DAGS | if free_vars { HAS_VARS } else { 0 };
        if tables.node(root).size > SMALL || tables.node(root).has(refused) {
            return None;
        }
        let mut elements: Vec<Element> = Vec::new();
        let open = |node: u32, way| Open {
            node,
            next: 0,
            label: step(tables.node(node).info().seed, u64::from(node == NONE)),
            way,
            first: NONE,
            kids: Vec::new(),
        };
        let mut stack = vec![open(root, Vec::new())];
        // Elements whose parents are not known yet, by the depth of the stack.
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
                    if around.first == NONE {
                        around.first = done.first;
                    }
                    around.kids.extend(done.kids);
                    continue;
                }
                let number = elements.len() as u32;
                for &kid in &done.kids {
                    elements[kid as usize].parent = number;
                }
                let leftmost = if done.first == NONE {
                    number
                } else {
                    done.first
                };
                elements.push(Element {
                    node: done.node,
                    parent: NONE,
                    way: done.way,
                    label: done.label,
                    leftmost,
                });
                if let Some(around) = stack.last_mut() {
                    around.kids.push(number);
                    if around.first == NONE {
                        around.first = leftmost;
                    }
                }
                continue;
            }
            let position = top.next;
            top.next += 1;
            let cell = tables.cell(top.node, position);
            // The way leads from the last element, through containers.
            let mut way = match node.counts() {
                true => Vec::new(),
                false => top.way.clone(),
            };
            way.push((top.node, position));
            match cell.node_number() {
                Some(part) => stack.push(open(part, way)),
                None if node.counts() => top.label = step(top.label, of_plain(cell.word)),
                None => {
                    let number = elements.len() as u32;
                    top.kids.push(number);
                    if top.first == NONE {
                        top.first = number;
                    }
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
        Some(SmallTree { elements })
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    /// The roots of the subproblems: each node that has a sibling to its left, and the root.
    fn key_roots(&self) -> Vec<usize> {
        let mut last = vec![usize::MAX; self.len()];
        for (number, element) in self.elements.iter().enumerate() {
            last[element.leftmost as usize] = number;
        }
        let mut roots: Vec<usize> = last
            .into_iter()
            .filter(|&root| root != usize::MAX)
            .collect();
        roots.sort_unstable();
        roots
    }

    /// The number of steps that [`mapping`] takes, for a budget.
    pub(super) fn weight(&self) -> u64 {
        let sizes = self
            .key_roots()
            .into_iter()
            .map(|root| root as u64 + 1 - u64::from(self.elements[root].leftmost));
        sizes.sum()
    }
}

/// Pairs of elements that stand for each other in a cheapest edit, where inserting, deleting
/// and changing an element cost one each. O(n m) subproblems of the sizes of both trees.
pub(super) fn mapping(left: &SmallTree, right: &SmallTree) -> Vec<(u32, u32)> {
    let (rows, columns) = (left.len(), right.len());
    let mut trees = vec![0u16; rows * columns];
    let mut forest = vec![0u16; (rows + 1) * (columns + 1)];
    let (left_roots, right_roots) = (left.key_roots(), right.key_roots());
    for &l in &left_roots {
        for &r in &right_roots {
            distances(left, right, (l, r), &mut trees, &mut forest);
        }
    }
    // Each pair of trees whose mapping is to be found.
    let mut pairs = Vec::new();
    let mut open = vec![(rows - 1, columns - 1)];
    while let Some((l, r)) = open.pop() {
        distances(left, right, (l, r), &mut trees, &mut forest);
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
fn distances(
    left: &SmallTree,
    right: &SmallTree,
    (l, r): (usize, usize),
    trees: &mut [u16],
    forest: &mut [u16],
) {
    let columns = right.len();
    let first = (
        left.elements[l].leftmost as usize,
        right.elements[r].leftmost as usize,
    );
    let at = |i: usize, j: usize| (i - first.0) * (columns + 1) + (j - first.1);
    for i in first.0..=l + 1 {
        forest[at(i, first.1)] = (i - first.0) as u16;
    }
    for j in first.1..=r + 1 {
        forest[at(first.0, j)] = (j - first.1) as u16;
    }
    for i in first.0 + 1..=l + 1 {
        let one = &left.elements[i - 1];
        for j in first.1 + 1..=r + 1 {
            let other = &right.elements[j - 1];
            let skip = forest[at(i - 1, j)].min(forest[at(i, j - 1)]) + 1;
            let is_tree = one.leftmost as usize == first.0 && other.leftmost as usize == first.1;
            let found = if is_tree {
                let changed = u16::from(one.label != other.label);
                let found = skip.min(forest[at(i - 1, j - 1)] + changed);
                trees[(i - 1) * columns + j - 1] = found;
                found
            } else {
                let before = at(one.leftmost as usize, other.leftmost as usize);
                skip.min(forest[before] + trees[(i - 1) * columns + j - 1])
            };
            forest[at(i, j)] = found;
        }
    }
}
