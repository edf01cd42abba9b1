//! The first sentence, the cards, and both sides beside each other.

use std::collections::HashMap;
use std::fmt::Write;

use isoform::compare::{DiffOptions, PairReason};
use isoform::text::from_text;
use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto};
use isoform_onnx::report::ReportOptions;
use isoform_page::page::{Line, PieceRole, Row, Verdict};
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
         'Add_s'): 0.5 → 0.75.",
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
        let why = row.why.split("; the same text").next().expect("a text");
        if why.starts_with("the same operator, and one change is at both") {
            continue;
        }
        let count = reasons.get_mut(why).expect("a reason of the diff");
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

/// The nodes of one side alone are the added and removed ones of the report, and every other
/// changed node is one row with a reason. A hunk counts its nodes in another way.
#[track_caller]
fn check_counts(left: &ModelProto, right: &ModelProto) -> bool {
    let (report, page) = compared(left, right, ReportOptions::default());
    if report.groups.iter().any(|group| group.kind == "hunk") {
        return false;
    }
    let is_node = |line: &Option<Line>| {
        let first = line.as_ref().and_then(|line| line.pieces.first());
        first.is_some_and(|piece| piece.is_definition)
    };
    let rows = listing(&page).rows.iter();
    let rows: Vec<&Row> = rows
        .filter(|row| is_node(&row.left) || is_node(&row.right))
        .collect();
    let count = |mark| rows.iter().filter(|row| row.mark == mark).count();
    let told = [count(Mark::Deleted), count(Mark::Inserted)];
    let nodes = report.nodes;
    assert_eq!(
        told,
        [nodes.removed, nodes.added],
        "{:#?}",
        changed_rows(listing(&page))
    );
    let changed = rows.iter().filter(|row| row.mark == Mark::Changed);
    assert!(
        changed.clone().all(|row| !row.why.is_empty()),
        "{changed:?}"
    );
    true
}

#[test]
fn a_changed_node_is_one_row() {
    let base = layers(5, "Relu", 0.5);
    let graph = base.graph.as_ref().expect("a graph");
    let mut checked = 0;
    for place in 0..graph.node.len() {
        for (op, rewires) in [("", true), ("Tanh", true), ("Tanh", false)] {
            let mut other = base.clone();
            let node = &mut other.graph.as_mut().expect("a graph").node[place];
            if rewires {
                node.input[0] = graph.input[0].name.clone();
            }
            if !op.is_empty() {
                node.op_type = op.to_owned();
                node.input.truncate(1);
            }
            checked += usize::from(check_counts(&base, &other));
            checked += usize::from(check_counts(&other, &base));
        }
    }
    assert!(checked > 20, "{checked}");
}

/// A small graph of random operators on random values.
fn random_graph(state: &mut u64, length: usize) -> ModelProto {
    let mut random = |below: usize| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (*state >> 33) as usize % below
    };
    let mut names = vec!["x".to_owned(), "z".to_owned()];
    let mut nodes = Vec::new();
    for number in 0..length {
        let op = ["Relu", "Add", "Exp", "Mul"][random(4)];
        let count = if matches!(op, "Add" | "Mul") { 2 } else { 1 };
        let first = names.len().saturating_sub(1 + random(3));
        let mut inputs = vec![names[first].clone()];
        if count > 1 {
            inputs.push(names[random(names.len())].clone());
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let output = format!("v{number}");
        nodes.push(named(op, &format!("/n{number}"), &inputs, &output));
        names.push(output);
    }
    let inputs = ["x", "z"].map(|name| value(name, FLOAT, &[Dim::Size(2)]));
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes,
        input: inputs.to_vec(),
        output: vec![value(&names[names.len() - 1], FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    })
}

#[test]
fn a_pair_that_only_a_change_makes_is_one_row_with_a_reason() {
    let mut state = 1;
    let (mut checked, mut only_changes) = (0, 0);
    for _ in 0..scaled(4_000) {
        let base = random_graph(&mut state, 5);
        let mut other = base.clone();
        let nodes = &mut other.graph.as_mut().expect("a graph").node;
        let place = state as usize % 5;
        nodes[place].input[0] = ["x", "z"][(state >> 9) as usize % 2].to_owned();
        let (_, page) = compared(&base, &other, ReportOptions::default());
        let rows = listing(&page).rows.iter();
        let made = rows.filter(|row| row.why.starts_with("the same operator, and one change"));
        only_changes += made.count();
        checked += usize::from(check_counts(&base, &other));
    }
    assert!(checked > 20, "{checked}");
    assert!(only_changes > 0, "{checked}");
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

/// Two branches with the same name of their graph have changed outputs of their own.
#[test]
fn outputs_of_graphs_with_one_name_are_told_apart() {
    let with = |types: [Dim; 2]| {
        let mut made = nested();
        let node = &mut made.graph.as_mut().expect("a graph").node[1];
        for (attribute, dim) in node.attribute.iter_mut().zip(types) {
            let branch = attribute.g.as_mut().expect("a branch");
            branch.name = "branch".to_owned();
            branch.output[0] = value(&branch.node[0].output[0], FLOAT, &[dim]);
        }
        made
    };
    let base = with([Dim::Size(2), Dim::Size(2)]);
    let told = |types| {
        let page = page_of(&base, &with(types));
        let rows = listing(&page).rows.iter();
        let rows = rows.filter(|row| line(&row.left).contains("graph"));
        rows.map(|row| row.anchors.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(told([Dim::Symbol("n"), Dim::Size(2)]), ["", "", "change-1"]);
    assert_eq!(told([Dim::Size(2), Dim::Symbol("n")]), ["", "change-1", ""]);
    assert_eq!(
        told([Dim::Symbol("n"), Dim::Symbol("m")]),
        ["", "change-1", "change-2"]
    );
}

/// A page writes a line that is the same on both sides once.
#[test]
fn lines_that_are_the_same_are_the_same_data() {
    let mut left = "%v400\n%v0 = List[0]\n".to_owned();
    for number in 1..=400 {
        let before = number - 1;
        let _ = writeln!(left, "%v{number} = List[%v{before}, %v{before}, {number}]");
    }
    let right = left.replace(
        "%v1 = List[%v0, %v0, 1]",
        "%z = List[5]\n%v1 = List[%v0, %v0, %z, %z]",
    );
    let page = page_of_texts(&left, &right);
    let rows = listing(&page)
        .rows
        .iter()
        .filter(|row| row.mark == Mark::Same);
    let hints = |line: &Option<Line>| line.as_ref().map(|line| line.pieces.clone());
    let bindings = |line: &Option<Line>| {
        let pieces = hints(line).into_iter().flatten();
        pieces.map(|piece| piece.binding).collect::<Vec<_>>()
    };
    let mut same = 0;
    for row in rows {
        assert_eq!(bindings(&row.left), bindings(&row.right), "{row:?}");
        same += 1;
    }
    assert!(same > 390, "{same}");
}

#[test]
fn long_strings_show_where_they_differ() {
    let text = |end: &str| format!("[\"{}{end}\"]", "same ".repeat(100));
    let page = page_of_texts(&text("old"), &text("new"));
    let card = &cards(&page)[0];
    assert!(
        card.text.contains("old\" → ") && card.text.contains("new\""),
        "{}",
        card.text
    );
    let sides = card.sides.as_ref().expect("both sides");
    assert!(marked(&sides[0]).contains("<old>"), "{}", marked(&sides[0]));
}

#[test]
fn facts_and_sentence_count_changes() {
    let page = page_of_texts(
        "[%a, %a, %b]\n%a = List[1]\n%b = List[1]",
        "[%a, %a, %b]\n%a = List[2]\n%b = List[2]",
    );
    let changes = cards(&page).len().to_string();
    let facts: usize = page
        .facts
        .iter()
        .filter(|fact| fact.name != "places")
        .map(|fact| fact.value.parse::<usize>().expect("a number"))
        .sum();
    assert_eq!(facts.to_string(), changes);
    assert!(
        page.sentence.starts_with(&format!("{changes} change")),
        "{}",
        page.sentence
    );
}

/// A change of a named part is marked where the part is, and a change of a use at the use.
#[test]
fn a_change_leads_to_the_line_of_its_text() {
    isoform_ir::ir::register().expect("types of the library");
    isoform_ir::tir::register().expect("types of scalar expressions");
    isoform_relay::register().expect("types of the dialect");
    let text = include_str!("../../../../examples/ir/residual.iso");
    let line_of = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let page = page_of_texts(text, &text.replace(from, to));
        let rows = listing(&page)
            .rows
            .iter()
            .filter(|row| !row.anchors.is_empty());
        let rows: Vec<String> = rows.map(|row| line(&row.right)).collect();
        rows
    };
    let dtype = line_of(
        "%n = tir.SizeVar(dtype=int64, type_annotation=ir.PrimType(dtype=int64))",
        "%n = tir.SizeVar(dtype=int32, type_annotation=ir.PrimType(dtype=int64))",
    );
    assert_eq!(dtype.len(), 1);
    assert!(dtype[0].contains("int32"), "{dtype:?}");
    let replaced = line_of(
        "%n = tir.SizeVar(dtype=int64, type_annotation=ir.PrimType(dtype=int64))",
        "%n = ir.IntImm(dtype=int64, value=4)",
    );
    assert_eq!(replaced.len(), 1);
    assert!(
        replaced[0].contains("IntImm") && replaced[0].contains('4'),
        "{replaced:?}"
    );
    let used = line_of("args=[%sum])", "args=[%x])");
    assert!(
        used.iter().any(|line| line.contains("args=[<%x>]")),
        "{used:?}"
    );
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
