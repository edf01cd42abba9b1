//! The post-dominator of every expression: the nearest expression on all paths to the
//! result.

use super::dataflow::Dataflow;
use crate::op::OpPattern;
use crate::passes::graph::{Graph, Id};

/// The post-dominators of the expressions of a graph.
pub(super) struct Dominators {
    /// The node of an expression has the number of the expression plus one; node 0 is
    /// above all nodes.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    /// The largest pattern on the ways to the parent.
    pattern: OpPattern,
    depth: u32,
    /// An ancestor far above, and the largest pattern on the path to the ancestor.
    jump: u32,
    jump_pattern: OpPattern,
}

impl Dominators {
    /// All post-dominators. O(n log n).
    pub(super) fn of(graph: &Graph, flow: &Dataflow) -> Dominators {
        let top = Node {
            parent: 0,
            pattern: OpPattern::Opaque,
            depth: 0,
            jump: 0,
            jump_pattern: OpPattern::Opaque,
        };
        let mut found = Dominators {
            nodes: vec![top; graph.len() + 1],
        };
        for id in graph.users_first() {
            let (parent, pattern) = if flow.is_external[id as usize] {
                (0, OpPattern::Opaque)
            } else {
                found.common(&flow.users[id as usize])
            };
            found.nodes[id as usize + 1] = found.below(parent, pattern);
        }
        found
    }

    /// The post-dominator of an expression, and the largest pattern on the ways to it.
    pub(super) fn of_expr(&self, id: Id) -> Option<(Id, OpPattern)> {
        let node = self.nodes[id as usize + 1];
        Some((node.parent.checked_sub(1)?, node.pattern))
    }

    fn below(&self, parent: u32, pattern: OpPattern) -> Node {
        let above = self.nodes[parent as usize];
        let far = self.nodes[above.jump as usize];
        let farther = self.nodes[far.jump as usize];
        let (jump, jump_pattern) = if above.depth - far.depth == far.depth - farther.depth {
            let upper = above.jump_pattern.max(far.jump_pattern);
            (far.jump, pattern.max(upper))
        } else {
            (parent, pattern)
        };
        Node {
            parent,
            pattern,
            depth: above.depth + 1,
            jump,
            jump_pattern,
        }
    }

    /// The nearest node above all users, and the largest pattern on the ways there.
    fn common(&self, users: &[(Id, OpPattern)]) -> (u32, OpPattern) {
        let mut users = users.iter().map(|(user, pattern)| (user + 1, *pattern));
        let Some((mut found, mut pattern)) = users.next() else {
            return (0, OpPattern::ElemWise);
        };
        for (user, edge) in users {
            pattern = pattern.max(edge);
            (found, pattern) = self.meet(found, user, pattern);
        }
        (found, pattern)
    }

    fn meet(&self, mut left: u32, mut right: u32, mut pattern: OpPattern) -> (u32, OpPattern) {
        let node = |at: u32| self.nodes[at as usize];
        if node(left).depth < node(right).depth {
            std::mem::swap(&mut left, &mut right);
        }
        let depth = node(right).depth;
        while node(left).depth > depth {
            let at = node(left);
            (left, pattern) = if node(at.jump).depth >= depth {
                (at.jump, pattern.max(at.jump_pattern))
            } else {
                (at.parent, pattern.max(at.pattern))
            };
        }
        while left != right {
            let (a, b) = (node(left), node(right));
            if a.jump == b.jump {
                pattern = pattern.max(a.pattern).max(b.pattern);
                (left, right) = (a.parent, b.parent);
            } else {
                pattern = pattern.max(a.jump_pattern).max(b.jump_pattern);
                (left, right) = (a.jump, b.jump);
            }
        }
        (left, pattern)
    }
}
