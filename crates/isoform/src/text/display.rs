//! `{}` of values: their text. A [`Ref`](crate::Ref) has none of its own, so that a node type
//! may have one.

use std::fmt;

use super::TextOptions;
use crate::kernel::value::Value;

/// The text of [`to_text`](super::to_text) without the last line break; functions without a
/// global name and opaque objects are placeholders in it. A value without text, which contains
/// itself, is as in `{:?}`. Linear in the number of distinct objects.
///
/// ```
/// use isoform::Value;
/// assert_eq!(Value::from([1, 2]).to_string(), "[1, 2]");
/// ```
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match TextOptions::default().placeholders(true).to_text(self) {
            Ok(text) => f.write_str(text.trim_end_matches('\n')),
            Err(_) => fmt::Debug::fmt(self, f),
        }
    }
}
