//! Summaries: every number of a small model, and of pairs of models.

use isoform_onnx::eval::Control;
use isoform_onnx::layout::list;
use isoform_onnx::proto::{AttributeType, ModelProto, TensorProto};
use isoform_onnx::summary::{ModelSummary, ModelsSummary, pair_weights};
use isoform_testing::source::scaled;

use crate::build::*;

/// A model with a body, a local function, and a tensor in an attribute.
fn rich() -> ModelProto {
    let branch = |name: &str| {
        let mut branch = graph("", vec![node("Neg", "a", name)], name);
        branch.name = name.into();
        branch
    };
    let nodes = vec![
        node("MatMul", "x w", "a"),
        node("If", "c", "b")
            .with(graph_attr("then_branch", branch("t")))
            .with(graph_attr("else_branch", branch("e"))),
        node("Scale", "b", "s")
            .in_domain("demo")
            .with(float("by", 0.5)),
        node("Scale", "s", "r")
            .in_domain("demo")
            .with(float("by", 0.5)),
        node("Fill", "r", "y")
            .in_domain("demo")
            .with(tensor_attr("value", tensor("", &[0.0]))),
        node("Add", "a w", "unused"),
    ];
    let mut graph = graph("x c", nodes, "y");
    graph.input[0] = value("x", "batch 2");
    graph.output[0] = value("y", "batch ?");
    graph.initializer = vec![tensor("w", &[1.0, 2.0])];
    let mut proto = model_of(graph);
    proto.producer_name = "pytest".into();
    let half = node("LeakyRelu", "x", "h").with(ref_attr("alpha", "by", AttributeType::Float));
    let mut scale = function("Scale", "x", vec![half, node("Neg", "h", "y")], "y");
    scale.attribute = vec!["by".into()];
    proto.functions = vec![scale];
    proto
}

#[test]
fn every_number_of_a_model() {
    let model = load(&rich());
    let summary = ModelSummary::new(model.program());
    assert_eq!(list(model.program()).node_count(), 9);
    assert_eq!(
        list(model.program()).node_count(),
        model.counts().nodes - model.counts().dropped
    );
    let expected = "\
IR version         8
producer           pytest
opsets             ai.onnx 17; demo 1
nodes              9
longest chain      6
nesting of bodies  1
functions          1
constants          2
weights            1
weight elements    2
weight bytes       8
inputs
  x  float32[batch, 2]
  c  ?
outputs
  y  float32[batch, ?]
weights
  float32  1  2 elements  8 bytes
functions
  demo.Scale  2 nodes
operators
  Neg                  3
  function demo.Scale  2
  If                   1
  LeakyRelu            1
  MatMul               1
  demo.Fill            1";
    assert_eq!(summary.to_string(), expected);
}

#[test]
fn a_chain_is_as_long_as_it_is() {
    let count = scaled(200_000);
    let nodes = (0..count).map(|at| {
        let names = (format!("v{at}"), format!("v{}", at + 1));
        node("Neg", &names.0, &names.1)
    });
    let model = load(&model("v0", nodes.collect(), &format!("v{count}")));
    let summary = ModelSummary::new(model.program());
    assert_eq!(
        (summary.nodes, summary.depth, summary.nesting),
        (count, count, 0)
    );
}

fn adding(weights: Vec<TensorProto>) -> ModelProto {
    let mut last = "x".to_owned();
    let mut nodes = Vec::new();
    for (at, weight) in weights.iter().enumerate() {
        let next = format!("s{at}");
        nodes.push(node("Add", &format!("{last} {}", weight.name), &next));
        last = next;
    }
    let mut graph = graph("x", nodes, &last);
    graph.initializer = weights;
    model_of(graph)
}

#[track_caller]
fn pairs(
    left: Vec<TensorProto>,
    right: Vec<TensorProto>,
    expected: &[(&str, &str)],
    rest: [&str; 2],
) {
    let [left, right] = [left, right].map(|weights| load(&adding(weights)));
    let pairing = pair_weights(left.program(), right.program()).unwrap();
    let names = pairing.pairs.iter();
    let names: Vec<_> = names
        .map(|(l, r)| (l.name.as_str(), r.name.as_str()))
        .collect();
    assert_eq!(names, expected);
    let only = [&pairing.left_only, &pairing.right_only];
    let only = only.map(|weights| {
        weights
            .iter()
            .map(|weight| weight.name.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    });
    assert_eq!(only, rest);
}

#[test]
fn weights_are_paired_by_their_nodes_and_then_by_name_and_content() {
    let (one, two) = ([1.0, 1.0], [2.0, 2.0]);
    // Equal programs, whatever the names.
    pairs(
        vec![tensor("a", &one), tensor("b", &two)],
        vec![tensor("b", &one), tensor("a", &two)],
        &[("a", "b"), ("b", "a")],
        ["", ""],
    );
    pairs(
        vec![tensor("a", &one), tensor("b", &two), tensor("c", &one)],
        vec![tensor("u", &two), tensor("v", &one), tensor("w", &one)],
        &[("a", "u"), ("b", "v"), ("c", "w")],
        ["", ""],
    );
}

fn compared(left: &ModelProto, right: &ModelProto) -> ModelsSummary {
    let [left, right] = [left, right].map(load);
    ModelsSummary::new(left.program(), right.program(), &Control::default()).unwrap()
}

#[test]
fn the_numbers_of_a_pair() {
    let left = adding(vec![
        tensor("a", &[3.0, 4.0]),
        tensor("b", &[1.0]),
        tensor("c", &[1.0, 2.0]),
        tensor("d", &[5.0]),
    ]);
    let mut right = adding(vec![
        tensor("a", &[3.0, 4.5]),
        tensor("b", &[1.0]),
        tensor("c", &[1.0, 2.0, 3.0]),
    ]);
    right.opset_import = vec![opset("", 18), opset("demo", 1)];
    let graph = right.graph.as_mut().unwrap();
    graph.node.push(node("Relu", "s2", "y"));
    graph.output = vec![value("y", "n")];
    let summary = compared(&left, &right);
    let expected = "\
IR version         8
producer
opsets             ai.onnx 17  ->  ai.onnx 18
nodes              4
longest chain      4
nesting of bodies  0
functions          0
constants          4           ->  3
weights            4           ->  3
weight elements    6
weight bytes       24
opsets that differ
  ai.onnx  17  ->  18
outputs that differ
  #0  s3 ?  ->  y float32[n]
operators
  Add   4  ->  3  -1
  Relu  0  ->  1  +1
weights: 2 of 3 changed, 1 of 3 elements, by at most 0.5
 changed
  c  float32[2] -> float32[3]
  a  float32[2]                1 of 2  max 0.5  relative L2 0.1  cosine 0.99846
 only on the left
  d";
    assert_eq!(summary.to_string(), expected);
    let changed = summary.weights.changed.iter();
    let first = changed.filter_map(|weight| weight.difference?.first);
    assert_eq!(first.collect::<Vec<_>>(), [1]);
}

#[test]
fn a_model_does_not_differ_from_itself() {
    let summary = compared(&rich(), &rich());
    assert_eq!(summary.left, summary.right);
    assert!(summary.opsets.is_empty() && summary.inputs.is_empty() && summary.outputs.is_empty());
    assert!(summary.operators.iter().all(|it| it.change() == 0));
    let weights = &summary.weights;
    assert_eq!(
        (weights.pairs, weights.changed.len(), weights.differing),
        (1, 0, 0)
    );
    assert_eq!(weights.max_abs, Some(0.0));
    assert!(summary.to_string().ends_with("weights: 0 of 1 changed"));
}
