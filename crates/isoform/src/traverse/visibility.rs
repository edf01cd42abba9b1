//! Visibility: the variables of a [graph](super::graph) that are used outside of their scope.
//!
//! All uses of a variable are one node, so visibility is dominance: a use is in scope
//! if every way from the root to the use passes a part that the scope visits after the
//! definition. One pass, with users before their parts, finds the immediate dominators.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use super::graph::{Graph, NOTHING, NodeId, Role};
use crate::kernel::ancestors::AncestorTree;

/// The scope of a node with several scopes.
const SEVERAL: NodeId = NOTHING - 1;

/// A node below the root.
#[derive(Clone, Copy)]
struct Place {
    /// The first part of the node's parent in the tree on a way to this node, as a position in the order of
    /// visit.
    first: u32,
    /// The innermost scope around the node, the root without a scope, or [`SEVERAL`].
    scope: NodeId,
}

struct Places<'g> {
    graph: &'g Graph,
    /// The parent of a node is the nearest node passed by every way from the root to the
    /// node.
    tree: AncestorTree,
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
        tree: AncestorTree::new(graph.nodes.len(), root, ()),
        places: vec![
            Place {
                first: 0,
                scope: root
            };
            graph.nodes.len()
        ],
    };
    for &node in order.iter().filter(|&&node| node != root) {
        places.add(node);
    }
    let is_unsettled = |definition: NodeId| {
        let mut held = graph.places(definition);
        let Some(_) = held.next() else {
            return false;
        };
        held.next().is_some()
            || graph
                .uses_of(definition)
                .any(|node| places.is_known(node) && !places.is_visible(definition, node))
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
        self.tree.is_attached(node)
    }

    /// Adds a node whose users are known.
    fn add(&mut self, node: NodeId) {
        let users = || {
            let edges = self.graph.places(node);
            edges.filter(|edge| self.is_known(edge.user))
        };
        let (mut above, mut scope) = (NOTHING, NOTHING);
        for edge in users() {
            let user = self.graph.node(edge.user).value.as_object();
            let is_scope = user.is_some_and(|user| user.type_info().is_scope());
            let around = if is_scope {
                edge.user
            } else {
                self.at(edge.user).scope
            };
            if above == NOTHING {
                (above, scope) = (edge.user, around);
                continue;
            }
            above = self.tree.common(above, edge.user);
            if scope != around {
                scope = SEVERAL;
            }
        }
        if above == NOTHING {
            return;
        }
        let depth = self.tree.depth(above) + 1;
        let first = users()
            .map(|edge| {
                if edge.user == above {
                    self.graph.node(edge.user).kids[edge.kid as usize].position
                } else {
                    self.at(self.tree.ancestor(edge.user, depth)).first
                }
            })
            .min()
            .unwrap_or(0);
        self.places[node as usize] = Place { first, scope };
        self.tree.attach(node, above, ());
    }

    /// True if every place of a use is in the scope of the definition, after it.
    /// O(log n) for a use with one place, and for each node above a use with several
    /// places in different parts of the definition's surroundings.
    fn is_visible(&self, definition: NodeId, use_node: NodeId) -> bool {
        let scope = self.at(definition).scope;
        if scope == SEVERAL {
            return false;
        }
        let outermost = self.tree.depth(scope);
        // The first visited part on a way from a node around the definition to the
        // definition.
        let part = |above: NodeId| {
            let below = self.tree.ancestor(definition, self.tree.depth(above) + 1);
            self.at(below).first
        };
        let mut seen: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = vec![use_node];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            let common = self.tree.common(definition, node);
            if common == definition || common == node || self.tree.depth(common) < outermost {
                return false;
            }
            let below = self.tree.ancestor(node, self.tree.depth(common) + 1);
            if self.at(below).first > part(common) {
                continue;
            }
            for edge in self.graph.places(node) {
                if !self.is_known(edge.user) {
                    continue;
                }
                if self.tree.common(definition, edge.user) != edge.user {
                    stack.push(edge.user);
                    continue;
                }
                let position = self.graph.node(edge.user).kids[edge.kid as usize].position;
                if self.tree.depth(edge.user) < outermost || position <= part(edge.user) {
                    return false;
                }
            }
        }
        true
    }
}
