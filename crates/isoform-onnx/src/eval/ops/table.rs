//! The table from the names of operators to their kernels.

use super::kernel::Kernel;
use super::{
    activation, arithmetic, attention, cast, conv, create, deform, detect, flex, indexing, joining,
    loss, ml, moves, norm, pool, products, quantize, recurrent, reduce, resize, sample, scatter,
    select, shapes, signal, sorting, state, words,
};
use crate::ir::Call;

/// The kernel of the operator of a call; None for functions and unknown operators.
pub(in crate::eval) fn find(call: &Call) -> Option<Kernel> {
    if call.callee.is_some() {
        return None;
    }
    match call.domain.as_str() {
        "" => standard(call.op.as_str()),
        "ai.onnx.ml" => ml::find(call.op.as_str()),
        "ai.onnx.preview" => flex::find(call.op.as_str()),
        _ => None,
    }
}

/// The kernel of an operator of `ai.onnx`.
fn standard(name: &str) -> Option<Kernel> {
    let families: [fn(&str) -> Option<Kernel>; 27] = [
        arithmetic::find,
        shapes::find,
        moves::find,
        joining::find,
        indexing::find,
        scatter::find,
        select::find,
        cast::find,
        create::find,
        activation::find,
        sorting::find,
        reduce::find,
        products::find,
        conv::find,
        deform::find,
        pool::find,
        norm::find,
        loss::find,
        resize::find,
        sample::find,
        quantize::find,
        recurrent::find,
        signal::find,
        detect::find,
        attention::find,
        state::find,
        words::find,
    ];
    families.iter().find_map(|family| family(name))
}
