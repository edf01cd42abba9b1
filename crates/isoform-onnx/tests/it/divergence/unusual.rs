//! Control flow, functions, NaNs, empty tensors, strings, shared outputs, and refusals.

use std::cell::Cell;

use isoform_onnx::divergence::{DivergenceOptions, PairKind, PairStatus};
use isoform_onnx::proto::{GraphProto, ModelProto, TypeProto, TypeValue};
use isoform_onnx::verify::{Evaluator, Inputs, Ran, Runner, Subject};

use super::{compared, compared_with, first, named, program};
use crate::build::{
    NodeExt, float, function, graph, graph_attr, int, model_of, node, tensor, tensor_type, value,
};
use crate::parts::{float_tensor, int_tensor};

fn of(
    inputs: &[(&str, &str)],
    nodes: Vec<isoform_onnx::proto::NodeProto>,
    outputs: &str,
) -> ModelProto {
    let mut graph = graph("", nodes, outputs);
    graph.input = inputs
        .iter()
        .map(|(name, shape)| value(name, shape))
        .collect();
    model_of(graph)
}

/// A model with a branch that scales by this number.
fn branching(scale: f32) -> ModelProto {
    let branch = |op: &str| GraphProto {
        name: op.into(),
        node: vec![
            named("inner", node("Mul", "a k", "m")),
            named("inner2", node(op, "m", "out")),
        ],
        output: vec![value("out", "n")],
        ..Default::default()
    };
    let nodes = vec![
        named("before", node("Abs", "x", "a")),
        named("sum", node("ReduceSum", "x", "t").with(int("keepdims", 0))),
        named("test", node("Less", "t zero", "c")),
        named("if", node("If", "c", "b"))
            .with(graph_attr("then_branch", branch("Neg")))
            .with(graph_attr("else_branch", branch("Exp"))),
        named("after", node("Relu", "b", "y")),
    ];
    let mut model = of(&[("x", "n")], nodes, "y");
    let graph = model.graph.as_mut().unwrap();
    let zero = isoform_onnx::proto::TensorProto {
        dims: vec![],
        ..tensor("zero", &[0.0])
    };
    graph.initializer = vec![tensor("k", &[scale]), zero];
    model
}

#[test]
fn nodes_of_bodies_count_as_a_part_of_their_node() {
    let result = compared(&branching(1.0), &branching(1.0));
    assert!(result.is_same(), "{result}");
    assert_eq!(result.inner, [4, 4]);
    let result = compared(&branching(1.0), &branching(1.5));
    assert_eq!(first(&result), ("if", "if"), "{result}");
    let text = "although its inputs agree; inside, weight 'k' (input 1 of Mul)";
    assert!(result.verdict().contains(text), "{}", result.verdict());
    assert!(
        result
            .to_string()
            .contains("inside of bodies and functions"),
        "{result}"
    );
    assert!(
        result
            .pairs
            .iter()
            .all(|pair| !pair.left.node.name.starts_with("inner"))
    );
}

#[test]
fn the_first_difference_inside_of_a_body_is_named() {
    let mut faulty = branching(1.0);
    let graph = faulty.graph.as_mut().unwrap();
    for attribute in &mut graph.node[3].attribute {
        let body = attribute.g.as_mut().unwrap();
        // The later difference is not the first one.
        body.node[1].op_type = "Sin".into();
        body.node[0].op_type = "Add".into();
    }
    let result = compared(&branching(1.0), &faulty);
    assert_eq!(first(&result), ("if", "if"), "{result}");
    let inside = result.inside.clone().unwrap_or_default();
    assert!(inside.contains("Mul") && inside.contains("Add"), "{inside}");
    // A fault of the node before is not inside.
    let mut before = branching(1.0);
    before.graph.as_mut().unwrap().node[0].op_type = "Sin".into();
    let result = compared(&branching(1.0), &before);
    assert_eq!(
        (first(&result).0, &result.inside),
        ("before", &None),
        "{result}"
    );
}

#[test]
fn every_set_of_inputs_asked_for_is_drawn() {
    let with = |shape: &str| {
        of(
            &[("x", shape)],
            vec![named("abs", node("Abs", "x", "y"))],
            "y",
        )
    };
    for (shape, last) in [
        ("2 3", "inputs 16"),
        ("n 3", "n=1, numbers 2"),
        ("n m", "n=2, m=32"),
    ] {
        let model = with(shape);
        let options = DivergenceOptions::default().sets(16);
        let result = compared_with(&options, &model, &model).unwrap();
        assert_eq!(result.inputs.len(), 16, "{:?}", result.inputs);
        let texts = &result.inputs;
        assert!(texts.iter().any(|text| text == last), "{texts:?}");
    }
}

#[test]
fn what_a_body_uses_is_an_input_of_its_node() {
    let mut faulty = branching(1.0);
    faulty.graph.as_mut().unwrap().node[0].op_type = "Neg".into();
    let result = compared(&branching(1.0), &faulty);
    assert_eq!(first(&result), ("before", "before"), "{result}");
    let pair = result
        .pairs
        .iter()
        .find(|pair| pair.left.node.name == "if")
        .unwrap();
    assert!(!pair.inputs_agree, "{result}");
}

#[test]
fn calls_of_functions_are_compared_as_nodes() {
    let calling = |op: &str| {
        let mut model = of(
            &[("x", "n")],
            vec![
                named("call", node("F", "x", "a").in_domain("demo")),
                named("after", node("Neg", "a", "y")),
            ],
            "y",
        );
        model.functions = vec![function(
            "F",
            "p",
            vec![named("in", node(op, "p", "q"))],
            "q",
        )];
        model
    };
    assert!(compared(&calling("Exp"), &calling("Exp")).is_same());
    let result = compared(&calling("Exp"), &calling("Abs"));
    assert_eq!(first(&result), ("call", "call"), "{result}");
    assert!(
        result.verdict().contains("; inside, Exp"),
        "{}",
        result.verdict()
    );
    assert_eq!(result.inner, [1, 1]);
}

#[test]
fn nan_equals_nan_alone() {
    let root = |second: &str| {
        let nodes = vec![
            named("root", node("Sqrt", "x", "a")),
            named("second", node(second, "a", "y")),
        ];
        of(&[("x", "n")], nodes, "y")
    };
    let negative = || float_tensor(&[3], &[-1.0, 4.0, -9.0]);
    let options = DivergenceOptions::default().inputs([("x", negative())]);
    let result = compared_with(&options, &root("Neg"), &root("Neg")).unwrap();
    assert!(
        result.is_same() && result.pairs[0].status == PairStatus::Same,
        "{result}"
    );
    let mut other = root("Neg");
    other.graph.as_mut().unwrap().node[0].op_type = "Abs".into();
    let result = compared_with(&options, &root("Neg"), &other).unwrap();
    assert_eq!(first(&result), ("root", "root"), "{result}");
    assert_eq!(result.pairs[0].max_abs, Some(f64::INFINITY), "{result}");
}

#[test]
fn empty_tensors_are_compared() {
    let empty = |op: &str| {
        let nodes = vec![
            named("cut", node("Slice", "x from to", "a")),
            named("op", node(op, "a", "y")),
        ];
        let mut model = of(&[("x", "n")], nodes, "y");
        let ints = |name: &str| isoform_onnx::proto::TensorProto {
            name: name.into(),
            dims: vec![1],
            data_type: 7,
            int64_data: vec![0],
            ..Default::default()
        };
        model.graph.as_mut().unwrap().initializer = vec![ints("from"), ints("to")];
        model
    };
    let result = compared(&empty("Neg"), &empty("Exp"));
    assert!(result.is_same(), "{result}");
    assert_eq!(result.pairs[0].shape, [0]);
    assert_eq!(result.pairs[0].count, 0);
}

#[test]
fn strings_are_equal_or_not() {
    let text = |position: i64| {
        let nodes = vec![
            named("pick", node("Gather", "x at", "a")),
            named("join", node("Concat", "a x", "y").with(int("axis", 0))),
        ];
        let mut model = of(&[], nodes, "y");
        let graph = model.graph.as_mut().unwrap();
        let mut input = value("x", "3");
        let Some(TypeProto {
            value: Some(TypeValue::TensorType(ty)),
            ..
        }) = &mut input.r#type
        else {
            unreachable!("the type is that of a tensor");
        };
        ty.elem_type = 8;
        graph.input = vec![input];
        graph.initializer = vec![isoform_onnx::proto::TensorProto {
            name: "at".into(),
            dims: vec![1],
            data_type: 7,
            int64_data: vec![position],
            ..Default::default()
        }];
        model
    };
    assert!(compared(&text(1), &text(1)).is_same());
    let options = DivergenceOptions::default().seed(3);
    let result = compared_with(&options, &text(0), &text(1)).unwrap();
    assert_eq!(first(&result), ("pick", "pick"), "{result}");
    let pair = result.first_pair().unwrap();
    assert_eq!(
        (&*pair.note, pair.max_abs),
        ("strings differ", None),
        "{result}"
    );
}

#[test]
fn shapes_that_differ_are_a_divergence() {
    let summed = |axis: i64| {
        let nodes = vec![
            named(
                "mean",
                node("ReduceMean", "x", "a").with(crate::build::ints("axes", &[axis])),
            ),
            named("after", node("Neg", "a", "y")),
        ];
        of(&[("x", "2 3")], nodes, "y")
    };
    let result = compared(&summed(0), &summed(1));
    assert_eq!(first(&result), ("mean", "mean"), "{result}");
    assert_eq!(
        result.first_pair().unwrap().note,
        "shape [1, 3] against [2, 1]"
    );
}

#[test]
fn outputs_are_compared_whatever_makes_them() {
    let left = of(&[("x", "n")], vec![named("op", node("Abs", "x", "y"))], "y");
    // The right model gives its input.
    let mut right = of(&[("x", "n")], vec![], "x");
    right.graph.as_mut().unwrap().output = vec![value("x", "n")];
    let result = compared(&left, &right);
    assert!(!result.is_same(), "{result}");
    assert_eq!(result.pairs.len(), 1);
    assert_eq!(result.pairs[0].kind, PairKind::Output);
    // One value is two outputs.
    let twice = |second: &str| {
        let nodes = vec![
            named("op", node("Abs", "x", "a")),
            named("neg", node("Neg", "x", "b")),
        ];
        of(&[("x", "n")], nodes, &format!("a {second}"))
    };
    let mut left = twice("a");
    left.graph.as_mut().unwrap().output.truncate(1);
    left.graph
        .as_mut()
        .unwrap()
        .node
        .push(named("copy", node("Identity", "a", "z")));
    left.graph.as_mut().unwrap().output.push(value("z", "n"));
    let result = compared(&left, &twice("b"));
    assert!(!result.is_same(), "{result}");
    // Outputs with the same names are paired by them.
    let swapped = |names: &str| {
        let nodes = vec![
            named("op", node("Abs", "x", "a")),
            named("neg", node("Neg", "x", "b")),
        ];
        of(&[("x", "n")], nodes, names)
    };
    assert!(compared(&swapped("a b"), &swapped("b a")).is_same());
    let result = compared(&swapped("a b"), &swapped("a"));
    assert_eq!(result.outputs, [2, 1]);
    assert!(
        result
            .to_string()
            .contains("outputs: 2 on the left and 1 on the right"),
        "{result}"
    );
}

#[test]
fn inputs_are_paired_by_name_if_they_can_be() {
    let sub = |inputs: [&str; 2], operands: &str| {
        of(
            &[(inputs[0], "n"), (inputs[1], "n")],
            vec![named("op", node("Sub", operands, "y"))],
            "y",
        )
    };
    assert!(compared(&sub(["a", "b"], "a b"), &sub(["b", "a"], "a b")).is_same());
    assert!(compared(&sub(["a", "b"], "a b"), &sub(["p", "q"], "p q")).is_same());
    let result = compared(&sub(["a", "b"], "a b"), &sub(["p", "q"], "q p"));
    assert_eq!(first(&result), ("op", "op"), "{result}");
}

#[track_caller]
fn refused(left: &ModelProto, right: &ModelProto, message: &str) {
    let result = compared_with(&DivergenceOptions::default(), left, right);
    let error = result
        .map(|result| result.to_string())
        .unwrap_err()
        .to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn models_that_cannot_be_compared_are_refused() {
    let one = |shape: &str| {
        of(
            &[("x", shape)],
            vec![named("op", node("Neg", "x", "y"))],
            "y",
        )
    };
    let two = of(
        &[("a", "n"), ("b", "n")],
        vec![node("Sub", "a b", "y")],
        "y",
    );
    refused(
        &one("n"),
        &two,
        "the models have different inputs: the left model has 1 ('x'), the right model has 2 ('a', 'b')",
    );
    refused(
        &one("2 n"),
        &one("3 4"),
        "'x' of the left model has shape [2, ?], and 'x' of the right model has shape [3, 4]",
    );
    let mut ints = one("n");
    let mut ty = tensor_type("n");
    if let Some(TypeValue::TensorType(tensor)) = &mut ty.value {
        tensor.elem_type = 7;
    }
    ints.graph.as_mut().unwrap().input[0].r#type = Some(ty);
    refused(
        &one("n"),
        &ints,
        "elements of float32, and 'x' of the right model has elements of int64",
    );
    let random = of(
        &[("x", "n")],
        vec![
            named("r", node("RandomNormalLike", "x", "b")),
            node("Add", "x b", "y"),
        ],
        "y",
    );
    refused(
        &one("n"),
        &random,
        "the right model: node 'r' (RandomNormalLike) producing 'b' in graph 'main' draws random numbers",
    );
    let mut training = of(
        &[("x", "n")],
        vec![named("drop", node("Dropout", "x ratio train", "y"))],
        "y",
    );
    let graph = training.graph.as_mut().unwrap();
    graph.initializer = vec![tensor("ratio", &[0.5])];
    graph.initializer[0].dims.clear();
    graph.initializer.push(isoform_onnx::proto::TensorProto {
        name: "train".into(),
        data_type: 9,
        int32_data: vec![1],
        ..Default::default()
    });
    refused(
        &training,
        &one("n"),
        "the left model: node 'drop' (Dropout)",
    );
    let unknown = of(
        &[("x", "n")],
        vec![named("u", node("Zoom", "x", "y").in_domain("demo"))],
        "y",
    );
    refused(
        &one("n"),
        &unknown,
        "no inputs were found on which both models run",
    );
    let given = DivergenceOptions::default().inputs([("z", int_tensor(&[1], &[1]))]);
    let error = compared_with(&given, &one("n"), &one("n"))
        .unwrap_err()
        .to_string();
    assert_eq!(error, "KeyError: input 'z': the model has the inputs 'x'");
}

#[test]
fn dropout_of_inference_is_looked_through() {
    let dropped = |wraps: bool| {
        let mut nodes = vec![named("a", node("Exp", "x", "a"))];
        if wraps {
            nodes.push(named("drop", node("Dropout", "a", "d")));
        }
        nodes.push(named(
            "b",
            node("Elu", if wraps { "d" } else { "a" }, "y").with(float("alpha", 2.0)),
        ));
        of(&[("x", "n")], nodes, "y")
    };
    let result = compared(&dropped(true), &dropped(false));
    assert!(result.is_same(), "{result}");
    assert_eq!(
        (result.pairs.len(), result.unpaired),
        (2, [0, 0]),
        "{result}"
    );
}

#[test]
fn long_chains_take_neither_stack_nor_many_rounds() {
    let count = isoform_testing::source::scaled(100_000);
    let chain = |fault: usize| {
        let nodes = (0..count).map(|at| {
            let op = if at == fault { "Abs" } else { "Neg" };
            let (from, to) = (format!("v{at}"), format!("v{}", at + 1));
            named(&format!("n{at}"), node(op, &from, &to))
        });
        of(&[("v0", "2")], nodes.collect(), &format!("v{count}"))
    };
    let result = compared(&chain(count), &chain(count * 2 / 3));
    let name = format!("n{}", count * 2 / 3);
    assert_eq!(first(&result), (&*name, &*name));
    assert_eq!(result.pairs.len(), count);
}

/// Counts the runs of a program.
struct Counting(Cell<usize>);

impl Runner for Counting {
    fn name(&self) -> String {
        Evaluator.name()
    }

    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>> {
        self.0.set(self.0.get() + 1);
        Evaluator.run(subject, cases)
    }
}

#[test]
fn one_large_value_does_not_make_many_rounds() {
    let mut nodes = vec![
        named("large", node("Neg", "x", "a")),
        named(
            "small",
            node("ReduceMax", "a", "v0").with(int("keepdims", 0)),
        ),
    ];
    let count = 400;
    for at in 0..count {
        let (from, to) = (format!("v{at}"), format!("v{}", at + 1));
        nodes.push(named(&format!("n{at}"), node("Neg", &from, &to)));
    }
    // 16 MB on each side, of a budget of 256 MB.
    let model = of(&[("x", "4194304")], nodes, &format!("v{count}"));
    let runner = Counting(Cell::new(0));
    let result = DivergenceOptions::default()
        .sets(1)
        .compare(
            &program(&model),
            &program(&model),
            &[&runner],
            &mut |_, _| (),
        )
        .expect("the models run");
    assert!(result.is_same(), "{result}");
    // Two runs to find inputs, and two in each of a few rounds.
    assert!(runner.0.get() <= 10, "{} runs", runner.0.get());
}
