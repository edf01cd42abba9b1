//! Properties of every optimised program, on the programs of all cases.

use isoform::structural_digest;
use isoform_onnx::optimize::{Fold, OptimizeOptions};
use isoform_onnx::proto::{GraphProto, ModelProto};
use isoform_onnx::to_bytes;

use crate::build;
use crate::optimize::check::{check_results, fired, optimize};
use crate::optimize::rules::all;
use crate::optimize::text;

fn texts() -> Vec<(i64, &'static str)> {
    let cases = all().flat_map(|case| {
        let fires = case.fires.iter().map(|(opset, text, _)| (*opset, *text));
        fires.chain(case.stays.iter().copied())
    });
    cases.collect()
}

fn digest(model: &ModelProto) -> String {
    let model = build::load(model);
    let done = optimize(&OptimizeOptions::default(), model.program());
    structural_digest(isoform::Value::from(&done.program))
        .unwrap()
        .to_string()
}

#[test]
fn results_names_and_types_stay() {
    let mut wrong = Vec::new();
    for (opset, text) in texts() {
        let original = build::load(&text::model(opset, text)).program().clone();
        let done = optimize(&OptimizeOptions::default(), &original);
        let (before, after) = (&original.graph, &done.program.graph);
        assert!(
            before.params.iter().eq(after.params.iter())
                || before.params.len() == after.params.len()
        );
        assert_eq!(before.results.len(), after.results.len(), "{text}");
        let names = before.result_names.iter().zip(after.result_names.iter());
        assert!(
            names.into_iter().all(|(left, right)| left == right),
            "{text}"
        );
        assert!(
            done.report.nodes_after <= done.report.nodes_before,
            "{text}"
        );
        if let Err(reason) = check_results(text, &original, &done.program, None) {
            wrong.push(format!("{text} at {opset}: {reason}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn a_second_time_changes_nothing() {
    for options in [
        OptimizeOptions::default(),
        OptimizeOptions::default().fuse(true).fold(Fold::All),
        OptimizeOptions::default().fold(Fold::None),
    ] {
        for (opset, text) in texts() {
            let original = build::load(&text::model(opset, text)).program().clone();
            let done = optimize(&options, &original);
            let again = optimize(&options, &done.program);
            let same = again.program.same_as(&done.program);
            assert!(same, "{text} at {opset}: then {:?}", fired(&again));
            assert_eq!(again.report.rounds, 1);
        }
    }
}

#[test]
fn a_result_with_a_second_round_ends_soon() {
    for (opset, text) in texts() {
        let original = build::load(&text::model(opset, text)).program().clone();
        let done = optimize(&OptimizeOptions::default(), &original);
        // Whenever a later branch decides an earlier branch, two more walks are needed.
        assert!(
            done.report.rounds <= 5,
            "{text}: {} rounds",
            done.report.rounds
        );
    }
}

fn disguise(graph: &mut GraphProto) {
    let other = |name: &mut String| {
        if !name.is_empty() {
            *name = format!("other/{name}");
        }
    };
    graph.node.reverse();
    for node in &mut graph.node {
        node.name = format!("node of {}", node.op_type);
        node.input
            .iter_mut()
            .chain(&mut node.output)
            .for_each(other);
        node.attribute.reverse();
        for attr in &mut node.attribute {
            if let Some(body) = &mut attr.g {
                disguise(body);
            }
        }
    }
    let values = graph.input.iter_mut().chain(&mut graph.output);
    values.for_each(|value| other(&mut value.name));
}

#[test]
fn names_and_order_do_not_matter() {
    for (opset, text) in texts() {
        let model = text::model(opset, text);
        let mut disguised = model.clone();
        disguise(disguised.graph.as_mut().unwrap());
        assert_eq!(digest(&model), digest(&disguised), "{text}");
    }
}

#[test]
fn what_is_written_is_what_was_made() {
    for (opset, text) in texts() {
        let original = build::load(&text::model(opset, text)).program().clone();
        let done = optimize(&OptimizeOptions::default(), &original);
        // Skip cases that break the rules of the standard: writing refuses even the
        // original program.
        if to_bytes(&original).is_err() {
            continue;
        }
        let bytes = to_bytes(&done.program).unwrap_or_else(|error| panic!("{text}: {error}"));
        let read = isoform_onnx::decode_model(bytes.into()).unwrap();
        // An output that is an input, a constant or another output is written as
        // Identity.
        let expected = structural_digest(isoform::Value::from(&done.program)).unwrap();
        assert_eq!(digest(&read), expected.to_string(), "{text}");
    }
}

#[test]
fn a_second_run_does_not_choose_a_larger_limit() {
    // With a limit of 16 KiB, constants would grow by 25 KB, which is too much. With 2
    // KiB, constants would grow by 15 KB, and a second run could add 10 KB more.
    let small = (0..10).map(|n| format!("Range(int64({n}), int64({}), int64(1))", n + 190));
    let values: Vec<String> = small.collect();
    let text = format!(
        "x: int64[N] => Shape(Range(int64(7), Size(x), int64(1))), \
         Range(int64(3), int64(1253), int64(1)), {}",
        values.join(", ")
    );
    let program = build::load(&text::model(17, &text)).program().clone();
    let once = optimize(&OptimizeOptions::default(), &program);
    assert!(once.report.bytes_after <= 16 << 10);
    let twice = optimize(&OptimizeOptions::default(), &once.program);
    assert_eq!(fired(&twice), Vec::<String>::new());
    assert_eq!(once.report.bytes_after, twice.report.bytes_after);
    // A result no larger than the constants that it replaces is computed in any case.
    let small = build::load(&text::model(17, "x: int64[N] => Neg([1, 2])"));
    let folded = optimize(&OptimizeOptions::default(), small.program());
    assert_eq!(folded.report.nodes_after, 0);
}
