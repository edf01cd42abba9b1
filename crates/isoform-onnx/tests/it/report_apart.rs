//! Reports tell different edits of a model apart: a reader who knows the old model can say
//! which values each node of the new model uses.

use isoform_onnx::proto::NodeProto;
use isoform_onnx::report::report;
use isoform_testing::source::{RandomCases, Source};

use crate::build::*;

const UNARY: [&str; 4] = ["Exp", "Neg", "Relu", "Tanh"];
const BINARY: [&str; 2] = ["Add", "Sub"];

/// A node of a random graph: operator, operands and result by name.
#[derive(Clone, Debug)]
struct Gate {
    op: &'static str,
    operands: Vec<String>,
    name: String,
}

/// Gates in the order of computation, and the results.
#[derive(Clone, Debug)]
struct Net {
    gates: Vec<Gate>,
    results: Vec<String>,
}

fn values(net: &Net, before: usize) -> Vec<String> {
    let gates = net.gates[..before].iter().map(|gate| gate.name.clone());
    ["x", "z"]
        .map(String::from)
        .into_iter()
        .chain(gates)
        .collect()
}

fn gate(source: &mut Source<'_>, net: &Net, at: usize, name: String) -> Gate {
    let known = values(net, at);
    let is_unary = source.chance(60);
    let op = if is_unary {
        *source.pick(&UNARY)
    } else {
        *source.pick(&BINARY)
    };
    let operands = (0..if is_unary { 1 } else { 2 })
        .map(|_| source.pick(&known).clone())
        .collect();
    Gate { op, operands, name }
}

fn random_net(source: &mut Source<'_>) -> Net {
    let mut net = Net {
        gates: Vec::new(),
        results: Vec::new(),
    };
    for number in 0..3 + source.below(6) {
        let next = gate(source, &net, number, format!("g{number}"));
        net.gates.push(next);
    }
    let known = values(&net, net.gates.len());
    for _ in 0..1 + source.below(2) {
        let last = known.len() - 1 - source.below(3.min(known.len()));
        net.results.push(known[last].clone());
    }
    net
}

/// Another operand at a random place, or another result.
fn rewire(source: &mut Source<'_>, net: &mut Net, to: Option<&str>) {
    let number = source.below(net.gates.len() + 1);
    let known = values(net, number.min(net.gates.len()));
    let value = match to {
        Some(to) if known.iter().any(|name| name == to) => to.to_owned(),
        _ => source.pick(&known).clone(),
    };
    match net.gates.get_mut(number) {
        Some(gate) => {
            let slot = source.below(gate.operands.len());
            gate.operands[slot] = value;
        }
        None => {
            let slot = source.below(net.results.len());
            net.results[slot] = value;
        }
    }
}

fn edit(source: &mut Source<'_>, net: &Net) -> Net {
    let mut net = net.clone();
    match source.below(4) {
        0 => rewire(source, &mut net, None),
        1 => {
            let at = source.below(net.gates.len() + 1);
            let new = gate(source, &net, at, "new".to_owned());
            net.gates.insert(at, new);
            rewire(source, &mut net, Some("new"));
        }
        2 => {
            let at = source.below(net.gates.len());
            let known = values(&net, at);
            let gone = net.gates.remove(at).name;
            let users = net.gates.iter_mut().flat_map(|gate| &mut gate.operands);
            for operand in users.chain(&mut net.results).filter(|it| **it == gone) {
                operand.clone_from(source.pick(&known));
            }
        }
        _ => {
            let at = source.below(net.gates.len());
            let name = net.gates[at].name.clone();
            net.gates[at] = gate(source, &net, at, name);
        }
    }
    net
}

fn program(net: &Net) -> isoform_onnx::Model {
    let mut nodes: Vec<NodeProto> = net
        .gates
        .iter()
        .map(|gate| node(gate.op, &gate.operands.join(" "), &gate.name))
        .collect();
    let mut results = Vec::new();
    for (number, result) in net.results.iter().enumerate() {
        nodes.push(node("Identity", result, &format!("out{number}")));
        results.push(format!("out{number}"));
    }
    load(&model("x z", nodes, &results.join(" ")))
}

#[test]
fn different_edits_have_different_reports() {
    RandomCases {
        seed: 1,
        count: 40_000,
        lengths: 20..140,
    }
    .check("different_edits_have_different_reports", |bytes| {
        let mut source = Source::new(bytes);
        let base = random_net(&mut source);
        let edits = [edit(&mut source, &base), edit(&mut source, &base)];
        let [old, one, two] = [&base, &edits[0], &edits[1]].map(program);
        let texts = |right: &isoform_onnx::Model| {
            let told = report(old.program(), right.program()).unwrap();
            // A sentence about several new nodes says nothing about the edges between them.
            let is_whole = told
                .difference
                .hunks()
                .iter()
                .all(|hunk| hunk.right.len() < 2);
            let groups = told.groups.iter().map(|group| group.text.clone());
            is_whole.then(|| groups.collect::<Vec<_>>())
        };
        let [left, right] = [texts(&one), texts(&two)];
        if left.is_none()
            || left != right
            || report(one.program(), two.program()).unwrap().is_equal()
        {
            return Ok(());
        }
        Err(format!(
            "{base:#?}\n{:#?}\n{:#?}\nall: {left:?}",
            edits[0], edits[1]
        ))
    });
}
