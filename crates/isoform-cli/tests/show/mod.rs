//! `isoform show` on models.

use isoform_testing::source::scaled;
use std::collections::HashSet;

use crate::build::{Folder, Small, chain, ints, nested, node, small, with_attributes};
use crate::{check, folder, json};

#[test]
fn show_prints_the_program() {
    let folder = folder();
    check(
        &folder.run("show a.onnx"),
        0,
        "\
# ONNX model
opset ai.onnx 13
graph(%x: float32[d0, 2, d1]) -> (float32[d0, 2, d1]) {
  %c = Conv(%x, float32[2, 2, 3] {0.25, 0.25, 0.25, ...} #84f581446420) {pads=[1, 1]}
  %s = Add(%c, float32[1] {0.5})
  %y = Relu(%s)
  return %y
}
# 3 nodes, 2 initializers, 52 B of constants
",
    );
    let numbered = folder.run("show -q --numbers a.onnx").out;
    assert!(numbered.contains("%3 = Relu(%2)"), "{numbered}");
    assert_eq!(numbered, folder.run("show -q --numbers renamed.onnx").out);
}

#[test]
fn show_changes_little_where_a_node_is_inserted() {
    let folder = Folder::new();
    let mut before = chain(100);
    let nodes = before.graph.iter_mut().flat_map(|graph| &mut graph.node);
    for (node, op) in nodes.zip(["Relu", "Abs", "Neg"].iter().cycle()) {
        node.op_type = (*op).to_owned();
    }
    let mut after = before.clone();
    let graph = after.graph.as_mut().unwrap();
    graph.node[51].input[0] = "inserted".to_owned();
    graph.node.insert(51, node("Tanh", &["v51"], &["inserted"]));
    folder.model("before.onnx", &before);
    folder.model("after.onnx", &after);
    let changed = |options: &str| {
        let show = |file: &str| folder.run(&format!("show {options} {file}")).out;
        let (before, after) = (show("before.onnx"), show("after.onnx"));
        let old_lines: HashSet<&str> = before.lines().collect();
        assert_eq!(before.lines().next(), after.lines().next());
        after
            .lines()
            .filter(|line| !old_lines.contains(line))
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    assert_eq!(
        changed(""),
        [
            "  %inserted = Tanh(%v51)",
            "  %v52 = Relu(%inserted)",
            "# 101 nodes, 0 initializers, 0 B of constants"
        ]
    );
    // Numbers shift, and are therefore not the default.
    assert!(changed("--numbers").len() > 45);
    // Names by structure do not, although those of the file are ignored.
    let canonical = changed("--canonical");
    assert_eq!(canonical.len(), 3, "{canonical:?}");
    assert!(canonical[0].contains("= Tanh(%neg."), "{canonical:?}");
}

#[test]
fn abbreviated_attributes_of_different_values_have_different_texts() {
    let folder = Folder::new();
    let text = |last: i64| {
        let mut model = small(&Small::default());
        let mut values = vec![0; 40];
        values[39] = last;
        let nodes = &mut model.graph.as_mut().unwrap().node;
        nodes[0] = with_attributes(nodes[0].clone(), &[ints("more", &values)]);
        folder.model("m.onnx", &model);
        let ran = folder.run("show -q --canonical m.onnx");
        assert!(ran.out.contains("... 24 more #"), "{ran:?}");
        ran.out
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
}

#[test]
fn names_by_structure_do_not_depend_on_names_weights_and_attributes() {
    let folder = folder();
    let text = |file: &str| folder.run(&format!("show -q --canonical {file}")).out;
    assert_eq!(text("a.onnx"), text("renamed.onnx"));
    assert!(
        text("a.onnx").contains("(%in0: float32"),
        "{}",
        text("a.onnx")
    );
    for file in ["weight.onnx", "attribute.onnx"] {
        let (before, after) = (text("a.onnx"), text(file));
        let lines = before.lines().zip(after.lines());
        assert_eq!(
            lines.filter(|(left, right)| left != right).count(),
            1,
            "{file}"
        );
    }
    let mut nested = nested();
    folder.model("nested.onnx", &nested);
    for graph in nested.graph.iter_mut() {
        graph.node[0].output[0] = "u".to_owned();
        for attribute in &mut graph.node[1].attribute {
            for graph in attribute.g.iter_mut() {
                graph.node[0].input[0] = "u".to_owned();
                graph.node[0].output[0].push('2');
                graph.output[0].name.push('2');
            }
        }
    }
    folder.model("nested2.onnx", &nested);
    assert_eq!(text("nested.onnx"), text("nested2.onnx"));
    let text = text("nested.onnx");
    let labels: Vec<&str> = text
        .split(" = ")
        .flat_map(|part| part.split_whitespace().last())
        .collect();
    let labels: Vec<&str> = labels
        .into_iter()
        .filter(|label| label.starts_with('%'))
        .collect();
    assert_eq!(
        labels.iter().collect::<HashSet<_>>().len(),
        labels.len(),
        "{text}"
    );
    let ran = folder.run("show --canonical --numbers a.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
}

#[test]
fn show_tells_weights_apart() {
    let folder = Folder::new();
    let with = |last: f32| {
        let mut model = small(&Small::default());
        let weights = &mut model.graph.as_mut().unwrap().initializer[0];
        weights.float_data[11] = last;
        model
    };
    folder.model("a.onnx", &with(0.25));
    folder.model("b.onnx", &with(0.5));
    let show = |line: &str| folder.run(&format!("show {line}")).out;
    let (a, b) = (show("a.onnx"), show("b.onnx"));
    let differ: Vec<_> = a.lines().zip(b.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(differ.len(), 1, "{differ:?}");
    assert!(
        differ[0]
            .0
            .contains("Conv(%x, float32[2, 2, 3] {0.25, 0.25, 0.25, ...} #")
    );
    let (a, b) = (show("--architecture a.onnx"), show("--architecture b.onnx"));
    assert!(a.contains("float32[2, 2, 3] {...})"), "{a}");
    assert_eq!(a, b);
}

/// All commands that print a number of nodes print the same number.
#[test]
fn nodes_are_counted_in_one_way() {
    let folder = Folder::new();
    let mut counted = nested();
    // Neither a constant nor a node that no output needs is counted.
    let graph = counted.graph.as_mut().unwrap();
    graph.node.push(node("Neg", &["x"], &["unused"]));
    folder.model("a.onnx", &counted);
    let shown = folder.run("show a.onnx").out;
    assert!(shown.contains("\n# 6 nodes, "), "{shown}");
    assert_eq!(
        json(&folder.run("show --json a.onnx"))["counts"]["nodes"],
        6
    );
    let optimized = json(&folder.run("optimize --json a.onnx b.onnx"));
    assert_eq!(optimized["nodes"]["before"], 6, "{optimized}");
}

#[test]
fn show_with_names() {
    let folder = folder();
    let ran = folder.run("show -q --names a.onnx");
    for expected in [
        "# d0 is \"N\"\n",
        "# graph \"main\": \"x\" -> \"y\"\n",
        "  %s = Add(%c, float32[1] {0.5})  # \"Add_s\": \"c\", \"b\" -> \"s\"\n",
    ] {
        assert!(ran.out.contains(expected), "{}", ran.out);
    }
    let ran = folder.run("show -q --io-names a.onnx");
    assert!(
        ran.out.contains("graph(%x \"x\": float32[d0, 2, d1])"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("return %y \"y\"\n"), "{}", ran.out);
}

#[test]
fn show_indents_subgraphs_and_prints_functions() {
    let folder = folder();
    folder.model("nested.onnx", &nested());
    check(
        &folder.run("show --numbers nested.onnx"),
        0,
        "\
# ONNX model
opset ai.onnx 13
graph(%0: float32[2], %1: bool) -> (float32[2]) {
  %2 = Abs(%0)
  %3 = If(%1) {
    else_branch = graph() -> (float32[2]) {
      %4 = Neg(%2)
      return %4
    }
    then_branch = graph() -> (float32[2]) {
      %5 = Exp(%2)
      return %5
    }
  }
  %6 = f0(%3) {gain=2.5}
  return %6
}
f0(%7) {gain} {
  %8 = Elu:12(%7) {alpha=$gain}
  return %8
}
# 6 nodes, 0 initializers, 0 B of constants, 1 function
",
    );
    let ran = folder.run("show -q --depth 0 nested.onnx");
    assert!(
        ran.out
            .contains("    else_branch = graph() -> (float32[2]) { ... 1 node }\n"),
        "{}",
        ran.out
    );
    let ran = folder.run("show -q --numbers --limit 1 nested.onnx");
    assert!(
        ran.out
            .contains("  %2 = Abs(%0)\n  ... 2 nodes\n  return %6\n"),
        "{}",
        ran.out
    );
}

#[test]
fn show_as_json() {
    let folder = folder();
    folder.model("nested.onnx", &nested());
    let ran = folder.run("show --json --names nested.onnx");
    assert_eq!(ran.status, 0);
    let shown = json(&ran);
    assert_eq!(shown["file"], "nested.onnx");
    assert_eq!(shown["counts"]["nodes"], 6);
    assert_eq!(shown["program"]["name"], "main");
    let nodes = &shown["program"]["nodes"];
    assert_eq!(nodes[0]["op_type"], "Abs");
    assert_eq!(nodes[0]["domain"], "ai.onnx");
    assert_eq!(nodes[0]["version"], 13);
    assert_eq!(nodes[0]["name"], "Abs_t");
    assert_eq!(
        nodes[1]["attributes"]["else_branch"]["nodes"][0]["op_type"],
        "Neg"
    );
    assert_eq!(nodes[2]["function"], "f0");
    assert_eq!(nodes[2]["attributes"]["gain"], "2.5");
    assert_eq!(shown["functions"][0]["function"], "f0");
    assert_eq!(
        shown["functions"][0]["nodes"][0]["attributes"]["alpha"],
        "$gain"
    );

    let cut = json(&folder.run("show --json --depth 0 --limit 2 nested.onnx"));
    assert_eq!(cut["program"]["omitted"], 1);
    assert_eq!(
        cut["program"]["nodes"][1]["attributes"]["else_branch"]["omitted"],
        1
    );

    let ran = folder.run("show --json broken.onnx");
    assert_eq!(ran.status, 2);
    assert_eq!(json(&ran)["file"], "broken.onnx");
}

#[test]
fn show_in_trouble() {
    let ran = folder().run("show missing.onnx");
    check(&ran, 2, "");
    assert!(ran.err.starts_with("isoform: missing.onnx: "), "{ran:?}");
}

#[test]
fn deep_programs_need_no_deep_stack() {
    let folder = Folder::new();
    let length = scaled(100_000);
    folder.model("deep.onnx", &chain(length));
    folder.model("deeper.onnx", &chain(length + 1));
    let ran = folder.run("show --numbers deep.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert_eq!(ran.out.lines().count(), length + 6);
    let end = format!(
        "%{length} = Relu(%{})\n  return %{length}\n}}\n# {length} nodes",
        length - 1
    );
    assert!(ran.out.contains(&end));
    assert_eq!(folder.run("hash deep.onnx").status, 0);
    let ran = folder.run("diff --first deep.onnx deeper.onnx");
    assert_eq!(ran.status, 1, "{}", ran.err);
    // A long path is cut in the text, and whole in the JSON.
    assert!(
        ran.out
            .contains(&format!(" ...{} steps... ", 3 * length - 9)),
        "{}",
        ran.out
    );
    assert!(ran.out.len() < 10_000, "{}", ran.out.len());
    let full = json(&folder.run("diff --first --json deep.onnx deeper.onnx"));
    let path = full["right"]["path"].as_str().unwrap();
    assert_eq!(path.matches(".call").count(), length);
}
