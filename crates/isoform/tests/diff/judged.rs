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
                if std::env::var_os("SHOW").is_some() {
                    eprintln!("{name}: {account}\n");
                    continue;
                }
                panic!("{name} on {}", shrunk(bytes, account, property));
            }
        }
    }
}

#[test]
fn one_edit_is_one_or_two_changes() {
    let mut state = 4;
    let (mut edits, mut few, mut near) = (0u32, 0u32, 0u32);
    for case in 0..scaled(4000) {
        let bytes = random_bytes(split_mix(&mut state), 40 + case % 600);
        let Some(edit) = one_edit(&bytes).expect("a program") else {
            continue;
        };
        edits += 1;
        few += u32::from(edit.changes <= 2);
        near += u32::from(edit.inside <= 2 * edit.edited);
        if (edit.changes > 2 || edit.inside > 2 * edit.edited) && std::env::var_os("SHOW").is_some()
        {
            eprintln!("{} of {} nodes: {}\n", edit.inside, edit.edited, edit.text);
        }
    }
    eprintln!("{few} and {near} of {edits} edits");
    assert!(edits > scaled(4000) as u32 / 8, "{edits}");
    assert!(
        f64::from(few) >= 0.95 * f64::from(edits),
        "{few} of {edits}"
    );
    assert!(
        f64::from(near) >= 0.95 * f64::from(edits),
        "{near} of {edits}"
    );
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
        if found.is_whole && std::env::var_os("SHOW").is_some() {
            eprintln!("whole: {bytes:?}");
        }
    }
    eprintln!("{whole} and {root} of {cases}");
    assert!(100 * whole <= cases, "{whole} of {cases}");
    assert!(100 * root <= cases, "{root} of {cases}");
}
