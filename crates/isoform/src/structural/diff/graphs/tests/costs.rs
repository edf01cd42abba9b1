//! The number of steps for graphs that are hard to align: the number grows with the
//! graphs, not with the product of their sizes.

use super::super::{Alignment, AlignmentCosts, Graph, align, hunks};
use super::families::{Family, OPS};
use super::model::{Model, Random, check};

/// A graph of nodes with the given labels, operators and operands.
fn graph(nodes: impl IntoIterator<Item = (u64, u64, Vec<u32>)>, results: Vec<u32>) -> Graph {
    let mut graph = Graph {
        starts: vec![0],
        results,
        ..Graph::default()
    };
    for (label, op, operands) in nodes {
        graph.labels.push(label);
        graph.ops.push(op);
        graph.names.push(0);
        graph.operands.extend(operands);
        graph.starts.push(graph.operands.len() as u32);
    }
    graph
}

fn chain(length: u32, op_of: impl Fn(u32) -> u64) -> Graph {
    let operands = |node: u32| node.checked_sub(1).into_iter().collect();
    let nodes = (0..length).map(|node| (op_of(node), op_of(node), operands(node)));
    graph(nodes, vec![length - 1])
}

/// Aligns, and checks that the steps per node and edge are few.
#[track_caller]
fn cheap(left: &Graph, right: &Graph, fixed: &[(u32, u32)]) -> Alignment {
    let alignment = align(left, right, fixed);
    check(left, right, fixed, &alignment);
    let size = [left, right].map(|side| side.len() + side.operands.len() + side.results.len());
    let size = (size[0] + size[1]) as u64;
    let (costs, steps) = (alignment.costs, total(alignment.costs));
    assert!(
        steps <= 128 * size + (1 << 20),
        "{steps} steps for {size}: {costs:?}"
    );
    let nodes = (left.len() + right.len() + 2) as u64;
    assert!(costs.compared <= 128 * nodes + (1 << 20), "{costs:?}");
    assert!(costs.judged <= 32 * size, "{costs:?}");
    hunks(left, right, &alignment);
    alignment
}

fn matched(alignment: &Alignment) -> usize {
    alignment.left.iter().flatten().count()
}

#[test]
fn long_chains_of_equal_nodes() {
    let found = cheap(&chain(100_000, |_| 7), &chain(100_001, |_| 7), &[]);
    assert_eq!(matched(&found), 100_000);
}

#[test]
fn long_chains_with_few_operators() {
    let mut random = Random(3);
    let words: Vec<u64> = (0..60_000).map(|_| 1 + random.below(2) as u64).collect();
    let others: Vec<u64> = (0..60_000).map(|_| 1 + random.below(2) as u64).collect();
    let left = chain(60_000, |node| words[node as usize]);
    let right = chain(60_000, |node| others[node as usize]);
    cheap(&left, &right, &[]);
}

#[test]
fn periodic_chains_with_different_periods() {
    let left = chain(60_000, |node| u64::from(node % 7 == 0));
    let right = chain(60_000, |node| u64::from(node % 11 == 0));
    cheap(&left, &right, &[]);
}

#[test]
fn graphs_that_have_nothing_in_common() {
    let found = cheap(&chain(50_000, |_| 1), &chain(50_000, |_| 2), &[]);
    assert_eq!(matched(&found), 0);
    let random = |seed| {
        let mut random = Random(seed);
        let mut model = Family::Dag.make(&mut random, 20_000);
        model.perturb(&mut random);
        model.graph()
    };
    cheap(&random(1), &random(2), &[]);
}

#[test]
fn layers_that_are_completely_connected() {
    let layers = |count: u32, width: u32| {
        let nodes = (0..count * width).map(|node| {
            let below = (node / width).checked_sub(1);
            let operands = below.map(|below| (below * width..(below + 1) * width).collect());
            (1, 1, operands.unwrap_or_default())
        });
        let last = (count - 1) * width;
        graph(nodes, (last..last + width).collect())
    };
    let found = cheap(&layers(4, 200), &layers(4, 200), &[]);
    assert_eq!(matched(&found), 800);
    cheap(&layers(4, 200), &layers(5, 200), &[]);
}

#[test]
fn a_node_with_very_many_users() {
    let star = |users: u32, label: fn(u32) -> u64| {
        let nodes = (0..=users).map(|node| match node {
            0 => (1, 1, vec![]),
            _ => (label(node), 2, vec![0]),
        });
        graph(nodes, (1..=users).collect())
    };
    let found = cheap(&star(100_000, |_| 5), &star(100_000, |_| 5), &[(0, 0)]);
    assert_eq!(matched(&found), 100_001);
    let found = cheap(
        &star(100_000, |node| node.into()),
        &star(99_000, |_| 5),
        &[(0, 0)],
    );
    assert!(matched(&found) >= 99_000, "{}", matched(&found));
}

#[test]
fn a_node_with_very_many_operands() {
    let wide = |count: u32, op: u64| {
        let nodes = (0..=count).map(|node| {
            if node == count {
                (op, op, (0..count).collect())
            } else {
                (1, 1, vec![])
            }
        });
        graph(nodes, vec![count])
    };
    cheap(&wide(100_000, 9), &wide(100_000, 9), &[]);
    cheap(&wide(100_000, 9), &wide(100_001, 8), &[]);
}

#[test]
fn large_models_with_many_edits() {
    for family in [Family::Transformer, Family::Blocks] {
        let mut random = Random(11);
        let left = family.make(&mut random, 20_000);
        let mut right: Model = left.clone();
        for _ in 0..60 {
            right.edit(&mut random, OPS);
        }
        right.perturb(&mut random);
        right.shuffle(&mut random);
        let found = cheap(&left.graph(), &right.graph(), &[]);
        assert!(matched(&found) * 100 >= left.nodes.len() * 98);
    }
}

#[test]
fn graphs_without_nodes() {
    let empty = graph([], vec![]);
    let one = graph([(1, 1, vec![])], vec![0]);
    assert_eq!(matched(&align(&empty, &empty, &[])), 0);
    assert_eq!(matched(&align(&empty, &one, &[])), 0);
    assert_eq!(matched(&align(&one, &one, &[])), 1);
}

/// The number of steps of all parts of the work.
fn total(costs: AlignmentCosts) -> u64 {
    costs.hashed + costs.compared + costs.judged
}
