//! Long chains, many constants and deep nesting.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::{Array, Map, Node as _, Ref, Value};
use isoform_onnx::ir::{Call, Graph, Output, Program};
use isoform_onnx::optimize::{OptimizeOptions, Rule};
use isoform_onnx::proto::{ModelProto, NodeProto};
use isoform_testing::source::scaled;

use crate::build::{self, NodeExt};
use crate::optimize::check::optimize;
use crate::optimize::text;

/// A chain of calls of these operators in turn, on an input of int64.
fn chain(length: usize, node: impl Fn(usize, &str, &str) -> Vec<NodeProto>) -> Ref<Program> {
    let mut model: ModelProto = text::model(17, "x: int64[N] => Neg(x)");
    let graph = model.graph.as_mut().unwrap();
    graph.node.clear();
    for at in 0..length {
        let from = if at == 0 {
            "x".into()
        } else {
            format!("t{at}")
        };
        graph.node.extend(node(at, &from, &format!("t{}", at + 1)));
    }
    graph.output = vec![build::untyped(&format!("t{length}"))];
    build::load(&model).program().clone()
}

fn constant(name: &str, number: i64) -> NodeProto {
    let tensor = isoform_onnx::proto::TensorProto {
        data_type: 7,
        int64_data: vec![number],
        ..Default::default()
    };
    build::node("Constant", "", name).with(build::tensor_attr("value", tensor))
}

/// The number of remaining nodes, and the number of walks.
fn left(program: &Ref<Program>) -> (usize, usize) {
    let report = optimize(&OptimizeOptions::default(), program).report;
    (report.nodes_after, report.rounds)
}

#[test]
fn a_long_chain_of_copies_goes_in_one_walk() {
    for length in [100, scaled(100_000)] {
        let program = chain(length, |_, from, to| {
            vec![build::node("Identity", from, to)]
        });
        // The output is the input, for which a file needs an Identity.
        assert_eq!(left(&program), (1, 2));
    }
}

#[test]
fn a_long_chain_of_pairs_goes_in_one_walk() {
    for length in [100, scaled(100_000)] {
        let program = chain(length, |_, from, to| vec![build::node("Neg", from, to)]);
        // The output is the input, for which a file needs an Identity.
        assert_eq!(left(&program), (1, 2));
    }
}

#[test]
fn a_long_chain_of_different_constants_becomes_one() {
    for length in [100, scaled(100_000)] {
        let program = chain(length, |at, from, to| {
            let name = format!("c{at}");
            let add = build::node("Add", &format!("{from} {name}"), to);
            vec![constant(&name, at as i64 + 1), add]
        });
        assert_eq!(left(&program), (1, 2));
    }
}

#[test]
fn a_long_chain_that_stays_takes_one_walk() {
    for length in [100, scaled(100_000)] {
        let program = chain(length, |at, from, to| {
            let op = if at % 2 == 0 { "Abs" } else { "Neg" };
            vec![build::node(op, from, to)]
        });
        assert_eq!(left(&program), (length, 1));
    }
}

#[test]
fn many_tensors_in_attributes_are_told_apart() {
    let length = scaled(20_000);
    let program = chain(length, |at, from, to| {
        let (shape, filled) = (format!("s{at}"), format!("f{at}"));
        let value = isoform_onnx::proto::TensorProto {
            data_type: 7,
            dims: vec![1],
            int64_data: vec![at as i64 + 1],
            ..Default::default()
        };
        vec![
            build::node("Shape", "x", &shape),
            build::node("ConstantOfShape", &shape, &filled)
                .with(build::tensor_attr("value", value)),
            build::node("Add", &format!("{from} {filled}"), to),
        ]
    });
    assert_eq!(left(&program), (2 * length + 1, 2));
}

#[test]
fn deep_nesting_is_optimised_inside() {
    let mut body = "Relu(Identity(x))".to_owned();
    for _ in 0..20 {
        body = format!("If{{then_branch={{=> {body}}}, else_branch={{=> Neg(x)}}}}(c)");
    }
    let model = text::model(17, &format!("x: float[N], c: bool[] => {body}"));
    let program = build::load(&model).program().clone();
    let report = optimize(&OptimizeOptions::default(), &program).report;
    assert_eq!(report.nodes_before - report.nodes_after, 1);
}

/// The number of remaining nodes, the number of walks, and the inputs of all calls of
/// Concat seen by rules.
fn parts_seen(program: &Ref<Program>) -> (usize, usize, usize) {
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = seen.clone();
    let rule = Rule::new("count", "Concat(...)", move |site| {
        counter.fetch_add(site.root().inputs.len(), Ordering::Relaxed);
        Ok(None)
    });
    let options = OptimizeOptions::default().rules([rule.unwrap()]);
    let report = optimize(&options, program).report;
    let seen = seen.load(Ordering::Relaxed);
    (report.nodes_after, report.rounds, seen)
}

#[test]
fn a_long_chain_of_parts_is_listed_once() {
    for length in [100, 10_000] {
        let program = chain(length, |_, from, to| {
            let inputs = format!("{from} x");
            vec![build::node("Concat", &inputs, to).with(build::int("axis", 0))]
        });
        let (left, rounds, seen) = parts_seen(&program);
        assert_eq!((left, rounds), (1, 2));
        assert!(seen <= 5 * length, "{seen} inputs");
    }
}

#[test]
fn a_long_chain_of_copied_parts_is_listed_once() {
    for length in [100, 10_000] {
        let program = chain(length, |at, from, to| {
            let (inputs, joined) = (format!("x {from}"), format!("c{at}"));
            let concat = build::node("Concat", &inputs, &joined).with(build::int("axis", 0));
            vec![concat, build::node("Identity", &joined, to)]
        });
        let (left, rounds, seen) = parts_seen(&program);
        assert_eq!((left, rounds), (1, 3));
        assert!(seen <= 7 * length, "{seen} inputs");
    }
}

/// The nodes before and after, of a program with an If on `c` twice, both with the same
/// graphs.
fn twice(text: &str) -> (usize, usize) {
    let model = text::model(17, text);
    let program = build::load(&model).program().clone();
    let result = program.graph.results.values()[0].as_object().unwrap();
    let first = result.downcast_ref::<Output>().unwrap().call.clone();
    let copy = Ref::new(Call {
        name: "copy".into(),
        ..first.clone_fields()
    });
    let result = |call| Value::from(Ref::new(Output { call, index: 0 }));
    let sum = Ref::new(Call {
        op: "Sub".into(),
        op_name: "Sub".into(),
        attrs: Map::new(),
        inputs: Array::from(vec![result(first.clone()), result(copy)]),
        ..first.clone_fields()
    });
    let graph = Ref::new(Graph {
        results: Array::from(vec![result(sum)]),
        ..program.graph.clone_fields()
    });
    let program = Ref::new(Program {
        graph,
        ..program.clone_fields()
    });
    let report = optimize(&OptimizeOptions::default(), &program).report;
    (report.nodes_before, report.nodes_after)
}

#[test]
fn bodies_are_pure_whatever_they_use_of_those_around_them() {
    let branches = "If{then_branch={=> r}, else_branch={=> x}}(c)";
    let text = format!("x: float[3], c: bool[] => r = RandomNormalLike(x); {branches}");
    // Each branch needs an Identity, because its result is a value from outside.
    assert_eq!(twice(&text), (4 + 4, 3 + 2));
}
