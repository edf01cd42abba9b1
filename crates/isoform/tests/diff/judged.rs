//! The laws on random values and programs.

use isoform_testing::differences::{DIFF_PROPERTIES, measure_one_edit};
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
    let (mut edits, mut few, mut nodes) = (0u32, 0u32, 0);
    for case in 0..scaled(2000) {
        let bytes = random_bytes(split_mix(&mut state), 40 + case % 600);
        let Some((changes, inside, text)) = measure_one_edit(&bytes).expect("a program") else {
            continue;
        };
        edits += 1;
        few += u32::from(changes <= 2);
        nodes += inside;
        if changes > 2 && std::env::var_os("SHOW").is_some() {
            eprintln!("{text}\n");
        }
    }
    eprintln!("{few} of {edits}, {nodes} nodes");
    assert!(
        f64::from(few) >= 0.95 * f64::from(edits),
        "{few} of {edits}"
    );
}
