//! The values of whole programs.
//!
//! A program has no order; [`layout`](crate::layout) puts a call into the body shared
//! by all users, after its operands. Bodies run on a stack of frames, not on the stack
//! of the machine. Results are kept by the identity of their call until their last use.
//! No body is ever active twice at a time, because functions do not call themselves.

mod control_flow;
mod error;
mod flex;
mod frame;
mod inputs;
mod plan;
mod program;
mod sequence;

pub use error::RunError;
pub use program::run;
