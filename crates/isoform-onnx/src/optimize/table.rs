//! Calls by content, for building equal calls once: hash-consing, scope by scope.

use std::collections::HashMap;

use isoform::values::ValueRef;
use isoform::{Ref, Value, structural_equal};

use super::constants::hash_of;
use super::pattern::commutes;
use crate::ir::Call;
use crate::layout::{attributes, graph_in, holds_graphs};
use crate::values::{ValueKey, made_by};

/// A call, and the values that replace its outputs.
type Entry = (Ref<Call>, Vec<Value>);

/// The usable calls of a body: calls of the body itself and of the enclosing bodies.
#[derive(Default)]
pub(super) struct Table {
    scopes: Vec<HashMap<u64, Vec<Entry>>>,
}

impl Table {
    pub(super) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The values that take the place of the outputs of an equal call.
    pub(super) fn find(&self, call: &Ref<Call>) -> Option<&Vec<Value>> {
        let hash = hash(call);
        self.scopes.iter().rev().find_map(|scope| {
            let entries = scope.get(&hash)?.iter();
            entries
                .filter(|(known, _)| same(known, call))
                .map(|(_, values)| values)
                .next()
        })
    }

    /// Records the replacements of the outputs of a call in the innermost body.
    pub(super) fn insert(&mut self, call: &Ref<Call>, values: Vec<Value>) {
        if let Some(scope) = self.scopes.last_mut() {
            let entries = scope.entry(hash(call)).or_default();
            entries.push((call.clone(), values));
        }
    }
}

fn inputs(call: &Call) -> Vec<ValueKey> {
    let mut inputs: Vec<ValueKey> = call.inputs.values().iter().map(ValueKey::of).collect();
    if commutes(call) {
        inputs.sort_unstable();
    }
    inputs
}

fn hash(call: &Call) -> u64 {
    let attrs: Vec<u64> = attributes(call)
        .into_iter()
        .map(|(name, value)| hash_of((name, small(value))))
        .collect();
    let callee = call.callee.as_ref().map(Ref::identity);
    hash_of((
        (call.domain.as_str(), call.op.as_str(), call.version),
        (callee, call.outputs),
        inputs(call),
        attrs,
    ))
}

/// A hash of an attribute that costs little: equality decides.
fn small(value: &Value) -> u64 {
    match value.view() {
        ValueRef::Int(int) => hash_of(int),
        ValueRef::Float(float) => hash_of(float.to_bits()),
        ValueRef::Str(text) => hash_of(text),
        ValueRef::Array(items) => {
            let items = items.values().iter();
            let number = |item: &Value| match item.as_float() {
                Some(float) => Some(float.to_bits() as i64),
                None => item
                    .as_int()
                    .or_else(|| Some(graph_in(item)?.identity() as i64)),
            };
            hash_of(items.map(number).collect::<Vec<_>>())
        }
        ValueRef::Tensor(tensor) => {
            let data = tensor.data();
            hash_of((tensor.shape(), &data[..data.len().min(64)]))
        }
        // Calls with bodies often have the same inputs, and differ in their graphs only.
        _ => graph_in(value).map_or(0, Ref::identity),
    }
}

fn same(left: &Ref<Call>, right: &Ref<Call>) -> bool {
    inputs(left) == inputs(right) && same_operator(left, right)
}

/// True if two calls apply the same operator or function with the same attributes, to
/// whatever inputs.
pub(super) fn same_operator(left: &Ref<Call>, right: &Ref<Call>) -> bool {
    let is_same_callee = match (&left.callee, &right.callee) {
        (None, None) => true,
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    };
    if !is_same_callee
        || left.domain != right.domain
        || left.op != right.op
        || left.version != right.version
        || left.outputs != right.outputs
        || left.attrs.len() != right.attrs.len()
    {
        return false;
    }
    let (ours, theirs) = (attributes(left), attributes(right));
    let mut pairs = ours.into_iter().zip(theirs);
    pairs.all(|((ours, left), (theirs, right))| ours == theirs && same_attribute(left, right))
}

fn same_attribute(left: &Value, right: &Value) -> bool {
    match (left.view(), right.view()) {
        (ValueRef::Int(left), ValueRef::Int(right)) => left == right,
        (ValueRef::Float(left), ValueRef::Float(right)) => left.to_bits() == right.to_bits(),
        (ValueRef::Str(left), ValueRef::Str(right)) => left == right,
        _ => match (graph_in(left), graph_in(right)) {
            (Some(left), Some(right)) => left.same_as(right),
            _ => !holds_graphs(left) && structural_equal(left, right).unwrap_or(false),
        },
    }
}

/// True if attributes hold values that nodes make.
pub(super) fn holds_values(call: &Call) -> bool {
    attributes(call)
        .into_iter()
        .any(|(_, value)| match value.view() {
            ValueRef::Array(items) => items.values().iter().any(|item| made_by(item).is_some()),
            _ => made_by(value).is_some(),
        })
}
