//! Differences between programs as text.

use similar::TextDiff;

use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::transform::root::{changed, script};

/// The lines in which two texts differ, with three lines around each, as a unified diff;
/// empty if they are equal.
///
/// ```
/// use isoform::transform::instruments::text_diff;
/// let diff = text_diff("old", "new", "a\nb\n", "a\nc\n");
/// assert_eq!(diff, "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// ```
pub fn text_diff(left: &str, right: &str, left_text: &str, right_text: &str) -> String {
    if left_text == right_text {
        return String::new();
    }
    let diff = TextDiff::from_lines(left_text, right_text);
    diff.unified_diff()
        .context_radius(3)
        .header(left, right)
        .to_string()
}

/// The changes from one program to another as unified diffs of the functions that are
/// other objects; empty without such functions, or if they look the same.
///
/// # Errors
///
/// Errors of the implementation of [`Root`](crate::transform::Root), and as
/// [`script`](crate::transform::script).
pub fn changes_text(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<String> {
    let mut text = String::new();
    let shown = |function: &Option<Ref<Obj>>| function.as_ref().map_or(Ok(String::new()), script);
    for (name, before, after) in changed(old, new)? {
        let (left, right) = (shown(&before)?, shown(&after)?);
        let side = |present: bool, which: &str| match (present, name.is_empty()) {
            (false, _) => "(absent)".to_owned(),
            (true, true) => which.to_owned(),
            (true, false) => format!("{which}/{name}"),
        };
        let (before, after) = (
            side(before.is_some(), "before"),
            side(after.is_some(), "after"),
        );
        text.push_str(&text_diff(&before, &after, &left, &right));
    }
    Ok(text)
}
