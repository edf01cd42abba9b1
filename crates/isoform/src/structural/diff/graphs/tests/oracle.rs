//! Tiny graphs, compared with the best of all alignments.

use super::super::{Graph, align};
use super::model::{Model, Random, check};

/// The value of an alignment: its pairs, and the edges that they agree on.
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

/// The greatest value of all alignments, found by trying each one.
fn best(left: &Graph, right: &Graph) -> u32 {
    let mut greatest = 0;
    let mut open = vec![Vec::new()];
    while let Some(partners) = open.pop() {
        let node = partners.len();
        if node == left.len() {
            greatest = greatest.max(value(left, right, &partners));
            continue;
        }
        let free = (0..right.len() as u32).filter(|r| {
            left.ops[node] == right.ops[*r as usize] && !partners.contains(&Some(*r))
        });
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

#[test]
fn tiny_alignments_are_nearly_the_best() {
    let mut random = Random(1);
    let (mut ours, mut bests, mut worst) = (0, 0, 1.0f64);
    for round in 0..4000 {
        let left = tiny(&mut random);
        // Half of the pairs are related, and the others are not.
        let mut right = if round % 2 == 0 { left.clone() } else { tiny(&mut random) };
        right.shuffle(&mut random);
        if round % 4 == 0 {
            let node = random.below(right.nodes.len());
            right.nodes[node].op = 1 + random.below(3) as u32;
        }
        let (left, right) = (left.graph(), right.graph());
        let found = align(&left, &right, &[]);
        check(&left, &right, &[], &found);
        let (value, best) = (value(&left, &right, &found.left), best(&left, &right));
        assert!(value <= best, "the oracle misses an alignment");
        ours += value;
        bests += best;
        if best > 0 {
            worst = worst.min(f64::from(value) / f64::from(best));
        }
    }
    let ratio = f64::from(ours) / f64::from(bests);
    println!("ratio {ratio:.4}, worst {worst:.4}");
    assert!(ratio >= 0.95, "{ratio}");
}
