//! Element-wise operators: every element of the result depends on a single element per
//! operand.
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
