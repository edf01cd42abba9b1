//! The two sides of a change never read the same.

use isoform_onnx::proto::{AttributeProto, AttributeType, GraphProto, ModelProto};

use super::has_lines;
use crate::build::{Dim, FLOAT, Folder, floats, ints, model, node, value, with_attributes};

/// A model with a long weight, list and string, which begin as those of other models do.
fn long(weight: f32, item: i64, end: &str) -> ModelProto {
    let numbers: Vec<f32> = (0..40u8).map(f32::from).chain([weight]).collect();
    let list: Vec<i64> = (0..40).chain([item]).collect();
    let text = AttributeProto {
        name: "text".to_owned(),
        r#type: AttributeType::String as i32,
        s: Some(("a".repeat(900) + end).into_bytes().into()),
        ..Default::default()
    };
    let mut custom = with_attributes(node("Foo", &["a"], &["y"]), &[ints("list", &list), text]);
    custom.domain = "custom".to_owned();
    let size = [Dim::Size(41)];
    let mut made = model(GraphProto {
        name: "main".to_owned(),
        node: vec![node("Mul", &["x", "w"], &["a"]), custom],
        input: vec![value("x", FLOAT, &size)],
        output: vec![value("y", FLOAT, &size)],
        initializer: vec![floats("w", &numbers)],
        ..Default::default()
    });
    let mut opset = made.opset_import[0].clone();
    (opset.domain, opset.version) = ("custom".to_owned(), 1);
    made.opset_import.push(opset);
    made
}

#[test]
fn no_two_sides_read_the_same() {
    let folder = Folder::new();
    folder.model("a.onnx", &long(1.0, 1, "left"));
    let others = [
        (2.0, 1, "left"),
        (1.0, 2, "left"),
        (1.0, 1, "right"),
        (2.0, 2, "l"),
    ];
    for (weight, item, end) in others {
        folder.model("b.onnx", &long(weight, item, end));
        let text = folder.run("diff --max 0 a.onnx b.onnx").out;
        for line in text.lines().filter(|line| line.contains(" -> ")) {
            let (_, change) = line.rsplit_once(": ").expect("a change");
            let (left, right) = change.split_once(" -> ").expect("two sides");
            assert_ne!(left, right, "{text}");
        }
        let text = folder.run("diff --format markdown a.onnx b.onnx").out;
        let blocks: Vec<&str> = text.split("```diff\n").skip(1).collect();
        assert!(!blocks.is_empty(), "{text}");
        for block in blocks {
            let (block, _) = block.split_once("```").expect("the end of a block");
            let side = |sign| -> Vec<&str> {
                block
                    .lines()
                    .filter_map(|line| line.strip_prefix(sign))
                    .collect()
            };
            assert_ne!(side('-'), side('+'), "{text}");
        }
    }
    folder.model("b.onnx", &long(2.0, 2, "left"));
    has_lines(
        &folder.run("diff a.onnx b.onnx"),
        1,
        &[
            "attribute 'list' of custom.Foo 'Foo_y': 1 at [40] -> 2 at [40]",
            "weight 'w' (input 1 of Mul 'Mul_a'): 1 of 41 elements differ, max abs 1, max rel 0.5, first at [40]: 1.0 -> 2.0",
        ],
    );
}
