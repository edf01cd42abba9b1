//! The options of a difference.

use std::sync::Arc;

use super::super::options::CompareOptions;
use super::change::Change;
use super::ignored::Ignored;
use crate::kernel::error::Result;

/// Decides whether a change is left out.
pub type IgnoreChange = Arc<dyn Fn(&Change) -> Result<bool> + Send + Sync>;

/// How two values are compared by [`diff`](super::diff).
///
/// If any part is ignored, a difference may be empty although the values are not equal.
/// Applying the difference keeps ignored types and fields as on the left.
///
/// ```
/// use isoform::compare::DiffOptions;
///
/// let mut options = DiffOptions::default();
/// options.ignore.push(std::sync::Arc::new(|change| Ok(change.left_path().depth() > 1)));
/// assert!(options.diff([[1], [2]], [[1], [3]])?.is_empty());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct DiffOptions {
    /// As for [`structural_equal`](crate::structural_equal).
    pub compare: CompareOptions,
    /// The keys of types whose objects all count as equal, with subtypes.
    pub ignore_types: Vec<String>,
    /// Fields that are not compared, by the key of the type that declares or inherits
    /// them, and name.
    pub ignore_fields: Vec<(String, String)>,
    /// Leaves out the changes for which any of these returns true.
    pub ignore: Vec<IgnoreChange>,
}

impl DiffOptions {
    /// The types and fields to leave out.
    ///
    /// # Errors
    ///
    /// As [`Ignored::of`].
    pub(super) fn ignored(&self) -> Result<Ignored> {
        Ignored::of(&self.ignore_types, &self.ignore_fields)
    }

    /// True if a patch has to build exactly the right value.
    pub(super) fn is_exact(&self) -> bool {
        self.ignore_types.is_empty() && self.ignore_fields.is_empty()
    }
}
