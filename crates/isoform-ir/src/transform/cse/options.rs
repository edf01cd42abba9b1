//! Options of this rewrite.

use isoform::{Result, Value};

/// Decides whether a node is pure.
type Pure<'f> = Box<dyn Fn(&Value) -> Result<bool> + 'f>;

/// Which nodes may be computed once instead of several times.
#[derive(Default)]
pub struct CseOptions<'f> {
    pub(super) pure: Option<Pure<'f>>,
}

impl<'f> CseOptions<'f> {
    /// A node may be merged if the function returns true for the node, regardless of
    /// the declaration of its type. The function judges a node apart from its parts.
    #[must_use]
    pub fn pure(mut self, pure: impl Fn(&Value) -> Result<bool> + 'f) -> Self {
        self.pure = Some(Box::new(pure));
        self
    }
}
