//! Merges of what surrounds the computation: metadata, names of dimensions, formats; and
//! resolved conflicts.

use isoform_onnx::proto::{
    DimensionValue, ModelProto, OperatorSetIdProto, StringStringEntryProto, TypeValue,
};
use prost::Message;

use super::{vectors, with};
use crate::build::{Dim, Folder, float, node, with_attributes};
use crate::check;
use crate::support::Ran;

fn described(entries: &[(&str, &str)]) -> ModelProto {
    let entry = |(key, value): &(&str, &str)| StringStringEntryProto {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
    };
    ModelProto {
        metadata_props: entries.iter().map(entry).collect(),
        ..with(|_| {})
    }
}

/// Merges three models into `merged.onnx`.
fn merge(models: [&ModelProto; 3], more: &str) -> (Folder, Ran) {
    let folder = Folder::new();
    for (name, model) in ["base.onnx", "left.onnx", "right.onnx"].iter().zip(models) {
        folder.model(name, model);
    }
    let ran = folder.run(&format!(
        "merge base.onnx left.onnx right.onnx -o merged.onnx {more}"
    ));
    (folder, ran)
}

fn read(folder: &Folder, name: &str) -> ModelProto {
    let bytes = std::fs::read(folder.path().join(name)).unwrap();
    ModelProto::decode(&*bytes).unwrap()
}

/// The names of the symbolic dimensions of inputs.
fn dims(model: &ModelProto) -> Vec<String> {
    let inputs = model.graph.iter().flat_map(|graph| &graph.input);
    let types = inputs.filter_map(|input| input.r#type.as_ref()?.value.as_ref());
    let shapes = types.filter_map(|ty| match ty {
        TypeValue::TensorType(ty) => ty.shape.as_ref(),
        _ => None,
    });
    let names = shapes
        .flat_map(|shape| &shape.dim)
        .filter_map(|dim| match &dim.value {
            Some(DimensionValue::DimParam(name)) => Some(name.clone()),
            _ => None,
        });
    names.collect()
}

#[test]
fn metadata_is_merged_entry_by_entry() {
    let base = described(&[("author", "a"), ("old", "o")]);
    let mut left = described(&[("author", "a"), ("left", "l"), ("old", "o")]);
    left.doc_string = "A model".to_owned();
    let mut right = described(&[("author", "b"), ("right", "r")]);
    right.opset_import.push(OperatorSetIdProto {
        domain: "com.example".to_owned(),
        version: 2,
    });
    right.model_version = 7;
    let (folder, ran) = merge([&base, &left, &right], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    let merged = read(&folder, "merged.onnx");
    let mut entries: Vec<(String, String)> = (merged.metadata_props.into_iter())
        .map(|entry| (entry.key, entry.value))
        .collect();
    entries.sort_unstable();
    let expected = [("author", "b"), ("left", "l"), ("right", "r")];
    let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(entries, expected);
    assert_eq!((&*merged.doc_string, merged.model_version), ("A model", 7));

    let [left, right] = ["l", "r"].map(|author| described(&[("author", author), ("old", "o")]));
    let (_, ran) = merge([&base, &left, &right], "");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("an entry of the metadata"), "{ran:?}");
}

#[test]
fn names_of_dimensions_follow_the_side_that_changed_them() {
    let nodes = [node("Relu", &["x"], &["y"])];
    let model = |dim: &'static str, op: &str| {
        let inputs = [("x", Dim::Symbol(dim))];
        let mut nodes = nodes.clone();
        nodes[0].op_type = op.to_owned();
        vectors(&inputs, &nodes, &["y"])
    };
    let base = model("n", "Relu");
    for [left, right] in [["batch", "n"], ["n", "batch"]] {
        let (folder, ran) = merge([&base, &model(left, "Tanh"), &model(right, "Relu")], "");
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(dims(&read(&folder, "merged.onnx")), ["batch"], "{ran:?}");
    }
    let (_, ran) = merge([&base, &model("batch", "Tanh"), &model("rows", "Relu")], "");
    let note = "note: 1 name or description changed in different ways on both sides";
    assert!(ran.out.contains(note), "{ran:?}");
}

#[test]
fn dimensions_of_both_sides_with_one_name_get_two() {
    let model = |more: &[&'static str]| {
        let mut inputs = vec![("x", Dim::Size(3))];
        inputs.extend(more.iter().map(|name| (*name, Dim::Symbol("m"))));
        let mut nodes = vec![node("Relu", &["x"], &["y"])];
        let mut outputs = vec!["y"];
        for name in more {
            let output = if *name == "a" { "ya" } else { "yb" };
            nodes.push(node("Sin", &[name], &[output]));
            outputs.push(output);
        }
        vectors(&inputs, &nodes, &outputs)
    };
    let models = [model(&[]), model(&["a"]), model(&["b"])];
    let (folder, ran) = merge(models.each_ref(), "");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.out.contains("note: two dimensions are named 'm'"),
        "{ran:?}"
    );
    assert_eq!(dims(&read(&folder, "merged.onnx")), ["m", "m_1"]);
}

#[test]
fn the_name_of_the_output_determines_its_format() {
    let base = with(|_| {});
    let left = with(|parts| parts.final_op = "Tanh");
    let right = with(|parts| parts.bias = 0.75);
    let (folder, ran) = merge([&base, &left, &right], "");
    assert_eq!(ran.status, 0, "{ran:?}");
    for name in ["iso", "isob", "json"] {
        let line = format!("merge base.onnx left.onnx right.onnx -o merged.{name}");
        assert_eq!(folder.run(&line).status, 0);
        check(
            &folder.run(&format!("convert merged.onnx same.{name}")),
            0,
            "",
        );
        check(
            &folder.run(&format!("diff merged.{name} same.{name}")),
            0,
            "equal\n",
        );
        let [merged, same] = ["merged", "same"]
            .map(|stem| std::fs::read(folder.path().join(format!("{stem}.{name}"))).unwrap());
        assert_eq!(merged.first(), same.first(), "{name}");
    }
    // Programs in files of the library become models again.
    for name in ["base", "left", "right"] {
        check(
            &folder.run(&format!("convert {name}.onnx {name}.iso")),
            0,
            "",
        );
    }
    let line = "merge base.iso left.iso right.iso -o again.onnx";
    let ran = folder.run(line);
    assert_eq!(ran.status, 0, "{ran:?}");
    check(&folder.run("diff again.onnx merged.onnx"), 0, "equal\n");
    folder.file("map.iso", b"{\"a\": 1}\n");
    let ran = folder.run("merge map.iso map.iso map.iso -o map.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("expected onnx.Program"), "{ran:?}");
}

#[test]
fn a_conflict_resolved_by_the_base_has_no_edit_of_a_side() {
    let inputs = [("x", Dim::Size(3))];
    let model = |alpha: Option<f32>| {
        let mut nodes = vec![node("Sin", &["x"], &["s"]), node("Cos", &["s"], &["c"])];
        let mut last = "c";
        if let Some(alpha) = alpha {
            let leaky = node("LeakyRelu", &["c"], &["l"]);
            nodes.push(with_attributes(leaky, &[float("alpha", alpha)]));
            last = "l";
        }
        nodes.extend([node("Exp", &[last], &["e"]), node("Tanh", &["e"], &["y"])]);
        vectors(&inputs, &nodes, &["y"])
    };
    let models = [model(Some(0.25)), model(Some(0.5)), model(None)];
    for (left, right) in [(1, 2), (2, 1)] {
        let order = [&models[0], &models[left], &models[right]];
        let (_, ran) = merge(order, "");
        assert_eq!(ran.status, 1, "{ran:?}");
        for version in ["base", "left", "right"] {
            let (folder, ran) = merge(order, &format!("--resolve {version}"));
            assert_eq!(ran.status, 0, "{ran:?}");
            let line = format!("diff merged.onnx {version}.onnx");
            check(&folder.run(&line), 0, "equal\n");
        }
    }
}
