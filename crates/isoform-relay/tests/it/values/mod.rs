//! The values of Relay programs: kernels of operators, the evaluator, and constant folding.

mod chains;
mod eval;
mod fold;
mod kernels;
mod properties;
