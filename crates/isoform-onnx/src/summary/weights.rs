//! Paired weights of two models, and their distances.

use isoform::errors::ErrorKind;
use isoform::values::Tensor;
use isoform::{Error, Ref, Result, Str, Value};
use isoform_ir::kernels::{InputError, number_difference, tensor_difference};
use isoform_kernels::difference::{Difference, Tolerance};
use isoform_kernels::{Control, ErrorKind as KernelErrorKind};

use crate::elements::{element_count, tensor_type};
use crate::eval::Refusal;
use crate::eval::call::compute;
use crate::ir::Call;
use crate::values::tensor;

/// A constant tensor of numbers that is an input of a node, a result, or the default of an
/// input.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Weight {
    /// The name in the file where the weight is first used.
    pub name: Str,
    /// The elements of the weight.
    pub tensor: Tensor,
    /// The nodes, in order, between the weight and the node whose input is the weight's
    /// partner: DequantizeLinear, for example.
    pub decoding: Vec<Ref<Call>>,
}

/// Weights of two models that belong together.
#[derive(Clone, Debug, Default)]
pub struct WeightPairs {
    /// The left weight and the right weight of each pair.
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
    /// The distance of the two weights: as numbers if their types differ, and after
    /// [`Weight::decoding`]. None if their shapes differ, or if they are not numbers.
    pub difference: Option<Difference>,
}

/// How far the weights of two models are apart.
#[derive(Clone, Debug, Default, serde::Serialize)]
#[non_exhaustive]
pub struct WeightsDifference {
    /// The number of pairs.
    pub pairs: usize,
    /// The pairs whose types, shapes or elements differ, in the order of the left model.
    pub changed: Vec<MeasuredWeight>,
    /// Names of weights of the left model without a partner.
    #[serde(serialize_with = "crate::data::texts")]
    pub left_only: Vec<Str>,
    /// Names of weights of the right model without a partner.
    #[serde(serialize_with = "crate::data::texts")]
    pub right_only: Vec<Str>,
    /// The number of elements in all pairs that were measured.
    pub elements: u64,
    /// The number of these elements that differ.
    pub differing: u64,
    /// The number of elements that differ by more than the tolerance, if given.
    #[serde(skip)]
    pub beyond: u64,
    /// The largest distance of two elements of all pairs; None without pairs of numbers.
    pub max_abs: Option<f64>,
}

/// Measures pairs of weights, from [`pair_weights`](super::pair_weights) or from a diff. Linear in the bytes of
/// the weights.
///
/// # Errors
///
/// `RuntimeError` if `control` interrupts it.
pub fn measure_weights(
    weights: &WeightPairs,
    tolerance: Option<Tolerance>,
    control: &Control<'_>,
) -> Result<WeightsDifference> {
    let names = |weights: &[Weight]| weights.iter().map(|weight| weight.name.clone()).collect();
    let mut total = WeightsDifference {
        pairs: weights.pairs.len(),
        left_only: names(&weights.left_only),
        right_only: names(&weights.right_only),
        ..Default::default()
    };
    for (left, right) in &weights.pairs {
        let forms = [left, right].map(|weight| (weight.tensor.dtype(), weight.tensor.shape()));
        let is_one_form = forms[0] == forms[1];
        let difference = if is_one_form {
            let difference = tensor_difference(&left.tensor, &right.tensor, tolerance, control);
            Some(difference.map_err(failure)?)
        } else {
            as_numbers(left, right, control)?
        };
        if let Some(difference) = &difference {
            total.add(difference);
        }
        if !is_one_form || difference.is_none_or(|difference| difference.differing > 0) {
            total.changed.push(MeasuredWeight {
                left: left.clone(),
                right: right.clone(),
                difference,
            });
        }
    }
    Ok(total)
}

/// The distance of two weights of different types, after decoding. None unless the
/// decoded weights are numbers in the same shape.
fn as_numbers(left: &Weight, right: &Weight, control: &Control<'_>) -> Result<Option<Difference>> {
    let (Some(left), Some(right)) = (decoded(left, control)?, decoded(right, control)?) else {
        return Ok(None);
    };
    if left.shape() != right.shape() {
        return Ok(None);
    }
    match number_difference(&left, &right, control) {
        Ok(found) => Ok(Some(found)),
        Err(InputError::Kernel(error)) if error.kind() == KernelErrorKind::Interrupted => {
            Err(failure(InputError::Kernel(error)))
        }
        Err(_) => Ok(None),
    }
}

/// The tensor made from a weight by [`Weight::decoding`]; None if unknown.
fn decoded(weight: &Weight, control: &Control<'_>) -> Result<Option<Tensor>> {
    let mut value = Value::from(weight.tensor.clone());
    for call in &weight.decoding {
        let rest = call
            .inputs
            .values()
            .iter()
            .skip(1)
            .map(|input| (!input.is_none()).then(|| input.clone()));
        let inputs: Vec<Option<Value>> = std::iter::once(Some(value)).chain(rest).collect();
        value = match compute(call, &inputs, control, false) {
            Ok(results) => match results.into_iter().next() {
                Some(result) => result,
                None => return Ok(None),
            },
            Err(Refusal::Interrupted) => {
                let text = Refusal::Interrupted.to_string();
                return Err(Error::new(ErrorKind::Runtime, text));
            }
            Err(Refusal::Unknown(_)) => return Ok(None),
        };
    }
    Ok(tensor(&value).cloned())
}

fn failure(error: InputError) -> Error {
    match error {
        InputError::Unknown(error) => error,
        InputError::Kernel(error) => Error::new(ErrorKind::Runtime, error.to_string()),
    }
}

impl MeasuredWeight {
    /// True if both weights have the same type and shape. The stored elements are then
    /// compared.
    pub(crate) fn is_of_one_form(&self) -> bool {
        let [left, right] = [&self.left, &self.right].map(|it| &it.tensor);
        (left.dtype(), left.shape()) == (right.dtype(), right.shape())
    }

    /// The types of both sides; for two different forms, with the operators that decode the
    /// weights.
    #[must_use]
    pub fn types(&self) -> String {
        if self.is_of_one_form() {
            tensor_type(&self.left.tensor)
        } else {
            format!("{} -> {}", self.left.ty(), self.right.ty())
        }
    }
}

impl Weight {
    /// The type, like `float32[64, 3]`, with the operators that decode the weight.
    /// O(rank).
    fn ty(&self) -> String {
        let mut text = tensor_type(&self.tensor);
        for (at, call) in self.decoding.iter().enumerate() {
            text.push_str(if at == 0 { " after " } else { ", " });
            text.push_str(&call.shown_op());
        }
        text
    }
}

impl WeightsDifference {
    /// The difference of pairs that are known to be equal. O(pairs).
    pub(crate) fn of_equal(found: &WeightPairs) -> Self {
        let elements = found.pairs.iter().map(|(it, _)| element_count(&it.tensor));
        WeightsDifference {
            pairs: found.pairs.len(),
            elements: elements.sum(),
            max_abs: (!found.pairs.is_empty()).then_some(0.0),
            ..Default::default()
        }
    }

    fn add(&mut self, found: &Difference) {
        self.elements += found.count as u64;
        self.differing += found.differing as u64;
        self.beyond += found.beyond as u64;
        if let Some(largest) = found.max_abs {
            self.max_abs = Some(self.max_abs.unwrap_or(0.0).max(largest));
        }
    }
}
