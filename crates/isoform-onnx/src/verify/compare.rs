//! Comparison of the results of two programs.

use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use isoform::{Value, structural_equal};
use isoform_ir::kernels::{InputError, tensor_difference};
use isoform_kernels::Control;
use isoform_kernels::difference::Tolerance;

use super::outcome::{Difference, Outcome};
use crate::elem_type::ElemType;
use crate::ir::{Call, Output, Program};
use crate::layout::{attributes, list, operands};

/// A tolerance for results whose last bits may differ, after fusion or folding of all
/// operators.
pub const LOOSE: Tolerance = Tolerance {
    rtol: 1e-3,
    atol: 1e-5,
};

/// A tolerance for runtimes that compute 16-bit floats in steps of their choice.
pub const HALF: Tolerance = Tolerance {
    rtol: 2e-3,
    atol: 2e-3,
};

/// The larger of each.
pub(crate) fn wider(one: Tolerance, other: Tolerance) -> Tolerance {
    Tolerance {
        rtol: one.rtol.max(other.rtol),
        atol: one.atol.max(other.atol),
    }
}

/// The name of each output of a program, and the node that computes the output.
pub(super) fn output_names(program: &Program) -> Vec<(String, String)> {
    let graph = &program.graph;
    let results = graph.results.values().iter().enumerate();
    results
        .map(|(position, value)| {
            let name = graph
                .result_names
                .get(position)
                .map_or_else(|| format!("#{position}"), ToString::to_string);
            let output = value.as_object().and_then(|it| it.downcast_ref::<Output>());
            let node = output.map_or_else(String::new, |it| described(&it.call));
            (name, node)
        })
        .collect()
}

fn described(call: &Call) -> String {
    match call.name.as_str() {
        "" => call.op_name.to_string(),
        name => format!("{} '{name}'", call.op_name),
    }
}

/// The attributes that determine the element type of a result.
const ELEM_ATTRS: [&str; 5] = [
    "to",
    "dtype",
    "output_dtype",
    "stash_type",
    "output_datatype",
];

/// True if a program computes in 16-bit floats anywhere, judged by its inputs,
/// constants, and attributes that name an element type. Linear in the program.
pub(crate) fn has_half(program: &Program) -> bool {
    let is_half = |dtype: DType| {
        matches!(dtype.code(), DTypeCode::Float | DTypeCode::BFloat) && dtype.bits() == 16
    };
    let in_value = |value: &Value| match value.view() {
        ValueRef::Tensor(tensor) => is_half(tensor.dtype()),
        _ => false,
    };
    let in_type = |ty: &Value| {
        let ty = ty
            .as_object()
            .and_then(|object| object.downcast_ref::<crate::ir::TensorType>());
        ty.is_some_and(|ty| matches!(ty.elem.view(), ValueRef::DType(dtype) if is_half(dtype)))
    };
    let listing = list(program);
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    let inputs = listing
        .bodies
        .iter()
        .flat_map(|body| body.kind.params().iter());
    inputs.map(|input| &input.ty).any(in_type)
        || nodes.map(|node| &node.call).any(|call| {
            let half = |name: &&str| {
                let elem = call.elem(name).ok().flatten();
                elem.and_then(ElemType::dtype).is_some_and(is_half)
            };
            ELEM_ATTRS.iter().any(half)
                || operands(call).into_iter().any(in_value)
                || attributes(call)
                    .into_iter()
                    .any(|(_, value)| in_value(value))
        })
}

/// The outcome for the results of two programs.
pub(super) fn outcome(
    names: &[(String, String)],
    expected: &[Value],
    actual: &[Value],
    tolerance: Option<Tolerance>,
) -> Outcome {
    if expected.len() != actual.len() {
        return Outcome::Different(vec![Difference {
            output: String::new(),
            node: String::new(),
            reason: format!("expected {} outputs, got {}", expected.len(), actual.len()),
            max_abs: None,
        }]);
    }
    let mut differences = Vec::new();
    let mut largest: Option<f64> = None;
    for (position, (left, right)) in expected.iter().zip(actual).enumerate() {
        let (output, node) = names.get(position).cloned().unwrap_or_default();
        match values(left, right, tolerance) {
            Verdict::Same => {}
            Verdict::Close(max_abs) => largest = Some(largest.unwrap_or(0.0).max(max_abs)),
            Verdict::Different(reason, max_abs) => differences.push(Difference {
                output,
                node,
                reason,
                max_abs,
            }),
        }
    }
    match (differences.is_empty(), largest) {
        (false, _) => Outcome::Different(differences),
        (true, Some(max_abs)) => Outcome::Close { max_abs },
        (true, None) => Outcome::Same,
    }
}

enum Verdict {
    Same,
    Close(f64),
    Different(String, Option<f64>),
}

/// Compares two values; sequences are compared element by element.
fn values(left: &Value, right: &Value, tolerance: Option<Tolerance>) -> Verdict {
    match (left.view(), right.view()) {
        (ValueRef::Tensor(left), ValueRef::Tensor(right)) => tensors(left, right, tolerance),
        (ValueRef::Array(left), ValueRef::Array(right)) => {
            if left.len() != right.len() {
                let (left, right) = (left.len(), right.len());
                let reason = format!("expected a sequence of {left} values, got {right}");
                return Verdict::Different(reason, None);
            }
            let mut result = Verdict::Same;
            for (left, right) in left.values().iter().zip(right.values()) {
                match (values(left, right, tolerance), &result) {
                    (Verdict::Same, _) => {}
                    (Verdict::Close(new), Verdict::Close(old)) => {
                        result = Verdict::Close(new.max(*old));
                    }
                    (close @ Verdict::Close(_), _) => result = close,
                    (different @ Verdict::Different(..), _) => return different,
                }
            }
            result
        }
        _ if structural_equal(left, right).unwrap_or(false) => Verdict::Same,
        _ => {
            let (left, right) = (left.type_name(), right.type_name());
            let reason = if left == right {
                "the values differ".to_owned()
            } else {
                format!("expected {left}, got {right}")
            };
            Verdict::Different(reason, None)
        }
    }
}

fn tensors(left: &Tensor, right: &Tensor, tolerance: Option<Tolerance>) -> Verdict {
    if (left.dtype(), left.shape()) != (right.dtype(), right.shape()) {
        let reason = format!(
            "expected {} {:?}, got {} {:?}",
            left.dtype(),
            left.shape(),
            right.dtype(),
            right.shape()
        );
        return Verdict::Different(reason, None);
    }
    // Whole numbers are either right or wrong, and so are codes that operators only
    // pass on.
    let has_tolerance = matches!(
        left.dtype().code(),
        DTypeCode::Float | DTypeCode::BFloat | DTypeCode::Complex
    );
    let tolerance = tolerance.filter(|_| has_tolerance);
    let control = Control::default();
    // The tolerance is relative to the second tensor.
    let difference = match tensor_difference(right, left, tolerance, &control) {
        Ok(difference) => difference,
        Err(InputError::Unknown(error)) => return Verdict::Different(error.to_string(), None),
        Err(InputError::Kernel(error)) => return Verdict::Different(error.to_string(), None),
    };
    match difference.max_abs {
        _ if difference.differing == 0 => Verdict::Same,
        Some(largest) if difference.beyond == 0 => Verdict::Close(largest),
        None => Verdict::Different("the elements differ".to_owned(), None),
        Some(largest) => {
            let (wrong, count) = (difference.beyond, difference.count);
            let reason = format!("{wrong} of {count} elements differ, by at most {largest:.3e}");
            Verdict::Different(reason, Some(largest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(numbers: &[f32]) -> Value {
        let data: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        let shape = vec![numbers.len() as i64];
        Tensor::new(DType::FLOAT32, shape, data).unwrap().into()
    }

    #[track_caller]
    fn check(left: &[f32], right: &[f32], tolerance: Option<Tolerance>, expected: &str) {
        let names = [("y".to_owned(), "Relu 'r'".to_owned())];
        let outcome = outcome(&names, &[floats(left)], &[floats(right)], tolerance);
        let text = match outcome {
            Outcome::Same => "same".to_owned(),
            Outcome::Close { max_abs } | Outcome::Rounded { max_abs } => {
                format!("close {max_abs:.1e}")
            }
            Outcome::Different(found) => found[0].to_string(),
            Outcome::NotRun { reason } => reason,
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn bits_count_but_for_nans() {
        let odd = f32::from_bits(0xffc0_0001);
        check(&[1.0, f32::NAN], &[1.0, odd], None, "same");
        let place = "output 'y' (Relu 'r'): 1 of 2 elements differ, by at most";
        check(&[0.0, 1.0], &[-0.0, 1.0], None, &format!("{place} 0.000e0"));
        check(&[0.0, 1.0], &[0.0, f32::NAN], None, &format!("{place} inf"));
        check(&[0.0, 1.0], &[0.0, 1.5], None, &format!("{place} 5.000e-1"));
        check(
            &[0.0],
            &[0.0, 1.0],
            None,
            "output 'y' (Relu 'r'): expected float32 [1], got float32 [2]",
        );
    }

    #[test]
    fn tolerance_is_relative() {
        let loose = Some(LOOSE);
        check(&[1000.0], &[1000.5], loose, "close 5.0e-1");
        check(&[0.0], &[-0.0], loose, "close 0.0e0");
        let place = "output 'y' (Relu 'r'): 1 of 1 elements differ, by at most";
        check(&[1.0], &[1.01], loose, &format!("{place} 1.000e-2"));
        check(&[f32::INFINITY], &[1.0], loose, &format!("{place} inf"));
    }
}
