//! The blocks and subterms that `isoform clones` finds in models and IR files.

use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto};

use crate::build::{
    Dim, FLOAT, Folder, floats, graph_attribute, model, node, value, with_attributes,
};
use crate::{check, json};

/// A model of layers with residual connections and separate weights; `swapped` names
/// layers in which the operands of the subtraction are exchanged.
fn layers(count: usize, swapped: &[usize]) -> ModelProto {
    let mut nodes: Vec<NodeProto> = vec![node("Abs", &["x"], &["h0"])];
    let mut weights = Vec::new();
    for layer in 0..count {
        let name = |part: &str| format!("{part}{layer}");
        let (input, output) = (name("h"), format!("h{}", layer + 1));
        let (scaled, active) = (name("scaled"), name("active"));
        weights.push(floats(&name("w"), &[layer as f32, 1.0]));
        nodes.push(node("Mul", &[&input, &name("w")], &[&scaled]));
        nodes.push(node("Relu", &[&scaled], &[&active]));
        let operands = if swapped.contains(&layer) {
            [active.as_str(), &input]
        } else {
            [input.as_str(), &active]
        };
        nodes.push(node("Sub", &operands, &[&output]));
        nodes.push(node("Tanh", &[&output], &[&name("t")]));
        nodes.push(node("Neg", &[&name("t")], &[&name("n")]));
        // The next layer continues from here.
        nodes.push(node(
            "Identity",
            &[&name("n")],
            &[&format!("e{}", layer + 1)],
        ));
        if let Some(next) = nodes.last_mut() {
            next.op_type = "Exp".to_owned();
            next.output = vec![format!("h{}", layer + 1)];
        }
        let before = nodes.len() - 4;
        nodes[before].output = vec![name("sub")];
        nodes[before + 1].input = vec![name("sub")];
    }
    model(GraphProto {
        name: "layers".to_owned(),
        input: vec![value("x", FLOAT, &[Dim::Size(2)])],
        output: vec![value(&format!("h{count}"), FLOAT, &[Dim::Size(2)])],
        initializer: weights,
        node: nodes,
        ..Default::default()
    })
}

#[test]
fn layers_are_a_block() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(3, &[]));
    check(
        &folder.run("clones m.onnx"),
        0,
        "block of 6 nodes, 3 times  Mul, Relu, Sub, Tanh, Neg, Exp
  node 'Mul_scaled0' (Mul) producing 'scaled0' in graph 'layers' … node 'Identity_e1' (Exp) producing 'h1' in graph 'layers'
  node 'Mul_scaled1' (Mul) producing 'scaled1' in graph 'layers' … node 'Identity_e2' (Exp) producing 'h2' in graph 'layers'
  node 'Mul_scaled2' (Mul) producing 'scaled2' in graph 'layers' … node 'Identity_e3' (Exp) producing 'h3' in graph 'layers'
1 program, 1 repeated block, 0 repeated subterms, 0 failed
",
    );
    check(&folder.run("clones -q --min-size 7 m.onnx"), 0, "");
    check(&folder.run("clones -q --min-count 4 m.onnx"), 0, "");
    check(&folder.run("clones -q --max 0 m.onnx"), 0, "");
}

#[test]
fn files_are_named_once() {
    let folder = Folder::new();
    folder.model("one.onnx", &layers(2, &[]));
    folder.model("two.onnx", &layers(2, &[]));
    let ran = folder.run("clones --min-count 4 one.onnx two.onnx");
    let blocks = ran.out.split("block of").nth(1).expect("a block");
    let lines: Vec<&str> = blocks.lines().skip(1).take(6).collect();
    let is_file = |line: &&str| !line.starts_with("    ");
    let files: Vec<&str> = lines.iter().copied().filter(is_file).collect();
    assert_eq!(files, ["  one.onnx", "  two.onnx"], "{}", ran.out);
    assert_eq!(
        ran.out.matches("one.onnx").count(),
        ran.out.matches("two.onnx").count()
    );
}

#[test]
fn a_deep_chain_is_named_by_its_nodes() {
    let folder = Folder::new();
    let count = 20_000;
    let ops = ["Relu", "Tanh", "Sigmoid", "Neg"];
    let nodes = (0..count).map(|index| {
        let names = [format!("t{index}"), format!("t{}", index + 1)];
        node(ops[index % 4], &[&names[0]], &[&names[1]])
    });
    folder.model(
        "chain.onnx",
        &model(GraphProto {
            name: "chain".to_owned(),
            node: nodes.collect(),
            input: vec![value("t0", FLOAT, &[Dim::Size(2)])],
            output: vec![value(&format!("t{count}"), FLOAT, &[Dim::Size(2)])],
            ..Default::default()
        }),
    );
    let ran = folder.run("clones --json chain.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    let report = json(&ran);
    let block = &report["blocks"][0];
    let places = block["places"].as_array().expect("a list");
    assert_eq!(
        places[0]["paths"][0]
            .as_str()
            .map(|path| path.starts_with("<node ")),
        Some(true)
    );
    assert!(
        ran.out.len() < 1000 * places.len().max(count / 4),
        "{}",
        ran.out.len()
    );
}

/// Two Ifs with equal branches, whose attributes, branches and results are the same several times.
fn branches() -> ModelProto {
    let branch = |name: &str| GraphProto {
        name: name.to_owned(),
        node: vec![
            node("Sin", &["x"], &[&format!("{name}a")]),
            node("Cos", &[&format!("{name}a")], &[&format!("{name}b")]),
            node("Exp", &[&format!("{name}b")], &[&format!("{name}c")]),
            node("Neg", &[&format!("{name}c")], &[&format!("{name}d")]),
        ],
        output: vec![value(&format!("{name}d"), FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    };
    let either = |index: usize| {
        let attributes = ["then_branch", "else_branch"]
            .map(|side| graph_attribute(side, branch(&format!("{side}{index}"))));
        with_attributes(node("If", &["c"], &[&format!("i{index}")]), &attributes)
    };
    model(GraphProto {
        name: "main".to_owned(),
        node: vec![either(0), either(1), node("Sub", &["i0", "i1"], &["y"])],
        input: vec![value("x", FLOAT, &[Dim::Size(2)]), value("c", 9, &[])],
        output: vec![value("y", FLOAT, &[Dim::Size(2)])],
        ..Default::default()
    })
}

#[test]
fn subterms_of_models_are_called_by_their_nodes_and_told_once() {
    let folder = Folder::new();
    folder.model("m.onnx", &branches());
    let ran = folder.run("clones --min-size 2 m.onnx");
    assert_eq!(ran.status, 0, "{}", ran.err);
    for name in ["Map", "Array", "Output"] {
        assert!(!ran.out.contains(name), "{}", ran.out);
    }
    let mut groups: Vec<&str> = ran.out.split("subterm of").skip(1).collect();
    let count = groups.len();
    assert!(count > 0, "{}", ran.out);
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), count, "{}", ran.out);
}

#[test]
fn copies_are_wired_alike_and_may_be_in_other_files() {
    let folder = Folder::new();
    folder.model("one.onnx", &layers(2, &[1]));
    folder.model("two.onnx", &layers(3, &[0]));
    let ran = folder.run("clones --json --min-size 5 one.onnx two.onnx missing.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    let report = json(&ran);
    let blocks = report["blocks"].as_array().expect("a list");
    let shape: Vec<(u64, usize)> = blocks
        .iter()
        .map(|block| {
            let places = block["places"].as_array().expect("a list");
            (block["size"].as_u64().expect("a count"), places.len())
        })
        .collect();
    assert_eq!(shape, [(6, 3), (6, 2)]);
    let files = |block: usize| -> Vec<&str> {
        let places = blocks[block]["places"].as_array().expect("a list");
        let files = places.iter().map(|place| place["file"].as_str());
        files.map(|file| file.expect("a name")).collect()
    };
    assert_eq!(files(0), ["one.onnx", "two.onnx", "two.onnx"]);
    assert_eq!(files(1), ["one.onnx", "two.onnx"]);
    assert_eq!(blocks[0]["saved"], 10);
    assert_eq!(report["failed"][0]["file"], "missing.onnx");
    assert_eq!(report["counts"]["programs"], 2);
}

#[test]
fn equal_subterms_of_ir_files() {
    let folder = Folder::new();
    let module = include_str!("../../../../examples/ir/residual.iso");
    folder.file("module.iso", module.as_bytes());
    folder.file("renamed.iso", module.replace("%x", "%data").as_bytes());
    let ran = folder.run("clones --json module.iso renamed.iso");
    assert_eq!(ran.status, 0, "{ran:?}");
    let report = json(&ran);
    let first = &report["subterms"][0];
    assert_eq!(first["places"].as_array().map(Vec::len), Some(2));
    assert_eq!(first["places"][1]["file"], "renamed.iso");
    let path = first["places"][0]["paths"][0].as_str().expect("a path");
    assert!(path.starts_with("<root>.functions["), "{path}");
    let ran = folder.run("clones --min-size 1000 module.iso");
    check(
        &ran,
        0,
        "1 program, 0 repeated blocks, 0 repeated subterms, 0 failed\n",
    );
    let ran = folder.run("clones - -");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("standard input can be read only once"),
        "{ran:?}"
    );
}

/// Equal chains of nodes that end in a node with two results, and nodes that use the results
/// of each chain, with weights of their own.
fn splits(chains: usize, uses: &[&str]) -> ModelProto {
    let (mut nodes, mut outputs, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let ops = ["Sin", "Exp", "Cos", "Neg", "Tanh", "Abs", "Atan"];
    for chain in 0..chains {
        let mut last = "x".to_owned();
        for step in 0..40 {
            let next = format!("t{chain}_{step}");
            nodes.push(node(ops[(step * step) % ops.len()], &[&last], &[&next]));
            last = next;
        }
        let name = |part: &str| format!("{part}{chain}");
        let results = [name("left"), name("right")];
        let results = results.each_ref().map(String::as_str);
        nodes.push(node("Split", &[&last], &results));
        for (number, used) in uses.iter().enumerate() {
            let [weight, output] = ["w", "y"].map(|part| format!("{part}{chain}_{number}"));
            weights.push(floats(&weight, &[(chain * uses.len() + number) as f32]));
            nodes.push(node("Mul", &[&name(used), &weight], &[&output]));
            outputs.push(value(&output, FLOAT, &[Dim::Size(1)]));
        }
    }
    model(GraphProto {
        name: "splits".to_owned(),
        input: vec![value("x", FLOAT, &[Dim::Size(2)])],
        output: outputs,
        initializer: weights,
        node: nodes,
        ..Default::default()
    })
}

#[test]
fn a_node_is_listed_once_however_many_results_and_uses_it_has() {
    let uses: [&[&str]; 4] = [
        &["left"],
        &["left", "left", "left"],
        &["left", "right"],
        &["right", "left", "right", "right"],
    ];
    for uses in uses {
        for chains in [1, 2, 3] {
            let folder = Folder::new();
            folder.model("m.onnx", &splits(chains, uses));
            let report = json(&folder.run("clones --json --min-size 1 m.onnx"));
            let subterms = report["subterms"].as_array().expect("a list");
            let places = subterms.iter().map(|group| {
                let places = group["places"].as_array().expect("a list");
                places.iter().map(|place| &place["paths"][0]).collect()
            });
            let places: Vec<Vec<_>> = places.collect();
            let splits = places.iter().filter(|group| group.len() == chains).count();
            let is_repeated = chains > 1;
            assert_eq!(
                (places.len(), splits),
                (usize::from(is_repeated), usize::from(is_repeated)),
                "{chains} chains, used {uses:?}: {places:?}"
            );
        }
    }
}
