//! The part of a program between values.

use isoform::{Array, Map, Ref, Value, structural_equal};
use isoform_onnx::extract;
use isoform_onnx::ir::{Call, Graph, Input, Output, Program};
use isoform_onnx::layout::list;

fn output(call: &Ref<Call>) -> Value {
    Ref::new(Output {
        call: call.clone(),
        index: 0,
    })
    .into()
}

fn call(op: &str, inputs: Vec<Value>, name: &str) -> Value {
    output(&Ref::new(Call {
        domain: "".into(),
        op: op.into(),
        version: 17,
        callee: None,
        attrs: Map::default(),
        inputs: Array::from(inputs),
        outputs: 1,
        name: "".into(),
        op_name: op.into(),
        doc: "".into(),
        input_names: Array::default(),
        output_names: Array::from([name.into()]),
        graph: "main".into(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    }))
}

fn input(name: &str) -> Ref<Input> {
    Ref::new(Input {
        name: name.into(),
        ty: Value::NONE,
        default: Value::NONE,
        graph: "main".into(),
        in_function: false,
        position: 0,
        meta: None,
    })
}

fn program(params: &[Ref<Input>], result: Value) -> Ref<Program> {
    let graph = Ref::new(Graph {
        params: params.iter().cloned().collect(),
        result_types: Array::from(vec![Value::NONE]),
        results: Array::from(vec![result]),
        name: "main".into(),
        result_names: Array::from(["y".into()]),
        doc: "".into(),
        meta: None,
    });
    Ref::new(Program {
        graph,
        io_names: Array::default(),
        ir_version: 8,
        producer: "".into(),
        meta: None,
    })
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
