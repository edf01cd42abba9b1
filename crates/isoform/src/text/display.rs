//! `{}` of values and nodes: their text.

use std::fmt;

use super::TextOptions;
use crate::kernel::object::reference::{Node, Ref};
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

/// As of a [`Value`].
impl<T: Node> fmt::Display for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(self).fmt(f)
    }
}
