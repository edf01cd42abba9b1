//! Every pair of subterms of random values is compared.

use isoform_testing::classes::{CLASS_PROPERTIES, VerdictCounts, judge_bytes, judge_program};
use isoform_testing::source::{random_bytes, shrunk, split_mix};

use crate::support::hold;

#[track_caller]
fn total(cases: u64, judge: impl Fn(&[u8]) -> Result<VerdictCounts, String>) -> VerdictCounts {
    let mut state = 16;
    let mut total = VerdictCounts::default();
    for case in 0..cases {
        let bytes = random_bytes(split_mix(&mut state), 4 + case as usize % 300);
        match judge(&bytes) {
            Ok(judged) => total.add(judged),
            Err(account) => panic!("{}", shrunk(bytes, account, |bytes| judge(bytes).map(drop))),
        }
    }
    total
}

#[test]
fn classes_of_random_values_are_those_of_comparison() {
    let total = total(1500, judge_bytes);
    assert!(total.pairs > 100_000 && total.equal > 2_000, "{total:?}");
    assert!(total.compared > 1_000, "{total:?}");
}

#[test]
fn classes_of_random_programs_are_those_of_comparison() {
    let total = total(150, judge_program);
    assert!(total.pairs > 20_000 && total.equal > 400, "{total:?}");
}

#[test]
fn the_other_properties_hold() {
    hold(CLASS_PROPERTIES, 7, 400, 304);
}

#[test]
fn earlier_counterexamples_are_interned() {
    let name = "interned_values_are_equal";
    let property = CLASS_PROPERTIES.iter().find(|(other, _)| *other == name);
    let (_, property) = property.unwrap_or_else(|| panic!("no property {name}"));
    let cases: [&[u8]; 2] = [
        // A list in the type of a variable contains itself.
        &[0, 0, 0, 2, 87, 23, 0, 5, 34, 27, 0],
        &[
            0, 0, 0, 0, 218, 62, 7, 0, 184, 151, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 198, 0, 0, 0, 0, 0, 180, 0, 30, 0, 212,
        ],
    ];
    for bytes in cases {
        if let Err(account) = property(bytes) {
            panic!("{account}");
        }
    }
}
