//! Each reason of a pair is true of the two graphs, as judged without the alignment.

use std::collections::HashMap;

use super::super::{Alignment, Graph, PairReason, align};
use super::families::{ALL, OPS};
use super::model::Random;

/// Numbers of nodes, the same for nodes that are equal with everything below, on both
/// sides; and how often each number occurs on each side.
fn cones(graphs: [&Graph; 2]) -> ([Vec<usize>; 2], Vec<[usize; 2]>) {
    let mut numbers: HashMap<(u64, Vec<usize>), usize> = HashMap::new();
    let mut counts = Vec::new();
    let mut side = 0;
    let of_sides = graphs.map(|graph| {
        let mut of_nodes: Vec<usize> = Vec::new();
        for node in 0..graph.len() as u32 {
            let operands = graph.operands_of(node).iter();
            let operands = operands.map(|operand| of_nodes[*operand as usize]);
            let key = (graph.labels[node as usize], operands.collect());
            let next = numbers.len();
            let number = *numbers.entry(key).or_insert(next);
            counts.resize(numbers.len(), [0, 0]);
            counts[number][side] += 1;
            of_nodes.push(number);
        }
        side += 1;
        of_nodes
    });
    (of_sides, counts)
}

/// The slots at which nodes use a node.
fn slots(graph: &Graph, node: u32) -> Vec<usize> {
    let users = (0..graph.len() as u32).map(|user| graph.operands_of(user));
    let uses = users.chain([graph.results.as_slice()]);
    let mut slots = Vec::new();
    for operands in uses {
        let places = operands.iter().enumerate();
        slots.extend(places.filter(|(_, it)| **it == node).map(|(slot, _)| slot));
    }
    slots
}

/// The users of a node, and the users of those; None for the results.
fn near_users(graph: &Graph, node: u32) -> Vec<Option<u32>> {
    let users = |node: u32| {
        let inner =
            (0..graph.len() as u32).filter(move |user| graph.operands_of(*user).contains(&node));
        let results = graph.results.contains(&node).then_some(None);
        inner.map(Some).chain(results).collect::<Vec<_>>()
    };
    let direct = users(node);
    let further = direct.iter().flatten().flat_map(|user| users(*user));
    further.chain(direct.iter().copied()).collect()
}

#[track_caller]
fn check(left: &Graph, right: &Graph, alignment: &Alignment) -> HashMap<&'static str, usize> {
    let (numbers, counts) = cones([left, right]);
    let mut seen: HashMap<&'static str, usize> = HashMap::new();
    for (l, partner) in alignment.left.iter().enumerate() {
        let Some(r) = *partner else { continue };
        let r = r as usize;
        let same_label = left.labels[l] == right.labels[r];
        assert_eq!(left.ops[l], right.ops[r]);
        let name = match alignment.reasons[l] {
            PairReason::EqualBelow => {
                assert_eq!(numbers[0][l], numbers[1][r], "{l} {r}");
                assert_eq!(
                    counts[numbers[0][l]],
                    [1, 1],
                    "{l} {r} are not the only ones"
                );
                "below"
            }
            PairReason::EqualAbove => {
                assert!(same_label, "{l} {r}");
                let uses = [(left, l), (right, r)];
                let [mut one, mut other] = uses.map(|(graph, node)| slots(graph, node as u32));
                one.sort_unstable();
                other.sort_unstable();
                assert_eq!(one, other, "{l} {r} are used at other positions");
                "above"
            }
            PairReason::EqualAround(_) => {
                assert!(same_label, "{l} {r}");
                "around"
            }
            PairReason::OperandOfPair => {
                let uses = [(left, l), (right, r)];
                let [one, other] = uses.map(|(graph, node)| slots(graph, node as u32));
                assert!(one.iter().any(|slot| other.contains(slot)), "{l} {r}");
                "operand"
            }
            PairReason::UserOfPair => {
                assert!(!left.operands_of(l as u32).is_empty(), "{l} {r}");
                "user"
            }
            PairReason::MovedOperand => {
                assert!(same_label, "{l} {r}");
                let [one, other] =
                    [(left, l), (right, r)].map(|(graph, node)| near_users(graph, node as u32));
                let are_pair = |user: &Option<u32>| match user {
                    Some(user) => {
                        alignment.left[*user as usize].is_some_and(|it| other.contains(&Some(it)))
                    }
                    None => other.contains(&None),
                };
                assert!(one.iter().any(are_pair), "{l} {r}");
                "moved"
            }
            PairReason::SameOperatorsAround(_) => "operators",
            PairReason::SameOrder => "order",
            PairReason::BetterFit => "fit",
            PairReason::Kept => "kept",
            reason => panic!("{reason:?} of {l} {r}"),
        };
        *seen.entry(name).or_default() += 1;
    }
    seen
}

#[test]
fn reasons_are_true() {
    let mut seen: HashMap<&'static str, usize> = HashMap::new();
    for family in ALL {
        for seed in 0..6 {
            let mut random = Random(seed * 7919 + 3);
            let mut left = family.make(&mut random, 300);
            let mut right = left.clone();
            right.next_id += 1_000_000;
            for _ in 0..seed * 4 {
                right.edit(&mut random, OPS);
            }
            if seed == 5 {
                right.perturb(&mut random);
            }
            left.shuffle(&mut random);
            right.shuffle(&mut random);
            let (left, right) = (left.graph(), right.graph());
            let alignment = align(&left, &right, &[]);
            for (name, count) in check(&left, &right, &alignment) {
                *seen.entry(name).or_default() += count;
            }
        }
    }
    // A reason that never occurs would not be judged.
    for name in ["below", "above", "order", "operand", "user"] {
        assert!(seen.contains_key(name), "{name}: {seen:?}");
    }
}

#[test]
fn given_pairs_keep_their_reason() {
    let mut random = Random(1);
    let graph = ALL[0].make(&mut random, 50).graph();
    let alignment = align(&graph, &graph, &[(0, 0), (3, 3)]);
    assert_eq!(alignment.reasons[0], PairReason::Given);
    assert_eq!(alignment.reasons[3], PairReason::Given);
    assert_eq!(alignment.reasons.len(), graph.len());
}

#[test]
fn reasons_are_sentences() {
    let reasons = [
        PairReason::EqualBelow,
        PairReason::EqualAround(1),
        PairReason::EqualAround(4),
        PairReason::Replaced,
    ];
    let texts = reasons.map(|reason| reason.to_string());
    assert!(texts[1].contains("1 step away") && texts[2].contains("4 steps away"));
    assert!(
        texts
            .iter()
            .all(|text| !text.ends_with('.') && text.len() < 140)
    );
}
