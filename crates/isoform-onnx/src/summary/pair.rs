//! How two models differ, in numbers.

use std::collections::BTreeSet;

use isoform::Result;
use isoform_kernels::Control;

use super::weights::{WeightsDifference, measure_weights, pair_weights};
use super::{ModelSummary, Operator, ValueSummary};
use crate::ir::Program;

/// Something that both models may have, or only one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed<T> {
    /// That of the left model.
    pub left: Option<T>,
    /// That of the right model.
    pub right: Option<T>,
}

/// How often two models apply an operator or local function.
#[derive(Clone, Debug, PartialEq, Eq)]
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
/// Its text is that of the command `isoform summary` for two files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelsSummary {
    /// The left model.
    pub left: ModelSummary,
    /// The right model.
    pub right: ModelSummary,
    /// The domains whose operator sets differ, with the versions that nodes use.
    pub opsets: Vec<(String, Changed<BTreeSet<i64>>)>,
    /// The inputs that differ in name or type, by position.
    pub inputs: Vec<(usize, Changed<ValueSummary>)>,
    /// The outputs that differ in name or type, by position.
    pub outputs: Vec<(usize, Changed<ValueSummary>)>,
    /// The operators of both models, also those that they have equally often.
    pub operators: Vec<OperatorDifference>,
    /// How far the weights are apart.
    pub weights: WeightsDifference,
}

impl ModelsSummary {
    /// The summary of two programs, whose weights are paired by [`pair_weights`].
    /// O(nodes × depth of bodies), and linear in the bytes of weights that are not the same
    /// memory.
    ///
    /// # Errors
    ///
    /// As [`measure_weights`].
    pub fn new(left: &Program, right: &Program, control: &Control<'_>) -> Result<Self> {
        let weights = measure_weights(&pair_weights(left, right)?, None, control)?;
        Ok(Self::with_weights(left, right, weights))
    }

    /// The summary of two programs with weights that are already measured, as a diff pairs
    /// them. O(nodes × depth of bodies).
    #[must_use]
    pub fn with_weights(left: &Program, right: &Program, weights: WeightsDifference) -> Self {
        let (left, right) = (ModelSummary::new(left), ModelSummary::new(right));
        let domains: BTreeSet<&String> = left.opsets.keys().chain(right.opsets.keys()).collect();
        let opsets = domains.into_iter().filter_map(|domain| {
            let versions = [&left, &right].map(|it| it.opsets.get(domain).cloned());
            Some((domain.clone(), changed(versions)?))
        });
        let operators: BTreeSet<&Operator> = left
            .operators
            .keys()
            .chain(right.operators.keys())
            .collect();
        let operators = operators.into_iter().map(|operator| {
            let count = |it: &ModelSummary| it.operators.get(operator).copied().unwrap_or(0);
            OperatorDifference {
                operator: operator.clone(),
                left: count(&left),
                right: count(&right),
            }
        });
        ModelsSummary {
            opsets: opsets.collect(),
            inputs: values(&left.inputs, &right.inputs),
            outputs: values(&left.outputs, &right.outputs),
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

fn values(left: &[ValueSummary], right: &[ValueSummary]) -> Vec<(usize, Changed<ValueSummary>)> {
    let positions = 0..left.len().max(right.len());
    let differing = positions.filter_map(|at| {
        let sides = [left, right].map(|side| side.get(at).cloned());
        Some((at, changed(sides)?))
    });
    differing.collect()
}
