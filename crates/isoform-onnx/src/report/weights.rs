//! Weights as the diff pairs them, measured.

use std::collections::HashMap;

use isoform::compare::Difference;
use isoform::values::Tensor;
use isoform::{Result, Value};
use isoform_kernels::Control;
use isoform_kernels::difference::Tolerance;

use crate::ir::Program;
use crate::summary::{
    MeasuredWeight, WeightsDifference, identity, measure_weights, paired_weights,
};

/// The weights that differ, by more than a tolerance if given. Linear in the programs,
/// and in the bytes of the weights; weights are not read if the programs are equal.
pub(super) fn measured(
    tolerance: Option<Tolerance>,
    left: &Program,
    right: &Program,
    difference: &Difference,
    control: &Control<'_>,
) -> Result<WeightsDifference> {
    let pairs = paired_weights(left, right, difference)?;
    if difference.is_empty() && tolerance.is_none() {
        return Ok(WeightsDifference::of_equal(&pairs));
    }
    let mut found = measure_weights(&pairs, tolerance, control)?;
    if tolerance.is_some() {
        found
            .changed
            .retain(|it| !it.is_of_one_form() || it.difference.is_none_or(|it| it.beyond > 0));
    }
    Ok(found)
}

/// The weights that differ, by both tensors.
pub(super) struct Measured<'w>(HashMap<(u64, u64), &'w MeasuredWeight>);

impl<'w> Measured<'w> {
    pub(super) fn new(found: &'w WeightsDifference) -> Self {
        let changed = found.changed.iter();
        Measured(
            changed
                .map(|it| (key(&it.left.tensor, &it.right.tensor), it))
                .collect(),
        )
    }

    pub(super) fn get(&self, left: &Tensor, right: &Tensor) -> Option<&'w MeasuredWeight> {
        self.0.get(&key(left, right)).copied()
    }
}

fn key(left: &Tensor, right: &Tensor) -> (u64, u64) {
    let of = |tensor: &Tensor| identity(&Value::from(tensor.clone()));
    (of(left), of(right))
}

/// The distance of two weights for sorting: relative to the left weight. Weights
/// without numbers come first.
pub(super) fn apart(found: &MeasuredWeight) -> f64 {
    let relative = found.difference.and_then(|it| it.relative_l2);
    relative.unwrap_or(f64::INFINITY)
}
