//! Operators that compute each element of the result from one element of each operand.
//!
//! Operands broadcast by [`shape::broadcast`](crate::shape::broadcast).
//! Time and memory are linear in the elements of the result.

mod binary;
mod cast;
mod compare;
mod loops;
mod select;
mod unary;

pub use binary::{Binary, bias_add, binary};
pub use cast::{CastOptions, OutOfRange, cast};
pub use compare::{Comparison, compare};
pub use select::{clip, select};
pub use unary::{Unary, apply, leaky_relu, unary};
