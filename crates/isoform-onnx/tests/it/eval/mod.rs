//! Values of operators and programs. All operators are compared with the cases of the
//! `onnx` package by `tests/test_onnx_operators.py`.

mod programs;
mod refusals;
mod versions;

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Array, Map, Ref, Str, Value};
use isoform_onnx::eval::{Control, Refusal, evaluate};
use isoform_onnx::ir::{Call, Output};

/// A tensor of floats.
fn floats(shape: &[i64], values: &[f32]) -> Value {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DType::FLOAT32, shape.to_vec(), bytes)
        .unwrap()
        .into()
}

/// A tensor of integers.
fn ints(shape: &[i64], values: &[i64]) -> Value {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DType::INT64, shape.to_vec(), bytes)
        .unwrap()
        .into()
}

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
    let attrs: Map<Str, Value> = attrs
        .iter()
        .map(|(name, value)| ((*name).into(), value.clone()))
        .collect();
    Ref::new(Call {
        domain: "".into(),
        op: op.into(),
        version,
        callee: None,
        attrs,
        inputs: inputs.iter().cloned().collect::<Array>(),
        outputs,
        name: "".into(),
        op_name: op.into(),
        doc: "".into(),
        input_names: Array::new(),
        output_names: Array::new(),
        graph: "".into(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    })
}

/// The first result of a call.
fn output(call: &Ref<Call>) -> Value {
    Ref::new(Output {
        call: call.clone(),
        index: 0,
    })
    .into()
}

/// A list of integers as an attribute.
fn list(values: &[i64]) -> Value {
    values
        .iter()
        .map(|value| Value::from(*value))
        .collect::<Array>()
        .into()
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
