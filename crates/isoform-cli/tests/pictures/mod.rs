//! Pictures of models, IR files and differences: `show --format` and `diff --format`.

use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto};

use crate::build::{Dim, FLOAT, Folder, Small, chain, floats, model, nested, node, small, value};
use crate::folder;

/// Lines of a flowchart that contain a text.
fn lines<'a>(chart: &'a str, part: &str) -> Vec<&'a str> {
    chart
        .lines()
        .map(str::trim)
        .filter(|line| line.contains(part))
        .collect()
}

/// The picture in the format of mermaid.
#[track_caller]
fn chart(folder: &Folder, line: &str, status: i32) -> String {
    let (command, rest) = line.split_once(' ').expect("has files");
    let ran = folder.run(&format!("{command} --format mermaid {rest}"));
    assert_eq!(ran.status, status, "{}", ran.err);
    assert!(ran.out.starts_with("flowchart TB\n"), "{}", ran.out);
    ran.out
}

/// The name of the node with a label, in a flowchart.
#[track_caller]
fn name(chart: &str, label: &str) -> String {
    let found = lines(chart, label);
    assert_eq!(found.len(), 1, "{label} in {chart}");
    let end = found[0].find(|c: char| !c.is_ascii_alphanumeric());
    found[0][..end.expect("a node has a label")].to_owned()
}

/// A model of layers, each of five nodes with weights.
fn layers(count: usize) -> ModelProto {
    let mut nodes: Vec<NodeProto> = Vec::new();
    let mut weights = Vec::new();
    for layer in 0..count {
        let named = |part: &str| format!("/layer.{layer}/{part}");
        let weight = named("weight");
        weights.push(floats(&weight, &[layer as f32, 1.0]));
        let steps = ["Mul", "Relu", "Exp", "Tanh", "Abs"];
        let mut last = format!("h{layer}");
        for step in steps {
            let next = if step == "Abs" {
                format!("h{}", layer + 1)
            } else {
                named(step)
            };
            let mut inputs = vec![last.as_str()];
            if step == "Mul" {
                inputs.push(&weight);
            }
            let mut step_node = node(step, &inputs, &[&next]);
            step_node.name = named(&format!("{step}_op"));
            nodes.push(step_node);
            last = next;
        }
    }
    model(GraphProto {
        name: "layers".to_owned(),
        input: vec![value("h0", FLOAT, &[Dim::Size(2)])],
        output: vec![value(&format!("h{count}"), FLOAT, &[Dim::Size(2)])],
        initializer: weights,
        node: nodes,
        ..Default::default()
    })
}

#[test]
fn a_model_is_its_nodes_inputs_and_outputs() {
    let folder = folder();
    let chart = chart(&folder, "show a.onnx", 0);
    assert!(!lines(&chart, "([\"").is_empty(), "{chart}");
    assert!(!lines(&chart, "[\"Conv").is_empty(), "{chart}");
    assert!(!lines(&chart, " --> ").is_empty(), "{chart}");
    assert!(
        lines(&chart, ":::").is_empty(),
        "nothing is marked: {chart}"
    );
    assert_eq!(chart, self::chart(&folder, "show a.onnx", 0));
}

#[test]
fn graphs_and_functions_are_blocks() {
    let folder = Folder::new();
    folder.model("nested.onnx", &nested());
    let chart = chart(&folder, "show nested.onnx", 0);
    assert!(!lines(&chart, "then#95;branch of ").is_empty(), "{chart}");
    assert!(!lines(&chart, "else#95;branch of ").is_empty(), "{chart}");
    assert!(!lines(&chart, "function ").is_empty(), "{chart}");
    assert_eq!(
        lines(&chart, "subgraph ").len(),
        chart.lines().filter(|line| line.trim() == "end").count()
    );
}

#[test]
fn a_repeated_block_is_drawn_once() {
    let folder = Folder::new();
    folder.model("layers.onnx", &layers(4));
    let chart = chart(&folder, "show layers.onnx", 0);
    assert_eq!(lines(&chart, "subgraph ").len(), 1, "{chart}");
    assert_eq!(lines(&chart, "× 4").len(), 1, "{chart}");
    assert_eq!(lines(&chart, "[[\"layer.").len(), 3, "{chart}");
    assert_eq!(lines(&chart, "4 nodes").len(), 3, "{chart}");
}

#[test]
fn a_large_model_without_names_is_drawn_in_runs() {
    let folder = Folder::new();
    // No two steps are alike, so nothing repeats.
    let mut long = chain(640);
    if let Some(graph) = &mut long.graph {
        for (number, node) in graph.node.iter_mut().enumerate() {
            node.op_type =
                ["Relu", "Exp", "Abs", "Neg"][(number * number / 7 + number / 5) % 4].to_owned();
        }
    }
    folder.model("long.onnx", &long);
    let chart = chart(&folder, "show long.onnx", 0);
    assert!(lines(&chart, "[[").len() > 2, "{chart}");
    assert!(
        chart.lines().count() < 400,
        "{} lines",
        chart.lines().count()
    );
}

#[test]
fn a_replaced_operator_is_deleted_and_inserted() {
    let folder = folder();
    let chart = chart(&folder, "diff a.onnx operator.onnx", 1);
    let inserted = name(&chart, "#43; Tanh");
    let deleted = lines(&chart, ":::deleted");
    assert_eq!(deleted.len(), 1, "{chart}");
    assert!(deleted[0].contains("− "), "{chart}");
    assert!(
        !lines(&chart, &format!("==> {inserted}")).is_empty(),
        "{chart}"
    );
    assert!(
        !lines(&chart, " -.-> ").is_empty() || !lines(&chart, " -.->|").is_empty(),
        "{chart}"
    );
}

#[test]
fn a_changed_attribute_marks_the_node_and_shows_its_neighbours() {
    let folder = folder();
    let chart = chart(&folder, "diff a.onnx attribute.onnx", 1);
    let changed = lines(&chart, ":::changed");
    assert_eq!(changed.len(), 1, "{chart}");
    assert!(changed[0].contains("#126; Conv"), "{chart}");
    let node = name(&chart, ":::changed");
    assert!(!lines(&chart, &format!("--> {node}")).is_empty(), "{chart}");
    assert!(
        !lines(&chart, &format!("{node} --> ")).is_empty(),
        "{chart}"
    );
}

#[test]
fn a_changed_weight_is_a_constant_beside_its_user() {
    let folder = folder();
    let chart = chart(&folder, "diff a.onnx weight.onnx", 1);
    let weights = lines(&chart, ">\"");
    assert_eq!(weights.len(), 1, "{chart}");
    assert!(weights[0].contains(":::changed"), "{chart}");
    let weight = name(&chart, ">\"");
    assert_eq!(
        lines(&chart, &format!("{weight} -->|\"input ")).len(),
        1,
        "{chart}"
    );
}

#[test]
fn a_rewired_operand_is_two_edges() {
    let folder = Folder::new();
    let wired = |operand: &str| {
        model(GraphProto {
            name: "main".to_owned(),
            input: vec![value("x", FLOAT, &[Dim::Size(2)])],
            output: vec![value("y", FLOAT, &[Dim::Size(2)])],
            node: vec![
                node("Relu", &["x"], &["a"]),
                node("Exp", &["a"], &["b"]),
                node("Sub", &["b", operand], &["s"]),
                node("Mul", &["s", "a"], &["y"]),
            ],
            ..Default::default()
        })
    };
    folder.model("a.onnx", &wired("x"));
    folder.model("b.onnx", &wired("a"));
    let chart = chart(&folder, "diff a.onnx b.onnx", 1);
    let user = name(&chart, "[\"#126; Sub");
    let (x, a) = (name(&chart, "([\"x"), name(&chart, "[\"Relu"));
    assert!(
        chart.contains(&format!("{x} -.->|\"input 1\"| {user}\n")),
        "{chart}"
    );
    assert!(
        chart.contains(&format!("{a} ==>|\"input 1\"| {user}\n")),
        "{chart}"
    );
    assert!(lines(&chart, ":::inserted").is_empty(), "{chart}");
}

#[test]
fn equal_files_have_a_picture_without_changes() {
    let folder = folder();
    let chart = chart(&folder, "diff a.onnx renamed.onnx", 0);
    assert!(chart.contains("The models are equal"), "{chart}");
    let ran = folder.run("diff -q --format svg a.onnx operator.onnx");
    assert_eq!((ran.status, ran.out.as_str()), (1, ""));
}

#[test]
fn ir_values_are_objects_and_fields() {
    let folder = Folder::new();
    let module = include_str!("../../../../examples/ir/residual.iso");
    folder.file("module.iso", module.as_bytes());
    let swapped = module.replace("args=[%x, %w]", "args=[%w, %x]");
    folder.file("swapped.iso", swapped.as_bytes());
    let drawn = chart(&folder, "show module.iso", 0);
    assert!(!lines(&drawn, "[\"Function").is_empty(), "{drawn}");
    assert!(!lines(&drawn, "|\"args#91;0#93;\"|").is_empty(), "{drawn}");
    let changes = chart(&folder, "diff module.iso swapped.iso", 1);
    assert!(!lines(&changes, ":::deleted").is_empty(), "{changes}");
    assert!(!lines(&changes, ":::inserted").is_empty(), "{changes}");
}

#[test]
fn every_format_is_written() {
    let folder = folder();
    folder.model("nested.onnx", &nested());
    for file in ["a.onnx", "nested.onnx"] {
        for command in [format!("show {file}"), format!("diff a.onnx {file}")] {
            let svg = folder.run(&format!("{command} --format svg")).out;
            assert!(
                svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
                "{svg}"
            );
            assert!(!svg.contains("<a href"), "no page has these anchors");
            let dot = folder.run(&format!("{command} --format dot")).out;
            assert!(
                dot.starts_with("digraph picture {\n") && dot.ends_with("}\n"),
                "{dot}"
            );
        }
    }
}

#[track_caller]
fn check_refused(folder: &Folder, line: &str, reason: &str) {
    let ran = folder.run(line);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(reason), "{}", ran.err);
}

#[test]
fn options_without_a_picture_are_refused() {
    let folder = folder();
    folder.model("left/m.onnx", &small(&Small::default()));
    folder.model("right/m.onnx", &small(&Small::default()));
    check_refused(&folder, "show --format svg --depth 1 a.onnx", "--depth");
    check_refused(
        &folder,
        "show --format png a.onnx",
        "[possible values: svg, dot, mermaid]",
    );
    check_refused(
        &folder,
        "diff --format svg --first a.onnx operator.onnx",
        "--first has no picture",
    );
    check_refused(
        &folder,
        "diff --format dot --stat a.onnx operator.onnx",
        "--stat has no picture",
    );
    check_refused(&folder, "diff --format svg left right", "one pair of files");
    let ran = folder.run("show --format svg --json a.onnx");
    assert_eq!(ran.status, 2);
    assert!(
        ran.out.contains("--json and --format"),
        "{}{}",
        ran.out,
        ran.err
    );
    check_refused(&folder, "show --format svg broken.onnx", "broken.onnx");
}

#[test]
fn equal_models_have_a_picture_that_says_so() {
    let folder = folder();
    for format in ["svg", "dot", "mermaid"] {
        let ran = folder.run(&format!("diff --format {format} a.onnx a.onnx"));
        assert_eq!(ran.status, 0, "{}", ran.err);
        assert!(ran.out.contains("The models are equal"), "{}", ran.out);
        assert!(
            format != "svg" || ran.out.contains("class=\"node"),
            "{}",
            ran.out
        );
    }
}

#[test]
fn a_chart_that_code_hosts_do_not_draw_says_so() {
    let folder = Folder::new();
    let mut wide = chain(1);
    if let Some(graph) = &mut wide.graph {
        // No two parts are alike, so nothing is collapsed.
        let mut state = 7usize;
        graph.node.clear();
        for number in 0..130usize {
            let mut inputs = vec!["v0".to_owned()];
            for slot in 1..7 {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                let before = (state >> 16) % 40 + slot;
                inputs.extend(number.checked_sub(before).map(|input| format!("s{input}")));
            }
            let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
            let op = ["Sum", "Max", "Min", "Mean"][(state >> 8) % 4];
            graph.node.push(node(op, &inputs, &[&format!("s{number}")]));
        }
        graph.output[0].name = "s129".to_owned();
    }
    folder.model("wide.onnx", &wide);
    folder.model("short.onnx", &chain(5));
    let ran = folder.run("show --format mermaid wide.onnx");
    assert_eq!(ran.status, 0);
    assert!(ran.err.contains("at most 500 edges"), "{}", ran.err);
    assert!(ran.out.starts_with("flowchart TB\n  %% "), "{}", ran.out);
    let ran = folder.run("show --format mermaid short.onnx");
    assert!(
        ran.err.is_empty() && !ran.out.contains("%%"),
        "{}{}",
        ran.err,
        ran.out
    );
}

#[test]
fn functions_of_a_large_model_are_collapsed() {
    let folder = Folder::new();
    let mut large = nested();
    folder.model("small.onnx", &large);
    if let Some(graph) = &mut large.graph {
        for number in 0..200 {
            let input = if number == 0 { "y" } else { "e" };
            let output = if number == 199 { "end" } else { "e" };
            let names = [
                format!("{input}{number}"),
                format!("{output}{}", number + 1),
            ];
            let names = names.map(|name| name.replace("y0", "y").replace("end200", "end"));
            graph.node.push(node(
                ["Exp", "Neg", "Abs"][number * number % 3],
                &[&names[0]],
                &[&names[1]],
            ));
        }
        graph.output[0].name = "end".to_owned();
    }
    folder.model("large.onnx", &large);
    let small = chart(&folder, "show small.onnx", 0);
    let large = chart(&folder, "show large.onnx", 0);
    assert_eq!(
        lines(&small, "subgraph ")
            .iter()
            .filter(|line| line.contains("function"))
            .count(),
        1
    );
    assert_eq!(
        lines(&large, "subgraph ")
            .iter()
            .filter(|line| line.contains("function"))
            .count(),
        0
    );
    assert_eq!(
        lines(&large, "[[\"function local.Twice").len(),
        1,
        "{large}"
    );
}
