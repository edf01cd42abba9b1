//! `isoform diff`: every option, the texts and the JSON.

mod apart;
mod explorer;
mod run;

use isoform_onnx::proto::{AttributeProto, AttributeType, GraphProto, ModelProto, TensorProto};
use serde_json::json as json_of;

use crate::build::{
    Dim, FLOAT, Folder, Small, floats, ints, model, nested, node, small, value, with_attributes,
};
use crate::formats::piped;
use crate::support::Ran;
use crate::{check, folder, json};

#[track_caller]
fn has_lines(ran: &Ran, status: i32, lines: &[&str]) {
    assert_eq!(ran.status, status, "{ran:?}");
    for line in lines {
        assert!(ran.out.lines().any(|it| it == *line), "{line}\n{}", ran.out);
    }
}

fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: AttributeType::Int as i32,
        i: Some(i),
        ..Default::default()
    }
}

/// `y = Softmax(x)` with this opset and these attributes.
pub(crate) fn softmax(version: i64, attributes: &[AttributeProto]) -> ModelProto {
    let dims = [Dim::Size(2), Dim::Size(3)];
    let mut made = model(GraphProto {
        name: "main".to_owned(),
        node: vec![with_attributes(node("Softmax", &["x"], &["y"]), attributes)],
        input: vec![value("x", FLOAT, &dims)],
        output: vec![value("y", FLOAT, &dims)],
        ..Default::default()
    });
    made.opset_import[0].version = version;
    made
}

/// Layers of `Relu(Add(x, w))`; every fourth one has this operator instead of Relu.
pub(crate) fn layers(count: usize, op: &str, weight: f32) -> ModelProto {
    let mut nodes = Vec::new();
    let mut last = "x".to_owned();
    for layer in 0..count {
        let (sum, out) = (format!("s{layer}"), format!("v{layer}"));
        let mut add = node("Add", &[&last, "w"], &[&sum]);
        add.name = format!("/layer.{layer}/add");
        let op = if layer % 4 == 1 { op } else { "Relu" };
        let mut act = node(op, &[&sum], &[&out]);
        act.name = format!("/layer.{layer}/act");
        nodes.extend([add, act]);
        last = out;
    }
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes,
        initializer: vec![floats("w", &[weight, 1.0, 2.0])],
        input: vec![value("x", FLOAT, &[Dim::Size(3)])],
        output: vec![value(&last, FLOAT, &[Dim::Size(3)])],
        ..Default::default()
    })
}

#[test]
fn the_text_of_one_edit() {
    let folder = folder();
    check(
        &folder.run("diff a.onnx attribute.onnx"),
        1,
        "\
different
nodes: 2 the same, 1 changed, 0 added, 0 removed
weights: 0 of 2 changed

attribute 'pads' of Conv 'Conv_c': [1, 1] -> [1, 2]
",
    );
    check(
        &folder.run("diff a.onnx operator.onnx"),
        1,
        "\
different
operators: Relu 1 -> 0, Tanh 0 -> 1
nodes: 2 the same, 1 changed, 0 added, 0 removed
weights: 0 of 2 changed

Relu 'Relu_y' became Tanh 'Tanh_y'
",
    );
    has_lines(
        &folder.run("diff a.onnx weight.onnx"),
        1,
        &["weight 'b' (input 1 of Add 'Add_s'): 0.5 -> 0.50000006"],
    );
}

#[test]
fn equal_changes_are_told_once() {
    let folder = Folder::new();
    folder.model("a.onnx", &layers(12, "Relu", 0.5));
    folder.model("b.onnx", &layers(12, "Tanh", 0.5));
    has_lines(
        &folder.run("diff a.onnx b.onnx"),
        1,
        &[
            "operators: Relu 12 -> 9, Tanh 0 -> 3",
            "nodes: 21 the same, 3 changed, 0 added, 0 removed",
            "Relu became Tanh, 3 times, in '/layer.1/act', '/layer.5/act', '/layer.9/act'",
        ],
    );
    // The weight counts once, however many nodes use it.
    folder.model("w.onnx", &layers(12, "Relu", 0.25));
    let ran = folder.run("diff a.onnx w.onnx");
    let text = "weight 'w' (input 1 of Add";
    assert_eq!(ran.out.matches(text).count(), 1, "{}", ran.out);
    let text = "1 of 3 elements differ, max abs 0.25, max rel 1, first at [0]: 0.5 -> 0.25";
    assert!(ran.out.contains(text), "{}", ran.out);
    assert!(
        ran.out.contains("weights: 1 of 1 changed, max abs 0.25"),
        "{}",
        ran.out
    );
}

#[test]
fn nodes_that_are_added_and_removed() {
    let folder = Folder::new();
    folder.model("a.onnx", &layers(3, "Relu", 0.5));
    let mut longer = layers(3, "Relu", 0.5);
    let graph = longer.graph.as_mut().unwrap();
    let mut extra = node("Sigmoid", &["v1"], &["extra"]);
    extra.name = "gate".to_owned();
    graph.node.insert(4, extra);
    graph.node[5].input[0] = "extra".to_owned();
    folder.model("b.onnx", &longer);
    has_lines(
        &folder.run("diff a.onnx b.onnx"),
        1,
        &[
            "operators: Sigmoid 0 -> 1",
            "nodes: 6 the same, 0 changed, 1 added, 0 removed",
            "added Sigmoid 'gate', input 0 of Add '/layer.2/add'",
        ],
    );
    has_lines(
        &folder.run("diff b.onnx a.onnx"),
        1,
        &["removed Sigmoid 'gate', input 0 of Add '/layer.2/add'"],
    );
}

#[test]
fn a_part_that_became_another_one() {
    let folder = Folder::new();
    folder.model("a.onnx", &layers(4, "Relu", 0.5));
    let mut other = layers(4, "Relu", 0.5);
    let graph = other.graph.as_mut().unwrap();
    // In place of Add and Relu, one node.
    for layer in [1, 2] {
        let start = graph
            .node
            .iter()
            .position(|node| node.name == format!("/layer.{layer}/add"));
        let start = start.unwrap();
        let (input, output) = (format!("v{}", layer - 1), format!("v{layer}"));
        let mut fused = node("Sqrt", &[&input], &[&output]);
        fused.name = format!("/layer.{layer}/fused");
        graph.node.splice(start..start + 2, [fused]);
    }
    folder.model("b.onnx", &other);
    let ran = folder.run("diff a.onnx b.onnx");
    let text = "operators: Add 4 -> 2, Relu 4 -> 2, Sqrt 0 -> 2";
    has_lines(&ran, 1, &[text]);
    assert!(ran.out.contains("nodes ("), "{}", ran.out);
    assert!(
        !ran.out.contains("removed Add '"),
        "told as parts: {}",
        ran.out
    );
}

#[test]
fn inputs_that_are_connected_differently() {
    let folder = Folder::new();
    let made = |second: &str| {
        let mut made = layers(3, "Relu", 0.5);
        let graph = made.graph.as_mut().unwrap();
        graph.node.push(node("Sub", &["v2", second], &["y"]));
        graph.output = vec![value("y", FLOAT, &[Dim::Size(3)])];
        made
    };
    folder.model("a.onnx", &made("v0"));
    folder.model("b.onnx", &made("v1"));
    has_lines(
        &folder.run("diff a.onnx b.onnx"),
        1,
        &[
            "nodes: 6 the same, 1 changed, 0 added, 0 removed",
            "input 1 of Sub 'Sub_y': Relu '/layer.0/act' -> Relu '/layer.1/act'",
        ],
    );
}

#[test]
fn swapped_inputs_are_told_by_position() {
    let folder = Folder::new();
    let made = |inputs: &[&str]| {
        let mut made = layers(3, "Relu", 0.5);
        let graph = made.graph.as_mut().unwrap();
        graph.node.push(node("Sub", inputs, &["y"]));
        graph.output = vec![value("y", FLOAT, &[Dim::Size(3)])];
        made
    };
    folder.model("a.onnx", &made(&["v0", "v2"]));
    folder.model("b.onnx", &made(&["v2", "v0"]));
    has_lines(
        &folder.run("diff a.onnx b.onnx"),
        1,
        &[
            "input 0 of Sub 'Sub_y': Relu '/layer.0/act' -> Relu '/layer.2/act'",
            "input 1 of Sub 'Sub_y': Relu '/layer.2/act' -> Relu '/layer.0/act'",
        ],
    );
}

#[test]
fn inside_of_bodies_and_functions() {
    let folder = Folder::new();
    folder.model("a.onnx", &nested());
    let mut other = nested();
    let graph = other.graph.as_mut().unwrap();
    let branch = graph.node[1].attribute[0].g.as_mut().unwrap();
    branch.node[0].op_type = "Log".to_owned();
    other.functions[0].node[0].op_type = "Selu".to_owned();
    folder.model("b.onnx", &other);
    let ran = folder.run("diff a.onnx b.onnx");
    assert!(
        ran.out
            .contains("Exp 'Exp_p' in graph 'Exp_branch' became Log"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("in function '"), "{}", ran.out);
    assert!(ran.out.contains("became Selu"), "{}", ran.out);
}

#[test]
fn types_of_inputs_and_outputs() {
    let folder = folder();
    let mut other = small(&Small::default());
    let dims = [Dim::Symbol("N"), Dim::Size(7), Dim::Symbol("L")];
    other.graph.as_mut().unwrap().input[0] = value("x", FLOAT, &dims);
    folder.model("shape.onnx", &other);
    has_lines(
        &folder.run("diff a.onnx shape.onnx"),
        1,
        &[
            "input #0 'x': float32[N, 2, L] -> float32[N, 7, L]",
            "type of input 'x': float32[N, 2, L] -> float32[N, 7, L]",
        ],
    );
    let line = "diff --ignore-shapes a.onnx shape.onnx";
    check(&folder.run(line), 0, "equal\n");
}

#[test]
fn meaning_counts_unless_strict() {
    let folder = Folder::new();
    folder.model("13.onnx", &softmax(13, &[]));
    folder.model("17.onnx", &softmax(17, &[]));
    folder.model("default.onnx", &softmax(13, &[int("axis", -1)]));
    folder.model("11.onnx", &softmax(11, &[int("axis", 1)]));
    check(
        &folder.run("diff 13.onnx 17.onnx"),
        0,
        "equal\nopset ai.onnx 13 -> 17, with the same meaning for all nodes\n",
    );
    check(&folder.run("diff 13.onnx default.onnx"), 0, "equal\n");
    check(&folder.run("diff -q 13.onnx 17.onnx"), 0, "");
    check(
        &folder.run("diff --first 13.onnx default.onnx"),
        0,
        "equal\n",
    );
    has_lines(
        &folder.run("diff --strict 13.onnx 17.onnx"),
        1,
        &["opset ai.onnx 13 -> 17", "opset ai.onnx: 13 -> 17"],
    );
    has_lines(
        &folder.run("diff --strict 13.onnx default.onnx"),
        1,
        &["attribute 'axis' of Softmax 'Softmax_y' added: -1"],
    );
    check(&folder.run("diff -q --strict 13.onnx default.onnx"), 1, "");
    assert_eq!(
        folder.run("diff --first --strict 13.onnx 17.onnx").status,
        1
    );
    // Softmax itself has changed between these.
    has_lines(
        &folder.run("diff 11.onnx 13.onnx"),
        1,
        &[
            "opset ai.onnx 11 -> 13",
            "version of Softmax 'Softmax_y': 11 -> 13",
        ],
    );
}

#[test]
fn small_differences_of_numbers_can_be_ignored() {
    let folder = Folder::new();
    folder.model("a.onnx", &layers(2, "Relu", 0.5));
    folder.model("b.onnx", &layers(2, "Relu", 0.625));
    for (options, status) in [
        ("--atol 0.125", 0),
        ("--atol 0.124", 1),
        // Relative to the right number.
        ("--rtol 0.2", 0),
        ("--rtol 0.19", 1),
        ("--rtol 0.1 --atol 0.0625", 0),
        ("-q --rtol 0.19", 1),
        ("-q --rtol 0.2", 0),
        ("--json --rtol 0.2", 0),
    ] {
        let ran = folder.run(&format!("diff {options} a.onnx b.onnx"));
        assert_eq!(ran.status, status, "{options}: {ran:?}");
    }
    assert_eq!(folder.run("diff --rtol 0.2 b.onnx a.onnx").status, 1);
    for (option, message) in [
        ("--rtol -1", "expected a number that is not negative"),
        ("--atol=nan", "expected a number that is not negative"),
        ("--first --atol 1", "cannot be used with"),
    ] {
        let ran = folder.run(&format!("diff {option} a.onnx b.onnx"));
        assert_eq!(ran.status, 2, "{option}: {ran:?}");
        assert!(
            ran.err.contains(message) || option == "--rtol -1",
            "{ran:?}"
        );
    }
    folder.file("a.iso", b"[1.0, \"x\"]");
    folder.file("b.iso", b"[1.25, \"x\"]");
    check(&folder.run("diff --atol 0.25 a.iso b.iso"), 0, "equal\n");
    assert_eq!(folder.run("diff --atol 0.24 a.iso b.iso").status, 1);
}

#[test]
fn a_maximum_and_the_summary_alone() {
    let folder = Folder::new();
    let many = |end: &str| {
        let items = (0..30).map(|number| format!("\"k{number}\": \"{number}{end}\""));
        format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
    };
    folder.file("a.iso", many("").as_bytes());
    folder.file("b.iso", many("x").as_bytes());
    let ran = folder.run("diff a.iso b.iso");
    assert_eq!(ran.out.lines().count(), 22, "{}", ran.out);
    assert!(
        ran.out
            .ends_with("... and 10 more changes; --max 0 shows all\n"),
        "{}",
        ran.out
    );
    assert_eq!(
        folder.run("diff --max 0 a.iso b.iso").out.lines().count(),
        31
    );
    let ran = folder.run("diff --max 29 a.iso b.iso");
    assert!(
        ran.out
            .ends_with("... and 1 more change; --max 0 shows all\n"),
        "{}",
        ran.out
    );
    check(
        &folder.run("diff --stat a.iso b.iso"),
        1,
        "different: 30 attribute\n",
    );

    folder.model("a.onnx", &layers(3, "Relu", 0.5));
    folder.model("b.onnx", &layers(3, "Tanh", 0.25));
    let ran = folder.run("diff --max 1 a.onnx b.onnx");
    assert!(
        ran.out
            .ends_with("... and 1 more change; --max 0 shows all\n"),
        "{}",
        ran.out
    );
    let stat = folder.run("diff --stat a.onnx b.onnx");
    assert_eq!(stat.status, 1);
    assert!(!stat.out.contains("became"), "{}", stat.out);
    assert!(ran.out.starts_with(&stat.out), "the summary is the same");
}

#[test]
fn values_of_ir_files_have_a_line_for_each_change() {
    let folder = Folder::new();
    folder.file("a.iso", b"{\"a\": [1, 2, 3], \"b\": 3}");
    folder.file("b.iso", b"{\"a\": [1, 2, 9, 3], \"b\": 4}");
    let ran = folder.run("diff a.iso b.iso");
    assert_eq!(ran.status, 1);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[0], "different: 1 inserted, 1 attribute",
        "{}",
        ran.out
    );
    assert!(
        lines.contains(&"inserted at <root>[\"a\"][2]: 9"),
        "{}",
        ran.out
    );
    assert!(
        lines.contains(&"attribute at <root>[\"b\"]: 3 -> 4"),
        "{}",
        ran.out
    );
    let colored = folder.run("diff --color always a.iso b.iso").out;
    assert!(colored.contains("\u{1b}[32minserted"), "{colored:?}");
    check(
        &piped(
            folder.path(),
            "diff - a.iso",
            b"{\"a\": [1, 2, 3], \"b\": 3}",
        ),
        0,
        "equal\n",
    );
    check(&folder.run("diff --first --stat a.iso b.iso"), 2, "");
}

#[test]
fn names_cannot_disturb_the_terminal() {
    let folder = Folder::new();
    let made = |axis| {
        let mut made = softmax(13, &[int("axis", axis)]);
        made.graph.as_mut().unwrap().node[0].name = "\u{1b}[31m\u{202e}".to_owned();
        made
    };
    folder.model("a.onnx", &made(0));
    folder.model("b.onnx", &made(1));
    let ran = folder.run("diff a.onnx b.onnx");
    assert!(
        ran.out.contains("Softmax '\\u{1b}[31m\\u{202e}': 0 -> 1"),
        "{ran:?}"
    );
}

#[test]
fn models_as_json() {
    let folder = folder();
    let report = json(&folder.run("diff --json a.onnx attribute.onnx"));
    assert_eq!(
        (&report["format"], &report["version"], &report["equal"]),
        (&json_of!("isoform.diff"), &json_of!(2), &json_of!(false))
    );
    assert_eq!(report["left"]["file"], "a.onnx");
    assert_eq!(report["right"]["file"], "attribute.onnx");
    let summary = &report["summary"];
    assert_eq!(
        summary["nodes"],
        json_of!({"same": 2, "changed": 1, "added": 0, "removed": 0})
    );
    assert!(summary["operators"].is_array() && summary["weights"]["pairs"] == 2);
    let change = &report["changes"][0];
    assert_eq!(
        (&change["left"], &change["right"]),
        (&json_of!("1"), &json_of!("2"))
    );
    let path = change["right_path"].as_str().unwrap();
    assert_eq!(path, "<node 0 of 'main'>.attrs[\"pads\"][1]");
    assert_eq!(change["places"][0]["right_path"], path);
    assert_eq!(change["origin"]["name"], "Conv_c");
    assert_eq!(change["tensor"], json_of!(null));
    assert_eq!(report["hunks"], json_of!([]));
    let group = &report["groups"][0];
    assert_eq!(
        group["text"],
        "attribute 'pads' of Conv 'Conv_c': [1, 1] -> [1, 2]"
    );
    assert_eq!(
        (&group["count"], &group["nodes"][0]["op"]),
        (&json_of!(1), &json_of!("Conv"))
    );

    let report = json(&folder.run("diff --json a.onnx weight.onnx"));
    let change = &report["changes"][0];
    assert_eq!(change["kind"], "tensor");
    assert_eq!(
        (
            &change["tensor"]["elements"],
            &change["tensor"]["differing"]
        ),
        (&json_of!(1), &json_of!(1))
    );
    assert_eq!(change["tensor"]["first"], json_of!([0]));
    assert!(change["tensor"]["max_rel"].as_f64().unwrap() < 1e-6);

    let report = json(&folder.run("diff --json a.onnx operator.onnx"));
    assert_eq!(report["hunks"][0]["left"].as_array().map(Vec::len), Some(1));
    let same = json(&folder.run("diff --json a.onnx renamed.onnx"));
    assert_eq!(
        (&same["equal"], &same["changes"]),
        (&json_of!(true), &json_of!([]))
    );
    let stat = json(&folder.run("diff --json --stat a.onnx weight.onnx"));
    assert!(stat.get("changes").is_none() && stat["summary"]["counts"]["tensor"] == 1);
}

#[test]
fn ir_files_as_json() {
    let folder = Folder::new();
    folder.file("a.iso", b"[1, [2]]");
    folder.file("b.iso", b"[1, [3]]");
    let ran = folder.run("diff --json a.iso b.iso");
    assert_eq!(ran.status, 1);
    let found = json(&ran);
    assert_eq!(found["summary"], json_of!({"counts": {"value": 1}}));
    let change = &found["changes"][0];
    assert_eq!(
        (&change["kind"], &change["count"], &change["left_path"]),
        (&json_of!("value"), &json_of!(1), &json_of!("<root>[1][0]"))
    );
    assert_eq!(change["origin"], json_of!(null));
    assert!(found.get("groups").is_none());
}

#[test]
fn lists_of_numbers_are_shown_as_a_whole() {
    let folder = Folder::new();
    let pads = |numbers: &[i64]| {
        let mut made = small(&Small::default());
        made.graph.as_mut().unwrap().node[0].attribute[0] = ints("pads", numbers);
        made
    };
    folder.model("a.onnx", &pads(&[1, 1, 1, 1]));
    folder.model("b.onnx", &pads(&[2, 1, 2, 1]));
    let ran = folder.run("diff a.onnx b.onnx");
    let text = "attribute 'pads' of Conv 'Conv_c': [1, 1, 1, 1] -> [2, 1, 2, 1]";
    assert_eq!(ran.out.matches(text).count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("pads").count(), 1, "{}", ran.out);
}

#[test]
fn contents_that_are_not_compared_are_not_measured() {
    let folder = folder();
    let ran = folder.run("diff --architecture weight.onnx attribute.onnx");
    has_lines(&ran, 1, &["weights: not compared"]);
    assert!(!ran.out.contains("weight 'b'"), "{}", ran.out);
}

#[test]
fn the_json_of_a_deep_model_grows_with_its_edits() {
    let folder = Folder::new();
    let length = |left: &str, right: &str| {
        let ran = folder.run(&format!("diff --json {left} {right}"));
        assert_eq!(ran.status, 1, "{ran:?}");
        ran.out.len()
    };
    folder.model("short.onnx", &layers(50, "Relu", 0.5));
    folder.model("long.onnx", &layers(1000, "Relu", 0.5));
    let edited = |count: usize, edits: usize| {
        let mut model = layers(count, "Relu", 0.5);
        let nodes = &mut model.graph.as_mut().unwrap().node;
        let relus = nodes.iter_mut().filter(|node| node.op_type == "Relu");
        for node in relus.take(edits) {
            node.op_type = "Tanh".to_owned();
        }
        model
    };
    folder.model("short_one.onnx", &edited(50, 1));
    folder.model("long_one.onnx", &edited(1000, 1));
    let single = length("long.onnx", "long_one.onnx");
    assert!(single <= 4096, "{single}");
    assert!(single <= length("short.onnx", "short_one.onnx") + 64);
    folder.model("many.onnx", &edited(1000, 100));
    folder.model("more.onnx", &edited(1000, 200));
    let (many, more) = (
        length("long.onnx", "many.onnx"),
        length("long.onnx", "more.onnx"),
    );
    assert!(more < 2 * many + single, "{many} {more}");
}

#[test]
fn a_removed_node_is_named_in_json() {
    let folder = Folder::new();
    let variant = |is_kept: bool| {
        let mut nodes = vec![node("Sin", &["x"], &["a"])];
        nodes.extend(is_kept.then(|| node("HardSigmoid", &["a"], &["b"])));
        nodes.push(node("Mul", &["a", if is_kept { "b" } else { "a" }], &["y"]));
        model(GraphProto {
            name: "main".to_owned(),
            node: nodes,
            input: vec![value("x", FLOAT, &[Dim::Size(2)])],
            output: vec![value("y", FLOAT, &[Dim::Size(2)])],
            ..Default::default()
        })
    };
    folder.model("a.onnx", &variant(true));
    folder.model("b.onnx", &variant(false));
    let report = json(&folder.run("diff --json a.onnx b.onnx"));
    let changes = report["changes"].as_array().expect("a list");
    let deleted = changes.iter().find(|change| change["kind"] == "deleted");
    let deleted = deleted.expect("a removed node");
    assert_eq!(deleted["origin"]["op"], "HardSigmoid");
    assert_eq!(deleted["left_path"], "<node 1 of 'main'>");
}

#[test]
fn long_paths_of_ir_files_share_their_beginnings() {
    let folder = Folder::new();
    let nested = |leaf: &str| format!("{}{leaf}{}", "[1, ".repeat(200), "]".repeat(200));
    folder.file("a.iso", nested("[2, 3]").as_bytes());
    folder.file("b.iso", nested("[4, 5]").as_bytes());
    let found = json(&folder.run("diff --json a.iso b.iso"));
    let changes = found["changes"].as_array().expect("a list");
    let path = changes[0]["left_path"].as_str().expect("a path");
    assert!(
        path.starts_with('<') && !path.starts_with("<root>"),
        "{path}"
    );
    let places = found["places"].as_array().expect("a list");
    assert_eq!(places.len(), 2 * 3, "three for each side");
    assert!(
        places[0]
            .as_str()
            .expect("a path")
            .starts_with("<root>[1][1]")
    );
}

#[test]
fn targets_of_reshapes_that_mean_the_same_are_simplified() {
    let folder = Folder::new();
    let variant = |target: &[i64]| {
        let mut result = model(GraphProto {
            name: "main".to_owned(),
            node: vec![
                node("Abs", &["x"], &["a"]),
                node("Reshape", &["a", "t"], &["y"]),
            ],
            initializer: vec![TensorProto {
                name: "t".to_owned(),
                dims: vec![target.len() as i64],
                data_type: 7,
                int64_data: target.to_vec(),
                ..Default::default()
            }],
            input: vec![value(
                "x",
                FLOAT,
                &[Dim::Symbol("batch"), Dim::Size(2), Dim::Size(4)],
            )],
            output: vec![value("y", FLOAT, &[Dim::Symbol("batch"), Dim::Size(8)])],
            ..Default::default()
        });
        result.opset_import[0].version = 17;
        result
    };
    folder.model("zero.onnx", &variant(&[0, 8]));
    folder.model("open.onnx", &variant(&[-1, 8]));
    folder.model("last.onnx", &variant(&[0, -1]));
    for other in ["open.onnx", "last.onnx"] {
        assert_eq!(folder.run(&format!("diff -q zero.onnx {other}")).status, 1);
        check(
            &folder.run(&format!("diff --simplify zero.onnx {other}")),
            0,
            "equal\n",
        );
    }
}

#[test]
fn folders_are_compared_in_pairs() {
    let folder = Folder::new();
    for (file, model) in [
        ("a/main/model.onnx", layers(2, "Relu", 0.5)),
        ("a/same.onnx", layers(3, "Relu", 0.5)),
        ("b/other/model.onnx", layers(2, "Tanh", 0.5)),
        ("b/same.onnx", layers(3, "Relu", 0.5)),
        ("b/new/extra.onnx", layers(1, "Relu", 0.5)),
        ("same.onnx", layers(3, "Relu", 0.5)),
    ] {
        folder.model(file, &model);
    }
    let ran = folder.run("diff a b");
    assert_eq!(ran.status, 1, "{ran:?}");
    for line in [
        "a/main/model.onnx  b/other/model.onnx",
        "a/same.onnx  b/same.onnx",
        "equal",
        "only on the right: b/new/extra.onnx",
    ] {
        assert!(
            ran.out.lines().any(|printed| printed == line),
            "{line}\n{}",
            ran.out
        );
    }
    let ran = folder.run("diff --json --stat a b");
    let reports: Vec<serde_json::Value> = (ran.out.lines())
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    assert_eq!(reports.len(), 3);
    assert_eq!(reports[2]["left"], json_of!(null));
    assert!(
        reports
            .iter()
            .all(|report| report["format"] == "isoform.diff")
    );
    // The file of this name in the folder.
    check(&folder.run("diff same.onnx b"), 0, "equal\n");
    check(&folder.run("diff b same.onnx"), 0, "equal\n");
    folder.model("empty/none.txt", &layers(1, "Relu", 0.5));
    let ran = folder.run("diff a empty");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("empty: this folder has no models"),
        "{ran:?}"
    );
}
