//! What statements demand of those around them.
//!
//! One pass over the statements in the order in which they run, with a stack of
//! its own. Expressions are looked through for variables and calls.
//!
//! | file | job |
//! |---|---|
//! | `state.rs` | what is known at a place, and what is still to be checked |
//! | `statements.rs` | the pass, and definitions |
//! | `bodies.rs` | yields, returns and jumps |
//! | `uses.rs` | variables and calls in expressions |
//! | `repeated.rs` | statements that stand at several places |

mod bodies;
mod repeated;
mod state;
mod statements;
mod uses;

pub(super) use statements::failures;
