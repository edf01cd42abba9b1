//! Short ways to write calls and to check derived facts.

use isoform::values::DType;
use isoform::{Array, Ref, Value};
use isoform_onnx::facts::{Analysis, Fact};
use isoform_onnx::ir::{Dim, Input, TensorType};

pub(crate) use crate::parts::*;

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

/// The first result of a call without attributes.
pub(crate) fn op(op: &str, inputs: &[&Value]) -> Value {
    with(op, inputs, vec![])
}

/// The first result of a call.
pub(crate) fn with(op: &str, inputs: &[&Value], attrs: Vec<(&str, Value)>) -> Value {
    let inputs = inputs.iter().map(|value| (*value).clone()).collect();
    output(&call(op, inputs, attrs, 1), 0)
}

/// A constant of int64 of rank 1.
pub(crate) fn ints(numbers: &[i64]) -> Value {
    int_tensor(&[numbers.len() as i64], numbers)
}

/// A constant scalar of int64.
pub(crate) fn int(number: i64) -> Value {
    int_tensor(&[], &[number])
}

/// A constant of float32 of rank 1.
pub(crate) fn floats(numbers: &[f32]) -> Value {
    float_tensor(&[numbers.len() as i64], numbers)
}

/// Facts about a value of a graph with these inputs.
pub(crate) fn fact(params: &[&Ref<Input>], value: &Value) -> Fact {
    let mut analysis = Analysis::new();
    let params: Vec<_> = params.iter().map(|param| (*param).clone()).collect();
    analysis.enter_graph(&graph(params, []));
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
