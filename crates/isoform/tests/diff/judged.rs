//! The laws on random values and programs.

use isoform_testing::differences::{DIFF_PROPERTIES, fallback, one_edit};
use isoform_testing::source::{random_bytes, scaled, shrunk, split_mix};

#[test]
fn the_laws_hold() {
    for (name, property) in DIFF_PROPERTIES {
        let mut state = 17;
        for case in 0..scaled(3000) {
            let bytes = random_bytes(split_mix(&mut state), 4 + case % 600);
            if let Err(account) = property(&bytes) {
                panic!("{name} on {}", shrunk(bytes, account, property));
            }
        }
    }
}

#[test]
fn one_edit_is_one_or_two_changes() {
    let mut state = 4;
    let (mut edits, mut few, mut near, mut sparing) = (0u32, 0u32, 0u32, 0u32);
    let mut lengths = Vec::new();
    for case in 0..scaled(4000) {
        let bytes = random_bytes(split_mix(&mut state), 40 + case % 600);
        let Some(edit) = one_edit(&bytes).expect("a program") else {
            continue;
        };
        edits += 1;
        few += u32::from(edit.changes <= 2);
        near += u32::from(edit.inside <= 2 * edit.edited);
        sparing += u32::from(edit.made <= edit.new);
        lengths.extend(edit.patch.map(|patch| patch.len()));
    }
    assert!(edits > scaled(4000) as u32 / 8, "{edits}");
    assert!(
        f64::from(few) >= 0.95 * f64::from(edits),
        "{few} of {edits}"
    );
    assert!(
        f64::from(near) >= 0.95 * f64::from(edits),
        "{near} of {edits}"
    );
    // Some variables mean another thing in the one value than in the other.
    assert!(9 * sparing >= 8 * edits, "{sparing} of {edits}");
    let sum: usize = lengths.iter().sum();
    assert!(!lengths.is_empty());
    assert!(sum <= 160 * lengths.len(), "{sum} of {}", lengths.len());
}

#[test]
fn few_differences_fall_back() {
    let mut state = 5;
    let (mut cases, mut whole, mut root) = (0u32, 0u32, 0u32);
    for case in 0..scaled(4000) {
        let bytes = random_bytes(split_mix(&mut state), 40 + case % 600);
        let Some(found) = fallback(&bytes).expect("a program") else {
            continue;
        };
        cases += 1;
        whole += u32::from(found.is_whole);
        root += u32::from(found.is_root);
    }
    // Most are programs whose variables have free ones in their types.
    assert!(20 * whole <= cases, "{whole} of {cases}");
    assert!(12 * root <= cases, "{root} of {cases}");
}

#[test]
fn pairs_that_once_failed() {
    // A dag node that is new on the right, and in a variable that is on both sides.
    let shared = [
        0, 0, 0, 114, 196, 165, 0, 0, 0, 235, 0, 0, 0, 0, 56, 16, 0, 0, 152, 0, 0, 0, 0, 0, 0, 14,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 85, 156, 0, 0, 194, 0, 0, 0, 0, 0, 0, 191, 0, 0, 52, 0, 0,
        0, 0, 0, 0, 202, 23, 147,
    ];
    // A patch with singletons, which get other numbers once they are read.
    let whole = [0, 0, 124, 1, 2, 231, 1, 0, 50, 3, 128];
    // A dag node that is new on the right, and inside of a variable that is free on the left.
    let inside = [
        0, 0, 0, 78, 72, 21, 131, 227, 51, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0, 0, 0, 0, 233, 0,
        192, 0, 148,
    ];
    for bytes in [&shared[..], &whole[..], &inside[..]] {
        for (name, property) in DIFF_PROPERTIES {
            if let Err(account) = property(bytes) {
                panic!("{name}: {account}");
            }
        }
    }
}
