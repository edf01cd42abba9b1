//! `isoform summary`.

use crate::build::{Small, nested, small};
use crate::{check, folder, json};

#[test]
fn a_model_in_numbers() {
    let folder = folder();
    let ran = folder.run("summary a.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    for line in ["nodes              3", "  Conv  1", "  Relu  1", "weights"] {
        assert!(ran.out.lines().any(|it| it == line), "{line}: {}", ran.out);
    }
    let ran = json(&folder.run("summary --json a.onnx"));
    assert_eq!(ran["file"], "a.onnx");
    let model = &ran["model"];
    assert_eq!(
        (&model["nodes"], &model["operators"]["Conv"]),
        (&3.into(), &1.into())
    );
    assert_eq!(model["inputs"][0]["dtype"], "float32");
    assert_eq!(model["opsets"]["ai.onnx"].as_array().map(Vec::len), Some(1));
}

#[test]
fn two_models_in_numbers() {
    let folder = folder();
    let ran = folder.run("summary a.onnx operator.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    for line in [
        "  Relu  1  ->  0  -1",
        "  Tanh  0  ->  1  +1",
        "  Conv  1  ->  1",
    ] {
        assert!(
            ran.out.lines().any(|printed| printed == line),
            "{line}: {}",
            ran.out
        );
    }
    let ran = json(&folder.run("summary --json a.onnx weight.onnx"));
    let weights = &ran["weights"];
    assert_eq!(weights["changed"].as_array().map(Vec::len), Some(1));
    let changed = &weights["changed"][0];
    assert_eq!(
        (&changed["differing"], &changed["first"]),
        (&1.into(), &serde_json::json!([0]))
    );
    // Reading JSON may change the last bit of a number.
    let largest = changed["max_abs"].as_f64().unwrap();
    assert!((largest / f64::from(f32::EPSILON) - 0.5).abs() < 1e-9);
    // Names may differ: equal weights are paired.
    let ran = json(&folder.run("summary --json a.onnx renamed.onnx"));
    assert_eq!(ran["weights"]["changed"], serde_json::json!([]));
    assert_eq!(ran["weights"]["left_only"], serde_json::json!([]));
}

#[test]
fn dimensions_can_be_fixed_and_models_simplified() {
    let folder = folder();
    folder.model("nested.onnx", &nested());
    let ran = json(&folder.run("summary --json --simplify nested.onnx"));
    assert!(ran["model"]["nesting"].as_u64().is_some());
    let ran = folder.run("summary --dim nothing=1 a.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("dimension 'nothing'"), "{}", ran.err);
}

#[test]
fn files_of_ir_are_counted_by_type() {
    let folder = folder();
    folder.run("convert a.onnx a.iso");
    folder.run("convert operator.onnx b.isob");
    let ran = json(&folder.run("summary --json a.iso"));
    assert_eq!(ran["types"]["onnx.Call"], 3);
    let ran = folder.run("summary a.iso b.isob");
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("onnx.Call"), "{}", ran.out);
    assert!(!ran.out.contains("->"), "{}", ran.out);
    let ran = folder.run("summary a.onnx a.iso");
    let text = "isoform: a.iso: expected two models or two IR files, got one of each; 'isoform convert a.onnx model.iso' makes an IR file of a model\n";
    check(&ran, 2, "");
    assert_eq!(ran.err, text);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder();
    let ran = folder.run("summary a.onnx missing.onnx");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.starts_with("isoform: missing.onnx: "),
        "{}",
        ran.err
    );
    let ran = folder.run("summary --json broken.onnx");
    assert_eq!(
        (ran.status, json(&ran)["file"].as_str()),
        (2, Some("broken.onnx"))
    );
    assert_eq!(folder.run("summary - -").status, 2);
}

#[test]
fn names_cannot_disturb_the_terminal() {
    let folder = folder();
    let odd = Small {
        suffix: "\u{1b}[31m",
        ..Small::default()
    };
    folder.model("odd.onnx", &small(&odd));
    let ran = folder.run("summary odd.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("\\u{1b}[31m") && !ran.out.contains('\u{1b}'));
    let ran = folder.run("summary --color always a.onnx operator.onnx");
    assert!(ran.out.contains("\u{1b}["), "{}", ran.out);
}
