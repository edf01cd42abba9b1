//! Requirements of statements on their context.
//!
//! This is one pass over the statements in execution order, with an explicit stack.
//! Expressions are searched for variables and calls.
//!
//! | file | job |
//! |---|---|
//! | `state.rs` | facts about the current place, and pending checks |
//! | `statements.rs` | the pass, and definitions |
//! | `bodies.rs` | yields, returns and jumps |
//! | `uses.rs` | variables and calls in expressions |
//! | `repeated.rs` | statements that occur at several places |

mod bodies;
mod repeated;
mod state;
mod statements;
mod uses;

pub(super) use statements::failures;
