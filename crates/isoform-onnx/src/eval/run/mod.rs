//! The values of whole programs.
//!
//! A program has no order; [`layout`](crate::layout) puts each call into the body that all
//! its users share, after what it uses. Bodies run on a stack of frames, not on that of the
//! machine. Results are kept by the identity of their call until their last use: no body is
//! ever active twice at a time, because functions do not call themselves.

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
