//! `isoform merge`: clean merges, conflicts, and what is never written.

mod descriptions;

use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto};

use crate::build::{Dim, FLOAT, Folder, Small, model, node, small, value};
use crate::{check, json};

const MODULE: &str = include_str!("../../../../examples/ir/residual.iso");

/// The small model with some parts changed.
fn with(change: impl FnOnce(&mut Small)) -> ModelProto {
    let mut parts = Small::default();
    change(&mut parts);
    small(&parts)
}

/// A base, and versions of it that are named after their change.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("base.onnx", &with(|_| {}));
    folder.model("tanh.onnx", &with(|parts| parts.final_op = "Tanh"));
    folder.model("elu.onnx", &with(|parts| parts.final_op = "Elu"));
    folder.model("bias.onnx", &with(|parts| parts.bias = 0.75));
    folder.model("bias2.onnx", &with(|parts| parts.bias = 0.875));
    folder.model("left_pad.onnx", &with(|parts| parts.pads = [2, 1]));
    folder.model("right_pad.onnx", &with(|parts| parts.pads = [1, 2]));
    let mut inner = with(|_| {});
    let graph = inner.graph.as_mut().unwrap();
    for node in &mut graph.node {
        node.name.push_str("_renamed");
        for name in node.input.iter_mut().chain(&mut node.output) {
            if name == "c" || name == "s" || name == "w" {
                name.push_str("_renamed");
            }
        }
    }
    graph.initializer[0].name.push_str("_renamed");
    folder.model("renamed.onnx", &inner);
    folder
}

/// Merges two versions into `merged.onnx`, which has to be clean.
#[track_caller]
fn merge(folder: &Folder, left: &str, right: &str) {
    let line = format!("merge base.onnx {left} {right} -o merged.onnx --force");
    let ran = folder.run(&line);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.starts_with("clean (left: "), "{ran:?}");
}

#[test]
fn edits_of_different_nodes_are_combined() {
    let folder = folder();
    folder.model(
        "both.onnx",
        &with(|parts| {
            parts.final_op = "Tanh";
            parts.bias = 0.75;
        }),
    );
    for (left, right) in [("tanh.onnx", "bias.onnx"), ("bias.onnx", "tanh.onnx")] {
        merge(&folder, left, right);
        check(&folder.run("diff merged.onnx both.onnx"), 0, "equal\n");
    }
}

#[test]
fn the_same_edit_of_both_sides_counts_once() {
    let folder = folder();
    merge(&folder, "tanh.onnx", "tanh.onnx");
    check(&folder.run("diff merged.onnx tanh.onnx"), 0, "equal\n");
}

#[test]
fn one_side_renames_and_the_other_edits() {
    let folder = folder();
    for (left, right) in [("renamed.onnx", "tanh.onnx"), ("tanh.onnx", "renamed.onnx")] {
        merge(&folder, left, right);
        check(&folder.run("diff merged.onnx tanh.onnx"), 0, "equal\n");
        let text = folder.run("show --names merged.onnx").out;
        for name in ["%c_renamed = Conv", "\"w_renamed\"", "\"Conv_c_renamed\""] {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}

#[test]
fn a_rename_of_an_input_is_a_change() {
    let folder = folder();
    let mut renamed = with(|_| {});
    let graph = renamed.graph.as_mut().unwrap();
    graph.input[0].name = "image".to_owned();
    graph.node[0].input[0] = "image".to_owned();
    folder.model("image.onnx", &renamed);
    merge(&folder, "image.onnx", "tanh.onnx");
    let text = folder.run("show -q merged.onnx").out;
    assert!(
        text.contains("graph(%image") && text.contains("Tanh"),
        "{text}"
    );

    let graph = renamed.graph.as_mut().unwrap();
    graph.input[0].name = "picture".to_owned();
    graph.node[0].input[0] = "picture".to_owned();
    folder.model("picture.onnx", &renamed);
    let ran = folder.run("merge base.onnx image.onnx picture.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.out.contains("\"image\"") && ran.out.contains("\"picture\""),
        "{ran:?}"
    );
}

/// A model of vectors with these inputs, whose sizes may be symbolic, and outputs.
fn vectors(inputs: &[(&str, Dim)], nodes: &[NodeProto], outputs: &[&str]) -> ModelProto {
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes.to_vec(),
        input: (inputs.iter())
            .map(|(name, dim)| value(name, FLOAT, &[*dim]))
            .collect(),
        output: (outputs.iter())
            .map(|name| value(name, FLOAT, &[Dim::Symbol("n")]))
            .collect(),
        ..Default::default()
    })
}

#[track_caller]
fn never_merges_wrongly(base: &ModelProto, left: &ModelProto, right: &ModelProto, line: &str) {
    let folder = Folder::new();
    folder.model("base.onnx", base);
    folder.model("left.onnx", left);
    folder.model("right.onnx", right);
    for sides in ["left.onnx right.onnx", "right.onnx left.onnx"] {
        let ran = folder.run(&format!("merge base.onnx {sides} -o merged.onnx --force"));
        match ran.status {
            // A conflict, or the reason why the result would be another program.
            1 => assert!(
                ran.out.contains("not merged: ") || ran.out.contains("conflict in node"),
                "{ran:?}"
            ),
            _ => {
                let text = folder.run("show -q merged.onnx").out;
                assert!(text.contains(line), "{ran:?}\n{text}");
            }
        }
    }
}

#[test]
fn changes_stay_with_the_names_of_inputs_and_outputs() {
    let three = Dim::Size(3);
    let ends = [node("Relu", &["a"], &["y"]), node("Tanh", &["b"], &["z"])];
    let inputs = [("a", three), ("b", three)];
    let base = vectors(&inputs, &ends, &["y", "z"]);
    let left = vectors(&[("a", three), ("b", Dim::Symbol("n"))], &ends, &["y", "z"]);
    let nodes = [
        node("Add", &["a", "c"], &["t"]),
        node("Relu", &["t"], &["y"]),
        ends[1].clone(),
    ];
    let inputs = [("c", three), ("a", three), ("b", three)];
    let right = vectors(&inputs, &nodes, &["y", "z"]);
    never_merges_wrongly(&base, &left, &right, "%b: float32[d0");

    let inputs = [("x", three)];
    let ends = [node("Sin", &["x"], &["v"]), node("Exp", &["x"], &["w"])];
    let base = vectors(&inputs, &ends, &["v", "w"]);
    let nodes = [
        ends[0].clone(),
        node("Softplus", &["x"], &["s"]),
        node("Exp", &["s"], &["w"]),
    ];
    let left = vectors(&inputs, &nodes, &["v", "w"]);
    let nodes = [
        node("Sin", &["x"], &["u"]),
        ends[0].clone(),
        ends[1].clone(),
    ];
    let right = vectors(&inputs, &nodes, &["u", "v", "w"]);
    never_merges_wrongly(&base, &left, &right, "%w = Exp(%s)");
}

#[test]
fn nodes_of_both_sides_with_one_name_get_two() {
    let inputs = [("x", Dim::Size(3))];
    let chain = |ops: &[&str]| {
        let name = |number: usize| match number {
            0 => "x".to_owned(),
            number if number == ops.len() => "y".to_owned(),
            number => format!("v{number}"),
        };
        let nodes = ops.iter().enumerate().map(|(number, op)| {
            let mut node = node(op, &[&name(number)], &[&name(number + 1)]);
            node.name = format!("node_{number}");
            node
        });
        vectors(&inputs, &nodes.collect::<Vec<_>>(), &["y"])
    };
    let folder = Folder::new();
    folder.model("base.onnx", &chain(&["Sin", "Cos", "Tanh", "Exp", "Abs"]));
    let left = chain(&["Sin", "Relu", "Cos", "Tanh", "Exp", "Abs"]);
    folder.model("left.onnx", &left);
    let right = chain(&["Sin", "Cos", "Tanh", "Exp", "Neg", "Abs"]);
    folder.model("right.onnx", &right);
    merge(&folder, "left.onnx", "right.onnx");
    let shown = folder.run("show --names --json merged.onnx");
    let nodes = json(&shown)["program"]["nodes"].clone();
    let names: Vec<&str> = nodes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|node| node["name"].as_str())
        .collect();
    let distinct: std::collections::HashSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (7, 7), "{names:?}");
}

#[test]
fn a_removal_is_not_lost_beside_another_one() {
    let inputs = ["x", "t", "w"].map(|name| (name, Dim::Size(3)));
    let add = node("Add", &["x", "w"], &["a"]);
    let relu = |input: &str| node("Relu", &[input], &["y"]);
    let nodes = [add.clone(), node("Mul", &["a", "t"], &["m"]), relu("m")];
    let base = vectors(&inputs, &nodes, &["y"]);
    let left = vectors(&inputs, &[add, relu("a")], &["y"]);
    let nodes = [node("Mul", &["x", "t"], &["m"]), relu("m")];
    let right = vectors(&inputs, &nodes, &["y"]);
    never_merges_wrongly(&base, &left, &right, "%y = Relu(%x)");
}

#[test]
fn a_conflict_shows_the_node_and_writes_nothing() {
    let folder = folder();
    let expected = "\
1 conflict (left: 1 replaced; right: 1 replaced)
conflict in node 'Relu_y' (Relu) producing 'y' in graph 'main': operator
  base   \"Relu\"
  left   \"Tanh\"
  right  \"Elu\"
";
    let line = "merge base.onnx tanh.onnx elu.onnx -o merged.onnx";
    check(&folder.run(line), 1, expected);
    assert!(!folder.path().join("merged.onnx").exists());

    let ran = folder.run("merge --json base.onnx bias.onnx bias2.onnx -o merged.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    let found = json(&ran);
    assert_eq!(found["clean"], false);
    assert_eq!(found["to"], serde_json::Value::Null);
    let conflict = &found["conflicts"][0];
    assert_eq!(conflict["origin"]["name"], "Add_s");
    assert_eq!(conflict["left"][0], "float32[1] {0.75}");
    assert_eq!(conflict["right"][0], "float32[1] {0.875}");
    assert!(!folder.path().join("merged.onnx").exists());
}

#[test]
fn conflicts_can_be_resolved_by_a_version() {
    let folder = folder();
    for (version, file) in [("left", "tanh"), ("right", "elu"), ("base", "base")] {
        let line = "merge base.onnx tanh.onnx elu.onnx -o merged.onnx --force --resolve";
        let ran = folder.run(&format!("{line} {version}"));
        assert_eq!(ran.status, 0, "{ran:?}");
        let line = format!("diff merged.onnx {file}.onnx");
        check(&folder.run(&line), 0, "equal\n");
    }
}

#[test]
fn a_list_of_an_attribute_counts_as_a_whole() {
    let folder = folder();
    let ran = folder.run("merge base.onnx left_pad.onnx right_pad.onnx -o merged.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    let reason = "both sides changed attribute 'pads' of node 'Conv_c' (Conv)";
    assert!(ran.out.contains(reason), "{ran:?}");
    assert!(!folder.path().join("merged.onnx").exists());
}

#[test]
fn an_existing_output_is_replaced_only_on_request() {
    let folder = folder();
    let before = std::fs::read(folder.path().join("elu.onnx")).unwrap();
    let ran = folder.run("merge base.onnx tanh.onnx bias.onnx -o elu.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("--force"), "{ran:?}");
    assert_eq!(
        std::fs::read(folder.path().join("elu.onnx")).unwrap(),
        before
    );
    let line = "merge base.onnx tanh.onnx bias.onnx -o tanh.onnx --force";
    assert_eq!(folder.run(line).status, 0);
    assert_eq!(folder.run("diff -q tanh.onnx base.onnx").status, 1);
}

#[test]
fn texts_are_merged_as_programs() {
    let folder = Folder::new();
    folder.file("base.iso", MODULE.as_bytes());
    let swapped = MODULE.replace("args=[%x, %w]", "args=[%w, %x]");
    assert_ne!(swapped, MODULE);
    folder.file("swapped.iso", swapped.as_bytes());
    folder.file("renamed.iso", MODULE.replace("%x", "%data").as_bytes());
    for (left, right) in [("renamed", "swapped"), ("swapped", "renamed")] {
        let line = format!("merge base.iso {left}.iso {right}.iso -o merged.iso --force");
        assert_eq!(folder.run(&line).status, 0);
        check(&folder.run("diff merged.iso swapped.iso"), 0, "equal\n");
        let text = std::fs::read_to_string(folder.path().join("merged.iso")).unwrap();
        assert!(text.contains("%data") && !text.contains("%x"), "{text}");
    }
    // The output has the format of the left file.
    check(&folder.run("convert base.iso base.json"), 0, "");
    let line = "merge base.iso base.json swapped.iso -o merged.json";
    assert_eq!(folder.run(line).status, 0);
    let text = std::fs::read_to_string(folder.path().join("merged.json")).unwrap();
    assert!(text.starts_with('{'), "{text}");
    check(&folder.run("diff merged.json swapped.iso"), 0, "equal\n");
}

#[test]
fn values_of_maps_conflict_by_key() {
    let folder = Folder::new();
    for (name, text) in [
        ("base.iso", "{\"lr\": 0.1, \"steps\": 10}"),
        ("left.iso", "{\"lr\": 0.2, \"steps\": 20}"),
        ("right.iso", "{\"lr\": 0.1, \"steps\": 30}"),
    ] {
        folder.file(name, text.as_bytes());
    }
    let expected = "\
1 conflict (left: 2 attribute; right: 1 attribute)
conflict in <root>[\"steps\"]
  base   10
  left   20
  right  30
";
    check(
        &folder.run("merge base.iso left.iso right.iso"),
        1,
        expected,
    );
    let ran = folder.run("merge -q base.iso left.iso right.iso --resolve right -o -");
    check(&ran, 0, "{\"lr\": 0.2, \"steps\": 30}\n");
}

#[test]
fn unfit_files_are_refused_with_advice() {
    let folder = folder();
    folder.file("module.iso", MODULE.as_bytes());
    for (line, reason) in [
        (
            "merge base.onnx tanh.onnx none.onnx",
            "none.onnx: No such file",
        ),
        ("merge base.onnx tanh.onnx module.iso", "isoform convert"),
        (
            "merge --architecture base.onnx tanh.onnx elu.onnx",
            "--architecture",
        ),
        (
            "merge --json base.onnx tanh.onnx bias.onnx -o -",
            "standard output",
        ),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(reason), "{line}: {ran:?}");
    }
}

#[test]
fn external_data_stays_beside_the_model() {
    let folder = folder();
    for name in ["base", "tanh", "bias"] {
        let line =
            format!("convert {name}.onnx data_{name}.onnx --external-data --size-threshold 8");
        check(&folder.run(&line), 0, "");
    }
    let line = "merge data_base.onnx data_tanh.onnx data_bias.onnx -o merged.onnx";
    assert_eq!(
        folder
            .run(&format!("{line} --size-threshold 8 --external-data"))
            .status,
        0
    );
    assert!(folder.path().join("merged.onnx.data").exists());
    check(&folder.run("convert merged.onnx inside.onnx"), 0, "");
    let line = "merge base.onnx tanh.onnx bias.onnx -o plain.onnx";
    assert_eq!(folder.run(line).status, 0);
    check(&folder.run("diff inside.onnx plain.onnx"), 0, "equal\n");
}

// ---- check -------------------------------------------------------------------------

#[test]
fn check_reads_files_and_judges_texts() {
    let folder = folder();
    check(&folder.run("check base.onnx tanh.onnx"), 0, "");
    folder.file("map.iso", b"// a comment\n{\"a\":  1}\n");
    check(&folder.run("check map.iso"), 0, "");
    check(
        &folder.run("check --canonical map.iso"),
        1,
        "map.iso: not canonical from line 1 on; `isoform check --fix` rewrites it\n",
    );
    check(
        &folder.run("check --fix map.iso base.onnx"),
        1,
        "map.iso: rewritten\n",
    );
    check(&folder.run("check --canonical map.iso"), 0, "");
    folder.file("broken.onnx", b"\x0a\xff\xff\xff\xff\xff\xff\xff");
    let ran = folder.run("check --json base.onnx broken.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert_eq!(ran.out.lines().count(), 2, "{ran:?}");
}
