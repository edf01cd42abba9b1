//! The share of true pairs found, and of wrong pairs.

use isoform_testing::source::scale;

use super::families::{ALL, Family, OPS};
use super::model::{Judgement, Random, judge};

/// Changes between the two sides.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    edits: usize,
    /// Edits are spread over both sides.
    both: bool,
    /// All labels differ.
    perturbed: bool,
}

/// How many graphs of a family judge random edits: ten in full.
fn many_seeds() -> u64 {
    (30 / scale()).clamp(3, 10) as u64
}

/// The sum over random graphs with about 3,000 nodes.
fn sum(family: Family, changes: Changes, seeds: u64) -> Judgement {
    let mut total = Judgement::default();
    for seed in 0..seeds {
        let mut random = Random(seed * 7919 + 1);
        let mut left = family.make(&mut random, 3000);
        let mut right = left.clone();
        right.next_id += 1_000_000;
        for edit in 0..changes.edits {
            let side = if changes.both && edit % 2 == 0 {
                &mut left
            } else {
                &mut right
            };
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

#[track_caller]
fn check(changes: Changes, seeds: u64, recall: f64, wrong: f64) {
    for family in ALL {
        let found = sum(family, changes, seeds);
        let say = format!(
            "{family:?} {changes:?}: recall {:.5}, wrong {:.5}",
            found.recall(),
            found.wrong_share()
        );
        assert!(found.recall() >= recall, "{say}");
        assert!(found.wrong_share() <= wrong, "{say}");
    }
}

#[test]
fn equal_graphs_align_completely_in_any_order() {
    check(Changes::default(), 3, 1.0, 0.0);
}

#[test]
fn a_graph_aligns_completely_with_other_weights() {
    let perturbed = true;
    check(
        Changes {
            perturbed,
            ..Changes::default()
        },
        3,
        1.0,
        0.0,
    );
}

#[test]
fn ten_edits_leave_everything_else_aligned() {
    for both in [false, true] {
        for perturbed in [false, true] {
            check(
                Changes {
                    edits: 10,
                    both,
                    perturbed,
                },
                many_seeds(),
                0.98,
                0.001,
            );
        }
    }
}

#[test]
fn a_hundred_edits_leave_everything_else_aligned() {
    for both in [false, true] {
        for perturbed in [false, true] {
            check(
                Changes {
                    edits: 100,
                    both,
                    perturbed,
                },
                many_seeds(),
                0.98,
                0.001,
            );
        }
    }
}
