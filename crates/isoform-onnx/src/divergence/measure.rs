//! How far two values are apart.

use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use isoform::{Value, structural_equal};
use isoform_ir::kernels::{InputError, tensor_difference};
use isoform_kernels::Control;
use isoform_kernels::difference::{Difference, Tolerance};

use super::outcome::PairStatus;
use super::quantization::{Quantization, cast, dequantized, is_integer, is_small_integer};
use crate::ir::StringTensor;

/// The distance of two values.
#[derive(Clone, Debug)]
pub(super) struct Distance {
    pub(super) status: PairStatus,
    pub(super) shape: Vec<i64>,
    pub(super) types: [String; 2],
    pub(super) numbers: Option<Difference>,
    pub(super) count: usize,
    pub(super) beyond: usize,
    pub(super) note: String,
}

impl Distance {
    pub(super) fn skipped(reason: String) -> Self {
        Distance {
            status: PairStatus::Skipped,
            shape: Vec::new(),
            types: [String::new(), String::new()],
            numbers: None,
            count: 0,
            beyond: 0,
            note: reason,
        }
    }

    /// The distance with the larger error, for one pair and several sets of inputs.
    pub(super) fn worse(self, other: Distance) -> Distance {
        let size = |distance: &Distance| {
            let numbers = distance.numbers.as_ref();
            numbers
                .and_then(|numbers| numbers.relative_l2)
                .unwrap_or(0.0)
        };
        let keys = [(self.status, size(&self)), (other.status, size(&other))];
        if keys[1]
            .partial_cmp(&keys[0])
            .is_some_and(std::cmp::Ordering::is_gt)
        {
            other
        } else {
            self
        }
    }
}

/// Compares two values; the right value is the expected one, as for `numpy.isclose`. Elements
/// of a sequence are compared one by one, and the worst counts. O(elements).
///
/// # Errors
///
/// Only interruption.
pub(super) fn distance(
    (left, right): (&Value, &Value),
    quantization: [Option<&Quantization>; 2],
    tolerance: Tolerance,
    control: &Control<'_>,
) -> isoform::Result<Distance> {
    if let (ValueRef::Array(lefts), ValueRef::Array(rights)) = (left.view(), right.view()) {
        let shape = vec![lefts.len() as i64];
        if lefts.len() != rights.len() {
            let note = format!(
                "{} values in a sequence against {}",
                lefts.len(),
                rights.len()
            );
            return Ok(whole(left, right, shape, PairStatus::Different, note));
        }
        let mut worst = whole(left, right, shape, PairStatus::Same, String::new());
        for (left, right) in lefts.values().iter().zip(rights.values()) {
            let element = single((left, right), [None; 2], tolerance, control)?;
            worst = worst.worse(element);
        }
        return Ok(worst);
    }
    single((left, right), quantization, tolerance, control)
}

/// Compares two values that are no sequences; nested sequences are equal or different.
fn single(
    (left, right): (&Value, &Value),
    quantization: [Option<&Quantization>; 2],
    tolerance: Tolerance,
    control: &Control<'_>,
) -> isoform::Result<Distance> {
    if let (ValueRef::Tensor(l), ValueRef::Tensor(r)) = (left.view(), right.view()) {
        return tensors((l, r), quantization, tolerance, control);
    }
    let strings = |value: &Value| {
        let object = value.as_object()?.downcast_ref::<StringTensor>()?;
        Some((object.shape.to_vec(), object.values.clone()))
    };
    if let (Some((shape, l)), Some((other, r))) = (strings(left), strings(right)) {
        if shape != other {
            let note = format!("shape {shape:?} against {other:?}");
            return Ok(whole(left, right, shape, PairStatus::Different, note));
        }
        let beyond = l
            .iter()
            .zip(r.iter())
            .filter(|(l, r)| l[..] != r[..])
            .count();
        let (status, note) = match beyond {
            0 => (PairStatus::Same, String::new()),
            _ => (PairStatus::Different, "strings differ".to_owned()),
        };
        let types = ["string", "string"].map(str::to_owned);
        let count = l.len();
        let distance = whole(left, right, shape, status, note);
        return Ok(Distance {
            types,
            count,
            beyond,
            ..distance
        });
    }
    Ok(match structural_equal(left, right) {
        Ok(true) => whole(left, right, Vec::new(), PairStatus::Same, String::new()),
        _ => {
            let note = format!("{} against {}", left.type_name(), right.type_name());
            whole(left, right, Vec::new(), PairStatus::Different, note)
        }
    })
}

/// A distance without numbers.
fn whole(
    left: &Value,
    right: &Value,
    shape: Vec<i64>,
    status: PairStatus,
    note: String,
) -> Distance {
    Distance {
        status,
        shape,
        types: [left, right].map(|value| value.type_name().to_string()),
        numbers: None,
        count: 0,
        beyond: 0,
        note,
    }
}

fn tensors(
    (left, right): (&Tensor, &Tensor),
    quantization: [Option<&Quantization>; 2],
    tolerance: Tolerance,
    control: &Control<'_>,
) -> isoform::Result<Distance> {
    let count = left
        .shape()
        .iter()
        .map(|size| size.unsigned_abs() as usize)
        .product();
    let mut distance = Distance {
        status: PairStatus::Different,
        shape: left.shape().to_vec(),
        types: [left, right].map(|tensor| tensor.dtype().to_string()),
        numbers: None,
        count,
        beyond: 0,
        note: String::new(),
    };
    if left.shape() != right.shape() {
        distance.note = format!("shape {:?} against {:?}", left.shape(), right.shape());
        return Ok(distance);
    }
    let (left, right) = match comparable([left, right], quantization) {
        Ok((left, right, note)) => {
            distance.note = note;
            (left, right)
        }
        Err(reason) => {
            distance.status = PairStatus::Skipped;
            distance.note = reason;
            return Ok(distance);
        }
    };
    // Whole numbers are either right or wrong.
    let is_exact = is_integer(left.dtype()) || left.dtype().code() == DTypeCode::Bool;
    let tolerance = Some(tolerance).filter(|_| !is_exact);
    match tensor_difference(&left, &right, tolerance, control) {
        Ok(numbers) => {
            distance.beyond = numbers.beyond;
            distance.status = match (numbers.differing, numbers.beyond) {
                (0, _) => PairStatus::Same,
                (_, 0) => PairStatus::Close,
                _ => PairStatus::Different,
            };
            distance.numbers = Some(numbers);
        }
        Err(InputError::Unknown(error)) => return Err(error),
        Err(InputError::Kernel(error)) => {
            distance.status = PairStatus::Skipped;
            distance.note = error.to_string();
        }
    }
    Ok(distance)
}

/// Both tensors with elements of one type, and the remark how they got it; otherwise the
/// reason why they cannot be compared.
fn comparable(
    tensors: [&Tensor; 2],
    quantization: [Option<&Quantization>; 2],
) -> Result<(Tensor, Tensor, String), String> {
    let types = tensors.map(Tensor::dtype);
    let small = types.map(is_small_integer);
    let is_quantized = match small {
        [true, true] => quantization.iter().all(Option::is_some),
        [true, false] | [false, true] => true,
        [false, false] => false,
    };
    let mut values = tensors.map(|tensor| Value::from(tensor.clone()));
    let mut notes = Vec::new();
    if is_quantized && !(is_integer(types[0]) && is_integer(types[1]) && small[0] != small[1]) {
        for (side, name) in ["left", "right"].into_iter().enumerate() {
            if !small[side] {
                continue;
            }
            let Some(by) = quantization[side] else {
                return Err(format!(
                    "{} on the left and {} on the right, without a constant scale and zero point",
                    types[0], types[1]
                ));
            };
            values[side] = dequantized(&values[side], by)?;
            notes.push(name);
        }
    }
    let [left, right] = values
        .each_ref()
        .map(|value| value.peek::<Tensor>().cloned());
    let (Some(mut left), Some(mut right)) = (left, right) else {
        return Err("the values are no tensors".to_owned());
    };
    if left.dtype() != right.dtype() {
        let is_number = |dtype: DType| {
            is_integer(dtype) || matches!(dtype.code(), DTypeCode::Float | DTypeCode::BFloat)
        };
        let [l, r] = [left.dtype(), right.dtype()];
        if !is_number(l) || !is_number(r) || is_integer(l) != is_integer(r) {
            return Err(format!("{l} on the left and {r} on the right"));
        }
        let double = DType::new(DTypeCode::Float, 64);
        for tensor in [&mut left, &mut right] {
            let wide = cast(&Value::from(tensor.clone()), double)?;
            *tensor = wide
                .peek::<Tensor>()
                .cloned()
                .ok_or("a cast gives a tensor")?;
        }
    }
    let note = match notes.as_slice() {
        [] => String::new(),
        sides => format!("dequantized on the {}", sides.join(" and the ")),
    };
    Ok((left, right, note))
}
