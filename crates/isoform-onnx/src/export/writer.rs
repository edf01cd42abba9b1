//! The state of writing a main graph or function.

use isoform::Ref;

use super::{functions::FunctionNames, names::Names, types::Dims, values::Values};
use crate::ir::Function;

/// The main graph, or the function that is written.
pub(super) enum Context {
    Main,
    Function(Ref<Function>),
}

/// Writes the bodies of a main graph or function.
pub(super) struct Writer<'e, 'l> {
    pub(super) context: Context,
    pub(super) values: &'e Values<'l>,
    pub(super) names: &'e Names,
    pub(super) functions: &'e FunctionNames,
    /// The version of `ai.onnx` here.
    pub(super) opset: i64,
    pub(super) ir_version: i64,
    /// True if nodes are checked against the schemas of their operators.
    pub(super) check: bool,
    pub(super) dims: Dims,
}
