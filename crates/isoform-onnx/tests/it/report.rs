//! Reports of the differences of two models.

use isoform::compare::ChangeKind;
use isoform_onnx::eval::Control;
use isoform_onnx::levels::Levels;
use isoform_onnx::proto::{AttributeProto, ModelProto, TensorProto};
use isoform_onnx::report::{Report, ReportOptions, Tolerance, report};
use isoform_onnx::summary::ModelsSummary;
use isoform_testing::source::scaled;

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
    let count = scaled(50_000);
    let chain = |version| {
        let nodes = (0..count)
            .map(|index| node("Softmax", &format!("v{index}"), &format!("v{}", index + 1)));
        let mut proto = model("v0", nodes.collect(), &format!("v{count}"));
        proto.opset_import = vec![opset("", version)];
        load(&proto).program().clone()
    };
    let (left, right) = (chain(13), chain(12));
    let strict = ReportOptions {
        levels: Levels::NONE,
        ..ReportOptions::default()
    };
    let model_report = strict.report(&left, &right, &Control::default()).unwrap();
    assert_eq!(model_report.groups.len(), 1);
    assert_eq!(
        (model_report.groups[0].count, model_report.nodes.changed),
        (count, count)
    );
    let text = format!("opset ai.onnx: 13 -> 12, {count} times");
    assert!(
        texts(&model_report)[0].starts_with(&text),
        "{:?}",
        texts(&model_report)
    );
    // By meaning, Softmax changed, too.
    let model_report = report(&left, &right).unwrap();
    let text = format!("version of Softmax: 13 -> 11, {count} times");
    assert!(
        texts(&model_report)[0].starts_with(&text),
        "{:?}",
        texts(&model_report)
    );
}

#[test]
fn versions_and_equal_numbers_elsewhere_are_kept_apart() {
    let program = |version, axis| {
        let nodes = vec![
            node("Softmax", "x", "a").with(ints("demo", &[axis])),
            node("Softmax", "a", "y"),
        ];
        let mut proto = model("x", nodes, "y");
        proto.opset_import = vec![opset("", version)];
        load(&proto).program().clone()
    };
    let model_report = report(&program(11, 11), &program(13, 13)).unwrap();
    let mut texts = texts(&model_report);
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
        model_report.nodes.to_string(),
        "0 the same, 2 changed, 0 added, 0 removed"
    );
}

#[test]
fn versions_are_those_that_the_files_select() {
    let add = |version| {
        let mut proto = model("x w", vec![node("Add", "x w", "y")], "y");
        proto.opset_import = vec![opset("", version)];
        proto
    };
    let found = reported(&add(6), &add(7));
    let [text] = texts(&found)[..] else {
        panic!("{:?}", texts(&found));
    };
    assert!(text.starts_with("version of Add"), "{text}");
    assert!(text.ends_with(": 6 -> 7"), "{text}");
    // An attribute decides which later version means the same, and is told alone.
    let with = |versions: [i64; 2], keep: i64| {
        let nodes = vec![
            node("Reshape", "x w", "a").with(int("allowzero", keep)),
            node("Demo", "a", "y").in_domain("demo"),
        ];
        let mut proto = model("x w", nodes, "y");
        proto.opset_import = vec![opset("", versions[0]), opset("demo", versions[1])];
        proto
    };
    let found = reported(&with([13, 1], 0), &with([13, 2], 1));
    let kinds: Vec<_> = found.groups.iter().map(|group| group.kind).collect();
    assert_eq!(kinds, ["opset", "attribute"], "{:?}", texts(&found));
}

#[test]
fn omitted_attributes_have_the_values_of_their_defaults() {
    let conv = |attributes: &[AttributeProto]| {
        let node = node("Conv", "x w", "y");
        let node = attributes
            .iter()
            .fold(node, |it, attr| it.with(attr.clone()));
        let mut proto = model("x w", vec![node], "y");
        let graph = proto.graph.as_mut().unwrap();
        graph.input = vec![value("x", "1 4 8 8"), value("w", "4 4 3 3")];
        proto
    };
    for (left, right, text) in [
        (
            vec![int("group", 2)],
            vec![int("group", 1)],
            "2 -> 1 (default)",
        ),
        (vec![], vec![int("group", 2)], "1 (default) -> 2"),
        (
            vec![ints("strides", &[2, 2])],
            vec![ints("strides", &[1, 1])],
            "[2, 2] -> [1, 1] (default)",
        ),
        (
            vec![],
            vec![ints("pads", &[0, 1, 0, 1])],
            "[0, 0, 0, 0] (default) -> [0, 1, 0, 1]",
        ),
        (
            vec![string("auto_pad", b"VALID")],
            vec![],
            "\"VALID\" -> \"NOTSET\" (default)",
        ),
    ] {
        let found = reported(&conv(&left), &conv(&right));
        let [found] = texts(&found)[..] else {
            panic!("{:?}", texts(&found));
        };
        assert!(found.ends_with(&format!(": {text}")), "{found}");
    }
    // Of an unknown shape, only the given value is known.
    let axes = |attributes: &[AttributeProto]| {
        let node = node("Transpose", "x", "y");
        model(
            "x",
            vec![
                attributes
                    .iter()
                    .fold(node, |it, attr| it.with(attr.clone())),
            ],
            "y",
        )
    };
    let found = reported(&axes(&[ints("perm", &[0, 2, 1])]), &axes(&[]));
    assert!(
        texts(&found)[0].ends_with(" removed: [0, 2, 1]"),
        "{:?}",
        texts(&found)
    );
}

#[test]
fn numbers_near_to_a_default_are_within_a_tolerance() {
    let elu = |alphas: &[Option<f32>]| {
        let nodes = alphas.iter().enumerate().map(|(at, alpha)| {
            let node = node("Elu", &format!("v{at}"), &format!("v{}", at + 1));
            alpha
                .iter()
                .fold(node, |node, alpha| node.with(float("alpha", *alpha)))
        });
        load(&model("v0", nodes.collect(), &format!("v{}", alphas.len())))
            .program()
            .clone()
    };
    let near = ReportOptions {
        tolerance: Some(Tolerance {
            rtol: 1e-3,
            atol: 0.0,
        }),
        ..ReportOptions::default()
    };
    let (bare, one) = (elu(&[None, None]), elu(&[Some(1.0), None]));
    let (close, far) = (elu(&[Some(1.0001), None]), elu(&[Some(1.5), None]));
    for (left, right) in [
        (&bare, &close),
        (&one, &close),
        (&close, &bare),
        (&bare, &one),
    ] {
        let found = near.report(left, right, &Control::default()).unwrap();
        assert!(found.is_equal(), "{found}");
    }
    let found = near.report(&bare, &far, &Control::default()).unwrap();
    assert!(
        texts(&found)[0].ends_with(": 1.0 (default) -> 1.5"),
        "{:?}",
        texts(&found)
    );
    assert!(!report(&bare, &close).unwrap().is_equal());
}

#[test]
fn inputs_that_changed_places_under_their_names_are_told_by_position() {
    let sub = |inputs| model(inputs, vec![node("Sub", "x z", "y")], "y");
    let found = reported(&sub("x z"), &sub("z x"));
    assert_eq!(
        texts(&found),
        [
            "input 0 of Sub making 'y': input 'x' at position 0 -> input 'x' at position 1",
            "input 1 of Sub making 'y': input 'z' at position 1 -> input 'z' at position 0",
        ]
    );
}

#[test]
fn a_change_of_a_shared_node_is_one_change() {
    let add = |last: &str| {
        let nodes = (0..60).map(|at| {
            let op = if at == 0 { last } else { "Add" };
            let inputs = if at == 0 {
                "v0".to_owned()
            } else {
                format!("v{at} v{at}")
            };
            node(op, &inputs, &format!("v{}", at + 1))
        });
        model("v0", nodes.collect(), "v60")
    };
    let found = reported(&add("Relu"), &add("Tanh"));
    let counts: Vec<u64> = found
        .difference
        .changes()
        .iter()
        .map(|it| it.count())
        .collect();
    assert_eq!((counts, found.groups[0].count), (vec![1], 1));
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

#[track_caller]
fn reported(left: &ModelProto, right: &ModelProto) -> Report {
    report(load(left).program(), load(right).program()).unwrap()
}

/// A chain of `count` nodes; every fourth node has the given operator.
fn chain(count: usize, op: &str) -> ModelProto {
    let nodes = (0..count).map(|at| {
        let op = if at % 4 == 3 { op } else { "Abs" };
        node(op, &format!("v{at}"), &format!("v{}", at + 1))
    });
    model("v0", nodes.collect(), &format!("v{count}"))
}

#[test]
fn places_are_named_from_the_node_around_them() {
    let count = 20_000;
    let found = reported(&chain(count, "Relu"), &chain(count, "Tanh"));
    assert_eq!(found.groups.len(), 1);
    assert_eq!(found.groups[0].count, count / 4);
    assert!(found.groups[0].place.starts_with("<node "));
    let changes = found.difference.changes();
    let mut places = 0;
    for change in changes {
        for both in change.places() {
            let text = found.place_text(change, &both.1);
            // The name of a place does not depend on its depth.
            assert!(text.len() < 40, "{text}");
            let origin = found.origin(change, &both).expect("a node");
            assert_eq!((origin.op.as_str(), origin.position % 4), ("Tanh", 3));
            places += 1;
        }
    }
    assert_eq!(places, count / 4);
}

#[test]
fn a_removed_node_is_named_itself() {
    let program = |is_kept: bool| {
        let gone = || node("HardSigmoid", "a", "b");
        let last = if is_kept { "a b" } else { "a a" };
        let nodes = [node("Sin", "x", "a")]
            .into_iter()
            .chain(is_kept.then(gone))
            .chain([node("Mul", last, "y")]);
        model("x", nodes.collect(), "y")
    };
    let model_report = reported(&program(true), &program(false));
    let mut removed = 0;
    for change in model_report.difference.changes() {
        for both in change.places() {
            let origin = model_report.origin(change, &both).expect("a part");
            let op = match change.kind() {
                ChangeKind::Deleted => "HardSigmoid",
                _ => "Mul",
            };
            assert_eq!(origin.op, op, "{change}");
            if change.kind() == ChangeKind::Deleted {
                removed += 1;
                assert_eq!(
                    model_report.place_text(change, &both.0),
                    "<node 1 of 'main'>"
                );
            }
        }
    }
    assert_eq!(removed, 1);
    // The same on the other side.
    let model_report = reported(&program(false), &program(true));
    let inserted = model_report.difference.changes().iter();
    let mut inserted = inserted.filter(|change| change.kind() == ChangeKind::Inserted);
    let change = inserted.next().expect("an inserted node");
    let both = change.places().next().expect("a place");
    let origin = model_report.origin(change, &both).expect("a node");
    assert_eq!(origin.op, "HardSigmoid");
}

/// `y = op(x)` with these shapes of the inputs `x` and `z` and of the output.
fn shaped(op: &str, x: &str, z: &str, y: &str) -> ModelProto {
    let nodes = vec![node(op, "x", "a"), node("Add", "a z", "y")];
    let mut graph = graph("x z", nodes, "y");
    graph.input = vec![value("x", x), value("z", z)];
    graph.output = vec![value("y", y)];
    model_of(graph)
}

#[track_caller]
fn check_dims(left: [&str; 3], right: [&str; 3], expected: &[&str]) {
    let [x, z, y] = left;
    let made = shaped("Relu", x, z, y);
    let [x, z, y] = right;
    let other = shaped("Tanh", x, z, y);
    let found = reported(&made, &other);
    let lines = found.summary_lines();
    let lines = lines.iter().map(|it| it.text.as_str());
    let types: Vec<&str> = lines
        .filter(|it| it.starts_with("input") || it.starts_with("output"))
        .collect();
    assert_eq!(types, expected);
    // If the models have no further difference, comparison agrees: without a reported type,
    // the models are equal.
    let other = shaped("Relu", x, z, y);
    assert_eq!(reported(&made, &other).is_equal(), expected.is_empty());
}

#[test]
fn dimensions_are_paired_like_variables() {
    check_dims(
        ["unk__1 4", "4", "unk__1 4"],
        ["unk__9 4", "4", "unk__9 4"],
        &[],
    );
    check_dims(["a b", "b", "a b"], ["b a", "a", "b a"], &[]);
    check_dims(
        ["a 4", "a", "a 4"],
        ["a 4", "c", "a 4"],
        &["input #1 'z': float32[a] -> float32[c]"],
    );
    check_dims(
        ["a 4", "b", "a 4"],
        ["c 4", "c", "c 4"],
        &["input #1 'z': float32[b] -> float32[c]"],
    );
    // A size that became a dimension does not disturb the names of other dimensions.
    check_dims(
        ["a b", "b", "a b"],
        ["2 s", "s", "2 s"],
        &[
            "input #0 'x': float32[a, b] -> float32[2, s]",
            "output #0 'y': float32[a, b] -> float32[2, s]",
        ],
    );
    check_dims(
        ["a ?", "4", "a ?"],
        ["c ?", "4", "c 3"],
        &["output #0 'y': float32[a, ?] -> float32[c, 3]"],
    );
}

/// A tensor of float16.
fn halves(name: &str, numbers: &[f32]) -> TensorProto {
    // For the numbers of these tests, the upper bits of float32, shifted, are the bits
    // of float16.
    let half = |number: f32| {
        let bits = number.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
        assert!(number == 0.0 || (1..31).contains(&exponent));
        let rounded = ((bits & 0x007f_ffff) + 0x1000) >> 13;
        if number == 0.0 {
            0
        } else {
            (bits >> 16 & 0x8000) + ((exponent as u32) << 10) + rounded
        }
    };
    TensorProto {
        name: name.into(),
        dims: vec![numbers.len() as i64],
        data_type: 10,
        int32_data: numbers.iter().map(|number| half(*number) as i32).collect(),
        ..Default::default()
    }
}

/// Sums with these weights, and the nodes that decode the stored weights.
fn summing(stored: Vec<TensorProto>, decoding: &[&str], weights: &[&str]) -> ModelProto {
    let mut nodes: Vec<_> = decoding
        .iter()
        .map(|it| {
            let (output, inputs) = it.split_once(" = ").expect("an assignment");
            let (op, inputs) = inputs.split_once(' ').expect("an operator");
            node(op, inputs, output)
        })
        .collect();
    let mut last = "x".to_owned();
    for (at, weight) in weights.iter().enumerate() {
        let next = format!("s{at}");
        nodes.push(node("Add", &format!("{last} {weight}"), &next));
        last = next;
    }
    let mut graph = graph("x", nodes, &last);
    graph.initializer = stored;
    model_of(graph)
}

const ONE: [f32; 3] = [1.0, -0.5, 0.3333];
const TWO: [f32; 3] = [2.0, 0.1, 0.25];

#[test]
fn weights_of_another_type_have_numbers() {
    let left = summing(
        vec![tensor("a", &ONE), tensor("b", &TWO), tensor("c", &ONE)],
        &[],
        &["a", "b", "c"],
    );
    let right = summing(
        vec![halves("a", &ONE), halves("b", &TWO), halves("c", &ONE)],
        &[],
        &["a", "b", "c"],
    );
    let model_report = reported(&left, &right);
    let text = model_report.to_string();
    let line = text
        .lines()
        .find(|line| line.starts_with("  3 float32 -> float16"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    let rel = line.split_once("max rel ").expect("a number").1;
    let rel: f64 = rel.parse().expect("a number");
    assert!(rel > 0.0 && rel < 4.9e-4, "{line}");
    assert!(text.contains("weights: 3 of 3 changed"), "{text}");
    assert!(text.contains("nodes: 3 the same, 0 changed"), "{text}");
    assert!(
        text.contains(
            "weight 'b' (input 1 of Add making 's1'): float32[3] -> float16[3], relative L2 "
        ),
        "{text}"
    );
}

#[test]
fn quantised_weights_are_compared_after_their_decoding() {
    let left = summing(vec![tensor("w", &[1.0, -0.5, 0.26])], &[], &["w"]);
    let quantised = TensorProto {
        name: "w_q".into(),
        dims: vec![3],
        data_type: 3,
        int32_data: vec![100, -50, 25],
        ..Default::default()
    };
    let scalar = |name: &str, number: f32| TensorProto {
        dims: Vec::new(),
        ..tensor(name, &[number])
    };
    let zero = TensorProto {
        name: "w_zero".into(),
        data_type: 3,
        int32_data: vec![0],
        ..Default::default()
    };
    let right = summing(
        vec![quantised, scalar("w_scale", 0.01), zero],
        &["w = DequantizeLinear w_q w_scale w_zero"],
        &["w"],
    );
    let model_report = reported(&left, &right);
    let weights = &model_report.summary.weights;
    assert_eq!(
        (
            weights.pairs,
            weights.left_only.len(),
            weights.right_only.len()
        ),
        (1, 0, 0)
    );
    let difference = weights.changed[0].difference.expect("numbers");
    assert!((difference.max_abs.expect("a number") - 0.01).abs() < 1e-6);
    let text = model_report.to_string();
    assert!(text.contains("  1 float32 -> int8, max abs 0.01"), "{text}");
    assert!(
        text.contains(
            "weight 'w' -> 'w_q': float32[3] -> int8[3] after DequantizeLinear, relative L2 "
        ),
        "{text}"
    );
}

#[test]
fn weights_that_moved_most_come_first() {
    let made = |scales: [f32; 4]| {
        let names = ["a", "b", "c", "d"];
        let stored = names.iter().zip(scales);
        let stored = stored.map(|(name, scale)| tensor(name, &ONE.map(|it| it * scale)));
        summing(stored.collect(), &[], &names)
    };
    let found = reported(&made([1.0; 4]), &made([1.25, 1.0, 3.0, 1.5]));
    let texts = texts(&found);
    let names: Vec<&str> = texts.iter().map(|it| &it[8..9]).collect();
    assert_eq!(names, ["c", "d", "a"], "{texts:?}");
    let text = found.to_string();
    assert!(
        text.contains("weights: 3 of 4 changed, max abs 2, relative L2 up to 2"),
        "{text}"
    );
    assert!(text.contains("nodes: 4 the same, 0 changed"), "{text}");
    // Parallel vectors: the cosine would say nothing.
    assert!(!text.contains("cosine"), "{text}");
}

#[test]
fn weights_of_one_side_are_told_apart() {
    let left = summing(
        vec![tensor("a", &ONE), tensor("b", &[7.0])],
        &[],
        &["a", "b"],
    );
    let right = summing(vec![tensor("a", &ONE)], &[], &["a"]);
    let text = reported(&left, &right).to_string();
    assert!(
        text.lines()
            .any(|it| it == "weights: 1 on both sides, 0 changed; 1 only on the left"),
        "{text}"
    );
}

#[test]
fn both_summaries_pair_weights_alike() {
    let (ones, twos) = (tensor("w0", &ONE), tensor("w1", &TWO));
    let left = summing(vec![ones, twos], &[], &["w0", "w1"]);
    let right = summing(
        vec![tensor("other0", &TWO), tensor("other1", &TWO)],
        &[],
        &["other0", "other1"],
    );
    for (left, right) in [(&left, &right), (&left, &left)] {
        let weights = reported(left, right).summary.weights;
        let [left, right] = [left, right].map(load);
        let control = Control::default();
        let other = ModelsSummary::new(left.program(), right.program(), &control).unwrap();
        let numbers = |difference: &isoform_onnx::summary::WeightsDifference| {
            (
                difference.pairs,
                difference.changed.len(),
                difference.elements,
                difference.differing,
                difference.max_abs,
            )
        };
        assert_eq!(numbers(&weights), numbers(&other.weights));
    }
}
