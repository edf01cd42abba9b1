//! Random scripts of edits.

use super::support::beside_others;
use crate::support::hold;
use isoform_testing::edits::EDIT_PROPERTIES;
use isoform_testing::history::HISTORY_PROPERTIES;

#[test]
fn what_is_remembered_changes_no_answer_after_an_edit() {
    let _guard = beside_others();
    hold(EDIT_PROPERTIES, 16, 1500, 604);
}

#[test]
fn related_values_are_compared_in_any_order() {
    let _guard = beside_others();
    hold(HISTORY_PROPERTIES, 38, 700, 304);
}

/// Drawn by longer runs.
#[test]
fn scripts_that_once_failed() {
    let _guard = beside_others();
    let scripts: [(&str, &[u8]); 1] = [(
        "programs_hash_the_same_after_each_edit",
        &[180, 220, 0, 0, 0, 45, 3, 0, 0, 82, 0, 0, 12, 1],
    )];
    for (wanted, bytes) in scripts {
        let found = EDIT_PROPERTIES.iter().find(|(name, _)| *name == wanted);
        let (_, property) = found.expect("its name");
        assert_eq!(property(bytes), Ok(()));
    }
}
