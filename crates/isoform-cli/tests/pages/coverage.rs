//! Every change of `--format json` can be reached on the page.

use std::collections::HashSet;
use std::env;
use std::fs;

use isoform_onnx::levels::Levels;
use isoform_onnx::proto::{GraphProto, ModelProto};
use isoform_onnx::report::ReportOptions;
use isoform_page::page::{ChangeCard, Row};
use isoform_page::{Mark, Page};
use serde_json::Value;

use super::{cards, compared, listing, page_of};
use crate::build::{
    Dim, FLOAT, Folder, Small, float, ints, model, nested, node, small, value, with_attributes,
};
use crate::diff::{layers, softmax};
use crate::json;

/// Finds each change of the JSON on the page: in a card, whose anchor is unique, and in the
/// HTML an element with the anchor. Every anchor of a row leads to a card.
#[track_caller]
fn check_page(page: &Page, changes: usize) {
    let cards = cards(page);
    let anchors: HashSet<&str> = cards.iter().map(|card| card.anchor.as_str()).collect();
    assert_eq!(anchors.len(), cards.len(), "anchors are unique");
    let told: HashSet<usize> = cards
        .iter()
        .flat_map(|card| &card.changes)
        .copied()
        .collect();
    let missing: Vec<usize> = (0..changes).filter(|it| !told.contains(it)).collect();
    assert!(missing.is_empty(), "no card tells changes {missing:?}");
    assert!(told.iter().all(|change| *change < changes));
    let html = page.html();
    for anchor in &anchors {
        let is_id = anchor
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-');
        assert!(is_id && !anchor.is_empty(), "{anchor}");
        let element = [format!("id=\"{anchor}\""), format!("id={anchor}")];
        assert!(element.iter().any(|it| html.contains(it)), "{anchor}");
    }
    let mut reached = HashSet::new();
    for row in listing(page)
        .rows
        .iter()
        .filter(|row| !row.anchors.is_empty())
    {
        let is_told = |anchor: &String| anchors.contains(anchor.as_str());
        assert!(row.anchors.iter().all(is_told), "{row:?}");
        assert_ne!(row.mark, Mark::Same, "{row:?}");
        assert!(shows_a_difference(row), "{row:?}");
        reached.extend(row.anchors.iter().map(String::as_str));
    }
    let lost: Vec<&ChangeCard> = (cards.iter())
        .filter(|card| !reached.contains(card.anchor.as_str()))
        .collect();
    assert!(lost.is_empty(), "no line leads to {lost:?}");
}

/// True if a row is of one side, has marked words, or says where its difference is.
fn shows_a_difference(row: &Row) -> bool {
    let (Some(left), Some(right)) = (&row.left, &row.right) else {
        return true;
    };
    let mut pieces = left.pieces.iter().chain(&right.pieces);
    pieces.any(|piece| piece.is_changed) || row.why.contains("leaves out")
}

#[track_caller]
fn check(left: &ModelProto, right: &ModelProto, options: ReportOptions) {
    for (left, right) in [(left, right), (right, left)] {
        let (report, page) = compared(left, right, options);
        assert!(!report.is_equal());
        check_page(&page, report.difference.changes().len());
        // Every change has a sentence of the report.
        let untold = &cards(&page)[report.groups.len()..];
        assert!(untold.is_empty(), "{untold:?}, {:?}", report.groups);
        assert!(
            report
                .groups
                .iter()
                .all(|group| group.parts.len() == group.count)
        );
    }
}

/// The nested model with another operator in a branch and in the function.
fn with_other_body() -> ModelProto {
    let mut made = nested();
    let graph = made.graph.as_mut().expect("a graph");
    let branch = graph.node[1].attribute[0].g.as_mut().expect("a branch");
    branch.node[0].op_type = "Sqrt".to_owned();
    made.functions[0].node[0].op_type = "Elu".to_owned();
    made
}

/// Models with edits of every kind.
fn edits() -> Vec<[ModelProto; 2]> {
    let base = small(&Small::default());
    let edit = |edit: &dyn Fn(&mut GraphProto)| {
        let mut made = base.clone();
        edit(made.graph.as_mut().expect("a graph"));
        [base.clone(), made]
    };
    let mut longer = layers(6, "Relu", 0.5);
    let graph = longer.graph.as_mut().expect("a graph");
    let mut gate = node("Sigmoid", &["v1"], &["gate"]);
    gate.name = "gate".to_owned();
    graph.node.insert(4, gate);
    graph.node[5].input[0] = "gate".to_owned();
    graph.node[7].input = vec!["w".to_owned(), "v2".to_owned()];
    vec![
        [
            base.clone(),
            small(&Small {
                pads: [2, 3],
                ..Small::default()
            }),
        ],
        [
            base.clone(),
            small(&Small {
                final_op: "Tanh",
                ..Small::default()
            }),
        ],
        [
            base.clone(),
            small(&Small {
                bias: 0.75,
                ..Small::default()
            }),
        ],
        edit(&|graph| graph.output[0] = value("y", FLOAT, &[Dim::Symbol("n")])),
        edit(&|graph| graph.input.push(value("more", FLOAT, &[Dim::Size(3)]))),
        edit(&|graph| graph.node[0].attribute.push(ints("dilations", &[2, 2]))),
        [layers(6, "Relu", 0.5), longer],
        [layers(12, "Tanh", 0.5), layers(5, "Sigmoid", 0.25)],
        [softmax(11, &[]), softmax(13, &[])],
        [layers(3, "Relu", 0.5), base.clone()],
        [nested(), with_other_body()],
    ]
}

#[test]
fn every_change_of_models_is_on_the_page() {
    for [left, right] in edits() {
        check(&left, &right, ReportOptions::default());
    }
    let strict = ReportOptions {
        levels: Levels::NONE,
        ..ReportOptions::default()
    };
    check(&softmax(11, &[]), &softmax(12, &[]), strict);
}

#[test]
fn the_numbers_are_those_of_the_printed_json() {
    let folder = Folder::new();
    for (number, [left, right]) in edits().iter().enumerate() {
        folder.model("a.onnx", left);
        folder.model("b.onnx", right);
        let ran = folder.run("diff --format json --html page.html --force a.onnx b.onnx");
        let printed: Value = json(&ran);
        let changes = printed["changes"].as_array().expect("changes");
        let (report, page) = compared(left, right, ReportOptions::default());
        assert_eq!(report.difference.changes().len(), changes.len(), "{number}");
        for card in cards(&page) {
            for &change in &card.changes {
                // The kinds of groups have names of their own, so nodes are compared.
                let origin = &changes[change]["origin"];
                assert!(origin.is_object() || origin.is_null());
            }
        }
        let html = fs::read_to_string(folder.path().join("page.html")).expect("a page");
        assert_eq!(html, page.html(), "{number}");
    }
}

#[test]
fn every_change_of_values_is_on_the_page() {
    let texts = [
        "[1, 2, 3, [4, 5]]",
        "[1, 7, [4, 5, 6], {\"a\": 1, \"b\": [1]}]",
        "{\"a\": [1, 2, 3], \"b\": {\"c\": \"text\"}}",
        "{\"a\": [3, 1, 2], \"d\": {\"c\": \"tent\"}}",
        "[%0: List[1], %0, %0]",
        "[List[1], List[1], List[2]]",
        include_str!("../../../../examples/ir/residual.iso"),
    ];
    isoform_ir::ir::register().expect("types of the library");
    isoform_ir::tir::register().expect("types of scalar expressions");
    isoform_relay::register().expect("types of the dialect");
    let values: Vec<_> = texts
        .iter()
        .map(|text| isoform::text::from_text(text).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    for left in &values {
        for right in &values {
            let difference = isoform::compare::diff(left.clone(), right.clone());
            let difference = difference.expect("comparable");
            let page = isoform_cli::pages::page_of_values(&difference, ["a", "b"]);
            check_page(&page, difference.changes().len());
        }
    }
}

/// Neighbours in the list of real models, which differ in every way.
#[test]
fn every_change_of_real_models_is_on_the_page() {
    let Some(models) = env::var_os("ISOFORM_MODELS") else {
        return;
    };
    let entries = fs::read_dir(models).expect("the folder of models");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "onnx"));
    paths.sort();
    let step = isoform_testing::source::scale().clamp(1, 8);
    for pair in paths.windows(2).step_by(step) {
        let models = [&pair[0], &pair[1]].map(|path| isoform_onnx::load(path).expect("a model"));
        let [left, right] = models.each_ref().map(|model| model.program());
        let report = isoform_onnx::report::report(left, right).expect("comparable");
        let page = isoform_cli::pages::page_of_models(&report, ["a", "b"]);
        let changes = report.difference.changes().len();
        check_page(&page, changes);
    }
}

/// A chain of activations, no two alike, whose slopes begin at a number.
fn chain(length: usize, start: f32) -> ModelProto {
    let leaky = |place: usize| {
        let alpha = float("alpha", start + place as f32 / 1000.0);
        let [input, output] = [place, place + 1].map(|value| format!("x{value}"));
        with_attributes(node("LeakyRelu", &[&input], &[&output]), &[alpha])
    };
    model(GraphProto {
        name: "main".to_owned(),
        node: (0..length).map(leaky).collect(),
        input: vec![value("x0", FLOAT, &[Dim::Size(2)])],
        output: vec![value(&format!("x{length}"), FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    })
}

#[test]
fn a_thousand_nodes_that_all_changed_are_a_page_of_at_most_1_500_000_bytes() {
    let page = page_of(&chain(1_000, 0.1), &chain(1_000, 0.1005));
    check_page(&page, 1_000);
    let size = page.html().len();
    assert!(size <= 1_500_000, "{size} bytes");
}
