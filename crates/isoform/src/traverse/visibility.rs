//! Visibility: the variables of a [graph](super::graph) that are used outside of their scope.
//!
//! All uses of a variable are one node, so visibility is dominance: a use is in scope
//! if every way from the root to the use passes a part that the scope visits after the
//! definition. One pass, with users before their parts, finds the immediate dominators;
//! jump pointers answer queries about pairs of nodes.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::graph::{Graph, NOTHING, NodeId, Role};

/// The scope of a node with several scopes.
const SEVERAL: NodeId = NOTHING - 1;

/// A node below the root.
#[derive(Clone, Copy)]
struct Place {
    /// The nearest node passed by every way from the root to this node.
    above: NodeId,
    /// A node further up.
    jump: NodeId,
    /// The number of nodes above.
    depth: u32,
    /// The first part of `above` on a way to this node, as a position in the order of
    /// visit.
    first: u32,
    /// The innermost scope around the node, the root without a scope, or [`SEVERAL`].
    scope: NodeId,
}

const UNKNOWN: Place = Place {
    above: NOTHING,
    jump: NOTHING,
    depth: 0,
    first: 0,
    scope: NOTHING,
};

struct Places<'g> {
    graph: &'g Graph,
    places: Vec<Place>,
}

/// The definitions of the variables below `root` with uses that may mean something else
/// than the value bound by the definition: there are several definitions, or the
/// definition is not visible at some use.
///
/// O(n log n) for n nodes and edges.
pub(super) fn unsettled(graph: &Graph, root: NodeId) -> HashSet<NodeId, RandomState> {
    let order = users_first(graph, root);
    let mut places = Places {
        graph,
        places: vec![UNKNOWN; graph.nodes.len()],
    };
    for &node in &order {
        places.add(node, root);
    }
    let is_unsettled = |definition: NodeId| {
        let mut held = graph.places(definition);
        let Some(_) = held.next() else {
            return false;
        };
        held.next().is_some()
            || graph
                .uses_of(definition)
                .any(|at| places.is_known(at) && !places.is_visible(definition, at))
    };
    let definitions = order.iter().copied();
    definitions
        .filter(|&node| graph.node(node).role == Role::Definition && is_unsettled(node))
        .collect()
}

/// The nodes below the root, each after all of its users.
fn users_first(graph: &Graph, root: NodeId) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut seen = vec![false; graph.nodes.len()];
    let mut stack = vec![(root, false)];
    while let Some((node, left)) = stack.pop() {
        if left {
            order.push(node);
            continue;
        }
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        stack.push((node, true));
        // The definition of a variable is not a part of its use.
        if graph.node(node).role != Role::Use {
            let kids = graph.node(node).kids.iter().map(|kid| kid.node);
            stack.extend(kids.filter(|&kid| kid != NOTHING).map(|kid| (kid, false)));
        }
    }
    order.reverse();
    order
}

impl Places<'_> {
    fn at(&self, node: NodeId) -> Place {
        self.places[node as usize]
    }

    /// True for the root and all nodes below.
    fn is_known(&self, node: NodeId) -> bool {
        self.at(node).scope != NOTHING
    }

    /// Adds a node whose users are known.
    fn add(&mut self, node: NodeId, root: NodeId) {
        if node == root {
            self.places[node as usize] = Place {
                above: root,
                jump: root,
                depth: 0,
                first: 0,
                scope: root,
            };
            return;
        }
        let users = || {
            let edges = self.graph.places(node);
            edges.filter(|edge| self.is_known(edge.user))
        };
        let mut found = UNKNOWN;
        for edge in users() {
            let user = self.graph.node(edge.user).value.as_object();
            let is_scope = user.is_some_and(|user| user.type_info().is_scope());
            let scope = if is_scope {
                edge.user
            } else {
                self.at(edge.user).scope
            };
            if found.above == NOTHING {
                (found.above, found.scope) = (edge.user, scope);
                continue;
            }
            found.above = self.common(found.above, edge.user);
            if found.scope != scope {
                found.scope = SEVERAL;
            }
        }
        if found.above == NOTHING {
            return;
        }
        let above = self.at(found.above);
        found.depth = above.depth + 1;
        let first = users().map(|edge| {
            if edge.user == found.above {
                self.graph.node(edge.user).kids[edge.kid as usize].position
            } else {
                self.at(self.up_to(edge.user, found.depth)).first
            }
        });
        found.first = first.min().unwrap_or(0);
        let over = self.at(above.jump);
        let is_even = above.depth - over.depth == over.depth - self.at(over.jump).depth;
        found.jump = if is_even && found.above != over.jump {
            over.jump
        } else {
            found.above
        };
        self.places[node as usize] = found;
    }

    /// The node at a depth passed by every way to `node`. O(log depth).
    fn up_to(&self, mut node: NodeId, depth: u32) -> NodeId {
        while self.at(node).depth > depth {
            let jump = self.at(node).jump;
            node = if self.at(jump).depth < depth {
                self.at(node).above
            } else {
                jump
            };
        }
        node
    }

    /// The nearest node passed by every way to either of two nodes. O(log depth).
    fn common(&self, left: NodeId, right: NodeId) -> NodeId {
        let depth = self.at(left).depth.min(self.at(right).depth);
        let (mut left, mut right) = (self.up_to(left, depth), self.up_to(right, depth));
        while left != right {
            let jumps = (self.at(left).jump, self.at(right).jump);
            (left, right) = if jumps.0 == jumps.1 {
                (self.at(left).above, self.at(right).above)
            } else {
                jumps
            };
        }
        left
    }

    /// True if every place of a use is in the scope of the definition, after it.
    /// O(log n) for a use with one place, and for each node above a use with several
    /// places in different parts of the definition's surroundings.
    fn is_visible(&self, definition: NodeId, at: NodeId) -> bool {
        let scope = self.at(definition).scope;
        if scope == SEVERAL {
            return false;
        }
        let outermost = self.at(scope).depth;
        // The first visited part on a way from a node around the definition to the
        // definition.
        let part = |above: NodeId| {
            let below = self.up_to(definition, self.at(above).depth + 1);
            self.at(below).first
        };
        let mut seen: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = vec![at];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let common = self.common(definition, node);
            if common == definition || common == node || self.at(common).depth < outermost {
                return false;
            }
            let below = self.up_to(node, self.at(common).depth + 1);
            if self.at(below).first > part(common) {
                continue;
            }
            for edge in self.graph.places(node) {
                if !self.is_known(edge.user) {
                    continue;
                }
                if self.common(definition, edge.user) != edge.user {
                    stack.push(edge.user);
                    continue;
                }
                let position = self.graph.node(edge.user).kids[edge.kid as usize].position;
                if self.at(edge.user).depth < outermost || position <= part(edge.user) {
                    return false;
                }
            }
        }
        true
    }
}
