//! The first sentence, the cards, and both sides beside each other.

use std::collections::HashMap;
use std::fmt::Write;

use isoform::compare::{DiffOptions, PairReason};
use isoform::text::from_text;
use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto};
use isoform_onnx::report::ReportOptions;
use isoform_page::page::{PieceRole, Verdict};
use isoform_page::{Mark, Page};
use isoform_testing::source::scaled;

use super::{cards, changed_rows, compared, line, listing, marked, page_of};
use crate::build::{Dim, FLOAT, Small, floats, model, nested, node, small, value};
use crate::diff::{layers, softmax};

fn named(op: &str, name: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        name: name.to_owned(),
        ..node(op, inputs, &[output])
    }
}

/// `y = Sigmoid(GELU(Add(Abs(x), w)))`, with GELU as one node or as several.
fn gelu(is_one: bool) -> ModelProto {
    let mut nodes = vec![
        named("Abs", "/pre", &["x"], "p"),
        named("Add", "/in", &["p", "w"], "a"),
    ];
    if is_one {
        nodes.push(named("Gelu", "/encoder/layer.3/gelu", &["a"], "g"));
    } else {
        let place = |name: &str| format!("/encoder/layer.3/{name}");
        nodes.push(named("Erf", &place("erf"), &["a"], "e"));
        nodes.push(named("Mul", &place("mul"), &["a", "e"], "g"));
    }
    nodes.push(named("Sigmoid", "/out", &["g"], "y"));
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes,
        initializer: vec![floats("w", &[0.5, 1.0])],
        input: vec![value("x", FLOAT, &[Dim::Size(2)])],
        output: vec![value("y", FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    })
}

#[track_caller]
fn check_sentence(page: &Page, expected: &str) {
    assert_eq!(page.sentence, expected);
}

#[test]
fn the_sentence_tells_the_change_that_matters_most() {
    let base = small(&Small::default());
    let with = |parts: Small| page_of(&base, &small(&parts));
    check_sentence(
        &page_of(&gelu(true), &gelu(false)),
        "1 of 4 nodes changed, 1 added: 1 node (Gelu) became 2 nodes (Erf, Mul), in \
         '/encoder/layer.3/...'.",
    );
    check_sentence(
        &with(Small {
            bias: 0.75,
            ..Small::default()
        }),
        "All 3 nodes are the same, and 1 of 2 weights changed: weight 'b' (input 1 of Add \
         'Add_s'): 0.5 -> 0.75.",
    );
    // The operator matters more than the attribute, and both more than the weight.
    check_sentence(
        &with(Small {
            bias: 0.75,
            pads: [2, 2],
            final_op: "Tanh",
            suffix: "",
        }),
        "2 of 3 nodes changed: Relu 'Relu_y' became Tanh 'Tanh_y'; and 2 more changes.",
    );
    let mut interface = small(&Small {
        final_op: "Tanh",
        ..Small::default()
    });
    let graph = interface.graph.as_mut().expect("a graph");
    graph.input[0] = value("x", FLOAT, &[Dim::Size(1), Dim::Size(2), Dim::Symbol("L")]);
    let page = page_of(&base, &interface);
    assert!(
        page.sentence.contains("type of input 'x'"),
        "{}",
        page.sentence
    );
    let renamed = with(Small {
        suffix: "_renamed",
        ..Small::default()
    });
    check_sentence(&renamed, "Both models are the same program.");
    assert_eq!(renamed.verdict, Verdict::Equal);
    let meaning = page_of(&softmax(13, &[]), &softmax(14, &[]));
    assert!(
        meaning.sentence.contains("operator sets"),
        "{}",
        meaning.sentence
    );
}

#[test]
fn the_folder_of_all_changes_is_named() {
    let layer = |op: &str| {
        let mut made = layers(4, "Relu", 0.5);
        let graph = made.graph.as_mut().expect("a graph");
        graph.node[3].op_type = op.to_owned();
        graph.node[2].input.swap(0, 1);
        made
    };
    let page = page_of(&layers(4, "Relu", 0.5), &layer("Tanh"));
    assert!(
        page.sentence.contains(", all in '/layer.1'"),
        "{}",
        page.sentence
    );
}

#[test]
fn nodes_stand_beside_their_partners() {
    let page = page_of(&gelu(true), &gelu(false));
    assert_eq!(
        changed_rows(listing(&page)),
        [
            "- %g = Gelu(%a) |  change-1",
            "+  | %e = Erf(%a) change-1",
            "+  | %g = Mul(%a, %e) change-1",
        ]
    );
    let page = page_of(
        &small(&Small::default()),
        &small(&Small {
            pads: [1, 2],
            suffix: "_b",
            ..Small::default()
        }),
    );
    let rows = changed_rows(listing(&page));
    assert_eq!(rows.len(), 1, "{rows:?}");
    // Renamed values are no differences.
    assert!(rows[0].starts_with("~ %c = Conv(%x, "), "{}", rows[0]);
    assert!(
        rows[0].contains("{pads=[1, <1>]} | %c_b = Conv(%x_b, "),
        "{}",
        rows[0]
    );
    assert!(rows[0].ends_with("{pads=[1, <2>]} change-1"), "{}", rows[0]);
}

/// Each pair of the diff is a row, with its own reason.
#[track_caller]
fn check_pairs(left: &ModelProto, right: &ModelProto) {
    let (report, page) = compared(left, right, ReportOptions::default());
    let mut reasons: HashMap<String, usize> = HashMap::new();
    for (_, _, reason) in report.difference.node_pairs_with_reasons() {
        *reasons.entry(reason.to_string()).or_default() += 1;
    }
    let rows = &listing(&page).rows;
    let both = rows.iter().filter(|row| !row.why.is_empty());
    for row in both {
        assert!(row.left.is_some() && row.right.is_some(), "{row:?}");
        let count = reasons.get_mut(&row.why).expect("a reason of the diff");
        *count -= 1;
    }
    assert!(reasons.values().all(|count| *count == 0), "{reasons:?}");
    let alone = |mark| rows.iter().filter(|row| row.mark == mark).count();
    let nodes = report.nodes;
    assert_eq!(nodes.added + nodes.removed > 0 || nodes.changed > 0, {
        let changed = alone(Mark::Changed) + alone(Mark::Deleted) + alone(Mark::Inserted);
        changed > 0
    });
}

#[test]
fn every_pair_tells_why_it_is_one() {
    check_pairs(&gelu(true), &gelu(false));
    check_pairs(&layers(20, "Relu", 0.5), &layers(15, "Tanh", 0.5));
    check_pairs(
        &small(&Small::default()),
        &small(&Small {
            final_op: "Tanh",
            ..Small::default()
        }),
    );
    let page = page_of(&layers(3, "Relu", 0.5), &layers(3, "Tanh", 0.5));
    let card = &cards(&page)[0];
    assert_eq!(card.why, PairReason::Replaced.to_string());
    let sides = card.sides.as_ref().expect("both nodes");
    assert_eq!(marked(&sides[0]), "%v1 = <Relu>(%s1)");
    assert_eq!(marked(&sides[1]), "%v1 = <Tanh>(%s1)");
}

#[test]
fn bodies_and_functions_are_listed_with_their_changes() {
    let mut other = nested();
    let graph = other.graph.as_mut().expect("a graph");
    let branch = graph.node[1].attribute[0].g.as_mut().expect("a branch");
    branch.node[0].op_type = "Sqrt".to_owned();
    let page = page_of(&nested(), &other);
    let rows = changed_rows(listing(&page));
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(
        rows[0].contains("<Exp>(%t)") && rows[0].contains("<Sqrt>(%t)"),
        "{rows:?}"
    );
    let rows = &listing(&page).rows;
    let deepest = rows
        .iter()
        .filter_map(|row| row.left.as_ref())
        .map(|line| line.depth)
        .max();
    assert_eq!(deepest, Some(3));
    // Every row has both sides: heads, results and ends are paired, too.
    assert!(
        rows.iter()
            .all(|row| row.left.is_some() && row.right.is_some())
    );
}

#[test]
fn equal_models_are_listed_side_by_side() {
    let renamed = small(&Small {
        suffix: "_r",
        ..Small::default()
    });
    for (left, right) in [(nested(), nested()), (small(&Small::default()), renamed)] {
        let page = page_of(&left, &right);
        let rows = &listing(&page).rows;
        assert!(rows.len() > 4);
        assert!(
            rows.iter()
                .all(|row| row.mark == Mark::Same && row.left.is_some())
        );
        assert!(cards(&page).is_empty());
    }
}

#[test]
fn uses_have_the_number_of_their_binding() {
    let page = page_of(&nested(), &nested());
    for side in [0, 1] {
        let mut names: HashMap<u32, (String, usize)> = HashMap::new();
        for row in &listing(&page).rows {
            let line = [&row.left, &row.right][side].as_ref().expect("both sides");
            for piece in &line.pieces {
                let Some(binding) = piece.binding else {
                    assert_ne!(piece.role, PieceRole::Name);
                    continue;
                };
                let entry = names.entry(binding).or_insert((piece.text.clone(), 0));
                assert_eq!(entry.0, piece.text);
                entry.1 += usize::from(piece.is_definition);
            }
        }
        assert!(
            names.values().all(|(_, definitions)| *definitions == 1),
            "{names:?}"
        );
    }
}

fn page_of_texts(left: &str, right: &str) -> Page {
    let [left, right] =
        [left, right].map(|text| from_text(text).unwrap_or_else(|error| panic!("{error}")));
    let difference = DiffOptions::default()
        .diff(left, right)
        .expect("comparable");
    isoform_cli::pages::page_of_values(&difference, ["left", "right"])
}

#[test]
fn a_renumbered_program_shows_its_true_changes_alone() {
    let shared = |first: &str| {
        let mut text = String::new();
        // Each list is used twice, which gives it a name.
        let _ = writeln!(text, "[{first}%a, %a, %b, %b, %c, %c]");
        text + "%a = List[1]\n%b = List[%a, 2]\n%c = List[%b, 3]\n"
    };
    let page = page_of_texts(
        &shared(""),
        &shared("%z, %z, ").replace("%a = ", "%z = List[9]\n%a = "),
    );
    let listing = listing(&page);
    let text: String = listing
        .rows
        .iter()
        .map(|row| line(&row.right) + "\n")
        .collect();
    assert!(
        text.contains("%3"),
        "the names on the right are other numbers:\n{text}"
    );
    let rows = changed_rows(listing);
    let is_true = |row: &String| row.contains('9') || row.contains("<%0");
    assert!(rows.len() <= 3 && rows.iter().any(is_true), "{rows:?}");
}

#[test]
fn changes_of_values_are_marked_where_they_are() {
    let page = page_of_texts("{\"a\": [1, 2, 3]}", "{\"a\": [1, 5, 3]}");
    assert_eq!(
        changed_rows(listing(&page)),
        ["~ {\"a\": [1, <2>, 3]} | {\"a\": [1, <5>, 3]} change-1"]
    );
    assert_eq!(page.sentence, "1 change: value at <root>[\"a\"][1]: 2 → 5.");
    let equal = page_of_texts("[1]", "[1]");
    assert_eq!(equal.sentence, "Both values are equal.");
    assert_eq!(equal.verdict, Verdict::Equal);
    assert!(changed_rows(listing(&equal)).is_empty());
}

#[test]
fn a_long_program_is_listed_line_by_line() {
    let count = scaled(100_000);
    let chain = |changed: usize| {
        let mut text = format!("%v{count}\n%v0 = List[0]\n");
        for number in 1..=count {
            let before = number - 1;
            let leaf = if number == changed { number + 1 } else { 7 };
            let _ = writeln!(text, "%v{number} = List[%v{before}, %v{before}, {leaf}]");
        }
        text
    };
    let page = page_of_texts(&chain(0), &chain(count / 2));
    let listing = listing(&page);
    assert!(listing.rows.len() >= count);
    let rows = changed_rows(listing);
    assert_eq!(rows.len(), 1, "{:?}", &rows[..rows.len().min(3)]);
    assert!(rows[0].contains("<7>"), "{}", rows[0]);
}

#[test]
fn headings_of_ir_name_the_field_the_type_and_the_function() {
    let program = |op: &str| {
        format!(
            "ir.IRModule(\n  %main = ir.GlobalVar(),\n  functions=Dict{{\n    %main: relay.Function(\n      \
             params=[],\n      attrs=ir.DictAttrs(),\n      body=relay.Call(op={op}, args=[]),\n    ),\n  }},\n)"
        )
    };
    let [left, right] = ["ir.GlobalVar(name_hint=\"f\")", "relay.Tuple(fields=[])"];
    let page = page_of_texts(&program(left), &program(right));
    let text = &cards(&page)[0].text;
    assert!(
        text.ends_with("op of Call in 'main': GlobalVar 'f' → relay.Tuple(fields=[])"),
        "{text}"
    );
    assert!(!page.sentence.contains("span"), "{}", page.sentence);
}
