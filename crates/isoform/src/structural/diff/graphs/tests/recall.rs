//! The share of true pairs that are found, and of pairs that are wrong.

use super::families::{ALL, Family, OPS};
use super::model::{Judgement, Random, judge};

/// Changes between the two sides.
#[derive(Clone, Copy, Debug)]
struct Changes {
    edits: usize,
    /// Edits are spread over both sides.
    both: bool,
    /// All labels differ.
    perturbed: bool,
    named: bool,
}

fn mean(family: Family, size: usize, changes: Changes, seeds: u64) -> Judgement {
    let mut total = Judgement::default();
    for seed in 0..seeds {
        let mut random = Random(seed * 7919 + 1);
        let mut left = family.make(&mut random, size);
        if changes.named {
            for node in &mut left.nodes {
                node.name = u64::from(node.id) + 1;
            }
        }
        let mut right = left.clone();
        right.next_id += 1_000_000;
        for edit in 0..changes.edits {
            let side = if changes.both && edit % 2 == 0 { &mut left } else { &mut right };
            side.edit(&mut random, OPS);
        }
        if changes.perturbed {
            right.perturb(&mut random);
        }
        left.shuffle(&mut random);
        right.shuffle(&mut random);
        total.add(judge(&left, &right));
    }
    total
}

#[test]
fn table() {
    for edits in [10, 100] {
        for both in [false, true] {
            for perturbed in [false, true] {
                for family in ALL {
                    let changes = Changes { edits, both, perturbed, named: false };
                    let start = std::time::Instant::now();
                    let found = mean(family, 3000, changes, 10);
                    println!("{edits:4} both={both:5} pert={perturbed:5} {family:16?} recall {:.4} wrong {:.5} {:?}", found.recall(), found.wrong_share(), start.elapsed() / 10);
                }
            }
        }
    }
}
