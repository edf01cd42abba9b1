//! Simplification of Relay programs by rules, kernels taken apart, and memoised passes.

mod chains;
mod defuse;
mod guards;
mod memo;
mod rules;
mod support;
