//! Simplification of Relay programs by rules, kernels taken apart, and memoised passes.

mod chains;
mod guards;
mod rules;
mod support;
