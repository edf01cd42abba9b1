//! A planted fault is the first divergence, whatever the names and the order of nodes.

use isoform_onnx::divergence::{Divergence, PairStatus};
use isoform_onnx::proto::{GraphProto, ModelProto};

use super::{compared, first, named};
use crate::build::{NodeExt, float, graph, int, model_of, node, tensor, value};

/// Three layers with a sum around the second, of matrices of 4 columns.
fn layers() -> ModelProto {
    let nodes = vec![
        named("scale", node("Mul", "x w0", "a")),
        named("shift", node("Add", "a b0", "b")),
        named("act", node("LeakyRelu", "b", "c").with(float("alpha", 0.1))),
        named("scale1", node("Mul", "c w1", "d")),
        named("soft", node("Softmax", "d", "e").with(int("axis", 1))),
        named("sum", node("Add", "e c", "f")),
        named("wave", node("Sin", "f", "g")),
        named("scale2", node("Mul", "g w2", "h")),
        named("join", node("Concat", "h c", "y").with(int("axis", 1))),
    ];
    let mut graph = graph("", nodes, "y");
    graph.input = vec![value("x", "n 4")];
    graph.initializer = vec![
        tensor("w0", &[0.5, -1.0, 1.5, 2.0]),
        tensor("b0", &[0.25, 0.5, -0.5, 0.0]),
        tensor("w1", &[1.0, 2.0, -0.75, 0.5]),
        tensor("w2", &[2.0, -0.5, 0.25, 1.0]),
    ];
    model_of(graph)
}

fn edited(edit: impl FnOnce(&mut GraphProto)) -> ModelProto {
    let mut model = layers();
    edit(model.graph.as_mut().unwrap());
    model
}

fn at<'g>(graph: &'g mut GraphProto, name: &str) -> &'g mut isoform_onnx::proto::NodeProto {
    graph
        .node
        .iter_mut()
        .find(|node| node.name == name)
        .unwrap()
}

/// The same model with other names everywhere.
fn renamed(model: &ModelProto) -> ModelProto {
    let mut model = model.clone();
    let graph = model.graph.as_mut().unwrap();
    let new = |name: &mut String| {
        *name = format!("v{}_", name.len()) + &name.chars().rev().collect::<String>()
    };
    for node in &mut graph.node {
        node.name = format!("/{}/", node.name);
        node.input.iter_mut().for_each(new);
        node.output.iter_mut().for_each(new);
    }
    graph
        .initializer
        .iter_mut()
        .for_each(|tensor| new(&mut tensor.name));
    graph
        .input
        .iter_mut()
        .for_each(|value| new(&mut value.name));
    graph
        .output
        .iter_mut()
        .for_each(|value| new(&mut value.name));
    model
}

/// The same model with the nodes in the opposite order, as far as their inputs allow.
fn reordered(model: &ModelProto) -> ModelProto {
    let mut model = model.clone();
    let graph = model.graph.as_mut().unwrap();
    let mut rest: Vec<_> = std::mem::take(&mut graph.node);
    while !rest.is_empty() {
        let is_free = |node: &isoform_onnx::proto::NodeProto| {
            let mut made = rest.iter().flat_map(|other| &other.output);
            !made.any(|name| node.input.contains(name))
        };
        let next = rest.iter().rposition(is_free).unwrap();
        graph.node.push(rest.remove(next));
    }
    model
}

/// The same model with an Identity after each node.
fn copying(model: &ModelProto) -> ModelProto {
    let mut model = model.clone();
    let graph = model.graph.as_mut().unwrap();
    for mut made in std::mem::take(&mut graph.node) {
        let output = made.output[0].clone();
        let before = format!("{output}_before");
        made.output[0].clone_from(&before);
        graph.node.push(made);
        graph.node.push(named(
            &format!("copy_{output}"),
            node("Identity", &before, &output),
        ));
    }
    model
}

/// The first divergence is this node, in every form of the right model, and the only one that
/// begins there.
#[track_caller]
fn check(right: &ModelProto, expected: &str) {
    check_pair(&layers(), right, expected);
}

#[track_caller]
fn check_pair(left: &ModelProto, right: &ModelProto, expected: &str) {
    let check_one = |result: Divergence, name: &str| {
        assert_eq!(first(&result), (expected, name), "{result}");
        assert_eq!(result.origins, [result.first.unwrap()], "{result}");
        assert!(result.first_pair().unwrap().inputs_agree, "{result}");
        assert!(!result.is_same());
    };
    check_one(compared(left, right), expected);
    check_one(compared(left, &reordered(right)), expected);
    let renamed_name = format!("/{expected}/");
    check_one(compared(left, &renamed(right)), &renamed_name);
    check_one(compared(left, &reordered(&renamed(right))), &renamed_name);
    check_one(compared(left, &copying(right)), expected);
    check_one(
        compared(left, &copying(&reordered(&renamed(right)))),
        &renamed_name,
    );
    // The sides are exchanged.
    let result = compared(&copying(&renamed(right)), left);
    assert_eq!(first(&result), (&*renamed_name, expected), "{result}");
}

#[test]
fn an_attribute() {
    let faulty = edited(|graph| at(graph, "act").attribute = vec![float("alpha", 0.3)]);
    check(&faulty, "act");
    let faulty = edited(|graph| at(graph, "soft").attribute = vec![int("axis", 0)]);
    check(&faulty, "soft");
}

#[test]
fn a_weight() {
    check(
        &edited(|graph| graph.initializer[2].float_data[1] += 0.5),
        "scale1",
    );
    check(
        &edited(|graph| graph.initializer[0].float_data[3] *= 1.01),
        "scale",
    );
}

#[test]
fn an_operator() {
    check(
        &edited(|graph| at(graph, "wave").op_type = "Cos".into()),
        "wave",
    );
    check(
        &edited(|graph| at(graph, "scale1").op_type = "Sub".into()),
        "scale1",
    );
    // At the beginning and at the end of the graph.
    check(
        &edited(|graph| at(graph, "scale").op_type = "Add".into()),
        "scale",
    );
    check(&edited(|graph| at(graph, "join").input.reverse()), "join");
}

#[test]
fn a_rewired_operand() {
    check(
        &edited(|graph| at(graph, "sum").input[1] = "b".into()),
        "sum",
    );
    check(
        &edited(|graph| at(graph, "scale2").input[0] = "f".into()),
        "scale2",
    );
}

/// Two branches of alike operators, joined by this one.
fn joined(op: &str, branch: &[&str]) -> ModelProto {
    let mut nodes = Vec::new();
    for side in ["l", "r"] {
        let mut last = "x".to_owned();
        for (place, inner) in branch.iter().enumerate() {
            let output = format!("{side}{place}");
            let inputs = match *inner {
                "Mul" => format!("{last} {side}"),
                _ => last,
            };
            nodes.push(named(&output, node(inner, &inputs, &output)));
            last = output;
        }
    }
    let last = branch.len() - 1;
    nodes.push(named("join", node(op, &format!("l{last} r{last}"), "j")));
    nodes.push(named("after", node("Tanh", "j", "y")));
    let mut graph = graph("", nodes, "y");
    graph.input = vec![value("x", "n 4")];
    graph.initializer = vec![
        tensor("l", &[0.5, -1.0, 1.5, 2.0]),
        tensor("r", &[1.0, 2.0, -0.75, 0.5]),
    ];
    model_of(graph)
}

#[test]
fn swapped_operands() {
    for op in ["Sub", "Div", "PRelu"] {
        for branch in [&["Mul"][..], &["Mul", "Sin"], &["Sin", "Mul", "Exp"]] {
            let left = joined(op, branch);
            let mut right = left.clone();
            at(right.graph.as_mut().unwrap(), "join").input.reverse();
            check_pair(&left, &right, "join");
        }
    }
}

#[test]
fn a_branch_that_is_used_twice() {
    let left = joined("Sub", &["Mul", "Sin"]);
    let mut right = left.clone();
    at(right.graph.as_mut().unwrap(), "join").input[1] = "l1".into();
    let result = compared(&left, &right);
    assert_eq!(first(&result), ("join", "join"), "{result}");
}

#[test]
fn equal_models_agree() {
    let left = layers();
    for right in [
        left.clone(),
        renamed(&left),
        reordered(&renamed(&left)),
        copying(&left),
    ] {
        let result = compared(&left, &right);
        assert!(result.is_same(), "{result}");
        assert_eq!((result.first, result.unpaired), (None, [0, 0]), "{result}");
        assert!(
            result
                .pairs
                .iter()
                .all(|pair| pair.status == PairStatus::Same),
            "{result}"
        );
        let nodes: Vec<&str> = result
            .pairs
            .iter()
            .map(|pair| &*pair.left.node.name)
            .collect();
        for name in [
            "scale", "shift", "act", "scale1", "soft", "sum", "wave", "scale2", "join",
        ] {
            assert_eq!(
                nodes.iter().filter(|node| **node == name).count(),
                1,
                "{nodes:?}"
            );
        }
    }
}

#[test]
fn independent_faults_are_all_origins() {
    let faulty = edited(|graph| {
        graph.initializer[2].float_data[1] += 0.5;
        // The third layer gets another input, so that the first fault does not reach it.
        at(graph, "scale2").input[0] = "c".into();
        graph.initializer[3].float_data[0] += 0.5;
    });
    let left = edited(|graph| at(graph, "scale2").input[0] = "c".into());
    let mut both = [left, faulty];
    for model in &mut both {
        let graph = model.graph.as_mut().unwrap();
        graph.output.push(value("g", "n 4"));
    }
    let result = compared(&both[0], &both[1]);
    let names: Vec<&str> = result
        .origins
        .iter()
        .map(|at| &*result.pairs[*at].left.node.name)
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["scale1", "scale2"], "{result}");
}

#[test]
fn an_additional_node_is_looked_through() {
    let faulty = edited(|graph| {
        at(graph, "wave").input[0] = "neg".into();
        let extra = named("extra", node("Neg", "f", "neg"));
        graph.node.insert(6, extra);
    });
    let result = compared(&layers(), &faulty);
    assert_eq!(first(&result), ("wave", "wave"), "{result}");
    assert!(result.first_pair().unwrap().inputs_agree);
    assert_eq!(result.unpaired, [0, 1]);
}

#[test]
fn numbers_of_a_fault() {
    let result = compared(
        &layers(),
        &edited(|graph| graph.initializer[1].float_data[3] = 0.5),
    );
    let pair = result.first_pair().unwrap();
    assert_eq!(first(&result), ("shift", "shift"));
    assert!((pair.max_abs.unwrap() - 0.5).abs() < 1e-6, "{result}");
    assert_eq!(
        (pair.beyond * 4, pair.types[0].as_str()),
        (pair.count, "float32")
    );
    let error = pair.relative_l2.unwrap();
    assert!((pair.snr_db.unwrap() + 20.0 * error.log10()).abs() < 1e-9);
    assert_eq!(result.crossings.len(), 3);
    assert!(
        result.crossings.iter().all(|it| it.pair == result.first),
        "{result:?}"
    );
}
