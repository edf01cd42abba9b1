//! Tiny graphs and texts, compared with the best of all alignments.

use super::super::{Graph, align};
use super::model::{Model, Random, check};
use crate::structural::diff::myers::Myers;

/// The value of an alignment: its pairs, and the edges on which they agree.
fn value(left: &Graph, right: &Graph, partners: &[Option<u32>]) -> u32 {
    let mut value = 0;
    for (l, partner) in (0..).zip(partners) {
        let Some(r) = *partner else { continue };
        value += 2;
        let operands = left.operands_of(l).iter().zip(right.operands_of(r));
        for (x, y) in operands {
            value += u32::from(partners[*x as usize] == Some(*y));
        }
    }
    let results = left.results.iter().zip(&right.results);
    for (x, y) in results {
        value += u32::from(partners[*x as usize] == Some(*y));
    }
    value
}

/// The greatest value of all alignments, found by trying all of them.
fn best(left: &Graph, right: &Graph) -> u32 {
    let mut greatest = 0;
    let mut open = vec![Vec::new()];
    while let Some(partners) = open.pop() {
        let node = partners.len();
        if node == left.len() {
            greatest = greatest.max(value(left, right, &partners));
            continue;
        }
        let free = (0..right.len() as u32)
            .filter(|r| left.ops[node] == right.ops[*r as usize] && !partners.contains(&Some(*r)));
        for partner in free.map(Some).chain([None]) {
            let mut longer = partners.clone();
            longer.push(partner);
            open.push(longer);
        }
    }
    greatest
}

/// A graph with at most seven nodes and three operators.
fn tiny(random: &mut Random) -> Model {
    let mut model = Model::default();
    for place in 0..1 + random.below(6) {
        let count = random.below(3).min(place);
        let operands: Vec<u32> = (0..count).map(|_| random.below(place) as u32).collect();
        let op = 1 + random.below(3) as u32;
        model.add(op, random.word() % 2, &operands);
    }
    model.finish()
}

/// Checks that the value of all our alignments has this share of the greatest possible
/// value.
#[track_caller]
fn check_share(mut right_of: impl FnMut(&mut Random, &Model) -> Model, least: f64) {
    let mut random = Random(1);
    let (mut ours, mut greatest) = (0, 0);
    for _ in 0..3000 {
        let left = tiny(&mut random);
        let mut right = right_of(&mut random, &left);
        right.shuffle(&mut random);
        let (left, right) = (left.graph(), right.graph());
        let found = align(&left, &right, &[]);
        check(&left, &right, &[], &found);
        let (value, best) = (value(&left, &right, &found.left), best(&left, &right));
        assert!(value <= best, "the oracle misses an alignment");
        ours += value;
        greatest += best;
    }
    let share = f64::from(ours) / f64::from(greatest);
    assert!(share >= least, "{share}");
}

#[test]
fn equal_tiny_graphs_have_the_best_alignment() {
    check_share(|_, left| left.clone(), 1.0);
}

#[test]
fn tiny_graphs_with_two_changes_have_nearly_the_best_alignment() {
    let edit = |random: &mut Random, left: &Model| {
        let mut right = left.clone();
        let node = random.below(right.nodes.len());
        right.nodes[node].op = 1 + random.below(3) as u32;
        let node = random.below(right.nodes.len());
        let earlier = random.below(node.max(1)) as u32;
        if let Some(operand) = right.nodes[node].operands.first_mut() {
            *operand = earlier;
        }
        right
    };
    check_share(edit, 0.97);
}

/// Equal operators make no pair without an edge that agrees, though the best alignment
/// has as many pairs as possible.
#[test]
fn tiny_graphs_that_are_unrelated_have_few_pairs() {
    check_share(|random, _| tiny(random), 0.3);
}

/// The maximum number of common words of two texts, in order.
fn most_common(left: &[u32], right: &[u32]) -> usize {
    let mut above = vec![0; right.len() + 1];
    for l in left {
        let mut row = vec![0];
        for (place, r) in right.iter().enumerate() {
            row.push(if l == r {
                above[place] + 1
            } else {
                above[place + 1].max(row[place])
            });
        }
        above = row;
    }
    above[right.len()]
}

#[test]
fn short_texts_have_the_most_words_in_common() {
    let mut random = Random(2);
    for round in 0..5000 {
        let letters = 1 + random.below(4);
        let mut text = || {
            let length = random.below(40);
            (0..length)
                .map(|_| random.below(letters) as u32)
                .collect::<Vec<u32>>()
        };
        let (left, right) = (text(), text());
        // Without a budget, only common beginnings and ends are found.
        for budget in [0, u64::MAX] {
            let mut pairs = Vec::new();
            let mut myers = Myers::new(budget, 256);
            myers.align(&left, &right, |l, r| pairs.push((l, r)));
            pairs.sort_unstable();
            assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
            assert!(pairs.iter().all(|(l, r)| left[*l] == right[*r]));
            if budget > 0 {
                let most = most_common(&left, &right);
                assert_eq!(pairs.len(), most, "{round}: {left:?} {right:?}");
            }
        }
    }
}
