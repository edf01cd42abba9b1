//! Derived types of values, and dimensions as numbers.

use isoform_onnx::proto::{GraphProto, ModelProto};
use serde_json::json;

use crate::build::{Dim, FLOAT, Folder, Small, model, nested, node, small, value};
use crate::{check, json};

/// The small model, whose input `x` is float[N, 2, L], with other dimensions declared.
fn declared(input: &[Dim], output: &[Dim]) -> ModelProto {
    let mut made = small(&Small::default());
    let graph = made.graph.as_mut().unwrap();
    graph.input = vec![value("x", FLOAT, input)];
    graph.output = vec![value("y", FLOAT, output)];
    made
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("a.onnx", &small(&Small::default()));
    folder.model("nested.onnx", &nested());
    let fixed = || [Dim::Size(4), Dim::Size(2), Dim::Size(10)];
    folder.model("fixed.onnx", &declared(&fixed(), &fixed()));
    let symbols = || [Dim::Symbol("N"), Dim::Size(2), Dim::Symbol("L")];
    let wrong = [Dim::Symbol("N"), Dim::Size(7), Dim::Symbol("L")];
    folder.model("wrong.onnx", &declared(&symbols(), &wrong));
    folder
}

/// The comments at the ends of the lines of nodes.
fn comments(text: &str) -> Vec<&str> {
    let nodes = text.lines().filter(|line| line.starts_with("  "));
    let ends = nodes.filter_map(|line| line.split_once("  # "));
    ends.map(|(_, comment)| comment).collect()
}

#[test]
fn types_follow_each_node() {
    let ran = folder().run("show --shapes a.onnx");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_eq!(comments(&ran.out), ["float[N, 2, L]"; 3], "{}", ran.out);
    // Nothing is added to the text otherwise.
    let plain = folder().run("show a.onnx");
    assert_eq!(comments(&plain.out), [""; 0]);
    let stripped = ran.out.replace("  # float[N, 2, L]", "");
    assert_eq!(stripped, plain.out);
}

#[test]
fn types_stand_beside_names() {
    let ran = folder().run("show --shapes --names a.onnx");
    let line = ran.out.lines().find(|line| line.contains("Relu")).unwrap();
    assert!(
        line.ends_with("  # float[N, 2, L]  # \"Relu_y\": \"s\" -> \"y\""),
        "{line}"
    );
}

#[test]
fn branches_have_types_and_functions_none_of_their_own() {
    let ran = folder().run("show --shapes nested.onnx");
    assert_eq!(
        comments(&ran.out),
        // Abs, If, the two branches, the call of the function, and the node inside of
        // the function.
        [
            "float[2]", "float[2]", "float[2]", "float[2]", "float[2]", "?[...]"
        ],
        "{}",
        ran.out
    );
    let shown = json(&folder().run("show --shapes --json nested.onnx"));
    let nodes = &shown["program"]["nodes"];
    assert_eq!(nodes[1]["types"], json!(["float[2]"]));
    let branch = &nodes[1]["attributes"]["then_branch"]["nodes"];
    assert_eq!(branch[0]["types"], json!(["float[2]"]));
}

#[test]
fn sizes_that_a_model_computes_are_formulas() {
    let folder = Folder::new();
    let computed = model(GraphProto {
        name: "main".to_owned(),
        node: vec![
            node("Shape", &["x"], &["s"]),
            node("NonZero", &["x"], &["n"]),
            node("Size", &["x"], &["y"]),
        ],
        input: vec![value("x", FLOAT, &[Dim::Symbol("N"), Dim::Size(3)])],
        output: ["s", "n", "y"].map(|name| value(name, 7, &[])).into(),
        ..Default::default()
    });
    folder.model("computed.onnx", &computed);
    let ran = folder.run("show --shapes computed.onnx");
    assert_eq!(
        comments(&ran.out),
        ["int64[2] = (N, 3)", "int64[2, _1]", "int64 = N*3"],
        "{}",
        ran.out
    );
    // Scalars were declared, but the first two have axes.
    let problems: Vec<&str> = ran
        .out
        .lines()
        .filter(|line| line.contains("but is"))
        .collect();
    assert_eq!(
        problems,
        [
            "# output 's' is declared as int64, but is int64[2] = (N, 3)",
            "# output 'n' is declared as int64, but is int64[2, _1]",
        ]
    );
}

#[test]
fn wrong_declarations_are_listed() {
    let problem = "output 'y' is declared as float[N, 7, L], but is float[N, 2, L]";
    let folder = folder();
    let ran = folder.run("show --shapes wrong.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains(&format!("\n# {problem}\n")), "{}", ran.out);
    let shown = json(&folder.run("show --shapes --json wrong.onnx"));
    assert_eq!(shown["problems"], json!([problem]));
    let shown = json(&folder.run("show --shapes --json a.onnx"));
    assert_eq!(shown["problems"], json!([]));
    assert_eq!(
        shown["program"]["nodes"][0]["types"],
        json!(["float[N, 2, L]"])
    );
    let shown = json(&folder.run("show --json wrong.onnx"));
    assert_eq!(shown.get("problems"), None);
    assert_eq!(shown["program"]["nodes"][0].get("types"), None);
}

#[test]
fn dimensions_can_be_fixed_by_name_and_by_input() {
    let folder = folder();
    for (options, ty) in [
        ("--dim N=4", "float[4, 2, L]"),
        ("--dim N=4 --dim L=10", "float[4, 2, 10]"),
        ("--input-shape x:4,2,10", "float[4, 2, 10]"),
        ("--input-shape x:?,2,10", "float[N, 2, 10]"),
        ("--dim N=4 --input-shape x:4,?,10", "float[4, 2, 10]"),
    ] {
        let ran = folder.run(&format!("show --shapes {options} a.onnx"));
        assert_eq!(comments(&ran.out), [ty; 3], "{options}: {ran:?}");
    }
    // Declared types are fixed as well.
    let ran = folder.run("show --dim N=4 --dim L=10 a.onnx");
    let fixed = folder.run("show fixed.onnx");
    let graph = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(graph(&ran.out), graph(&fixed.out));
}

#[test]
fn a_model_equals_its_copy_with_fixed_dimensions() {
    let folder = folder();
    assert_eq!(folder.run("diff a.onnx fixed.onnx").status, 1);
    let line = "diff --dim N=4 --dim L=10 a.onnx a.onnx";
    check(&folder.run(line), 0, "equal\n");
    let line = "diff --input-shape x:4,2,10 a.onnx fixed.onnx";
    check(&folder.run(line), 0, "equal\n");
    let line = "diff -q --input-shape x:5,2,10 a.onnx a.onnx";
    check(&folder.run(line), 0, "");
    // A dimension missing from one side is an error for that side.
    let ran = folder.run("diff --dim N=4 a.onnx fixed.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("fixed.onnx: dimension 'N': "), "{ran:?}");
}

#[test]
fn wrong_dimensions_are_explained() {
    let folder = folder();
    for (options, message) in [
        (
            "--dim M=4",
            "dimension 'M': the types of the model's inputs and outputs have the dimensions 'N', 'L'",
        ),
        (
            "--input-shape z:4",
            "input 'z': the model has the inputs 'x'",
        ),
        (
            "--input-shape x:4,2",
            "input 'x': expected 3 extents, as the model declares, got 2",
        ),
        (
            "--input-shape x:4,3,10",
            "input 'x': expected 2 at axis 1, as the model declares, got 3",
        ),
        (
            "--dim N=1 --input-shape x:2,2,3",
            "dimension 'N': expected one extent, got 1 and 2",
        ),
        (
            "--dim N=1 --dim N=2",
            "dimension 'N': expected one extent, got 1 and 2",
        ),
        (
            "--dim N=-1",
            "dimension 'N': expected an extent that is not negative, got -1",
        ),
        (
            "--input-shape x:-4,2,3",
            "input 'x': expected an extent that is not negative, got -4",
        ),
    ] {
        let ran = folder.run(&format!("show {options} a.onnx"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{options}");
        assert_eq!(ran.err, format!("isoform: a.onnx: {message}\n"));
        let ran = folder.run(&format!("show --json {options} a.onnx"));
        assert_eq!(ran.status, 2, "{options}");
        assert_eq!(json(&ran), json!({"file": "a.onnx", "error": message}));
    }
}

#[test]
fn options_that_cannot_be_read_are_refused_before_any_file() {
    for (options, expected) in [
        ("--dim N", "such as batch=1"),
        ("--dim N=many", "such as batch=1"),
        ("--dim N=99999999999999999999", "such as batch=1"),
        ("--input-shape x", "such as x:1,3,224,224"),
        ("--input-shape x:1,,3", "such as x:1,3,224,224"),
        ("--input-shape x:a", "such as x:1,3,224,224"),
    ] {
        let ran = folder().run(&format!("show {options} missing.onnx"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{options}");
        assert!(ran.err.contains(expected), "{options}: {}", ran.err);
    }
}

#[test]
fn files_of_an_ir_have_no_dimensions() {
    let folder = Folder::new();
    folder.file("value.iso", b"[1, 2]");
    let ran = folder.run("show --dim N=1 value.iso");
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert_eq!(
        ran.err,
        "isoform: value.iso: --dim and --input-shape are for ONNX models, and this is another file\n"
    );
}
