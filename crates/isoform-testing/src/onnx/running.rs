//! Runs programs, and compares results.

use isoform::values::{Shape, Tensor};
use isoform::{Ref, Value};
use isoform_onnx::ElemType;
use isoform_onnx::eval::{Control, run};
use isoform_onnx::ir::{Call, Program, StringTensor};

use super::build::{self, Callee};
use super::programs::RandomProgram;
use super::rebuild::replace_values;

/// The results of a program under both assignments.
pub(super) type Results = [Vec<Value>; 2];

/// Runs a program on the drawn inputs.
///
/// Calls of random operators give a number that depends only on their seed, to make a
/// program and its optimised form comparable.
///
/// # Errors
///
/// The reason why it has no results.
pub(super) fn results(drawn: &RandomProgram, program: &Ref<Program>) -> Result<Results, String> {
    let program = without_random(program)?;
    let mut both: Results = [Vec::new(), Vec::new()];
    for (which, inputs) in drawn.inputs.iter().enumerate() {
        let control = Control::default();
        both[which] = run(&program, inputs, &control).map_err(|error| error.to_string())?;
    }
    Ok(both)
}

/// The program with a constant of the same size for each random tensor.
fn without_random(program: &Ref<Program>) -> Result<Ref<Program>, String> {
    let replaced = replace_values(program, |output| {
        let call = &output.call;
        let op = call.standard_op().filter(|op| op.starts_with("Random"))?;
        let seed = call.float("seed").ok().flatten()?;
        let number = (seed as f32).to_le_bytes().to_vec();
        let one = build::tensor(ElemType::Float, &[1], &[number]);
        let shape = if op.ends_with("Like") {
            let shape = standard("Shape", call, vec![call.inputs.values()[0].clone()], None);
            build::output(&shape, 0)
        } else {
            let shape = call.ints("shape").ok().flatten()?;
            build::ints(&[shape.len() as i64], &shape)
        };
        let filled = standard("ConstantOfShape", call, vec![shape], Some(("value", one)));
        Some(build::output(&filled, 0))
    });
    replaced.map_err(|error| format!("{error:#}"))
}

fn standard(
    op: &'static str,
    like: &Call,
    inputs: Vec<Value>,
    attr: Option<(&'static str, Value)>,
) -> Ref<Call> {
    let attrs = attr.into_iter().map(|(name, value)| (name.into(), value));
    build::call(Callee::Operator("", op, like.version), attrs, inputs, 1, 0)
}

/// The number of calls with results that differ from run to run.
pub(super) fn random_calls(program: &Ref<Program>) -> usize {
    let listing = isoform_onnx::layout::list(program);
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes.filter(|node| is_random(&node.call)).count()
}

/// True for an operator that draws numbers; a Dropout in the programs counted here is
/// always in training.
fn is_random(call: &Call) -> bool {
    call.standard_op().is_some_and(|op| {
        op.starts_with("Random") || matches!(op, "Bernoulli" | "Multinomial" | "Dropout")
    })
}

/// The shape and element type of a result, as text.
pub(super) fn type_of(value: &Value) -> (Option<ElemType>, Vec<i64>) {
    if let Some(tensor) = value.peek::<Tensor>() {
        let elem = ElemType::ALL
            .iter()
            .copied()
            .filter(|elem| build::is_drawn(*elem))
            .find(|elem| build::dtype(*elem) == Some(tensor.dtype()));
        return (elem, tensor.shape().to_vec());
    }
    let strings = value
        .as_object()
        .and_then(|object| object.downcast_ref::<StringTensor>());
    match strings {
        Some(strings) => (Some(ElemType::String), sizes(&strings.shape)),
        None => (None, Vec::new()),
    }
}

fn sizes(shape: &Shape) -> Vec<i64> {
    shape.iter().copied().collect()
}

/// True if two results consist of the same bits; `tolerance` allows floats to differ by
/// so much of the largest number.
pub(super) fn agree(left: &Value, right: &Value, tolerance: Option<f64>) -> bool {
    match (left.peek::<Tensor>(), right.peek::<Tensor>()) {
        (Some(left), Some(right)) => {
            if left.dtype() != right.dtype() || left.shape() != right.shape() {
                return false;
            }
            left.data() == right.data()
                || same_but_nan(left, right)
                || tolerance.is_some_and(|tolerance| are_near(left, right, tolerance))
        }
        // Strings have only one form.
        _ => isoform::structural_equal(left, right).unwrap_or(false),
    }
}

/// True if two tensors differ only in the kind of NaN of an element, where the first
/// tensor has the NaN that arithmetic gives.
///
/// The standard leaves the payload open: `x * 1` may be x. Where nothing was computed,
/// the payload stays.
fn same_but_nan(left: &Tensor, right: &Tensor) -> bool {
    let bits = left.dtype().bits();
    let computed = match (floats(left).is_some(), bits) {
        (true, 64) => 0x7ff8_0000_0000_0000_u64.to_le_bytes().to_vec(),
        (true, 32) => 0x7fc0_0000_u32.to_le_bytes().to_vec(),
        (true, 16) if left.dtype() == build::dtype(ElemType::Bfloat16).unwrap_or(left.dtype()) => {
            0x7fc0_u16.to_le_bytes().to_vec()
        }
        (true, 16) => 0x7e00_u16.to_le_bytes().to_vec(),
        _ => return false,
    };
    let (Some(numbers), width) = (floats(right), computed.len()) else {
        return false;
    };
    let elements = left.data().chunks(width).zip(right.data().chunks(width));
    elements
        .zip(numbers)
        .all(|((left, right), number)| left == right || left == computed && number.is_nan())
}

/// The numbers of a tensor of floats.
fn floats(tensor: &Tensor) -> Option<Vec<f64>> {
    let bytes = tensor.data();
    let wide = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
    let code = ElemType::ALL
        .iter()
        .copied()
        .filter(|elem| build::is_drawn(*elem))
        .find(|elem| build::dtype(*elem) == Some(tensor.dtype()))?;
    Some(match code {
        ElemType::Float => {
            let chunks = bytes.as_chunks::<4>().0.iter();
            chunks
                .map(|chunk| f64::from(f32::from_le_bytes(*chunk)))
                .collect()
        }
        ElemType::Double => {
            let chunks = bytes.as_chunks::<8>().0.iter();
            chunks.map(|chunk| f64::from_le_bytes(*chunk)).collect()
        }
        ElemType::Bfloat16 => {
            let chunks = bytes.as_chunks::<2>().0.iter();
            chunks
                .map(|chunk| wide(u16::from_le_bytes(*chunk)))
                .collect()
        }
        ElemType::Float16 => {
            let chunks = bytes.as_chunks::<2>().0.iter();
            chunks
                .map(|chunk| from_half(u16::from_le_bytes(*chunk)))
                .collect()
        }
        _ => return None,
    })
}

/// The number of a float of 16 bits.
fn from_half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2.0_f64.powi(exponent - 15),
    }
}

fn are_near(left: &Tensor, right: &Tensor, tolerance: f64) -> bool {
    let (Some(left), Some(right)) = (floats(left), floats(right)) else {
        return false;
    };
    let finite = left.iter().filter(|number| number.is_finite());
    let most = finite.fold(1.0_f64, |most, number| most.max(number.abs()));
    left.iter().zip(&right).all(|(left, right)| {
        left == right || left.is_nan() && right.is_nan() || (left - right).abs() <= tolerance * most
    })
}

/// The first differing result, in text for people.
pub(super) fn difference(
    expected: &Results,
    got: &Results,
    tolerance: Option<f64>,
) -> Option<String> {
    for which in 0..2 {
        if expected[which].len() != got[which].len() {
            let (expected, got) = (expected[which].len(), got[which].len());
            return Some(format!("expected {expected} results, got {got}"));
        }
        for (position, (left, right)) in expected[which].iter().zip(&got[which]).enumerate() {
            if !agree(left, right, tolerance) {
                return Some(format!(
                    "result {position} with sizes {which}: expected {}, got {}",
                    shown(left),
                    shown(right)
                ));
            }
        }
    }
    None
}

/// A value with type, shape and the first bytes.
pub(super) fn shown(value: &Value) -> String {
    match value.peek::<Tensor>() {
        Some(tensor) => {
            let bytes = &tensor.data()[..tensor.data().len().min(48)];
            format!(
                "{} {:?} of {bytes:02x?} {:?}",
                tensor.dtype(),
                tensor.shape(),
                floats(tensor).map(|numbers| numbers.into_iter().take(12).collect::<Vec<_>>())
            )
        }
        None => isoform::objects::repr(value).to_string(),
    }
}
