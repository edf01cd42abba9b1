//! The nodes that a program loses, and what takes the place of their values.

use std::collections::{HashMap, HashSet, VecDeque};

use isoform::{Result, Str, Value};

use super::rebuild::{Rebuild, is_computed, name_of};
use super::{Draft, Place, Replacement};
use crate::layout::operands;
use crate::values::{ValueKey, constant, made_by, output};

impl Draft {
    /// The program without some nodes: `lost` has an entry for each node. None if no node
    /// can go, or if the rest is not a valid model.
    ///
    /// A value of a lost node that other nodes use is replaced, by another value or by a new
    /// input of the main graph. A node stays where neither is possible, because its type is
    /// unknown. Values of the main graph that only lost nodes used become outputs, and
    /// outputs from lost nodes go. A body goes with its node. Linear in the program for
    /// `Replacement::Input`, and otherwise also in the lost nodes for each replaced value.
    ///
    /// # Errors
    ///
    /// `ValueError` if the number of entries is not that of the nodes.
    pub fn without(&self, lost: &[bool], replacement: Replacement) -> Result<Option<Draft>> {
        if lost.len() != self.len() {
            return Err(isoform::Error::value_error(format!(
                "lost: expected an entry for each of the {} nodes, got {}",
                self.len(),
                lost.len()
            )));
        }
        let removal = Removal::of(self, lost, replacement);
        if removal.gone.is_empty() {
            return Ok(None);
        }
        let mut rebuild = Rebuild::new(self);
        rebuild.gone = removal.gone;
        rebuild.replaced = removal.replaced;
        rebuild.cut = removal.cut;
        if !rebuild.run() {
            return Ok(None);
        }
        let results = rebuild.results(&removal.results);
        let draft = rebuild.finish(results, true);
        // Shared nodes of bodies may be more than before.
        Ok(draft.filter(|draft| draft.len() < self.len()))
    }
}

/// Decisions about lost nodes.
struct Removal<'d> {
    draft: &'d Draft,
    replacement: Replacement,
    /// The calls that shall go, those in lost bodies included.
    lost: HashMap<u64, Place>,
    /// The inputs of lost bodies.
    inner: HashSet<ValueKey>,
    /// The calls that go.
    gone: HashSet<u64>,
    /// Values of these calls, and what replaces them.
    replaced: HashMap<ValueKey, Value>,
    /// Values of these calls that become inputs.
    cut: HashSet<ValueKey>,
    /// The results of the main graph, with None for those that go.
    results: Vec<Option<Value>>,
}

impl<'d> Removal<'d> {
    fn of(draft: &'d Draft, lost: &[bool], replacement: Replacement) -> Self {
        let mut removal = Removal {
            draft,
            replacement,
            lost: HashMap::new(),
            inner: HashSet::new(),
            gone: HashSet::new(),
            replaced: HashMap::new(),
            cut: HashSet::new(),
            results: Vec::new(),
        };
        removal.note_lost(lost);
        removal.decide(lost);
        removal.decide_results();
        removal
    }

    fn note_lost(&mut self, lost: &[bool]) {
        let owners = self.draft.owners();
        let mut is_lost = lost.to_vec();
        for (at, place) in self.draft.places.iter().enumerate().rev() {
            is_lost[at] |= owners[at].is_some_and(|owner| is_lost[owner]);
            if !is_lost[at] {
                continue;
            }
            let node = self.draft.node(*place);
            self.lost.insert(node.call.identity(), *place);
            for (_, body) in &node.bodies {
                let params = self.draft.listing.bodies[*body].kind.params().iter();
                let keys = params.map(|param| ValueKey::Object(param.identity()));
                self.inner.extend(keys);
            }
        }
    }

    /// Decides about the nodes, users first: values that no other node uses need no
    /// replacement.
    fn decide(&mut self, lost: &[bool]) {
        let draft = self.draft;
        let owners = draft.owners();
        let mut needed: HashSet<ValueKey> = HashSet::new();
        let mut is_gone = vec![false; lost.len()];
        for (at, place) in draft.places.iter().enumerate().rev() {
            let node = draft.node(*place);
            let is_inside = owners[at].is_some_and(|owner| is_gone[owner]);
            if is_inside || (lost[at] && self.replace(*place, &needed)) {
                is_gone[at] = true;
                self.gone.insert(node.call.identity());
                continue;
            }
            needed.extend(operands(&node.call).into_iter().map(ValueKey::of));
            for (_, body) in &node.bodies {
                let results = draft.listing.bodies[*body].kind.results();
                needed.extend(results.values().iter().map(ValueKey::of));
            }
        }
    }

    /// Finds replacements for the needed values of a node; false if there is none.
    fn replace(&mut self, place: Place, needed: &HashSet<ValueKey>) -> bool {
        let call = self.draft.call(place);
        let mut found = Vec::new();
        for index in 0..call.outputs {
            let value = output(call, index);
            let key = ValueKey::of(&value);
            if !needed.contains(&key) {
                continue;
            }
            let other = match self.replacement {
                Replacement::Input => None,
                _ => self.alike(&value),
            };
            if other.is_none() && !self.draft.types.is_known(key) {
                return false;
            }
            found.push((key, other));
        }
        for (key, other) in found {
            match other {
                Some(other) => {
                    self.replaced.insert(key, other);
                }
                None => {
                    self.cut.insert(key);
                }
            }
        }
        true
    }

    /// A value of the same type and shape from which a value of a lost node was computed, by
    /// lost nodes alone. Constants come last.
    ///
    /// The value is one of a lost node.
    fn alike(&self, value: &Value) -> Option<Value> {
        let types = &self.draft.types;
        let wanted = ValueKey::of(value);
        let mut seen = HashSet::from([wanted]);
        let mut queue = VecDeque::from([value.clone()]);
        let (mut computed, mut constants) = (Vec::new(), Vec::new());
        while let Some(value) = queue.pop_front() {
            let call = made_by(&value).map(|(call, _)| call.identity());
            let Some(place) = call.and_then(|call| self.lost.get(&call)) else {
                continue;
            };
            let node = self.draft.node(*place);
            let bodies = node.bodies.iter();
            let results = bodies
                .flat_map(|(_, body)| self.draft.listing.bodies[*body].kind.results().values());
            for operand in node.call.inputs.values().iter().chain(results) {
                let key = ValueKey::of(operand);
                if operand.is_none() || self.inner.contains(&key) || !seen.insert(key) {
                    continue;
                }
                let call = made_by(operand).map(|(call, _)| call.identity());
                if call.is_some_and(|call| self.lost.contains_key(&call)) {
                    queue.push_back(operand.clone());
                } else if constant(operand).is_some() {
                    if types.is_type_of(wanted, operand) {
                        constants.push(operand.clone());
                    }
                } else if types.is_same(wanted, key) {
                    if self.replacement == Replacement::First {
                        return Some(operand.clone());
                    }
                    computed.push(operand.clone());
                }
            }
        }
        let found = if computed.is_empty() {
            constants
        } else {
            computed
        };
        match self.replacement {
            Replacement::Last => found.last().cloned(),
            _ => found.first().cloned(),
        }
    }

    fn decide_results(&mut self) {
        let results = self.draft.program.graph.results.values().iter();
        let decide = |value: &Value| {
            let call = made_by(value).map(|(call, _)| call.identity());
            if call.is_none_or(|call| !self.gone.contains(&call)) {
                return Some(value.clone());
            }
            match self.replacement {
                Replacement::Input => None,
                _ => self.alike(value).filter(is_computed),
            }
        };
        self.results = results.map(decide).collect();
    }
}

impl Rebuild<'_> {
    /// The results of the main graph after a removal, with names and types.
    pub(super) fn results(&mut self, kept: &[Option<Value>]) -> Vec<(Str, Value, Value)> {
        let graph = &self.draft.program.graph;
        let stay = graph
            .results
            .values()
            .iter()
            .zip(kept)
            .filter(|(old, kept)| {
                kept.as_ref()
                    .is_some_and(|kept| ValueKey::of(kept) == ValueKey::of(old))
            });
        let mut seen: HashSet<ValueKey> = stay.map(|(old, _)| ValueKey::of(old)).collect();
        let mut results = Vec::new();
        for (at, (old, kept)) in graph.results.values().iter().zip(kept).enumerate() {
            let Some(kept) = kept else {
                continue;
            };
            let key = ValueKey::of(kept);
            let name = graph.result_names.get(at).cloned().unwrap_or_default();
            if key == ValueKey::of(old) {
                let ty = graph.result_types.get(at).cloned();
                results.push((name, self.value(kept), ty.unwrap_or(Value::NONE)));
            } else if seen.insert(key) {
                let ty = self.draft.types.declaration(key);
                let name = name_of(kept).unwrap_or(name);
                results.push((name, self.value(kept), ty.unwrap_or(Value::NONE)));
            }
        }
        results
    }
}
