//! Random scripts of edits.

use isoform_testing::edits::EDIT_PROPERTIES;
use isoform_testing::source::{random_bytes, split_mix};

/// The account of a smaller case that fails.
fn shrunk(
    mut bytes: Vec<u8>,
    mut account: String,
    property: impl Fn(&[u8]) -> Result<(), String>,
) -> String {
    let mut run = bytes.len() / 2;
    while run > 0 {
        let mut start = 0;
        while start + run <= bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(start..start + run);
            match property(&fewer) {
                Err(smaller) => (bytes, account) = (fewer, smaller),
                Ok(()) => start += run,
            }
        }
        run /= 2;
    }
    format!("{bytes:?}\n{account}")
}

#[test]
fn hashes_after_edits_are_those_of_everything() {
    for (name, property) in EDIT_PROPERTIES {
        let mut state = 16;
        for case in 0..1500 {
            let bytes = random_bytes(split_mix(&mut state), 4 + case % 300);
            if let Err(account) = property(&bytes) {
                panic!("{name} on {}", shrunk(bytes, account, property));
            }
        }
    }
}
