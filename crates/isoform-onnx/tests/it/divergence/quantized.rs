//! A model against its quantised form.

use isoform::Value;
use isoform_onnx::divergence::{Divergence, DivergenceOptions, PairKind, PairStatus};
use isoform_onnx::proto::{ModelProto, NodeProto, TensorProto};
use isoform_onnx::verify::Tolerance;

use super::{compared_with, first, named};
use crate::build::{graph, model_of, node, tensor, value};
use crate::parts::float_tensor;

/// Two products with an activation between.
fn float_model() -> ModelProto {
    let nodes = vec![
        named("mm0", node("MatMul", "x w0", "a")),
        named("act", node("Relu", "a", "b")),
        named("mm1", node("MatMul", "b w1", "y")),
    ];
    model(nodes, vec![matrix("w0", &WEIGHTS), matrix("w1", &WEIGHTS)])
}

const WEIGHTS: [f32; 4] = [0.5, -1.0, 1.27, 0.25];

fn model(nodes: Vec<NodeProto>, weights: Vec<TensorProto>) -> ModelProto {
    let mut graph = graph("", nodes, "y");
    graph.input = vec![value("x", "n 2")];
    graph.initializer = weights;
    model_of(graph)
}

fn matrix(name: &str, data: &[f32]) -> TensorProto {
    TensorProto {
        dims: vec![2, 2],
        ..tensor(name, data)
    }
}

fn scalar(name: &str, number: f32) -> TensorProto {
    TensorProto {
        dims: vec![],
        ..tensor(name, &[number])
    }
}

fn codes(name: &str, dims: &[i64], data_type: i32, data: &[i32]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type,
        int32_data: data.to_vec(),
        ..Default::default()
    }
}

const UINT8: i32 = 2;
const INT8: i32 = 3;

/// Nodes that quantise a value and make it a float again.
fn wrapped(from: &str, to: &str, scale: &str) -> [NodeProto; 2] {
    let code = format!("{to}_code");
    [
        named(
            &format!("q_{to}"),
            node("QuantizeLinear", &format!("{from} {scale} zero"), &code),
        ),
        named(
            &format!("dq_{to}"),
            node("DequantizeLinear", &format!("{code} {scale} zero"), to),
        ),
    ]
}

/// The same with quantised weights and values; `scale` is that of the activation.
fn quantized_model(scale: f32) -> ModelProto {
    let [q0, d0] = wrapped("x", "xq", "s");
    let [q1, d1] = wrapped("b", "bq", "sb");
    let nodes = vec![
        q0,
        d0,
        named("dq_w0", node("DequantizeLinear", "w0 sw zw", "w0q")),
        named("n0", node("MatMul", "xq w0q", "a")),
        named("n1", node("Relu", "a", "b")),
        q1,
        d1,
        named("dq_w1", node("DequantizeLinear", "w1 sw zw", "w1q")),
        named("n2", node("MatMul", "bq w1q", "y")),
    ];
    let weights: Vec<i32> = WEIGHTS
        .iter()
        .map(|weight| (weight * 100.0).round() as i32)
        .collect();
    model(
        nodes,
        vec![
            codes("w0", &[2, 2], INT8, &weights),
            codes("w1", &[2, 2], INT8, &weights),
            scalar("s", 4.0 / 255.0),
            scalar("sb", scale),
            scalar("sw", 0.01),
            codes("zero", &[], UINT8, &[128]),
            codes("zw", &[], INT8, &[0]),
        ],
    )
}

fn quantized(right: &ModelProto, rtol: f64, atol: f64) -> Divergence {
    let options = DivergenceOptions::default().tolerance(Tolerance { rtol, atol });
    compared_with(&options, &float_model(), right).unwrap()
}

fn nodes(result: &Divergence) -> Vec<(&str, &str, PairKind)> {
    let pairs = result.pairs.iter();
    pairs
        .map(|pair| (&*pair.left.node.name, &*pair.right.node.name, pair.kind))
        .collect()
}

#[test]
fn wrappers_leave_pairs() {
    let result = quantized(&quantized_model(8.0 / 255.0), 0.0, 0.1);
    use PairKind::{Quantized, Structure, Use};
    let found = nodes(&result);
    let expected = [
        ("x", "dq_xq", Quantized),
        ("mm0", "n0", Structure),
        ("act", "n1", Structure),
        ("act", "dq_bq", Quantized),
        ("mm1", "n2", Structure),
    ];
    let without_use = found.iter().map(|(left, right, kind)| {
        let kind = if *kind == Use { Structure } else { *kind };
        (*left, *right, kind)
    });
    assert_eq!(without_use.collect::<Vec<_>>(), expected, "{result}");
    assert!(result.is_same(), "{result}");
    // Half a step of each scale is lost at each place.
    for pair in &result.pairs {
        assert_eq!(pair.status, PairStatus::Close, "{result}");
        let error = pair.relative_l2.unwrap();
        assert!(error > 0.0 && error < 0.05, "{result}");
        assert!(
            pair.cosine.unwrap() > 0.99 && pair.snr_db.unwrap() > 26.0,
            "{result}"
        );
    }
    let input = result.pairs[0].max_abs.unwrap();
    assert!(input <= 2.0 / 255.0 + 1e-6 && input > 0.0, "{result}");
}

#[test]
fn the_place_that_loses_most_is_named() {
    // A scale so small that values are cut off.
    let result = quantized(&quantized_model(0.2 / 255.0), 0.0, 0.1);
    assert_eq!(first(&result), ("act", "dq_bq"), "{result}");
    assert_eq!(result.origins.len(), 1, "{result}");
    let text = result.to_string();
    assert!(
        text.contains("although the value before quantization agrees"),
        "{text}"
    );
    // Without a tolerance, the first difference is at the input.
    let result = quantized(&quantized_model(8.0 / 255.0), 0.0, 0.0);
    assert_eq!(first(&result), ("x", "dq_xq"), "{result}");
}

#[test]
fn two_quantized_models_are_paired_by_their_wrappers() {
    let (fine, coarse) = (quantized_model(8.0 / 255.0), quantized_model(0.2 / 255.0));
    let options = DivergenceOptions::default();
    let result = compared_with(&options, &fine, &fine).unwrap();
    assert!(result.is_same() && result.pairs.len() == 5, "{result}");
    let result = compared_with(&options, &fine, &coarse).unwrap();
    assert_eq!(first(&result), ("dq_bq", "dq_bq"), "{result}");
}

/// The same with integer arithmetic: results of nodes are codes.
fn integer_model() -> ModelProto {
    let nodes = vec![
        named("q", node("QuantizeLinear", "x s zero", "xq")),
        named(
            "i0",
            node("QLinearMatMul", "xq s zero w0 sw zw sa zero", "aq"),
        ),
        named("d0", node("DequantizeLinear", "aq sa zero", "a")),
        named("r", node("Relu", "a", "b")),
        named("q1", node("QuantizeLinear", "b sa zero", "bq")),
        named(
            "i1",
            node("QLinearMatMul", "bq sa zero w1 sw zw sy zero", "yq"),
        ),
        named("d1", node("DequantizeLinear", "yq sy zero", "y")),
    ];
    let weights: Vec<i32> = WEIGHTS
        .iter()
        .map(|weight| (weight * 100.0).round() as i32)
        .collect();
    model(
        nodes,
        vec![
            codes("w0", &[2, 2], INT8, &weights),
            codes("w1", &[2, 2], INT8, &weights),
            scalar("s", 4.0 / 255.0),
            scalar("sa", 8.0 / 255.0),
            scalar("sy", 16.0 / 255.0),
            scalar("sw", 0.01),
            codes("zero", &[], UINT8, &[128]),
            codes("zw", &[], INT8, &[0]),
        ],
    )
}

#[test]
fn codes_are_compared_as_the_numbers_they_stand_for() {
    let result = quantized(&integer_model(), 0.0, 0.1);
    let pair = result
        .pairs
        .iter()
        .find(|pair| pair.right.node.name == "i1");
    let pair = pair.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(pair.left.node.name, "mm1");
    assert_eq!(pair.types, ["float32", "uint8"]);
    assert_eq!(pair.note, "dequantized on the right");
    assert_eq!(pair.status, PairStatus::Close, "{result}");
    assert!(pair.max_abs.unwrap() > 0.0, "{result}");
}

#[test]
fn integers_without_parameters_are_not_comparable() {
    let mut right = integer_model();
    // The code is the output, and the scale of the result is computed.
    let graph = right.graph.as_mut().unwrap();
    graph.node.retain(|node| node.name != "d1");
    graph
        .node
        .insert(0, named("half", node("Add", "sh sh", "sc")));
    let last = graph.node.last_mut().unwrap();
    last.input[6] = "sc".into();
    last.output[0] = "y".into();
    graph.initializer.push(scalar("sh", 4.0 / 255.0));
    graph.output[0].r#type = None;
    let result = quantized(&right, 0.0, 0.1);
    let pair = result.pairs.last().unwrap();
    assert_eq!(
        (&*pair.right.node.name, pair.status),
        ("i1", PairStatus::Skipped),
        "{result}"
    );
    assert!(
        pair.note
            .contains("without a constant scale and zero point"),
        "{result}"
    );
}

#[test]
fn floats_of_another_width_get_the_same_numbers() {
    let left = float_model();
    let mut right = float_model();
    let graph = right.graph.as_mut().unwrap();
    for dim in &mut graph.input {
        if let Some(isoform_onnx::proto::TypeValue::TensorType(ty)) =
            dim.r#type.as_mut().and_then(|ty| ty.value.as_mut())
        {
            ty.elem_type = 11;
        }
    }
    for weight in &mut graph.initializer {
        weight.data_type = 11;
        weight.double_data = weight.float_data.drain(..).map(f64::from).collect();
    }
    let graph_output = &mut graph.output[0];
    graph_output.r#type = None;
    let result = compared_with(&DivergenceOptions::default(), &left, &right).unwrap();
    assert!(result.is_same(), "{result}");
    assert_eq!(result.pairs[0].types, ["float32", "float64"]);
    // A user's numbers are those of the left type.
    let x: Value = float_tensor(&[1, 2], &[0.1, 0.2]);
    let given = DivergenceOptions::default().inputs([("x", x)]);
    let result = compared_with(&given, &left, &right).unwrap();
    assert_eq!(result.inputs, ["the given inputs"]);
    assert!(result.is_same(), "{result}");
}
