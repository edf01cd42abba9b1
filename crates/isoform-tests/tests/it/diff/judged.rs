//! The laws on random values and programs.

use isoform_testing::differences::{DIFF_PROPERTIES, fallback, judge_copies, one_edit};
use isoform_testing::merges::{MERGE_PROPERTIES, Outcome, two_parts, two_places};
use isoform_testing::source::{random_bytes, scaled, split_mix};

use crate::support::hold;

#[test]
fn the_laws_hold() {
    hold(DIFF_PROPERTIES, 17, 3000, 604);
}

#[test]
fn names_and_sharing_are_judged() {
    let mut state = 9;
    let cases = scaled(600);
    let judged = (0..cases).filter(|case| {
        let bytes = random_bytes(split_mix(&mut state), 40 + case % 600);
        judge_copies(&bytes).unwrap_or_else(|account| panic!("{account}"))
    });
    let judged = judged.count();
    assert!(8 * judged > cases, "{judged}");
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
    // Some variables have a different meaning in the two values.
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
    // Most are programs with free variables in the types of their variables. A small sample
    // may have a few more than its share.
    let few = 3;
    assert!(whole <= cases / 20 + few, "{whole} of {cases}");
    assert!(root <= cases / 12 + few, "{root} of {cases}");
}

#[test]
fn pairs_that_once_failed() {
    // A dag node new on the right, in a variable of both sides.
    let shared = [
        0, 0, 0, 114, 196, 165, 0, 0, 0, 235, 0, 0, 0, 0, 56, 16, 0, 0, 152, 0, 0, 0, 0, 0, 0, 14,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 85, 156, 0, 0, 194, 0, 0, 0, 0, 0, 0, 191, 0, 0, 52, 0, 0,
        0, 0, 0, 0, 202, 23, 147,
    ];
    // A patch with singletons, whose numbers change when the patch is read.
    let whole = [0, 0, 124, 1, 2, 231, 1, 0, 50, 3, 128];
    // A dag node new on the right, inside of a variable that is free on the left.
    let inside = [
        0, 0, 0, 78, 72, 21, 131, 227, 51, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0, 0, 0, 0, 233, 0,
        192, 0, 148,
    ];
    // A dag node that replaced the surrounding variable.
    let replaced = [
        0, 0, 0, 182, 47, 0, 0, 161, 53, 92, 5, 222, 0, 0, 86, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 37, 0, 0, 156, 72, 119, 222, 0, 0, 21, 154, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 192, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8,
    ];
    for bytes in [&shared[..], &whole[..], &inside[..], &replaced[..]] {
        for (name, property) in DIFF_PROPERTIES {
            if let Err(account) = property(bytes) {
                panic!("{name}: {account}");
            }
        }
    }
}

#[test]
fn programs_of_which_copies_once_differed() {
    let programs: [&[u8]; 19] = [
        // A node with more than eight partners.
        &[
            93, 167, 239, 100, 42, 161, 112, 237, 207, 43, 233, 142, 95, 77, 181, 158, 79, 191, 89,
            227, 44, 77,
        ],
        // Types met where variables are bound, and where they are used.
        &[
            12, 118, 98, 202, 183, 209, 109, 200, 23, 77, 155, 22, 207, 197,
        ],
        // Dag nodes that were replaced, replaced alone, wrapped and unwrapped.
        &[
            25, 104, 22, 209, 72, 93, 160, 218, 77, 244, 115, 96, 192, 175, 106, 167, 190, 182, 79,
        ],
        &[57, 27, 104, 246, 223, 131, 235, 74, 108, 12, 244, 187, 175],
        &[13, 145, 240, 121, 185, 7, 200, 250, 179, 194, 26],
        &[254, 133, 104, 82, 48, 142, 202, 50, 148, 150],
        &[
            123, 81, 104, 38, 144, 238, 102, 164, 80, 38, 156, 141, 111, 103, 11, 194, 158, 3, 13,
            139,
        ],
        // Dag nodes inside of the replacement of a part in two places.
        &[
            0, 0, 104, 7, 0, 38, 154, 174, 120, 31, 0, 154, 250, 156, 186, 152,
        ],
        // Definitions on one side only: deleted, in an edited list, and around a part.
        &[
            126, 45, 242, 173, 92, 57, 110, 204, 196, 249, 204, 174, 62, 56,
        ],
        &[
            166, 176, 143, 15, 48, 88, 66, 98, 195, 245, 120, 97, 97, 33, 220, 223, 197, 119, 27,
            20, 165, 169,
        ],
        &[0, 0, 88, 152, 0, 1, 0, 1],
        // Types that bind variables in a custom comparison.
        &[121, 107, 67, 0, 112, 119, 173, 36, 144, 135],
        &[0, 0, 67, 153, 0, 1, 154, 0, 12, 148],
        // A free variable with the same partner in two scopes.
        &[215, 183, 85, 203, 227],
        // A shared part in a moved part, seen elsewhere first.
        &[
            167, 0, 245, 178, 0, 111, 0, 0, 0, 0, 146, 0, 154, 0, 243, 1, 0, 0, 128,
        ],
        // A shared part before and after a change of partners of its variables.
        &[
            167, 0, 224, 53, 195, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 157, 0, 0, 0, 0, 0, 0, 0, 128,
        ],
        // A definition inside of a wrapper around a use.
        &[0, 0, 184, 6, 0, 1, 0, 232],
        // A dag node inside of a deleted part, below a part that also stays elsewhere.
        &[0, 0, 104, 7, 0, 110, 154, 1, 1, 1, 0, 0, 154, 1, 0, 26, 62],
        // A variable of another kind, bound in a type that compares itself.
        &[0, 0, 163, 0, 0, 1, 0, 128],
    ];
    for bytes in programs {
        if let Err(account) = judge_copies(bytes) {
            panic!("{bytes:?}: {account}");
        }
    }
}

#[test]
fn the_laws_of_merges_hold() {
    hold(MERGE_PROPERTIES, 23, 600, 604);
}

#[test]
fn the_laws_of_merges_hold_on_earlier_counterexamples() {
    let cases: [(&str, &[u8]); 2] = [
        // A side changes sharing, the other side inserts: a difference sees the sharing.
        (
            "the_sides_can_be_swapped",
            &[
                167, 0, 180, 30, 0, 0, 249, 154, 3, 0, 5, 0, 0, 0, 0, 0, 0, 1, 0, 155,
            ],
        ),
        (
            "edits_of_two_places_are_both_in_the_result",
            &[20, 225, 163, 5, 128, 0, 0, 0, 0, 1],
        ),
    ];
    for (name, bytes) in cases {
        let property = MERGE_PROPERTIES.iter().find(|(other, _)| *other == name);
        let (_, property) = property.unwrap_or_else(|| panic!("no property {name}"));
        if let Err(account) = property(bytes) {
            panic!("{name} on {bytes:?}: {account}");
        }
    }
}

#[test]
fn edits_of_different_places_merge() {
    // Two places may be in one object of a type with a custom comparison, compared
    // whole.
    let cases = scaled(8_000);
    for (judge, share) in [(two_places as fn(&[u8]) -> _, 4), (two_parts, 20)] {
        let mut state = 29;
        let (mut merged, mut conflicts) = (0, 0);
        for case in 0..cases {
            let bytes = random_bytes(split_mix(&mut state), 40 + case * 7 % 600);
            match judge(&bytes).unwrap_or_else(|account| panic!("{account}")) {
                Outcome::Skipped | Outcome::Unclear => {}
                Outcome::Merged => merged += 1,
                Outcome::Conflicts => conflicts += 1,
            }
        }
        assert!(25 * merged > cases, "{merged}");
        assert!(share * conflicts <= merged, "{conflicts} of {merged}");
    }
}
