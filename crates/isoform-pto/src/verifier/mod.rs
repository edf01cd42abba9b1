//! Checks that programs are well-formed.
//!
//! | file | job |
//! |---|---|
//! | `failure.rs` | options and results of the verifier |
//! | `program.rs` | the verification of a whole program |
//! | `rules.rs` | requirements of each class on its nodes, as verifiers of the types |
//! | `types.rs` | compatibility of types |
//! | `flow/` | requirements of statements on their context: definitions, yields, jumps |
//! | `branches.rs` | places in different branches |
//! | `scopes.rs` | variables defined at a place |
//!
//! A statement or expression that occurs at several places is verified once; for further
//! occurrences of a statement the verifier replays the summary of the first occurrence.
//! Definitions are looked for along paths: a definition in one branch has no effect after
//! the `if`, and two definitions in different branches are not a redefinition.

mod branches;
mod failure;
mod flow;
mod program;
mod rules;
mod scopes;
mod types;

pub use failure::{Failure, VerifyOptions};
pub(super) use program::register;
pub use program::verify;
