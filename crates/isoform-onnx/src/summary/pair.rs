//! How two models differ, in numbers.

use std::collections::BTreeSet;

use isoform::{Ref, Result, Value};
use isoform_kernels::Control;

use super::dims::Dims;
use super::pairing::pair_weights;
use super::weights::{WeightsDifference, measure_weights};
use super::{ModelSummary, Operator, ValueSummary};
use crate::ir::Program;

/// A property of both models, or of only one model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Changed<T> {
    /// The property of the left model.
    pub left: Option<T>,
    /// The property of the right model.
    pub right: Option<T>,
}

/// How often two models apply an operator or local function.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OperatorDifference {
    /// The operator.
    pub operator: Operator,
    /// The number of nodes of the left model.
    pub left: usize,
    /// The number of nodes of the right model.
    pub right: usize,
}

impl OperatorDifference {
    /// How many more nodes the right model has; below 0 if it has fewer. O(1).
    #[must_use]
    pub fn change(&self) -> i64 {
        self.right as i64 - self.left as i64
    }
}

/// How two models differ, in numbers.
///
/// The text is the output of the command `isoform summary` for two files.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ModelsSummary {
    /// The left model.
    pub left: ModelSummary,
    /// The right model.
    pub right: ModelSummary,
    /// The domains whose operator sets differ, with the versions used by nodes.
    pub opsets: Vec<(String, Changed<BTreeSet<i64>>)>,
    /// The inputs that differ in name or type, by position. Names of dimensions are
    /// ignored: inputs differ if the models use a dimension in different places.
    pub inputs: Vec<(usize, Changed<ValueSummary>)>,
    /// The outputs that differ in name or type, by position, compared like `inputs`.
    pub outputs: Vec<(usize, Changed<ValueSummary>)>,
    /// The operators of both models, including operators with equal counts.
    pub operators: Vec<OperatorDifference>,
    /// How far the weights are apart.
    pub weights: WeightsDifference,
}

impl ModelsSummary {
    /// The summary of two programs, whose weights are paired by [`pair_weights`]. Costs
    /// as much as [`isoform::compare::diff`], plus O(nodes × depth of bodies), and
    /// linear in the bytes of weights that do not share memory.
    ///
    /// # Errors
    ///
    /// As [`pair_weights`] and [`measure_weights`].
    pub fn new(left: &Ref<Program>, right: &Ref<Program>, control: &Control<'_>) -> Result<Self> {
        let weights = measure_weights(&pair_weights(left, right)?, None, control)?;
        Ok(Self::with_weights(left, right, weights))
    }

    /// The summary of two programs with already measured weights, paired like in a
    /// diff. O(nodes × depth of bodies).
    #[must_use]
    pub fn with_weights(left: &Program, right: &Program, weights: WeightsDifference) -> Self {
        Self::of(left, right, weights, true)
    }

    /// [`with_weights`](Self::with_weights) in which the names of inputs and outputs may not
    /// count.
    pub(crate) fn of(
        l: &Program,
        r: &Program,
        weights: WeightsDifference,
        names_count: bool,
    ) -> Self {
        let (left, right) = (ModelSummary::new(l), ModelSummary::new(r));
        let domains: BTreeSet<&String> = left.opsets.keys().chain(right.opsets.keys()).collect();
        let opsets = domains.into_iter().filter_map(|domain| {
            let versions = [&left, &right].map(|summary| summary.opsets.get(domain).cloned());
            Some((domain.clone(), changed(versions)?))
        });
        let operators: BTreeSet<&Operator> = left
            .operators
            .keys()
            .chain(right.operators.keys())
            .collect();
        let operators = operators.into_iter().map(|operator| {
            let count =
                |summary: &ModelSummary| summary.operators.get(operator).copied().unwrap_or(0);
            OperatorDifference {
                operator: operator.clone(),
                left: count(&left),
                right: count(&right),
            }
        });
        let mut dims = Dims::default();
        let types = [l, r].map(|program| {
            program
                .graph
                .params
                .iter()
                .map(|input| input.ty.clone())
                .collect()
        });
        let inputs = values([&left.inputs, &right.inputs], types, &mut dims, names_count);
        let types = [l, r].map(|program| program.graph.result_types.values().to_vec());
        let outputs = values(
            [&left.outputs, &right.outputs],
            types,
            &mut dims,
            names_count,
        );
        ModelsSummary {
            opsets: opsets.collect(),
            inputs,
            outputs,
            operators: operators.collect(),
            weights,
            left,
            right,
        }
    }
}

/// Both sides, if they differ.
fn changed<T: PartialEq>([left, right]: [Option<T>; 2]) -> Option<Changed<T>> {
    (left != right).then_some(Changed { left, right })
}

/// The inputs or outputs that differ.
fn values(
    sides: [&Vec<ValueSummary>; 2],
    types: [Vec<Value>; 2],
    dims: &mut Dims,
    names_count: bool,
) -> Vec<(usize, Changed<ValueSummary>)> {
    let [left, right] = sides;
    let mut is_same = |index: usize| {
        let both = |types: &[Vec<Value>; 2]| {
            Some((types[0].get(index)?.clone(), types[1].get(index)?.clone()))
        };
        let Some((l, r)) = both(&types) else {
            return false;
        };
        let is_named = !names_count || left[index].name == right[index].name;
        dims.are_same(&l, &r) && is_named
    };
    let positions = 0..left.len().max(right.len());
    let differing = positions.filter(|index| !is_same(*index));
    differing
        .map(|index| {
            let [left, right] = sides.map(|side| side.get(index).cloned());
            (index, Changed { left, right })
        })
        .collect()
}
