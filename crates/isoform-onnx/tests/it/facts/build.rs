//! Short ways to write calls and to check derived facts.

use isoform::values::{DType, Tensor};
use isoform::{Array, Map, Ref, Str, Value};
use isoform_onnx::facts::{Analysis, Fact};
use isoform_onnx::ir::{Call, Dim, Graph, Input, Output, Program, TensorType};

/// The dimensions of one model, by name.
#[derive(Default)]
pub(crate) struct Dims(Vec<Ref<Dim>>);

impl Dims {
    fn named(&mut self, name: &str) -> Ref<Dim> {
        let known = self.0.iter().find(|dim| dim.name == name).cloned();
        known.unwrap_or_else(|| {
            let dim = Dim::new(name);
            self.0.push(dim.clone());
            dim
        })
    }

    /// An input of a type like `float32 batch 3 ?`.
    pub(crate) fn input(&mut self, name: &str, ty: &str) -> Ref<Input> {
        let mut words = ty.split_whitespace();
        let elem = elem(words.next().unwrap());
        let dims = words.map(|word| match word.parse::<i64>() {
            Ok(extent) => Value::from(extent),
            Err(_) if word == "?" => Value::NONE,
            Err(_) => self.named(word).into(),
        });
        let shape: Vec<Value> = dims.collect();
        let ty = Ref::new(TensorType {
            elem: elem.into(),
            shape: Some(Array::from(shape)),
        });
        named_input(name, ty.into())
    }
}

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
        op_name: Str::default(),
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

/// The first result of a call without attributes.
pub(crate) fn op(op: &str, inputs: &[&Value]) -> Value {
    with(op, inputs, vec![])
}

/// The first result of a call.
pub(crate) fn with(op: &str, inputs: &[&Value], attrs: Vec<(&str, Value)>) -> Value {
    let inputs = inputs.iter().map(|value| (*value).clone()).collect();
    output(&call(op, inputs, attrs, 1), 0)
}

/// An attribute that is a list.
pub(crate) fn list(numbers: &[i64]) -> Value {
    let numbers: Vec<Value> = numbers.iter().map(|number| Value::from(*number)).collect();
    Array::from(numbers).into()
}

/// A constant of int64 of rank 1.
pub(crate) fn ints(numbers: &[i64]) -> Value {
    shaped(&[numbers.len() as i64], numbers)
}

/// A constant scalar of int64.
pub(crate) fn int(number: i64) -> Value {
    shaped(&[], &[number])
}

pub(crate) fn shaped(shape: &[i64], numbers: &[i64]) -> Value {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    Tensor::new(DType::INT64, shape.to_vec(), bytes)
        .unwrap()
        .into()
}

/// A constant of float32 of rank 1.
pub(crate) fn floats(numbers: &[f32]) -> Value {
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    Tensor::new(DType::FLOAT32, vec![numbers.len() as i64], bytes)
        .unwrap()
        .into()
}

pub(crate) fn graph(params: Vec<Ref<Input>>, results: Vec<Value>) -> Ref<Graph> {
    let types = vec![Value::NONE; results.len()];
    typed_graph(params, results, types)
}

pub(crate) fn typed_graph(
    params: Vec<Ref<Input>>,
    results: Vec<Value>,
    types: Vec<Value>,
) -> Ref<Graph> {
    let names = (0..results.len()).map(|at| Str::from(format!("out{at}")));
    Ref::new(Graph {
        params: params.into(),
        result_types: types.into(),
        results: results.into(),
        name: Str::default(),
        result_names: names.collect(),
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

/// Facts about a value of a graph with these inputs.
pub(crate) fn fact(params: &[&Ref<Input>], value: &Value) -> Fact {
    let mut analysis = Analysis::new();
    let params = params.iter().map(|param| (*param).clone()).collect();
    analysis.enter_graph(&graph(params, vec![]));
    Fact::clone(&analysis.fact(value))
}

/// The value's fact is displayed like this.
#[track_caller]
pub(crate) fn check(params: &[&Ref<Input>], value: &Value, expected: &str) {
    assert_eq!(fact(params, value).to_string(), expected);
}

fn elem(name: &str) -> DType {
    match name {
        "float32" => DType::FLOAT32,
        "int64" => DType::INT64,
        "bool" => DType::BOOL,
        other => panic!("{other}"),
    }
}
