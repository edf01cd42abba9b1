//! Three-way merge: the changes of two values since a third one, together.
//!
//! Both differences say what becomes of the objects of the base, so a merge applies both
//! patches at once. Where only one of them changes a place, its parts stand there; where both do,
//! both go on inside if they edit the same object, and otherwise their parts are compared.
//!
//! | file | job |
//! |---|---|
//! | `sides.rs`, `places.rs` | what each patch does to the objects of the base |
//! | `plan.rs`, `lists.rs`, `maps.rs`, `entries.rs` | of which parts a merged object consists |
//! | `weave.rs` | builds the parts, and finds the conflicts |
//! | `merged.rs` | the result, and how both patches make it |
//! | `check.rs` | refuses a result that has lost a change |
//! | `twins.rs` | variables that both sides introduce |
//! | `conflict.rs` | a conflict, as a value |
//!
//! An object whose identity counts, such as a variable or a dag node, becomes one object with
//! the edits of both sides, wherever it is. A part of a tree has a fate at each of its places; the
//! edits of one side follow it if the other side has moved it, or put it into something new.

mod check;
mod conflict;
mod entries;
mod lists;
mod maps;
mod merged;
mod places;
mod plan;
mod sides;
mod twins;
mod weave;

pub use conflict::{Conflict, Resolution};
pub use merged::Merge;

use super::options::DiffOptions;
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// Merges the changes of two values since a base that both were made from.
///
/// A change of one side alone is taken over, and the same change of both sides is taken over
/// once. Bound variables may have other names on each side. A place that both sides changed in
/// different ways is a [`Conflict`], and the merged value keeps the part of the base there: other
/// values, elements inserted at the same position of a list, a part that one side deleted or
/// moved away and the other one edited. Edits on both sides of a place do not conflict.
///
/// `merge` checks its result: with the sides exchanged it is the same, and without the changes
/// of one side it has those of the other one. A result that fails, as it may where one variable
/// is bound in several places or parts are shared in different ways, is one conflict of both
/// sides as a whole.
///
/// As six calls of [`diff`](super::diff), and O(n) for n distinct objects; the parts at places
/// that both sides changed are compared.
///
/// # Errors
///
/// As [`diff`](super::diff); errors of making objects from fields.
///
/// ```
/// use isoform::compare::{Resolution, merge};
/// use isoform::{Value, structural_equal};
///
/// let merged = merge([1, 2, 3], [1, 5, 3], [0, 1, 2, 3])?;
/// assert!(merged.is_clean());
/// assert!(structural_equal(merged.merged(), [0, 1, 5, 3])?);
///
/// let merged = merge([1, 2, 3], [1, 5, 3], [1, 6, 3, 4])?;
/// assert_eq!(merged.conflicts()[0].path().to_string(), "<root>[1]");
/// assert!(structural_equal(merged.merged(), [1, 2, 3, 4])?);
/// let resolved = merged.resolve(|_| Ok(Resolution::Right))?;
/// assert!(structural_equal(resolved, [1, 6, 3, 4])?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn merge(
    base: impl Into<Value>,
    left: impl Into<Value>,
    right: impl Into<Value>,
) -> Result<Merge> {
    DiffOptions::default().merge(base, left, right)
}

impl DiffOptions {
    /// [`merge`] with these options. Types and fields to ignore are those of the base in what
    /// stays of it. A predicate leaves changes out of both differences, not of the result.
    ///
    /// # Errors
    ///
    /// As [`merge`] and [`DiffOptions::diff`].
    pub fn merge(
        &self,
        base: impl Into<Value>,
        left: impl Into<Value>,
        right: impl Into<Value>,
    ) -> Result<Merge> {
        let base = base.into();
        let left = self.diff(base.clone(), left)?;
        let right = self.diff(base.clone(), right)?;
        let made = Merge::unchecked(self, base, [left, right])?;
        match check::reason_against(self, &made)? {
            None => Ok(made),
            Some(reason) => Ok(made.refused(reason)),
        }
    }
}
