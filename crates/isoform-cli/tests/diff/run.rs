//! `isoform diff --run`: the texts, the JSON and the refusals.

use isoform_onnx::proto::{GraphProto, ModelProto};
use serde_json::json as json_of;

use crate::build::{Dim, FLOAT, Folder, floats, model, node, value};
use crate::{check, json};

/// `y = op(x + w) * w`, with names that begin with a prefix.
fn network(op: &str, weight: f32, prefix: &str) -> ModelProto {
    let name = |text: &str| format!("{prefix}{text}");
    let mut nodes = vec![
        node("Add", &[&name("x"), "w"], &[&name("s")]),
        node(op, &[&name("s")], &[&name("a")]),
        node("Mul", &[&name("a"), "w"], &[&name("y")]),
    ];
    for (node, text) in nodes.iter_mut().zip(["add", "act", "mul"]) {
        node.name = name(text);
    }
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes,
        initializer: vec![floats("w", &[weight, 1.0, 2.0])],
        input: vec![value(&name("x"), FLOAT, &[Dim::Size(3)])],
        output: vec![value(&name("y"), FLOAT, &[Dim::Size(3)])],
        ..Default::default()
    })
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("a.onnx", &network("Relu", 0.5, ""));
    folder.model("same.onnx", &network("Relu", 0.5, "other/"));
    folder.model("abs.onnx", &network("Abs", 0.5, "other/"));
    folder
}

#[test]
fn equal_results_are_told_in_a_line() {
    let ran = folder().run("diff --run a.onnx same.onnx");
    check(
        &ran,
        0,
        "\
same: no pair of values differs beyond the tolerance
run by isoform's evaluator (inputs 1; inputs 2), with rtol 0.001 and atol 0.00001
pairs: 3 compared, 0 different
relative L2 error along the graph, each bar a pair (. equal, ▁ 1e-8 to █ 0.1, ? unknown):
  ...
",
    );
    let ran = folder().run("diff --run --quiet a.onnx abs.onnx");
    check(&ran, 1, "");
}

#[test]
fn the_page_has_the_first_divergence_a_chart_and_a_table() {
    let folder = folder();
    let ran = folder.run("diff --run --html page.html a.onnx abs.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.starts_with("different: the first divergence is at"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for text in [
        "the first divergence is at Relu 'act'",
        "Relative L2 error along the graph",
        "Pairs that are not the same",
        "class=\"bar marked\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn an_output_that_cannot_be_compared_is_a_difference() {
    let folder = folder();
    let mut more = network("Relu", 0.5, "");
    let graph = more.graph.as_mut().unwrap();
    graph.node.push(node("Abs", &["s"], &["z"]));
    graph.output.push(value("z", FLOAT, &[Dim::Size(3)]));
    folder.model("more.onnx", &more);
    let ran = folder.run("diff --run a.onnx more.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.out.contains("0 outputs on the left and 1 on the right"),
        "{ran:?}"
    );
}

#[test]
fn the_first_divergence_is_named_on_both_sides() {
    let ran = folder().run("diff --run a.onnx abs.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    let mut lines = ran.out.lines();
    let verdict = lines.next().unwrap();
    let head = "different: the first divergence is at Relu 'act' and Abs 'other/act': ";
    assert!(verdict.starts_with(head), "{verdict}");
    assert!(
        verdict.ends_with(", although its inputs agree"),
        "{verdict}"
    );
    assert!(
        ran.out.contains("\n  .██\n   ^ first divergence\n"),
        "{}",
        ran.out
    );
    let text =
        "relative L2 error above 1.0e-6, 1.0e-4, 0.01 first at Relu 'act' and Abs 'other/act'";
    assert!(ran.out.contains(text), "{}", ran.out);
    let row = ran.out.lines().find(|line| line.starts_with('>')).unwrap();
    assert!(
        row.contains("Relu") && row.contains("Abs 'other/act'") && row.contains("[3]"),
        "{row}"
    );
    // Everything is within a large tolerance.
    let ran = folder().run("diff --run --atol 100 a.onnx abs.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
}

#[test]
fn json_has_the_pairs() {
    let ran =
        folder().run("diff --run --json --seed 5 --sets 1 --thresholds 0.5,1e9 a.onnx abs.onnx");
    assert_eq!(ran.status, 1, "{ran:?}");
    let object = json(&ran);
    assert_eq!(object["format"], "isoform.divergence");
    assert_eq!(object["version"], 1);
    assert_eq!(
        (&object["same"], &object["first"]),
        (&json_of!(false), &json_of!(1))
    );
    assert_eq!(object["origins"], json_of!([1]));
    assert_eq!(object["inputs"], json_of!(["inputs 1"]));
    assert_eq!(object["right"], json_of!({"file": "abs.onnx"}));
    assert_eq!(
        object["crossings"][1],
        json_of!({"threshold": 1e9, "pair": null})
    );
    let pair = &object["pairs"][1];
    assert_eq!(pair["left"]["node"]["name"], "act");
    assert_eq!(pair["right"]["value"], "other/a");
    assert_eq!(
        (&pair["status"], &pair["inputs_agree"]),
        (&json_of!("different"), &json_of!(true))
    );
    assert_eq!(pair["types"], json_of!(["float32", "float32"]));
    assert_eq!(object["pairs"][0]["status"], "same");
}

#[test]
fn the_help_describes_every_key() {
    let folder = folder();
    let help = folder.run("diff --help");
    let ran = folder.run("diff --run --json a.onnx abs.onnx");
    let object = json(&ran);
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    for key in keys(&object).into_iter().chain(keys(&object["pairs"][0])) {
        assert!(help.out.contains(&format!("\"{key}\"")), "{key}");
    }
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let folder = folder();
    let two = network("Relu", 0.5, "");
    let mut two = two;
    let graph = two.graph.as_mut().unwrap();
    graph.input.push(value("z", FLOAT, &[Dim::Size(3)]));
    graph.node[2].input[1] = "z".to_owned();
    folder.model("two.onnx", &two);
    let error = |args: &str, message: &str| {
        let ran = folder.run(args);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains(message), "{}", ran.err);
    };
    error(
        "diff --run a.onnx two.onnx",
        "the models have different inputs: the left model has 1 ('x'), the right model has 2 ('x', 'z')",
    );
    error(
        "diff --run --architecture a.onnx same.onnx",
        "--run needs the contents of weights",
    );
    error("diff --run --stat a.onnx same.onnx", "cannot be used with");
    error("diff --run --first a.onnx same.onnx", "cannot be used with");
    error("diff --seed 2 a.onnx same.onnx", "--run");
    error("diff --run --sets 0 a.onnx same.onnx", "--sets");
    error("diff --run --inputs none.npz a.onnx same.onnx", "none.npz");
    error(
        "diff --run --inputs a.onnx a.onnx same.onnx",
        "expected inputs by name",
    );
    error(
        "diff --run --run-shape x:4 a.onnx same.onnx",
        "expected 3 at axis 0",
    );
    error("diff --run --run-shape q:4 a.onnx same.onnx", "input 'q'");
    let ran = folder.run("convert a.onnx a.iso");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(folder.run("diff --run a.iso same.onnx").status, 0);
    let ran = folder.run("diff --run --json a.onnx two.onnx");
    assert_eq!(json(&ran)["failed"][0]["file"], "a.onnx", "{ran:?}");
}

#[test]
fn folders_are_run_in_pairs() {
    let folder = folder();
    for (name, op) in [("left/m.onnx", "Relu"), ("right/m.onnx", "Abs")] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        folder.model(name, &network(op, 0.5, ""));
    }
    let ran = folder.run("diff --run left right");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.out
            .contains("the first divergence is at Relu 'act' and Abs 'act'"),
        "{}",
        ran.out
    );
}
