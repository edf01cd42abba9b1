//! The passes of the Relay dialect that evaluate no operators.
//!
//! `interpret.rs` is an interpreter written for these tests alone: operators are
//! uninterpreted functions, references a store, and every effect is recorded. `programs.rs`
//! draws random programs, on which every pass must keep value and effects.

mod chains;
mod dead_code;
mod fuse;
mod inline;
mod interpret;
mod lambda_lift;
mod merging;
mod normal_forms;
mod programs;
mod properties;
mod roles;
mod scale_axis;
mod simplify_inference;
