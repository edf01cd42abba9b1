//! The table from the names of operators to their kernels.

use super::kernel::Kernel;
use super::{
    activation, arithmetic, cast, conv, create, detect, indexing, joining, loss, moves, norm, pool,
    products, quantize, recurrent, reduce, resize, sample, scatter, select, shapes, signal,
    sorting,
};

/// The kernel of an operator of `ai.onnx`.
pub(in crate::eval) fn find(name: &str) -> Option<Kernel> {
    let families: [fn(&str) -> Option<Kernel>; 23] = [
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
        pool::find,
        norm::find,
        loss::find,
        resize::find,
        sample::find,
        quantize::find,
        recurrent::find,
        signal::find,
        detect::find,
    ];
    families.iter().find_map(|family| family(name))
}
