//! The part of a program between values.

use isoform::{Array, Node as _, Ref, Value, structural_equal};
use isoform_onnx::extract;
use isoform_onnx::ir::{Call, Graph, Input, Program};
use isoform_onnx::layout::list;

use crate::parts::{self, named_input};

fn call(op: &str, inputs: Vec<Value>, name: &str) -> Value {
    let call = Ref::new(Call {
        output_names: Array::from([name.into()]),
        graph: "main".into(),
        ..parts::call(op, inputs, vec![], 1).clone_fields()
    });
    parts::output(&call, 0)
}

fn input(name: &str) -> Ref<Input> {
    named_input(name, Value::NONE)
}

fn program(params: &[Ref<Input>], result: Value) -> Ref<Program> {
    parts::program(Ref::new(Graph {
        result_names: Array::from(["y".into()]),
        ..parts::graph(params.to_vec(), [result]).clone_fields()
    }))
}

/// A chain of this many nodes, which compute `v0`, `v1` and so on.
fn chain(length: usize) -> Ref<Program> {
    let x = input("x");
    let last = (0..length).fold(Value::from(&x), |value, index| {
        call("Relu", vec![value], &format!("v{index}"))
    });
    program(&[x], last)
}

fn nodes(program: &Program) -> usize {
    list(program)
        .bodies
        .iter()
        .map(|body| body.nodes.len())
        .sum()
}

#[test]
fn a_long_chain_is_cut() {
    let length = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    let whole = chain(length);
    let part = extract(&whole, &["v99"], &["y"]).unwrap();
    assert_eq!(nodes(&part), length - 100);
    assert_eq!(part.graph.params.len(), 1);
    assert_eq!(&*part.graph.params.get(0).unwrap().name, "v99");
}

#[test]
fn the_whole_is_a_part() {
    let whole = chain(5);
    let part = extract(&whole, &[] as &[&str], &["y"]).unwrap();
    assert!(structural_equal(&whole, &part).unwrap());
    let part = extract(&whole, &["x"], &["y"]).unwrap();
    assert!(structural_equal(&whole, &part).unwrap());
}

#[test]
fn what_parts_share_stays_shared() {
    let x = input("x");
    let shared = call("Exp", vec![(&x).into()], "shared");
    let left = call("Relu", vec![shared.clone()], "left");
    let right = call("Tanh", vec![shared], "right");
    let sum = call("Add", vec![left, right], "sum");
    let whole = program(&[x], sum);
    let part = extract(&whole, &["x"], &["left", "right"]).unwrap();
    assert_eq!(nodes(&part), 3, "Exp is computed once");
    let part = extract(&whole, &["shared"], &["left", "right"]).unwrap();
    assert_eq!(nodes(&part), 2);
}

#[track_caller]
fn refused(from: &[&str], to: &[&str], reason: &str) {
    let (x, m) = (input("x"), input("mask"));
    let sum = call("Add", vec![(&x).into(), (&m).into()], "sum");
    let whole = program(&[x, m], call("Relu", vec![sum], "out"));
    let error = extract(&whole, from, to).unwrap_err();
    assert!(error.message().contains(reason), "{error}");
}

#[test]
fn mistakes_are_explained() {
    refused(
        &[],
        &["summ"],
        "to: the model has no value 'summ', did you mean 'sum'?",
    );
    refused(
        &["nothing"],
        &["sum"],
        "from: the model has no value 'nothing'",
    );
    refused(&["x"], &["sum"], "the part also needs 'mask' of the model");
    refused(&["x", "x"], &["sum"], "from: value 'x' is named twice");
    refused(&["x"], &[], "at least one value");
}
