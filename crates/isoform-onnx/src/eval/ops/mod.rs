//! Operators by family, and the table from their names to their kernels.

mod activation;
mod arithmetic;
mod cast;
mod conv;
mod create;
mod dense;
mod detect;
mod indexing;
mod joining;
mod loss;
mod moves;
mod norm;
mod pool;
mod products;
mod quantize;
mod recurrent;
mod reduce;
mod resize;
mod sample;
mod scatter;
mod select;
mod shapes;
mod signal;
mod sorting;

use super::args::Args;
use super::results::Outcome;

/// How an operator is computed.
pub(super) type Kernel = fn(&Args<'_>) -> Outcome;

/// The kernel of an operator of `ai.onnx`.
pub(super) fn find(name: &str) -> Option<Kernel> {
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

/// Operators that take strings, which their kernels see as numbers.
pub(super) fn moves_strings(name: &str) -> bool {
    matches!(
        name,
        "Identity"
            | "Transpose"
            | "Reshape"
            | "Flatten"
            | "Squeeze"
            | "Unsqueeze"
            | "Concat"
            | "Split"
            | "Slice"
            | "Gather"
            | "GatherElements"
            | "GatherND"
            | "Scatter"
            | "ScatterElements"
            | "ScatterND"
            | "Expand"
            | "Tile"
            | "Pad"
            | "DepthToSpace"
            | "SpaceToDepth"
            | "Compress"
            | "Where"
            | "ReverseSequence"
            | "Equal"
            | "Unique"
            | "OneHot"
            | "Shape"
            | "Size"
            | "Cast"
            | "CastLike"
            | "StringConcat"
            | "Trilu"
            | "CenterCropPad"
    )
}

/// True if a result that is a number stands for a string, given that an input does.
pub(super) fn makes_strings(name: &str, position: usize) -> bool {
    match name {
        "Shape" | "Size" | "Equal" | "Cast" | "CastLike" => false,
        "Split" => true,
        _ => position == 0,
    }
}
