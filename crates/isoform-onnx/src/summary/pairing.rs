//! Pairs the weights of two models.

use std::collections::HashMap;

use isoform::compare::{CompareOptions, DiffOptions, Difference};
use isoform::traverse::MapOptions;
use isoform::{Node, Ref, Result, Str, Value, structural_equal, structural_hash};

use super::identity;
use super::weights::{Weight, WeightPairs};
use crate::ir::{Call, Output, Program};
use crate::layout::list;
use crate::levels::Levels;
use crate::values::{constant, made_by, tensor};

/// The longest chain of nodes between a weight and its use.
const MOST_DECODING: usize = 8;

/// Pairs the weights of two models like `isoform diff`: first weights that are the same
/// input of corresponding nodes, then weights of the same name, then equal weights.
/// Costs as much as [`isoform::compare::diff`], and is linear in the bytes of the
/// weights left for the last step. Only weights whose type and shape also occur in the
/// other model are read.
///
/// A weight is also the input of a node if only DequantizeLinear, QuantizeLinear, Cast or
/// Identity are between both; the scales and zero points belong to the weight then.
///
/// # Errors
///
/// As [`isoform::compare::diff`].
pub fn pair_weights(left: &Ref<Program>, right: &Ref<Program>) -> Result<WeightPairs> {
    let (left, right) = Levels::MEANING.apply_pair(left, right)?;
    let difference = diff_options().diff(&left, &right)?;
    paired_weights(&left, &right, &difference)
}

fn diff_options() -> DiffOptions {
    DiffOptions {
        compare: CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        },
        ..DiffOptions::default()
    }
}

/// True if a node takes a weight by way of nodes that decode the weight.
fn has_decoding(program: &Program) -> bool {
    let listing = list(program);
    let mut nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes.any(|node| node.call.inputs.values().iter().any(decodes))
}

/// True for a value that nodes decode from a stored weight.
fn decodes(value: &Value) -> bool {
    stored(value).is_some_and(|(_, decoding)| !decoding.is_empty())
}

/// Replaces decoded weights by the stored weights, to make the users of a weight
/// correspond to the users in a model that stores the weight without encoding. O(n).
fn bare(program: &Value) -> Result<Value> {
    let output = Output::type_index();
    MapOptions::default().map_selected(
        program,
        |ty| ty == Some(output),
        |visit| {
            let value = visit.object().map(Value::from);
            let found = value.as_ref().and_then(stored);
            Ok(found.map(|(weight, _)| weight.clone()))
        },
    )
}

/// [`pair_weights`] of models whose difference is known.
pub(crate) fn paired_weights(
    left: &Program,
    right: &Program,
    difference: &Difference,
) -> Result<WeightPairs> {
    let sides = [weights_of(left), weights_of(right)];
    let mut pairing = Pairing::new(&sides);
    if difference.is_empty() {
        pairing.alike(left, right);
    } else if [left, right].iter().any(|program| has_decoding(program)) {
        let (left, right) = (bare(difference.left())?, bare(difference.right())?);
        let bare_difference = diff_options().diff(&left, &right)?;
        pairing.nodes(&bare_difference);
        if bare_difference.is_empty()
            && let (Some(left), Some(right)) = (left.peek(), right.peek())
        {
            let (left, right): (&Ref<Program>, &Ref<Program>) = (left, right);
            pairing.alike(left, right);
        }
    } else {
        pairing.nodes(difference);
    }
    let params = left.graph.params.iter().zip(right.graph.params.iter());
    params.for_each(|(l, r)| pairing.uses(&l.default, &r.default));
    let results = left
        .graph
        .results
        .values()
        .iter()
        .zip(right.graph.results.values());
    results.for_each(|(l, r)| pairing.uses(l, r));
    pairing.decoding();
    pairing.by_name();
    pairing.equal()?;
    Ok(pairing.pairs())
}

/// The distinct weights of a program in an order of computation, with the nodes that
/// decode them before use. O(nodes × depth of bodies).
fn weights_of(program: &Program) -> Vec<Weight> {
    let listing = list(program);
    let mut indices: HashMap<u64, usize> = HashMap::new();
    let mut weights: Vec<Weight> = Vec::new();
    let mut add = |name: Option<&Str>, value: &Value| {
        if let Some(tensor) = tensor(value) {
            indices.entry(identity(value)).or_insert_with(|| {
                weights.push(Weight {
                    name: name.cloned().unwrap_or_default(),
                    tensor: tensor.clone(),
                    decoding: Vec::new(),
                });
                weights.len() - 1
            });
        } else if let Some((weight, decoding)) = stored(value)
            && let Some(&index) = indices.get(&identity(weight))
        {
            // A longer chain comes later.
            weights[index].decoding = decoding;
        }
    };
    for body in &listing.bodies {
        for param in body.kind.params().iter() {
            add(Some(&param.name), &param.default);
        }
        for node in &body.nodes {
            for (position, value) in node.call.inputs.values().iter().enumerate() {
                add(node.call.input_names.get(position), value);
            }
        }
        for (position, value) in body.kind.results().values().iter().enumerate() {
            add(body.kind.result_names().get(position), value);
        }
    }
    weights
}

/// The weight from which a value is made, and the nodes between weight and value, in
/// order; None if the value is not made from a weight.
pub(crate) fn stored(value: &Value) -> Option<(&Value, Vec<Ref<Call>>)> {
    let mut decoding = Vec::new();
    let mut value = value;
    while tensor(value).is_none() {
        let (call, output) = made_by(value)?;
        let is_decoder = matches!(
            call.standard_op()?,
            "Cast" | "DequantizeLinear" | "Identity" | "QuantizeLinear"
        );
        let mut rest = call.inputs.values().iter().skip(1);
        let is_known = rest.all(|input| input.is_none() || constant(input).is_some());
        if !is_decoder || !is_known || output != 0 || decoding.len() == MOST_DECODING {
            return None;
        }
        decoding.push(call.clone());
        value = call.inputs.values().first()?;
    }
    decoding.reverse();
    Some((value, decoding))
}

/// The pairs found up to the current step.
struct Pairing<'w> {
    sides: &'w [Vec<Weight>; 2],
    /// The positions of weights by their identities.
    known: [HashMap<u64, usize>; 2],
    /// The partner of each left weight.
    partners: Vec<Option<usize>>,
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
            partners: vec![None; left.len()],
            open: [vec![true; left.len()], vec![true; right.len()]],
        }
    }

    /// Pairs weights that are the same inputs of corresponding nodes.
    fn nodes(&mut self, difference: &Difference) {
        for (l, r) in difference.node_pairs() {
            if let (Some(l), Some(r)) = (l.peek::<Ref<Call>>(), r.peek::<Ref<Call>>()) {
                self.inputs(l, r);
            }
        }
    }

    fn inputs(&mut self, left: &Call, right: &Call) {
        let inputs = left.inputs.values().iter().zip(right.inputs.values());
        inputs.for_each(|(l, r)| self.uses(l, r));
    }

    /// Pairs the weights of equal programs, whose nodes are listed alike.
    fn alike(&mut self, left: &Program, right: &Program) {
        let (left, right) = (list(left), list(right));
        for (l, r) in left.bodies.iter().zip(&right.bodies) {
            for (l, r) in l.nodes.iter().zip(&r.nodes) {
                if l.call.op == r.call.op {
                    self.inputs(&l.call, &r.call);
                }
            }
        }
    }

    /// Pairs the weights that two values are made of, if both are.
    fn uses(&mut self, left: &Value, right: &Value) {
        let (Some((left, _)), Some((right, _))) = (stored(left), stored(right)) else {
            return;
        };
        let at = |side: usize, value| self.known[side].get(&identity(value)).copied();
        if let (Some(left), Some(right)) = (at(0, left), at(1, right)) {
            self.pair(left, right);
        }
    }

    fn pair(&mut self, left: usize, right: usize) {
        if self.open[0][left] && self.open[1][right] {
            self.open[0][left] = false;
            self.open[1][right] = false;
            self.partners[left] = Some(right);
        }
    }

    /// Pairs the scales and zero points of paired weights if both weights have them. If
    /// only one model has scales and zero points, they do not count as separate
    /// weights.
    fn decoding(&mut self) {
        let sides = self.sides;
        let pairs: Vec<(usize, usize)> = (self.partners.iter().enumerate())
            .filter_map(|(left, right)| Some((left, (*right)?)))
            .collect();
        for (left, right) in pairs {
            let calls = [&sides[0][left].decoding, &sides[1][right].decoding];
            for (l, r) in calls[0].iter().zip(calls[1]) {
                self.inputs(l, r);
            }
            let is_alone = [calls[1].is_empty(), calls[0].is_empty()];
            for side in [0, 1] {
                for input in calls[side].iter().flat_map(|call| call.inputs.values()) {
                    if let Some(&index) = self.known[side].get(&identity(input))
                        && is_alone[side]
                    {
                        self.open[side][index] = false;
                    }
                }
            }
        }
    }

    /// Pairs weights of the same name. Among several weights of one name, as in bodies,
    /// the first weights are paired first.
    fn by_name(&mut self) {
        let sides = self.sides;
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, weight) in sides[1].iter().enumerate().rev() {
            if self.open[1][at] && !weight.name.is_empty() {
                named.entry(weight.name.as_str()).or_default().push(at);
            }
        }
        for (at, weight) in sides[0].iter().enumerate() {
            if self.open[0][at]
                && let Some(right) = named.get_mut(weight.name.as_str()).and_then(Vec::pop)
            {
                self.pair(at, right);
            }
        }
    }

    /// Pairs weights that are equal.
    fn equal(&mut self) -> Result<()> {
        let sides = self.sides;
        let form = |weight: &Weight| (weight.tensor.dtype(), weight.tensor.shape().to_vec());
        let mut forms: HashMap<_, Vec<usize>> = HashMap::new();
        for (index, weight) in sides[1].iter().enumerate() {
            if self.open[1][index] {
                forms.entry(form(weight)).or_default().push(index);
            }
        }
        // By form, the weights of each hash, in reverse.
        let mut hashed: HashMap<_, HashMap<u64, Vec<usize>>> = HashMap::new();
        for (left, weight) in sides[0].iter().enumerate() {
            if !self.open[0][left] {
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
                self.pair(left, right);
            }
        }
        Ok(())
    }

    fn pairs(self) -> WeightPairs {
        let [left, right] = self.sides;
        let mut found = WeightPairs::default();
        for (weight, partner) in left.iter().zip(self.partners) {
            if let Some(at) = partner {
                found.pairs.push((weight.clone(), right[at].clone()));
            }
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
