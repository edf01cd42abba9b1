//! Operators of `ai.onnx.ml`: features, labels, linear models, support vectors and trees.
//!
//! Computed in `f64` and rounded once. Where the reference of the standard and runtimes
//! disagree by more than last bits, a call is refused.

mod features;
mod inputs;
mod labels;
mod linear;
mod scores;
mod support;
mod tree_ensemble;
mod trees;

use super::kernel::Kernel;

/// The kernel of an operator of `ai.onnx.ml`.
pub(super) fn find(name: &str) -> Option<Kernel> {
    let families: [fn(&str) -> Option<Kernel>; 6] = [
        features::find,
        labels::find,
        linear::find,
        support::find,
        trees::find,
        tree_ensemble::find,
    ];
    families.iter().find_map(|family| family(name))
}
