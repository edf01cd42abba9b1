//! Reports of the differences of two models.

use isoform_onnx::eval::Control;
use isoform_onnx::levels::Levels;
use isoform_onnx::report::{Report, ReportOptions, report};

use crate::build::*;

#[track_caller]
fn texts(report: &Report) -> Vec<&str> {
    report
        .groups
        .iter()
        .map(|group| group.text.as_str())
        .collect()
}

#[test]
fn a_long_chain_is_told() {
    let count = 50_000;
    let chain = |version| {
        let nodes =
            (0..count).map(|at| node("Softmax", &format!("v{at}"), &format!("v{}", at + 1)));
        let mut made = model("v0", nodes.collect(), &format!("v{count}"));
        made.opset_import = vec![opset("", version)];
        load(&made).program().clone()
    };
    let (left, right) = (chain(13), chain(12));
    let strict = ReportOptions {
        levels: Levels::NONE,
        ..ReportOptions::default()
    };
    let found = strict.report(&left, &right, &Control::default()).unwrap();
    assert_eq!(found.groups.len(), 1);
    assert_eq!((found.groups[0].count, found.nodes.changed), (count, count));
    let text = format!("opset ai.onnx: 13 -> 12, {count} times");
    assert!(texts(&found)[0].starts_with(&text), "{:?}", texts(&found));
    // By meaning, Softmax changed, too.
    let found = report(&left, &right).unwrap();
    let text = format!("version of Softmax: 13 -> 11, {count} times");
    assert!(texts(&found)[0].starts_with(&text), "{:?}", texts(&found));
}

#[test]
fn versions_and_equal_numbers_elsewhere_are_kept_apart() {
    let made = |version, axis| {
        let nodes = vec![
            node("Softmax", "x", "a").with(ints("demo", &[axis])),
            node("Softmax", "a", "y"),
        ];
        let mut made = model("x", nodes, "y");
        made.opset_import = vec![opset("", version)];
        load(&made).program().clone()
    };
    let found = report(&made(11, 11), &made(13, 13)).unwrap();
    let mut texts = texts(&found);
    texts.sort_unstable();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(
        texts[0].starts_with("attribute 'demo' of Softmax"),
        "{texts:?}"
    );
    assert!(
        texts[1].starts_with("version of Softmax: 11 -> 13, 2 times"),
        "{texts:?}"
    );
    assert_eq!(
        found.nodes.to_string(),
        "0 the same, 2 changed, 0 added, 0 removed"
    );
}

#[test]
fn equal_models_have_no_changes() {
    let program = load(&model("x", vec![node("Relu", "x", "y")], "y"))
        .program()
        .clone();
    let found = report(&program, &program).unwrap();
    assert!(found.is_equal() && found.groups.is_empty());
    assert_eq!((found.nodes.same, found.to_string().as_str()), (1, "equal"));
}
