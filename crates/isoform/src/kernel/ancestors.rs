//! Trees that answer questions about ancestors in logarithmic time: the ancestor at a depth,
//! and the nearest common ancestor.
//!
//! Every node stores its parent and an ancestor far above, by the rule of Myers, "An
//! applicative random-access stack" (1983): two jumps of the same length become one jump of
//! twice the length. No crate serves: nodes are attached one by one, while the tree is
//! asked about the nodes attached so far.

/// The parent of a node that is not attached.
const NONE: u32 = u32::MAX;

/// A tree of numbered nodes, with a value for each edge to a parent. The value of a path is
/// the greatest value of its edges.
pub struct AncestorTree<T = ()> {
    nodes: Vec<Node<T>>,
}

#[derive(Clone, Copy)]
struct Node<T> {
    parent: u32,
    /// An ancestor far above.
    jump: u32,
    depth: u32,
    /// The value of the edge to the parent, and the greatest value on the path to `jump`.
    edge: T,
    jump_edge: T,
}

impl<T: Copy + Ord> AncestorTree<T> {
    /// A tree of `count` nodes of which only the root is attached. `edge` is the value above
    /// the root.
    pub fn new(count: usize, root: u32, edge: T) -> Self {
        let node = |parent| Node {
            parent,
            jump: parent,
            depth: 0,
            edge,
            jump_edge: edge,
        };
        let mut nodes = vec![node(NONE); count];
        nodes[root as usize] = node(root);
        AncestorTree { nodes }
    }

    /// The number of nodes.
    pub fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Adds a node below a parent. O(1).
    pub fn add(&mut self, parent: u32, edge: T) {
        let node = self.below(parent, edge);
        self.nodes.push(node);
    }

    /// Attaches a node, which has no nodes below yet, to a parent. O(1).
    pub fn attach(&mut self, node: u32, parent: u32, edge: T) {
        self.nodes[node as usize] = self.below(parent, edge);
    }

    fn below(&self, parent: u32, edge: T) -> Node<T> {
        let above = self.node(parent);
        let far = self.node(above.jump);
        let farther = self.node(far.jump);
        let is_even = above.depth - far.depth == far.depth - farther.depth;
        let (jump, jump_edge) = if is_even {
            (far.jump, edge.max(above.jump_edge).max(far.jump_edge))
        } else {
            (parent, edge)
        };
        Node {
            parent,
            jump,
            depth: above.depth + 1,
            edge,
            jump_edge,
        }
    }

    fn node(&self, node: u32) -> Node<T> {
        self.nodes[node as usize]
    }

    /// True if the node is the root, or attached to a parent.
    pub fn is_attached(&self, node: u32) -> bool {
        self.node(node).parent != NONE
    }

    /// The parent of an attached node; the root is its own parent.
    pub fn parent(&self, node: u32) -> u32 {
        self.node(node).parent
    }

    /// The value of the edge above an attached node.
    pub fn edge(&self, node: u32) -> T {
        self.node(node).edge
    }

    /// The number of nodes above an attached node.
    pub fn depth(&self, node: u32) -> u32 {
        self.node(node).depth
    }

    /// The ancestor at a depth; the node itself if it is not deeper. O(log depth).
    pub fn ancestor(&self, node: u32, depth: u32) -> u32 {
        self.climb(node, depth, &mut |_| {})
    }

    /// The nearest common ancestor, possibly one of the two nodes. O(log depth).
    pub fn common(&self, left: u32, right: u32) -> u32 {
        self.common_passing(left, right, |_| {})
    }

    /// As [`common`](Self::common); calls `passed` with values whose greatest is the
    /// greatest value on the two paths.
    pub fn common_passing(&self, left: u32, right: u32, mut passed: impl FnMut(T)) -> u32 {
        let depth = self.depth(left).min(self.depth(right));
        let mut left = self.climb(left, depth, &mut passed);
        let mut right = self.climb(right, depth, &mut passed);
        while left != right {
            let (a, b) = (self.node(left), self.node(right));
            if a.jump == b.jump {
                passed(a.edge.max(b.edge));
                (left, right) = (a.parent, b.parent);
            } else {
                passed(a.jump_edge.max(b.jump_edge));
                (left, right) = (a.jump, b.jump);
            }
        }
        left
    }

    fn climb(&self, mut node: u32, depth: u32, passed: &mut impl FnMut(T)) -> u32 {
        while self.depth(node) > depth {
            let at = self.node(node);
            if self.depth(at.jump) >= depth {
                passed(at.jump_edge);
                node = at.jump;
            } else {
                passed(at.edge);
                node = at.parent;
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::AncestorTree;

    /// The nearest common ancestor and the greatest value on the way, step by step.
    fn slow(tree: &AncestorTree<u8>, mut left: u32, mut right: u32) -> (u32, u8) {
        let mut greatest = 0;
        while left != right {
            let lower = if tree.depth(left) >= tree.depth(right) {
                &mut left
            } else {
                &mut right
            };
            greatest = greatest.max(tree.edge(*lower));
            *lower = tree.parent(*lower);
        }
        (left, greatest)
    }

    #[test]
    fn common_ancestors_are_those_of_small_steps() {
        let mut tree = AncestorTree::new(1, 0, 0u8);
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) % below
        };
        for size in 1..400u64 {
            // Chains and bushes.
            let parent = match next(3) {
                0 => next(size),
                _ => size - 1,
            };
            tree.add(parent as u32, next(200) as u8);
        }
        for _ in 0..5_000 {
            let (left, right) = (next(400) as u32, next(400) as u32);
            let mut greatest = 0;
            let common = tree.common_passing(left, right, |edge| greatest = greatest.max(edge));
            assert_eq!((common, greatest), slow(&tree, left, right));
            let depth = next(u64::from(tree.depth(left)) + 1) as u32;
            let mut above = left;
            while tree.depth(above) > depth {
                above = tree.parent(above);
            }
            assert_eq!(tree.ancestor(left, depth), above);
        }
    }

    #[test]
    fn a_chain_is_climbed_in_few_jumps() {
        let mut tree = AncestorTree::new(1, 0, ());
        for parent in 0..1 << 20 {
            tree.add(parent, ());
        }
        let mut jumps = 0;
        assert_eq!(tree.climb(1 << 20, 5, &mut |()| jumps += 1), 5);
        assert!(jumps <= 3 * 20, "{jumps}");
    }
}
