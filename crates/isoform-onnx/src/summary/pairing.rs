//! Which weights of two models belong together.

use std::collections::{HashMap, HashSet};

use isoform::compare::{CompareOptions, DiffOptions, Difference};
use isoform::{Ref, Result, Str, Value, structural_equal, structural_hash};

use super::identity;
use super::weights::{Weight, WeightPairs};
use crate::ir::{Call, Program};
use crate::layout::list;
use crate::levels::Levels;
use crate::values::{constant, made_by, tensor};

/// The longest chain of nodes between a weight and its use.
const MOST_DECODING: usize = 8;

/// Pairs the weights of two models as `isoform diff` does: first those that are the same input
/// of nodes that correspond, then those of one name, then those that are equal. As
/// [`isoform::compare::diff`], and linear in the bytes of weights that are left for the last
/// step, which are read only if the other model has such weights of the same type and shape.
///
/// A weight is also the input of a node if only DequantizeLinear, QuantizeLinear, Cast or
/// Identity are between both; the scales and zero points belong to the weight then.
///
/// # Errors
///
/// As [`isoform::compare::diff`].
pub fn pair_weights(left: &Ref<Program>, right: &Ref<Program>) -> Result<WeightPairs> {
    let (left, right) = Levels::MEANING.apply_pair(left, right)?;
    let options = DiffOptions {
        compare: CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        },
        ..DiffOptions::default()
    };
    let difference = options.diff(&left, &right)?;
    paired_weights((&left, &right), &difference)
}

/// [`pair_weights`] of models whose difference is known.
pub(crate) fn paired_weights(
    (left, right): (&Program, &Program),
    difference: &Difference,
) -> Result<WeightPairs> {
    let sides = [weights_of(left), weights_of(right)];
    let mut pairing = Pairing::new(&sides);
    for (l, r) in difference.node_pairs() {
        if let (Some(l), Some(r)) = (l.peek::<Ref<Call>>(), r.peek::<Ref<Call>>()) {
            let inputs = l.inputs.values().iter().zip(r.inputs.values());
            inputs.for_each(|(l, r)| pairing.uses(l, r));
        }
    }
    let params = left.graph.params.iter().zip(right.graph.params.iter());
    params.for_each(|(l, r)| pairing.uses(&l.default, &r.default));
    let results = left.graph.results.values().iter();
    let results = results.zip(right.graph.results.values());
    results.for_each(|(l, r)| pairing.uses(l, r));
    pairing.leave_decoding();
    pairing.by_name();
    pairing.equal()?;
    Ok(pairing.pairs())
}

/// The weights of a program, each once, in an order of computation.
/// O(nodes × depth of bodies).
fn weights_of(program: &Program) -> Vec<Weight> {
    let listing = list(program);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |name: Option<&Str>, value: &Value| {
        if let Some(tensor) = tensor(value)
            && seen.insert(identity(value))
        {
            found.push(Weight {
                name: name.cloned().unwrap_or_default(),
                tensor: tensor.clone(),
                decoding: Vec::new(),
            });
        }
    };
    for body in &listing.bodies {
        for param in body.kind.params().iter() {
            add(Some(&param.name), &param.default);
        }
        for node in &body.nodes {
            for (at, value) in node.call.inputs.values().iter().enumerate() {
                add(node.call.input_names.get(at), value);
            }
        }
        for (at, value) in body.kind.results().values().iter().enumerate() {
            add(body.kind.result_names().get(at), value);
        }
    }
    found
}

/// The weight that a value is made of, and the nodes between both, the first one first; None
/// if it is made of something else.
pub(crate) fn stored(value: &Value) -> Option<(&Value, Vec<Ref<Call>>)> {
    let mut decoding = Vec::new();
    let mut value = value;
    while tensor(value).is_none() {
        let (call, output) = made_by(value)?;
        let decodes = matches!(
            call.standard_op()?,
            "Cast" | "DequantizeLinear" | "Identity" | "QuantizeLinear"
        );
        let mut rest = call.inputs.values().iter().skip(1);
        let is_known = rest.all(|input| input.is_none() || constant(input).is_some());
        if !decodes || !is_known || output != 0 || decoding.len() == MOST_DECODING {
            return None;
        }
        decoding.push(call.clone());
        value = call.inputs.values().first()?;
    }
    decoding.reverse();
    Some((value, decoding))
}

/// A pair by the positions of both weights, and the nodes that decode them.
struct Pair {
    right: usize,
    decoding: [Vec<Ref<Call>>; 2],
}

/// The pairs so far.
struct Pairing<'w> {
    sides: &'w [Vec<Weight>; 2],
    /// The positions of weights by their identities.
    known: [HashMap<u64, usize>; 2],
    /// The partner of each left weight.
    partners: Vec<Option<Pair>>,
    /// The weights of each side that may still get a partner.
    open: [Vec<bool>; 2],
}

impl<'w> Pairing<'w> {
    fn new(sides: &'w [Vec<Weight>; 2]) -> Self {
        let known = |weights: &Vec<Weight>| {
            let keys = weights.iter().enumerate();
            keys.map(|(at, it)| (identity(&Value::from(it.tensor.clone())), at))
                .collect()
        };
        let [left, right] = sides;
        Pairing {
            sides,
            known: [known(left), known(right)],
            partners: left.iter().map(|_| None).collect(),
            open: [vec![true; left.len()], vec![true; right.len()]],
        }
    }

    /// Pairs the weights that two values are made of, if both are.
    fn uses(&mut self, left: &Value, right: &Value) {
        let (Some((left, decodes)), Some((right, others))) = (stored(left), stored(right)) else {
            return;
        };
        let at = |side: usize, value| self.known[side].get(&identity(value)).copied();
        if let (Some(left), Some(right)) = (at(0, left), at(1, right)) {
            self.pair(left, right, [decodes, others]);
        }
    }

    fn pair(&mut self, left: usize, right: usize, decoding: [Vec<Ref<Call>>; 2]) {
        if self.open[0][left] && self.open[1][right] {
            self.open[0][left] = false;
            self.open[1][right] = false;
            self.partners[left] = Some(Pair { right, decoding });
        }
    }

    /// Scales and zero points of a weight are no weights of their own if the other model has
    /// none.
    fn leave_decoding(&mut self) {
        for pair in self.partners.iter().flatten() {
            for (side, calls) in pair.decoding.iter().enumerate() {
                for input in calls.iter().flat_map(|call| call.inputs.values()) {
                    if let Some(&at) = self.known[side].get(&identity(input)) {
                        self.open[side][at] = false;
                    }
                }
            }
        }
    }

    /// Pairs weights of one name; of several, as bodies may have, the first ones.
    fn by_name(&mut self) {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, weight) in self.sides[1].iter().enumerate().rev() {
            if self.open[1][at] && !weight.name.is_empty() {
                named.entry(weight.name.as_str()).or_default().push(at);
            }
        }
        for (at, weight) in self.sides[0].iter().enumerate() {
            if self.open[0][at]
                && let Some(right) = named.get_mut(weight.name.as_str()).and_then(Vec::pop)
            {
                self.pair(at, right, Default::default());
            }
        }
    }

    /// Pairs weights that are equal.
    fn equal(&mut self) -> Result<()> {
        let sides = self.sides;
        let form = |weight: &Weight| (weight.tensor.dtype(), weight.tensor.shape().to_vec());
        let mut forms: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, weight) in sides[1].iter().enumerate() {
            if self.open[1][at] {
                forms.entry(form(weight)).or_default().push(at);
            }
        }
        // By form, those of each hash, in reverse.
        let mut hashed: HashMap<_, HashMap<u64, Vec<usize>>> = HashMap::new();
        for (at, weight) in sides[0].iter().enumerate() {
            if !self.open[0][at] {
                continue;
            }
            let form = form(weight);
            if let Some(candidates) = forms.remove(&form) {
                let by_hash = hashed.entry(form.clone()).or_default();
                for right in candidates.into_iter().rev() {
                    let hash = structural_hash(sides[1][right].tensor.clone())?;
                    by_hash.entry(hash).or_default().push(right);
                }
            }
            let Some(by_hash) = hashed.get_mut(&form) else {
                continue;
            };
            let hash = structural_hash(weight.tensor.clone())?;
            let Some(candidates) = by_hash.get_mut(&hash) else {
                continue;
            };
            if let Some(&right) = candidates.last()
                && structural_equal(weight.tensor.clone(), sides[1][right].tensor.clone())?
            {
                candidates.pop();
                self.pair(at, right, Default::default());
            }
        }
        Ok(())
    }

    fn pairs(self) -> WeightPairs {
        let [left, right] = self.sides;
        let mut found = WeightPairs::default();
        for (weight, partner) in left.iter().zip(self.partners) {
            let Some(Pair {
                right: at,
                decoding: [decodes, others],
            }) = partner
            else {
                continue;
            };
            let with = |weight: &Weight, decoding| Weight {
                decoding,
                ..weight.clone()
            };
            let both = (with(weight, decodes), with(&right[at], others));
            found.pairs.push(both);
        }
        let alone = |side: usize| {
            let weights = self.sides[side].iter().zip(&self.open[side]);
            let open = weights.filter(|(_, is_open)| **is_open);
            open.map(|(weight, _)| weight.clone()).collect()
        };
        found.left_only = alone(0);
        found.right_only = alone(1);
        found
    }
}
