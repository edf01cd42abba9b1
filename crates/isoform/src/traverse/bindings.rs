//! Definitions of variables: the nodes of a graph that bind them to values.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::graph::{Edge, Graph, NOTHING, NodeId, Role};
use super::roles::RoleTable;
use crate::kernel::error::Result;
use crate::kernel::types::region::RegionKind;

/// The binding of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) binding: NodeId,
    pub(crate) value: NodeId,
    /// The position of the variable if the value has several results.
    pub(crate) index: Option<usize>,
}

/// A node that binds a variable, and the position of the value among its kids.
#[derive(Clone, Copy)]
struct Known {
    binding: NodeId,
    value: u32,
    index: Option<usize>,
}

/// The bindings of a graph, by the definition of the variable.
#[derive(Default)]
pub(crate) struct Bindings {
    known: HashMap<NodeId, Vec<Known>, RandomState>,
    pub(crate) roles: RoleTable,
}

impl Bindings {
    /// Adds what a node binds.
    ///
    /// # Errors
    ///
    /// `TypeError` or `ValueError` for an attribute of the wrong form.
    pub(crate) fn note(&mut self, graph: &Graph, at: NodeId) -> Result<()> {
        let node = graph.node(at);
        let Some(binding) = self.roles.of(&node.value)?.and_then(|roles| roles.binding) else {
            return Ok(());
        };
        let slot = |position| node.kids.iter().position(|kid| kid.position == position);
        let (Some(field), Some(value)) = (slot(binding.var), slot(binding.value)) else {
            return Ok(());
        };
        let field = node.kids[field].node;
        let mut add = |definition: NodeId, index| {
            let known = Known {
                binding: at,
                value: value as u32,
                index,
            };
            self.known.entry(definition).or_default().push(known);
        };
        let holder = graph.node(field);
        if holder.role == Role::Definition {
            add(field, None);
            return Ok(());
        }
        for kid in holder.kids.iter().filter(|kid| kid.node != NOTHING) {
            if graph.node(kid.node).role == Role::Definition {
                add(kid.node, Some(kid.position as usize));
            }
        }
        Ok(())
    }

    /// The binding of a variable, if there is exactly one.
    pub(crate) fn of(&self, graph: &Graph, ident: u64) -> Option<Bound> {
        let definition = graph.find(ident, RegionKind::Def, false)?;
        let mut alive = self.all_of(graph, definition);
        let bound = alive.next()?;
        let is_only = alive.next().is_none() && is_bound_once(graph, definition);
        is_only.then_some(bound)
    }

    /// All that binds the variable of a definition.
    pub(crate) fn all_of(&self, graph: &Graph, definition: NodeId) -> impl Iterator<Item = Bound> {
        let known = self.known.get(&definition).into_iter().flatten();
        let alive = known.filter(|known| !graph.node(known.binding).dead);
        alive.map(|known| Bound {
            binding: known.binding,
            value: graph.node(known.binding).kids[known.value as usize].node,
            index: known.index,
        })
    }

    /// The uses of the variables that are bound to a value, given by the place of the value.
    pub(crate) fn variables_of(&self, graph: &Graph, edge: Edge) -> Vec<NodeId> {
        let user = graph.node(edge.user);
        let roles = self.roles.of(&user.value).ok().flatten();
        let Some(binding) = roles.and_then(|roles| roles.binding) else {
            return Vec::new();
        };
        if user.kids[edge.kid as usize].position != binding.value {
            return Vec::new();
        }
        let Some(field) = user.kids.iter().find(|kid| kid.position == binding.var) else {
            return Vec::new();
        };
        let holder = graph.node(field.node);
        if holder.role == Role::Definition {
            return graph.uses_of(field.node).collect();
        }
        let items = holder.kids.iter().filter(|kid| kid.node != NOTHING);
        items.flat_map(|kid| graph.uses_of(kid.node)).collect()
    }

    /// True if a value has no effect and is the same wherever its variables are visible: all
    /// nodes in it are pure, and each of its variables is bound once. O(value).
    ///
    /// # Errors
    ///
    /// Those of functions that decide about purity.
    pub(crate) fn is_movable(&self, graph: &Graph, value: NodeId) -> Result<bool> {
        self.is_harmless(graph, value, |definition| is_bound_once(graph, definition))
    }

    /// True if all nodes in a value are pure. O(value).
    ///
    /// # Errors
    ///
    /// Those of functions that decide about purity.
    pub(crate) fn is_pure(&self, graph: &Graph, value: NodeId) -> Result<bool> {
        self.is_harmless(graph, value, |_| true)
    }

    fn is_harmless(
        &self,
        graph: &Graph,
        value: NodeId,
        allows: impl Fn(NodeId) -> bool,
    ) -> Result<bool> {
        let mut seen: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = vec![value];
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            let node = graph.node(at);
            match node.role {
                Role::Use => {
                    if node.kids.iter().any(|kid| !allows(kid.node)) {
                        return Ok(false);
                    }
                    continue;
                }
                Role::Definition => {}
                Role::Plain => {
                    if let Some(roles) = self.roles.of(&node.value)?
                        && !roles.is_pure(&node.value)?
                    {
                        return Ok(false);
                    }
                }
            }
            let kids = node.kids.iter().map(|kid| kid.node);
            stack.extend(kids.filter(|&kid| kid != NOTHING));
        }
        Ok(true)
    }
}

fn is_bound_once(graph: &Graph, definition: NodeId) -> bool {
    graph.places(definition).take(2).count() <= 1
}
