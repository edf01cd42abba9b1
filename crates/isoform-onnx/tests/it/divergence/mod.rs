//! Where the results of two models part: planted faults, quantisation, unusual values.

mod faults;
mod quantized;
mod random;
mod unusual;

use isoform::Ref;
use isoform_onnx::divergence::{Divergence, DivergenceOptions, divergence};
use isoform_onnx::ir::Program;
use isoform_onnx::proto::{ModelProto, NodeProto};
use isoform_onnx::verify::Evaluator;

use crate::build::load;

/// A named node.
pub(crate) fn named(name: &str, node: NodeProto) -> NodeProto {
    NodeProto {
        name: name.into(),
        ..node
    }
}

pub(crate) fn program(model: &ModelProto) -> Ref<Program> {
    load(model).program().clone()
}

#[track_caller]
pub(crate) fn compared(left: &ModelProto, right: &ModelProto) -> Divergence {
    match divergence(&program(left), &program(right)) {
        Ok(result) => result,
        Err(error) => panic!("{error:#}"),
    }
}

#[track_caller]
pub(crate) fn compared_with(
    options: &DivergenceOptions,
    left: &ModelProto,
    right: &ModelProto,
) -> isoform::Result<Divergence> {
    options.compare(
        &program(left),
        &program(right),
        &[&Evaluator],
        &mut |_, _| (),
    )
}

/// The names of the nodes of the first divergence; empty names without one.
pub(crate) fn first(result: &Divergence) -> (&str, &str) {
    let names = result
        .first_pair()
        .map(|pair| (&*pair.left.node.name, &*pair.right.node.name));
    names.unwrap_or_default()
}
