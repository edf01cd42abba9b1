//! The post-dominator of every expression: the nearest expression on all paths to the
//! result.

use super::dataflow::Dataflow;
use crate::op::OpPattern;
use crate::passes::graph::{Graph, Id};
use isoform::plumbing::AncestorTree;

/// The post-dominators of the expressions of a graph.
pub(super) struct Dominators {
    /// The node of an expression has the number of the expression plus one; node 0 is
    /// above all nodes. The value of an edge is the largest pattern on the ways to the
    /// parent.
    tree: AncestorTree<OpPattern>,
}

impl Dominators {
    /// All post-dominators. O(n log n).
    pub(super) fn of(graph: &Graph, flow: &Dataflow) -> Dominators {
        let tree = AncestorTree::new(graph.len() + 1, 0, OpPattern::Opaque);
        let mut found = Dominators { tree };
        for id in graph.users_first() {
            let (parent, pattern) = if flow.is_external[id as usize] {
                (0, OpPattern::Opaque)
            } else {
                found.common(&flow.users[id as usize])
            };
            found.tree.attach(id + 1, parent, pattern);
        }
        found
    }

    /// The post-dominator of an expression, and the largest pattern on the ways to it.
    pub(super) fn of_expr(&self, id: Id) -> Option<(Id, OpPattern)> {
        let parent = self.tree.parent(id + 1).checked_sub(1)?;
        Some((parent, self.tree.edge(id + 1)))
    }

    /// The nearest node above all users, and the largest pattern on the ways there.
    fn common(&self, users: &[(Id, OpPattern)]) -> (u32, OpPattern) {
        let mut users = users.iter().map(|(user, pattern)| (user + 1, *pattern));
        let Some((mut found, mut pattern)) = users.next() else {
            return (0, OpPattern::ElemWise);
        };
        for (user, edge) in users {
            let mut join = |passed: OpPattern| pattern = pattern.max(passed);
            join(edge);
            found = self.tree.common_passing(found, user, join);
        }
        (found, pattern)
    }
}
