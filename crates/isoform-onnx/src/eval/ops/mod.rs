//! Operators by family, and the table from their names to their kernels.

mod activation;
mod arithmetic;
mod attention;
mod cast;
mod conv;
mod create;
mod deform;
mod dense;
mod detect;
pub(super) mod flex;
mod indexing;
mod joining;
mod kernel;
mod loss;
mod ml;
mod moves;
mod norm;
mod pattern;
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
mod state;
mod table;
mod texts;
mod words;

pub(super) use table::find;
pub(super) use texts::{makes_strings, moves_strings};
