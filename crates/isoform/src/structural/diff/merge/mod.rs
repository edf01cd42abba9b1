//! Three-way merge: the combined changes of two values since a base.
//!
//! Both differences describe changes to objects of the base, and a merge applies both
//! patches at once. Where only one side changes a place, the merge takes that side's
//! parts. Where both sides change a place, both changes continue inside if the sides
//! edit the same object, and otherwise the parts are compared.
//!
//! | file | job |
//! |---|---|
//! | `sides.rs`, `places.rs` | the changes of both patches to the objects of the base |
//! | `plan.rs`, `lists.rs`, `maps.rs` | the parts of a merged object |
//! | `weave.rs` | builds the parts, and finds the conflicts |
//! | `result.rs` | the result, its construction by both patches, and the check that no change is lost |
//! | `twins.rs` | variables that both sides introduce |
//! | `conflict.rs` | a conflict, as a value |
//!
//! An object whose identity counts, such as a variable or a dag node, becomes one
//! object with the edits of both sides at all places. A part of a tree has a fate at
//! each of its places. The edits of one side follow the part if the other side has
//! moved the part, or put the part into a new object.

mod conflict;
mod lists;
mod maps;
mod places;
mod plan;
mod result;
mod sides;
mod twins;
mod weave;

pub use conflict::{Conflict, Resolution};
pub use result::Merge;

use super::options::DiffOptions;
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// Merges the changes of two values since a base from which both were made.
///
/// A change of one side alone is taken over, and the same change of both sides is taken
/// over once. Both sides may rename bound variables. A place that both sides changed in
/// different ways is a [`Conflict`], and the merged value keeps the part of the base.
/// Examples are different values, elements inserted at the same position of a list, and
/// a part deleted or moved away by one side and edited by the other. Edits on both
/// sides of a place do not conflict.
///
/// `merge` checks its result: exchanging the sides gives the same result, and without
/// the changes of one side, the other side's changes remain. A result may fail this
/// check if one variable is bound in several places or parts are shared in different
/// ways. In this case, the result is one conflict of both sides as a whole.
///
/// As six calls of [`diff`](super::diff), or ten if the first order of the sides loses a
/// change, and O(n) for n distinct objects; the parts at places changed by both sides are
/// compared.
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
    /// [`merge`] with these options. Where the base stays, types and fields to ignore
    /// are taken from the base. A predicate leaves changes out of both differences, not
    /// of the result.
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
        Merge::unchecked(self, base, [left, right])?.checked(self)
    }
}
