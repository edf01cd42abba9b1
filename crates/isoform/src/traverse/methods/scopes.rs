//! How long results are remembered where they may depend on the bindings of variables.
//!
//! **The rule.** The result of a node is used again as long as every variable that occurs in
//! the node, except those that a scope inside of the node binds, has the meaning of the time
//! when the result was complete. The meaning of a variable changes when the visit enters or
//! leaves a node with the variable in a definition field, when the scope around that node
//! ends, and when the method of that node turns from the fields before the definition, such as
//! the value of a `let`, to the others, or back. A node is computed for each request where a
//! definition inside outlives it, such as an assignment without a scope around.
//!
//! **Soundness.** Let a method depend on its node, on the results that it asked for, and on
//! facts about variables in the node, which only methods of binders change. Between two
//! meetings of a node without a change of meaning, no binder of a variable in the node was
//! entered, left, or went on to its body, so all facts are the same, and by induction all
//! results below; a variable that a scope inside binds is entered again by the method of that
//! scope. What the rule calls a change need not be one, which costs a visit and never a wrong
//! result.
//!
//! **Cost.** Without a change of meaning between two meetings, which is always so in scopes
//! that bind each variable once and use it inside, no node is computed twice. The variables of
//! a node are looked for when it is met again after a change; lists of up to [`MANY`] variables
//! are kept. A node with more is searched for the variables that changed, and computed again
//! if these are more, too.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::{FieldFlag, Kind, RegionKind};
use crate::kernel::value::Value;
use crate::traverse::parts::{Child, children_of};

/// The length of the longest list of variables that is kept.
const MANY: usize = 64;

/// The time of a result that is not used again.
const NEVER: u64 = u64::MAX;

type Set = HashSet<u64, RandomState>;

/// The meanings of variables during a visit.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The number of changes so far.
    now: u64,
    /// By variable: the last change of its meaning.
    changed: HashMap<u64, u64, RandomState>,
    /// By node: the number of changes when its visit began, and then when its result was
    /// complete; none for zero, [`NEVER`] for a result that is not used again.
    times: HashMap<u64, u64, RandomState>,
    open: Vec<Binder>,
    /// Variables whose definitions outlive their binder, until the scope around ends.
    lasting: Vec<u64>,
    /// The number of changes at the last of these definitions; zero without any.
    last_lasting: u64,
    variables: Variables,
}

/// A scope or a node with definition fields, while it is visited.
#[derive(Debug)]
struct Binder {
    node: u64,
    is_scope: bool,
    defined: Vec<u64>,
    /// The parts that the method may ask for without leaving the definition, where fields come
    /// before the definition.
    inside: Option<Set>,
    /// True while the method is at the fields before the definition.
    is_outside: bool,
    /// The number of lasting variables before, and their last change.
    lasting: (usize, u64),
}

impl Scopes {
    /// Enters a node, whose method is called next.
    pub(super) fn enter(&mut self, node: &Ref<Obj>) {
        if self.now > 0 {
            self.times.insert(node.identity(), self.now);
        }
        let info = node.type_info();
        if !info.scope && !info.visited.iter().any(|slot| is_definition(slot.flag)) {
            return;
        }
        let (outside, fields) = fields_of(node);
        let mut defined = Vec::new();
        for field in &fields {
            add_defined(field, &mut defined);
        }
        let inside = (!outside.is_empty() && !defined.is_empty()).then(|| {
            let before = parts_of(&outside);
            let mut inside = parts_of(&fields);
            inside.retain(|part| !before.contains(part));
            inside
        });
        self.open.push(Binder {
            node: node.identity(),
            is_scope: info.scope,
            defined,
            inside,
            is_outside: false,
            lasting: (self.lasting.len(), self.last_lasting),
        });
        self.change(self.open.len() - 1);
    }

    /// The method of a node asks for a value.
    pub(super) fn ask(&mut self, from: u64, value: &Value) {
        let Some(binder) = self.open.last_mut().filter(|binder| binder.node == from) else {
            return;
        };
        let Some(inside) = &binder.inside else {
            return;
        };
        let is_outside = value
            .as_object()
            .is_none_or(|object| !inside.contains(&object.identity()));
        if std::mem::replace(&mut binder.is_outside, is_outside) || is_outside {
            self.change(self.open.len() - 1);
        }
    }

    /// Leaves a node without a result. O(1) unless the node is a binder.
    pub(super) fn leave(&mut self, node: u64) {
        if self.open.last().is_some_and(|binder| binder.node == node) {
            self.end_last();
        }
    }

    fn end_last(&mut self) {
        self.change(self.open.len() - 1);
        let Some(binder) = self.open.pop() else {
            return;
        };
        if binder.is_scope {
            for variable in self.lasting.drain(binder.lasting.0..) {
                self.changed.insert(variable, self.now);
            }
            self.last_lasting = binder.lasting.1;
        } else if !binder.defined.is_empty() {
            self.lasting.extend(binder.defined);
            self.last_lasting = self.now;
        }
    }

    /// Gives the variables of an open binder another meaning.
    fn change(&mut self, binder: usize) {
        self.now += 1;
        for variable in &self.open[binder].defined {
            self.changed.insert(*variable, self.now);
        }
    }

    /// Leaves a node with a result. O(1) unless the node is a binder.
    pub(super) fn complete(&mut self, node: u64) {
        self.leave(node);
        if self.now > 0 {
            let begun = self.times.get(&node).copied().unwrap_or(0);
            let is_repeatable = self.last_lasting <= begun;
            let now = if is_repeatable { self.now } else { NEVER };
            self.times.insert(node, now);
        }
    }

    /// True if nothing changed since the result of a node was complete, and the method of the
    /// node `from` may use it without [asking](Self::ask). O(1).
    pub(super) fn is_current(&self, from: u64, node: u64) -> bool {
        let since = self.times.get(&node).copied().unwrap_or(0);
        let binder = self.open.last().filter(|binder| binder.node == from);
        since == self.now && binder.is_none_or(|binder| binder.inside.is_none())
    }

    /// True if the result of a node may be used again.
    pub(super) fn is_valid(&mut self, node: &Ref<Obj>) -> bool {
        let since = self.times.get(&node.identity()).copied().unwrap_or(0);
        if since == NEVER {
            return false;
        }
        if since == self.now {
            return true;
        }
        let has_changed = |variable: &u64| self.changed.get(variable).is_some_and(|at| *at > since);
        let is_valid = match self.variables.of(node) {
            Some(variables) => !variables.iter().any(has_changed),
            None => {
                let changed: Set = self.changed.keys().copied().filter(has_changed).collect();
                changed.len() <= MANY && {
                    let mut variables = Variables {
                        only: Some(changed),
                        ..Variables::default()
                    };
                    variables.of(node).is_some_and(|found| found.is_empty())
                }
            }
        };
        if is_valid {
            self.times.insert(node.identity(), self.now);
        }
        is_valid
    }
}

fn is_definition(flag: FieldFlag) -> bool {
    matches!(flag, FieldFlag::Def | FieldFlag::DefSimple)
}

/// The fields of an object before its first definition, and the others.
fn fields_of(node: &Ref<Obj>) -> (Vec<Child>, Vec<Child>) {
    let slots = &node.type_info().visited;
    let first = slots.iter().position(|slot| is_definition(slot.flag));
    let mut outside: Vec<Child> = children_of(node).iter(RegionKind::Use).collect();
    let inside = outside.split_off(first.unwrap_or(0).min(outside.len()));
    (outside, inside)
}

/// True for arrays, lists, maps and dicts, which bind and use nothing themselves.
fn is_container(value: &Value) -> bool {
    value.container().is_some()
}

/// The objects that fields hold, through containers.
fn parts_of(fields: &[Child]) -> Set {
    let mut parts = Set::default();
    let mut stack: Vec<Value> = fields.iter().map(|field| field.value.clone()).collect();
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if parts.insert(object.identity()) && is_container(&value) {
            let children = children_of(&value);
            stack.extend(children.iter(RegionKind::Use).map(|child| child.value));
        }
    }
    parts
}

/// Adds the variables that a field defines.
fn add_defined(field: &Child, defined: &mut Vec<u64>) {
    let mut seen = Set::default();
    let mut stack = vec![(field.value.clone(), field.region)];
    while let Some((value, region)) = stack.pop() {
        let Some(object) = value.as_object().filter(|_| region != RegionKind::Use) else {
            continue;
        };
        if !seen.insert(object.identity()) {
            continue;
        }
        let is_variable = object.type_info().kind() == Kind::Var;
        if is_variable {
            defined.push(object.identity());
        }
        if !is_variable || region == RegionKind::Def {
            let children = children_of(&value);
            stack.extend(
                children
                    .iter(region)
                    .map(|child| (child.value, child.region)),
            );
        }
    }
}

/// The variables that occur in objects, except those that scopes inside bind.
#[derive(Debug, Default)]
struct Variables {
    /// By object, in ascending order; None for more than [`MANY`].
    lists: HashMap<u64, Option<Arc<[u64]>>, RandomState>,
    /// The only variables that count; all without this set.
    only: Option<Set>,
}

/// An object whose variables are being collected.
struct Collected {
    node: Ref<Obj>,
    children: Vec<Child>,
    next: usize,
}

impl Variables {
    /// The variables of an object. Linear in the objects that are asked for the first time,
    /// and in their lists.
    fn of(&mut self, node: &Ref<Obj>) -> Option<Arc<[u64]>> {
        let mut stack = Vec::new();
        // An object that contains itself has the variables of its other parts.
        let mut open = Set::default();
        self.begin(node, &mut open, &mut stack);
        while let Some(last) = stack.last_mut() {
            if let Some(child) = last.children.get(last.next) {
                last.next += 1;
                if let Some(child) = child.value.as_object().cloned() {
                    self.begin(&child, &mut open, &mut stack);
                }
            } else if let Some(Collected { node, children, .. }) = stack.pop() {
                let variables = self.joined(&node, &children);
                self.lists.insert(node.identity(), variables);
            }
        }
        self.lists.get(&node.identity()).cloned().flatten()
    }

    fn begin(&self, node: &Ref<Obj>, open: &mut Set, stack: &mut Vec<Collected>) {
        if self.lists.contains_key(&node.identity()) || !open.insert(node.identity()) {
            return;
        }
        stack.push(Collected {
            node: node.clone(),
            children: children_of(node).iter(RegionKind::Use).collect(),
            next: 0,
        });
    }

    fn counts(&self, variable: u64) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.contains(&variable))
    }

    fn joined(&self, node: &Ref<Obj>, children: &[Child]) -> Option<Arc<[u64]>> {
        let info = node.type_info();
        let mut all = match info.kind() {
            Kind::Var if self.counts(node.identity()) => vec![node.identity()],
            _ => Vec::new(),
        };
        // The list of a part is shared where it has all variables.
        let mut longest: Option<&Arc<[u64]>> = None;
        for child in children {
            let Some(object) = child.value.as_object() else {
                continue;
            };
            match self.lists.get(&object.identity()) {
                Some(Some(variables)) => {
                    all.extend_from_slice(variables);
                    let is_longer = longest.is_none_or(|longest| longest.len() < variables.len());
                    longest = if is_longer { Some(variables) } else { longest };
                }
                Some(None) => return None,
                None => {}
            }
        }
        if info.scope && !all.is_empty() {
            let (outside, inside) = fields_of(node);
            let mut bound = Vec::new();
            inside
                .iter()
                .for_each(|field| add_defined(field, &mut bound));
            let free: Set = outside
                .iter()
                .filter_map(|field| {
                    self.lists
                        .get(&field.value.as_object()?.identity())?
                        .as_ref()
                })
                .flat_map(|variables| variables.iter().copied())
                .collect();
            let bound: Set = bound.into_iter().filter(|it| !free.contains(it)).collect();
            all.retain(|variable| !bound.contains(variable));
        }
        all.sort_unstable();
        all.dedup();
        match longest {
            Some(longest) if **longest == *all => Some(longest.clone()),
            _ if all.len() > MANY => None,
            _ => Some(all.into()),
        }
    }
}
