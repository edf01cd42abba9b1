//! The contents of both values when a difference was made. The difference keeps the
//! values, but lists, dicts and mutable objects inside may change.

use super::rows::can_change;
use super::tables::Tables;
use crate::kernel::error::{Error, Result};
use crate::kernel::value::Value;
use crate::structural::CompareOptions;

/// Hashes of both values; None for a value that cannot change, or has no hash.
#[derive(Clone, Copy)]
pub(super) struct Contents([Option<u64>; 2]);

impl Contents {
    /// The contents of values with these tables. Linear if any object inside can
    /// change.
    pub(super) fn of(values: [&Value; 2], tables: &[impl AsRef<Tables>; 2]) -> Self {
        let changes = |tables: &Tables| {
            let mut nodes = tables.nodes.iter();
            nodes.any(|node| can_change(node.object.type_info()))
        };
        let hash = |side: usize| {
            if changes(tables[side].as_ref()) {
                hash_of(values[side])
            } else {
                None
            }
        };
        Contents([hash(0), hash(1)])
    }

    /// The contents of two equal values. Linear, O(1) for one object.
    pub(super) fn of_equal(left: &Value, right: &Value) -> Self {
        if left == right {
            // The value stays equal to itself.
            Contents([None, None])
        } else {
            Contents([hash_of(left), hash_of(right)])
        }
    }

    /// Fails if one of the values has changed since.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    pub(super) fn check(self, left: &Value, right: &Value) -> Result<()> {
        let sides = [("left", left, self.0[0]), ("right", right, self.0[1])];
        for (side, value, hash) in sides {
            if hash.is_some() && hash_of(value) != hash {
                return Err(Error::value_error(format!(
                    "the {side} value has changed since the difference was made, so it does not \
                     describe the values any more: compare them again, or compare deep copies"
                )));
            }
        }
        Ok(())
    }
}

/// The hash of all contents that can change; the elements of tensors cannot.
fn hash_of(value: &Value) -> Option<u64> {
    let options = CompareOptions {
        skip_tensor_content: true,
        ..CompareOptions::default()
    };
    options.hash(value).ok()
}
