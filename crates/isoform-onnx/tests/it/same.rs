//! Differences that do not matter.

use bytes::Bytes;
use isoform_onnx::{
    ImportOptions,
    proto::{DataLocation, ModelProto, StringStringEntryProto, TensorAnnotation, TensorProto},
};

use crate::build::*;

fn base() -> ModelProto {
    let mut graph = graph(
        "x",
        vec![
            node("Conv", "x w", "a").with(ints("pads", &[1, 1])),
            node("Relu", "a", "b"),
            node("Add", "a b", "c").with(int("p", 1)).with(int("q", 2)),
        ],
        "c",
    );
    graph.initializer = vec![tensor("w", &[1.0, 2.0])];
    model_of(graph)
}

/// Renames everything by `name`.
fn rename(model: &mut ModelProto, name: impl Fn(&str) -> String) {
    let graph = model.graph.as_mut().unwrap();
    graph.name = name("g");
    for node in &mut graph.node {
        node.name = name("n");
        for value in node.input.iter_mut().chain(&mut node.output) {
            *value = name(value);
        }
    }
    for tensor in &mut graph.initializer {
        tensor.name = name(&tensor.name);
    }
    for value in graph.input.iter_mut().chain(&mut graph.output) {
        value.name = name(&value.name);
    }
}

#[test]
fn names() {
    let mut other = base();
    rename(&mut other, |name| format!("other/{name}"));
    check_same(&base(), &other);
}

#[test]
fn listing_order() {
    let mut other = base();
    other.graph.as_mut().unwrap().node.reverse();
    check_same(&base(), &other);
}

#[test]
fn order_of_attributes_and_of_imports() {
    let mut other = base();
    other.graph.as_mut().unwrap().node[2].attribute.reverse();
    other.opset_import.reverse();
    check_same(&base(), &other);
}

#[test]
fn documentation_and_metadata() {
    let mut other = base();
    let entry = StringStringEntryProto {
        key: "k".into(),
        value: "v".into(),
    };
    other.producer_name = "tool".into();
    other.producer_version = "1".into();
    other.domain = "org".into();
    other.model_version = 3;
    other.doc_string = "doc".into();
    other.metadata_props = vec![entry.clone()];
    let graph = other.graph.as_mut().unwrap();
    graph.doc_string = "doc".into();
    graph.metadata_props = vec![entry.clone()];
    graph.node[0].doc_string = "doc".into();
    graph.node[0].metadata_props = vec![entry.clone()];
    graph.input[0].doc_string = "doc".into();
    graph.initializer[0].doc_string = "doc".into();
    graph.value_info = vec![value("a", "1 2")];
    graph.quantization_annotation = vec![TensorAnnotation {
        tensor_name: "a".into(),
        quant_parameter_tensor_names: vec![entry],
    }];
    check_same(&base(), &other);
}

#[test]
fn spelling_of_the_default_domain() {
    let mut other = base();
    other.opset_import[0].domain = "ai.onnx".into();
    other.graph.as_mut().unwrap().node[1].domain = "ai.onnx".into();
    check_same(&base(), &other);
}

#[test]
fn imports_nobody_uses() {
    let mut other = base();
    other.opset_import[1].version = 7;
    other.opset_import.push(opset("unused", 1));
    check_same(&base(), &other);
}

#[test]
fn nodes_nobody_needs() {
    let mut other = base();
    let graph = other.graph.as_mut().unwrap();
    graph.node.insert(0, node("Exp", "b", "dead1"));
    graph.node.push(node("Log", "dead1", "dead2"));
    check_same(&base(), &other);
    let counts = load(&other).counts();
    assert_eq!((counts.nodes, counts.dropped), (5, 2));
}

#[test]
fn initializers_nobody_needs() {
    let mut other = base();
    other
        .graph
        .as_mut()
        .unwrap()
        .initializer
        .push(tensor("dead", &[9.0]));
    check_same(&base(), &other);
}

#[test]
fn trailing_inputs_and_outputs_that_are_not_given() {
    let mut other = base();
    let node = &mut other.graph.as_mut().unwrap().node[0];
    node.input.extend(["".into(), "".into()]);
    node.output.push("".into());
    check_same(&base(), &other);
}

#[test]
fn constants_as_initializers_or_nodes() {
    for (node, data) in [
        (
            node("Constant", "", "w").with(tensor_attr("value", tensor("", &[1.0, 2.0]))),
            tensor("w", &[1.0, 2.0]),
        ),
        (
            node("Constant", "", "w").with(floats("value_floats", &[1.0, 2.0])),
            tensor("w", &[1.0, 2.0]),
        ),
        (
            node("Constant", "", "w").with(float("value_float", 3.0)),
            TensorProto {
                dims: vec![],
                ..tensor("w", &[3.0])
            },
        ),
        (
            node("Constant", "", "w").with(ints("value_ints", &[4, -5])),
            TensorProto {
                name: "w".into(),
                data_type: 7,
                dims: vec![2],
                int64_data: vec![4, -5],
                ..Default::default()
            },
        ),
        (
            node("Constant", "", "w").with(int("value_int", 4)),
            TensorProto {
                name: "w".into(),
                data_type: 7,
                int64_data: vec![4],
                ..Default::default()
            },
        ),
        (
            node("Constant", "", "w").with(strings("value_strings", &["a", "b"])),
            TensorProto {
                name: "w".into(),
                data_type: 8,
                dims: vec![2],
                string_data: vec![Bytes::from("a"), Bytes::from("b")],
                ..Default::default()
            },
        ),
        (
            node("Constant", "", "w").with(string("value_string", b"\xff")),
            TensorProto {
                name: "w".into(),
                data_type: 8,
                string_data: vec![Bytes::from_static(b"\xff")],
                ..Default::default()
            },
        ),
    ] {
        let mut as_initializer = base();
        as_initializer.graph.as_mut().unwrap().initializer = vec![data];
        let mut as_node = base();
        let graph = as_node.graph.as_mut().unwrap();
        graph.initializer.clear();
        graph.node.push(node);
        check_same(&as_initializer, &as_node);
    }
}

#[test]
fn sharing_of_constants() {
    let mut once = model("", vec![node("Add", "w w", "y")], "y");
    once.graph.as_mut().unwrap().initializer = vec![tensor("w", &[1.0])];
    let mut twice = model("", vec![node("Add", "w v", "y")], "y");
    twice.graph.as_mut().unwrap().initializer = vec![tensor("w", &[1.0]), tensor("v", &[1.0])];
    check_same(&once, &twice);
}

#[test]
fn encoding_of_weights() {
    let mut raw = base();
    let tensor = &mut raw.graph.as_mut().unwrap().initializer[0];
    tensor.float_data.clear();
    let bytes = [1.0_f32, 2.0].iter().flat_map(|x| x.to_le_bytes());
    tensor.raw_data = Some(bytes.collect());
    tensor.data_location = DataLocation::Default.into();
    check_same(&base(), &raw);
}

#[test]
fn names_of_symbolic_dimensions() {
    let with = |n: &str, m: &str| {
        let mut model = base();
        let graph = model.graph.as_mut().unwrap();
        graph.input = vec![value("x", &format!("{n} 3 {m} {n}"))];
        graph.output = vec![value("c", &format!("{m} new{n} new{n}"))];
        model
    };
    check_same(&with("n", "m"), &with("m", "n"));
    check_same(&with("n", "m"), &with("batch", "size"));
}

#[test]
fn names_of_inputs_and_outputs_unless_asked_for() {
    let mut other = base();
    rename(&mut other, |name| format!("other/{name}"));
    let options = ImportOptions::default().io_names(true);
    let equal = |left: &ModelProto, right: &ModelProto| {
        let (left, right) = (load_with(left, options), load_with(right, options));
        isoform::structural_equal(left.to_value(), right.to_value()).unwrap()
    };
    assert!(!equal(&base(), &other));
    let (left, right) = (load_with(&base(), options), load_with(&other, options));
    let paths = isoform::compare::first_structural_mismatch(left.to_value(), right.to_value());
    let (path, other_path) = paths.unwrap().unwrap();
    let shown = |origin: Option<isoform_onnx::NodeOrigin>| origin.unwrap().to_string();
    assert_eq!(shown(left.node_at(&path)), "input 'x' of graph 'main'");
    assert_eq!(
        shown(right.node_at(&other_path)),
        "input 'other/x' of graph 'other/g'"
    );
    assert!(equal(&base(), &base()));
    rename(&mut other, |name| match name.trim_start_matches("other/") {
        name @ ("x" | "c") => name.to_owned(),
        name => format!("third/{name}"),
    });
    assert!(equal(&base(), &other));
}

#[test]
fn training_steps() {
    let mut other = base();
    other.training_info.push(Default::default());
    check_same(&base(), &other);
    assert_eq!(load(&other).counts().training, 1);
}
