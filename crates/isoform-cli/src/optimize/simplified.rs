//! Simplification of models before they are compared.

use isoform::Ref;
use isoform_onnx::ir::Program;
use isoform_onnx::optimize::OptimizeOptions;

/// The program of a model, simplified so that every bit of its results stays.
pub(crate) fn simplified(program: &Ref<Program>) -> isoform::Result<Ref<Program>> {
    Ok(OptimizeOptions::default().optimize(program)?.program)
}
