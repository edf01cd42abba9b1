//! Values of operators and programs. All operators are compared with the cases of the
//! `onnx` package by `tests/test_onnx_operators.py`.

mod programs;
mod refusals;
mod versions;

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Ref, Value};
use isoform_onnx::eval::{Control, Refusal, evaluate};
use isoform_onnx::ir::Call;

use crate::parts::{self, float_tensor as floats, int_tensor as ints, list};

/// A tensor of truth values.
fn truths(shape: &[i64], values: &[bool]) -> Value {
    let bytes: Vec<u8> = values.iter().map(|x| u8::from(*x)).collect();
    Tensor::new(DType::BOOL, shape.to_vec(), bytes)
        .unwrap()
        .into()
}

fn tensor(value: &Value) -> &Tensor {
    match value.view() {
        ValueRef::Tensor(tensor) => tensor,
        _ => panic!("expected a tensor, got {}", value.type_name()),
    }
}

/// A call of an operator.
fn call(
    op: &str,
    version: i64,
    attrs: &[(&str, Value)],
    inputs: &[Value],
    outputs: i64,
) -> Ref<Call> {
    let op = format!("{op}:{version}");
    parts::call(&op, inputs.to_vec(), attrs.to_vec(), outputs)
}

/// The first result of a call.
fn output(call: &Ref<Call>) -> Value {
    parts::output(call, 0)
}

/// The results of an operator on constants.
fn results(
    op: &str,
    version: i64,
    attrs: &[(&str, Value)],
    inputs: &[Value],
    outputs: i64,
) -> Result<Vec<Value>, Refusal> {
    let call = call(op, version, attrs, inputs, outputs);
    let inputs: Vec<Option<Value>> = inputs
        .iter()
        .map(|value| (!value.is_none()).then(|| value.clone()))
        .collect();
    evaluate(&call, &inputs, &Control::default())
}

/// Checks the single result of an operator: type, shape and bytes.
#[track_caller]
fn check(op: &str, version: i64, attrs: &[(&str, Value)], inputs: &[Value], expected: &Value) {
    let results = results(op, version, attrs, inputs, 1).unwrap();
    let (got, expected) = (tensor(&results[0]), tensor(expected));
    assert_eq!(got.dtype(), expected.dtype(), "{op}");
    assert_eq!(got.shape(), expected.shape(), "{op}");
    assert_eq!(got.data(), expected.data(), "{op}");
}

/// Checks that an operator is refused, with this text in the reason.
#[track_caller]
fn refuses(op: &str, version: i64, attrs: &[(&str, Value)], inputs: &[Value], reason: &str) {
    match results(op, version, attrs, inputs, 1) {
        Err(Refusal::Unknown(message)) => {
            assert!(
                message.contains(reason),
                "{op}: {message:?} without {reason:?}"
            );
        }
        other => panic!("{op}: expected a refusal with {reason:?}, got {other:?}"),
    }
}
