//! Definitions of variables: the nodes of a graph binding variables to values.

use std::ops::Range;
use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::graph::{Edge, Graph, NOTHING, NodeId, Role};
use super::roles::RoleTable;
use super::visibility;
use crate::kernel::error::Result;
use crate::kernel::types::region::RegionKind;

/// The binding of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VarBinding {
    pub(crate) binding: NodeId,
    pub(crate) value: NodeId,
    /// The position of the variable if the value has several results.
    pub(crate) index: Option<usize>,
}

/// A node binding a variable, and the position of the value among the node's kids.
#[derive(Clone, Copy)]
struct BinderEntry {
    binding: NodeId,
    value: u32,
    index: Option<usize>,
}

/// The bindings of a graph, by the definition of the variable.
#[derive(Default)]
pub(crate) struct Bindings {
    known: HashMap<NodeId, Vec<BinderEntry>, RandomState>,
    /// The definitions whose variable may mean something else at a use.
    unsettled: OnceLock<HashSet<NodeId, RandomState>>,
    pub(crate) roles: RoleTable,
}

impl Bindings {
    /// Adds the binding of a node; true if the node binds a variable.
    ///
    /// # Errors
    ///
    /// `TypeError` or `ValueError` for an attribute of the wrong form.
    pub(crate) fn note(&mut self, graph: &Graph, binder: NodeId) -> Result<bool> {
        let node = graph.node(binder);
        let Some(binding) = self.roles.of(&node.value)?.and_then(|roles| roles.binding) else {
            return Ok(false);
        };
        let slot = |position| node.kids.iter().position(|kid| kid.position == position);
        let (Some(field), Some(value)) = (slot(binding.var), slot(binding.value)) else {
            return Ok(false);
        };
        let field = node.kids[field].node;
        let mut add = |definition: NodeId, index| {
            let entry = BinderEntry {
                binding: binder,
                value: value as u32,
                index,
            };
            self.known.entry(definition).or_default().push(entry);
        };
        let holder = graph.node(field);
        if holder.role == Role::Definition {
            add(field, None);
            return Ok(true);
        }
        for kid in holder.kids.iter().filter(|kid| kid.node != NOTHING) {
            if graph.node(kid.node).role == Role::Definition {
                add(kid.node, Some(kid.position as usize));
            }
        }
        Ok(true)
    }

    /// The binding of a variable, if there is exactly one, visible at all uses.
    pub(crate) fn of(&self, graph: &Graph, ident: u64) -> Option<VarBinding> {
        self.of_definition(graph, graph.find(ident, RegionKind::Def, false)?)
    }

    /// The binding of a variable, given by its definition.
    fn of_definition(&self, graph: &Graph, definition: NodeId) -> Option<VarBinding> {
        let mut alive = self.all_of(graph, definition);
        let bound = alive.next()?;
        let is_only = alive.next().is_none() && self.is_settled(graph, definition);
        is_only.then_some(bound)
    }

    /// The definition of the original, if the variable is a copy of another variable of
    /// the same type; the variable is given by its definition.
    pub(crate) fn copied(&self, graph: &Graph, definition: NodeId) -> Option<NodeId> {
        let bound = self.of_definition(graph, definition)?;
        let value = graph.node(bound.value);
        if bound.index.is_some() || value.role != Role::Use {
            return None;
        }
        let from = value.kids.first()?.node;
        let ty = |node: NodeId| {
            let object = graph.node(node).value.as_object();
            object.map(|object| object.type_info().index())
        };
        (ty(from) == ty(definition) && self.is_settled(graph, from)).then_some(from)
    }

    /// All bindings of the variable of a definition.
    pub(crate) fn all_of(
        &self,
        graph: &Graph,
        definition: NodeId,
    ) -> impl Iterator<Item = VarBinding> {
        let known = self.known.get(&definition).into_iter().flatten();
        known.filter_map(|known| {
            let node = graph.node(known.binding);
            let value = node.kids[known.value as usize].node;
            let is_alive = !node.dead && value != NOTHING;
            is_alive.then_some(VarBinding {
                binding: known.binding,
                value,
                index: known.index,
            })
        })
    }

    /// True if a definition is its variable's only definition, and visible at all uses.
    /// The first call finds the visibility of all variables: O(n log n) for a graph of
    /// n nodes.
    pub(crate) fn is_settled(&self, graph: &Graph, definition: NodeId) -> bool {
        let unsettled = || visibility::unsettled(graph, graph.pinned);
        graph.places(definition).take(2).count() <= 1
            && !self.unsettled.get_or_init(unsettled).contains(&definition)
    }

    /// Treats the variables used or bound by a replacement at its root as unsettled,
    /// until the next [`resettle`](Self::resettle).
    pub(crate) fn unsettle(&mut self, graph: &Graph, root: NodeId, added: Range<NodeId>) {
        let Some(unsettled) = self.unsettled.get_mut() else {
            return;
        };
        let kids = |node: NodeId| graph.node(node).kids.iter().map(|kid| kid.node);
        for node in added.clone().flat_map(kids).chain(added).chain([root]) {
            if node == NOTHING {
                continue;
            }
            match graph.node(node).role {
                Role::Definition => unsettled.extend([node]),
                Role::Use => unsettled.extend(kids(node)),
                Role::Plain => {}
            }
        }
    }

    /// Finds the visibility of all variables again; true if an unsettled variable
    /// became settled. O(n log n) if there are any unsettled variables.
    pub(crate) fn resettle(&mut self, graph: &Graph) -> bool {
        let Some(known) = self.unsettled.get_mut().filter(|known| !known.is_empty()) else {
            return false;
        };
        let before = std::mem::replace(known, visibility::unsettled(graph, graph.pinned));
        let is_used = |&node: &NodeId| graph.is_used(node);
        before
            .iter()
            .filter(|node| is_used(node))
            .any(|node| !known.contains(node))
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
        if field.node == NOTHING {
            return Vec::new();
        }
        let holder = graph.node(field.node);
        if holder.role == Role::Definition {
            return graph.uses_of(field.node).collect();
        }
        let items = holder.kids.iter().filter(|kid| kid.node != NOTHING);
        items.flat_map(|kid| graph.uses_of(kid.node)).collect()
    }

    /// True if a value has no effect and is the same wherever its variables are
    /// visible: all nodes inside are pure, and each of its variables has at most one
    /// definition, with all uses in the definition's scope. O(value).
    ///
    /// # Errors
    ///
    /// Errors of functions deciding about purity.
    pub(crate) fn is_movable(&self, graph: &Graph, value: NodeId) -> Result<bool> {
        self.is_harmless(graph, value, true, |at| self.is_settled(graph, at))
    }

    /// True if a value is the same wherever its variables are visible. O(value).
    ///
    /// # Errors
    ///
    /// `TypeError` or `ValueError` for an attribute of the wrong form.
    pub(crate) fn is_fixed(&self, graph: &Graph, value: NodeId) -> Result<bool> {
        self.is_harmless(graph, value, false, |at| self.is_settled(graph, at))
    }

    /// True if all nodes in a value are pure. O(value).
    ///
    /// # Errors
    ///
    /// Errors of functions deciding about purity.
    pub(crate) fn is_pure(&self, graph: &Graph, value: NodeId) -> Result<bool> {
        self.is_harmless(graph, value, true, |_| true)
    }

    fn is_harmless(
        &self,
        graph: &Graph,
        value: NodeId,
        is_pure: bool,
        allows: impl Fn(NodeId) -> bool,
    ) -> Result<bool> {
        let mut seen: HashSet<NodeId, RandomState> = HashSet::default();
        let mut stack = vec![value];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = graph.node(id);
            match node.role {
                Role::Use => {
                    if node.kids.iter().any(|kid| !allows(kid.node)) {
                        return Ok(false);
                    }
                    continue;
                }
                Role::Definition => {}
                Role::Plain => {
                    if is_pure
                        && let Some(roles) = self.roles.of(&node.value)?
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
