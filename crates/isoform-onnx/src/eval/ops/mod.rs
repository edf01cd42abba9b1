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
mod kernel;
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
mod table;
mod texts;

pub(super) use table::find;
pub(super) use texts::{makes_strings, moves_strings};
