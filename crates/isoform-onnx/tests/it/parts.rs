//! Programs written without a file, and constants.

use isoform::values::{DType, Tensor};
use isoform::{Array, Map, Ref, Str, Value};
use isoform_onnx::ir::{Call, Graph, Input, Output, Program};

pub(crate) fn named_input(name: &str, ty: Value) -> Ref<Input> {
    Ref::new(Input {
        name: name.into(),
        ty,
        default: Value::NONE,
        graph: Str::default(),
        in_function: false,
        position: 0,
        meta: None,
    })
}

/// A call that is written like `Split:18`, with the version 17 by default.
pub(crate) fn call(
    op: &str,
    inputs: Vec<Value>,
    attrs: Vec<(&str, Value)>,
    outputs: i64,
) -> Ref<Call> {
    let (op, version) = match op.split_once(':') {
        Some((op, version)) => (op, version.parse().unwrap()),
        None => (op, 17),
    };
    let attrs = attrs
        .into_iter()
        .map(|(name, value)| (Str::from(name), value));
    Ref::new(Call {
        domain: Str::default(),
        op: op.into(),
        version,
        callee: None,
        attrs: attrs.collect::<Map<Str, Value>>(),
        inputs: Array::from(inputs),
        outputs,
        name: Str::default(),
        op_name: op.into(),
        doc: Str::default(),
        input_names: Array::new(),
        output_names: Array::new(),
        graph: Str::default(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    })
}

pub(crate) fn output(call: &Ref<Call>, index: i64) -> Value {
    let call = call.clone();
    Ref::new(Output { call, index }).into()
}

/// An attribute that is a list.
pub(crate) fn list(numbers: &[i64]) -> Value {
    let numbers: Vec<Value> = numbers.iter().map(|number| Value::from(*number)).collect();
    Array::from(numbers).into()
}

pub(crate) fn graph(
    params: impl Into<Array<Ref<Input>>>,
    results: impl Into<Array<Value>>,
) -> Ref<Graph> {
    let results = results.into();
    let types = results.values().iter().map(|_| Value::NONE);
    typed_graph(params, results.clone(), types.collect::<Vec<_>>())
}

pub(crate) fn typed_graph(
    params: impl Into<Array<Ref<Input>>>,
    results: impl Into<Array<Value>>,
    types: impl Into<Array<Value>>,
) -> Ref<Graph> {
    let results = results.into();
    let names = (0..results.len()).map(|at| Str::from(format!("out{at}")));
    Ref::new(Graph {
        params: params.into(),
        result_types: types.into(),
        result_names: names.collect(),
        results,
        name: "main".into(),
        doc: Str::default(),
        meta: None,
    })
}

pub(crate) fn program(graph: Ref<Graph>) -> Ref<Program> {
    Ref::new(Program {
        graph,
        io_names: Array::new(),
        ir_version: 8,
        producer: Str::default(),
        meta: None,
    })
}

/// A tensor of these elements, in the order of bytes of files.
fn tensor<const N: usize>(dtype: DType, shape: &[i64], elements: Vec<[u8; N]>) -> Value {
    let tensor = Tensor::new(dtype, shape.to_vec(), elements.concat());
    tensor.unwrap().into()
}

pub(crate) fn int_tensor(shape: &[i64], values: &[i64]) -> Value {
    let elements = values.iter().map(|value| value.to_le_bytes());
    tensor(DType::INT64, shape, elements.collect())
}

pub(crate) fn float_tensor(shape: &[i64], values: &[f32]) -> Value {
    let elements = values.iter().map(|value| value.to_le_bytes());
    tensor(DType::FLOAT32, shape, elements.collect())
}
