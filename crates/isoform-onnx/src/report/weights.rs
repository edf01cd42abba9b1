//! Weights as the diff pairs them.

use std::collections::{HashMap, HashSet};

use isoform::compare::Difference;
use isoform::{Ref, Result, Value};
use isoform_kernels::Control;
use isoform_kernels::difference::Tolerance;

use crate::ir::{Call, Program};
use crate::summary::{
    Weight, WeightPairs, WeightsDifference, identity, measure_weights, weights_of,
};
use crate::values::tensor;

/// The weights that differ, by more than a tolerance if there is one. Linear in the programs,
/// and in the bytes of the weights.
pub(super) fn measured(
    tolerance: Option<Tolerance>,
    (left, right): (&Program, &Program),
    difference: &Difference,
    control: &Control<'_>,
) -> Result<WeightsDifference> {
    let pairs = pairs((left, right), difference);
    let mut found = measure_weights(&pairs, tolerance, control)?;
    if tolerance.is_some() {
        let counts = |it: &isoform_kernels::difference::Difference| it.beyond > 0;
        found
            .changed
            .retain(|it| it.difference.as_ref().is_none_or(counts));
    }
    Ok(found)
}

/// Weights belong together if they are the same input of nodes that do.
fn pairs((left, right): (&Program, &Program), difference: &Difference) -> WeightPairs {
    let (left_weights, right_weights) = (weights_of(left), weights_of(right));
    let named = |weights: Vec<Weight>| -> HashMap<u64, Weight> {
        let key = |it: Weight| (identity(&Value::from(it.tensor.clone())), it);
        weights.into_iter().map(key).collect()
    };
    let order: Vec<u64> = left_weights
        .iter()
        .map(|it| identity(&Value::from(it.tensor.clone())))
        .collect();
    let (left_named, right_named) = (named(left_weights), named(right_weights));
    let mut partners: HashMap<u64, u64> = HashMap::new();
    let mut taken = HashSet::new();
    let mut pair = |left: &Value, right: &Value| {
        if tensor(left).is_some() && tensor(right).is_some() {
            let (left, right) = (identity(left), identity(right));
            partners.entry(left).or_insert(right);
            taken.insert(right);
        }
    };
    for (l, r) in difference.node_pairs() {
        if let (Some(l), Some(r)) = (l.peek::<Ref<Call>>(), r.peek::<Ref<Call>>()) {
            let inputs = l.inputs.values().iter().zip(r.inputs.values());
            inputs.for_each(|(l, r)| pair(l, r));
        }
    }
    let params = left.graph.params.iter().zip(right.graph.params.iter());
    params.for_each(|(l, r)| pair(&l.default, &r.default));
    let results = left.graph.results.values().iter();
    let results = results.zip(right.graph.results.values());
    results.for_each(|(l, r)| pair(l, r));

    let mut found = WeightPairs::default();
    for key in order {
        let Some(weight) = left_named.get(&key) else {
            continue;
        };
        match partners.get(&key).and_then(|it| right_named.get(it)) {
            Some(partner) => found.pairs.push((weight.clone(), partner.clone())),
            None => found.left_only.push(weight.clone()),
        }
    }
    let alone = right_named
        .into_iter()
        .filter(|(key, _)| !taken.contains(key));
    found.right_only = alone.map(|(_, weight)| weight).collect();
    found
        .right_only
        .sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    found
}
