//! Random scripts of edits.

use super::support::scaled;
use isoform_testing::edits::EDIT_PROPERTIES;
use isoform_testing::source::{random_bytes, shrunk, split_mix};

#[test]
fn what_is_remembered_changes_no_answer_after_an_edit() {
    for (name, property) in EDIT_PROPERTIES {
        let mut state = 16;
        for case in 0..scaled(1500) {
            let bytes = random_bytes(split_mix(&mut state), 4 + case % 300);
            if let Err(account) = property(&bytes) {
                panic!("{name} on {}", shrunk(bytes, account, property));
            }
        }
    }
}
