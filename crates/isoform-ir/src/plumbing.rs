//! Names for the dialects of Isoform; not part of the public interface, and free to change
//! between any two versions.

// The global functions and types of a module from a dict of the caller.
pub use crate::ir::module::globals;
// The merging of equal calls along the dataflow of a dialect.
pub use crate::transform::cse::dataflow::{Binding, Dataflow, Merge, ScopeRange, Step, merge};
pub use crate::transform::cse::numbering::{Number, Shape};
