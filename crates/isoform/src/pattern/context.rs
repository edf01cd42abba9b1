//! The program around a value, as a match sees it: users and definitions.

use hashbrown::HashSet;
use rapidhash::fast::RandomState;

use crate::kernel::error::Result;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::Uses;
use crate::traverse::graph::{Graph, NodeId};

/// The program around a value: the users of objects, and the definitions of variables.
pub(super) trait Context {
    fn graph(&self) -> &Graph;

    /// The value bound to a variable, if the value may be matched in place of the
    /// variable.
    ///
    /// # Errors
    ///
    /// Errors of functions that decide about purity.
    fn definition(&mut self, var: u64) -> Result<Option<Value>>;
}

impl Context for &Uses {
    fn graph(&self) -> &Graph {
        Uses::graph(self)
    }

    fn definition(&mut self, var: u64) -> Result<Option<Value>> {
        let (graph, bindings) = (Uses::graph(self), self.bindings());
        let Some(bound) = bindings
            .of(graph, var)
            .filter(|bound| bound.index.is_none())
        else {
            return Ok(None);
        };
        let is_movable = bindings.is_movable(graph, bound.value)?;
        Ok(is_movable.then(|| graph.node(bound.value).value.clone()))
    }
}

/// The end of a list of goals, or no node above.
pub(super) const NONE: u32 = u32::MAX;

/// A node of the value that the shell matched.
pub(super) struct Inner {
    pub(super) ident: u64,
    /// The variable through which the match looked.
    pub(super) via: Option<u64>,
    pub(super) above: u32,
    pub(super) demanded: bool,
}

/// True if the inner nodes of a match have only allowed users.
pub(super) fn have_allowed_uses(graph: &Graph, nodes: &[Inner]) -> bool {
    if !nodes.iter().any(|inner| inner.demanded) {
        return true;
    }
    let members: HashSet<u64, RandomState> = nodes.iter().map(|inner| inner.ident).collect();
    let is_inside = |node: NodeId| {
        let mut users = graph.places(node);
        users.all(|edge| members.contains(&identity(&graph.node(edge.user).value)))
    };
    let node_of = |ident| graph.find(ident, RegionKind::Use, false);
    let mut checked: HashSet<u32, RandomState> = HashSet::default();
    for (index, inner) in nodes.iter().enumerate() {
        let mut node_index = index as u32;
        if !inner.demanded {
            continue;
        }
        // Nodes on the way from the root must have no other users, either.
        while node_index != NONE
            && nodes[node_index as usize].above != NONE
            && checked.insert(node_index)
        {
            let inner = &nodes[node_index as usize];
            let allowed = match inner.via {
                None => node_of(inner.ident).is_none_or(is_inside),
                Some(var) => {
                    let only = |node| graph.places(node).take(2).count() <= 1;
                    let keys = graph.find(var, RegionKind::Use, true);
                    node_of(var).is_none_or(is_inside)
                        && keys.is_none_or(|node| graph.places(node).next().is_none())
                        && node_of(inner.ident).is_none_or(only)
                }
            };
            if !allowed {
                return false;
            }
            node_index = inner.above;
        }
    }
    true
}

pub(super) fn identity(value: &Value) -> u64 {
    value.as_object().map_or(0, |object| object.identity())
}
