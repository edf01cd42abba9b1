//! Options of comparison, hash and digest.

/// The parts of a value that a comparison, hash or digest takes into account.
///
/// The methods are the functions of this module with these options.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CompareOptions {
    /// The whole value is a definition region: free variables are equal up to
    /// renaming (also known as `enable_auto_mapping`).
    pub map_free_vars: bool,
    /// Tensors are compared by dtype and shape only.
    pub skip_tensor_content: bool,
}
