//! Pairs of weights of two models, and how far they are apart.

use std::collections::{HashMap, HashSet};

use isoform::errors::ErrorKind;
use isoform::kernels::{InputError, tensor_difference};
use isoform::values::Tensor;
use isoform::{Error, Result, Str, Value, structural_equal, structural_hash};
use isoform_kernels::Control;
use isoform_kernels::difference::{Difference, Tolerance};

use crate::ir::Program;
use crate::layout::list;
use crate::values::tensor;

/// A constant tensor of numbers that is an input of a node, a result, or the default of an
/// input.
#[derive(Clone, Debug)]
pub struct Weight {
    /// The name in the file where the weight is first used.
    pub name: Str,
    /// Its elements.
    pub tensor: Tensor,
}

/// Weights of two models that belong together.
#[derive(Clone, Debug, Default)]
pub struct WeightPairs {
    /// The left weight of each pair, and the right one.
    pub pairs: Vec<(Weight, Weight)>,
    /// Weights of the left model without a partner.
    pub left_only: Vec<Weight>,
    /// Weights of the right model without a partner.
    pub right_only: Vec<Weight>,
}

/// A pair of weights that differ.
#[derive(Clone, Debug)]
pub struct MeasuredWeight {
    /// The left weight.
    pub left: Weight,
    /// The right weight.
    pub right: Weight,
    /// How far they are apart; None if their types or shapes differ.
    pub difference: Option<Difference>,
}

/// How far the weights of two models are apart.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WeightsDifference {
    /// The number of pairs.
    pub pairs: usize,
    /// The pairs whose weights differ, in the order of the left model.
    pub changed: Vec<MeasuredWeight>,
    /// Names of weights of the left model without a partner.
    pub left_only: Vec<Str>,
    /// Names of weights of the right model without a partner.
    pub right_only: Vec<Str>,
    /// The number of elements in all pairs of one type and shape.
    pub elements: u64,
    /// The number of these elements that differ.
    pub differing: u64,
    /// The number of these that differ by more than the tolerance, if one is given.
    pub beyond: u64,
    /// The largest distance of two elements of all pairs; None without pairs of numbers.
    pub max_abs: Option<f64>,
}

/// The weights of a program, each once, in an order of computation.
/// O(nodes × depth of bodies).
pub(crate) fn weights_of(program: &Program) -> Vec<Weight> {
    let listing = list(program);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |name: Option<&Str>, value: &Value| {
        if let Some(tensor) = tensor(value)
            && seen.insert(super::identity(value))
        {
            let name = name.cloned().unwrap_or_default();
            let tensor = tensor.clone();
            found.push(Weight { name, tensor });
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

/// Pairs the weights of two models: first by their names, then those that are equal. Linear
/// in the programs, and in the bytes of weights without a partner of their name, which are
/// read only if the other model has such weights of the same type and shape.
///
/// Of weights with one name, as bodies may have, the first ones belong together.
///
/// # Errors
///
/// Those of [`structural_hash`], which weights of models do not cause.
pub fn pair_weights(left: &Program, right: &Program) -> Result<WeightPairs> {
    let (left, right) = (weights_of(left), weights_of(right));
    let mut open: Vec<bool> = vec![true; right.len()];
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, weight) in right.iter().enumerate().rev() {
        if !weight.name.is_empty() {
            named.entry(weight.name.as_str()).or_default().push(at);
        }
    }
    let mut partners: Vec<Option<usize>> = Vec::with_capacity(left.len());
    for weight in &left {
        let partner = named.get_mut(weight.name.as_str()).and_then(Vec::pop);
        if let Some(at) = partner {
            open[at] = false;
        }
        partners.push(partner);
    }
    pair_equal((&left, &mut partners), (&right, &mut open))?;
    let mut found = WeightPairs::default();
    for (weight, partner) in left.into_iter().zip(partners) {
        match partner {
            Some(at) => found.pairs.push((weight, right[at].clone())),
            None => found.left_only.push(weight),
        }
    }
    let rest = right.into_iter().zip(open).filter(|(_, is_open)| *is_open);
    found.right_only = rest.map(|(weight, _)| weight).collect();
    Ok(found)
}

/// Pairs weights without a partner that are equal.
fn pair_equal(
    (left, partners): (&[Weight], &mut [Option<usize>]),
    (right, open): (&[Weight], &mut [bool]),
) -> Result<()> {
    let form = |weight: &Weight| (weight.tensor.dtype(), weight.tensor.shape().to_vec());
    let mut forms: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, weight) in right.iter().enumerate().filter(|(at, _)| open[*at]) {
        forms.entry(form(weight)).or_default().push(at);
    }
    // By form, those of each hash, in reverse.
    let mut hashed: HashMap<_, HashMap<u64, Vec<usize>>> = HashMap::new();
    for (weight, partner) in left.iter().zip(partners) {
        if partner.is_some() {
            continue;
        }
        let form = form(weight);
        if let Some(candidates) = forms.remove(&form) {
            let by_hash = hashed.entry(form.clone()).or_default();
            for at in candidates.into_iter().rev() {
                let hash = structural_hash(right[at].tensor.clone())?;
                by_hash.entry(hash).or_default().push(at);
            }
        }
        let Some(by_hash) = hashed.get_mut(&form) else {
            continue;
        };
        let hash = structural_hash(weight.tensor.clone())?;
        let Some(candidates) = by_hash.get_mut(&hash) else {
            continue;
        };
        if let Some(&at) = candidates.last()
            && structural_equal(weight.tensor.clone(), right[at].tensor.clone())?
        {
            candidates.pop();
            open[at] = false;
            *partner = Some(at);
        }
    }
    Ok(())
}

/// Measures pairs of weights, from [`pair_weights`] or from a diff. Linear in the bytes of
/// the weights.
///
/// # Errors
///
/// `RuntimeError` if `control` interrupts it.
pub fn measure_weights(
    found: &WeightPairs,
    tolerance: Option<Tolerance>,
    control: &Control<'_>,
) -> Result<WeightsDifference> {
    let names = |weights: &[Weight]| weights.iter().map(|it| it.name.clone()).collect();
    let mut total = WeightsDifference {
        pairs: found.pairs.len(),
        left_only: names(&found.left_only),
        right_only: names(&found.right_only),
        ..Default::default()
    };
    for (left, right) in &found.pairs {
        let forms = [left, right].map(|it| (it.tensor.dtype(), it.tensor.shape()));
        let difference = match forms[0] == forms[1] {
            false => None,
            true => {
                let found = tensor_difference(&left.tensor, &right.tensor, tolerance, control);
                let found = found.map_err(|error| match error {
                    InputError::Unknown(error) => error,
                    InputError::Kernel(error) => Error::new(ErrorKind::Runtime, error.to_string()),
                })?;
                total.add(&found);
                Some(found)
            }
        };
        if difference.is_none_or(|it| it.differing > 0) {
            total.changed.push(MeasuredWeight {
                left: left.clone(),
                right: right.clone(),
                difference,
            });
        }
    }
    Ok(total)
}

impl WeightsDifference {
    fn add(&mut self, found: &Difference) {
        self.elements += found.count as u64;
        self.differing += found.differing as u64;
        self.beyond += found.beyond as u64;
        if let Some(largest) = found.max_abs {
            self.max_abs = Some(self.max_abs.unwrap_or(0.0).max(largest));
        }
    }
}
