//! What makes a program well-formed.
//!
//! | file | job |
//! |---|---|
//! | `failure.rs` | what the verifier is asked and what it answers |
//! | `program.rs` | the verification of a whole program |
//! | `rules.rs` | what each class demands of its nodes, as verifiers of the types |
//! | `types.rs` | which types go together |
//! | `flow/` | what statements demand of those around them: definitions, yields, jumps |
//! | `branches.rs` | which places are in different branches |
//! | `scopes.rs` | which variables are defined there |

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
