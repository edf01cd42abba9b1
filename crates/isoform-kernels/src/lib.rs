//! Constant tensor operators on plain typed bytes, with the same results on every machine.
//!
//! A compiler that folds constants needs the value of an operator, exactly as defined
//! and bit for bit the same on every machine. This crate computes values of [`View`]s,
//! which consist of an [`ElementType`], a shape and bytes, and does not depend on any
//! form of programs.
//!
//! ```
//! use isoform_kernels::elementwise::{Binary, binary};
//! use isoform_kernels::{Control, Tensor};
//!
//! let a = Tensor::from_slice(&[2, 1], &[1.0_f32, 2.0])?;
//! let b = Tensor::from_slice(&[3], &[10.0_f32, 20.0, 30.0])?;
//! let sum = binary(Binary::Add, a.view(), b.view(), &Control::default())?;
//! assert_eq!(sum.shape(), [2, 3]);
//! assert_eq!(sum.view().to_vec::<f32>()?, [11.0, 21.0, 31.0, 12.0, 22.0, 32.0]);
//! # Ok::<(), isoform_kernels::KernelError>(())
//! ```
//!
//! # Values
//!
//! - Integers wrap around. An operation without a defined result is an error of kind
//!   [`ErrorKind::Undefined`], never a value by chance: division by zero, shifts by too
//!   many bits, negative exponents of integers, casts of floats beyond the integer
//!   type, indices outside of an axis.
//! - Floats follow IEEE 754, including signed zeros, infinities and subnormals. 16-bit
//!   floats are computed in a wider type and rounded once.
//! - A computed NaN is always the positive quiet NaN without payload, because the NaN
//!   from an instruction depends on the processor. Operators that move elements copy
//!   their bytes, and so do casts to the same type.
//! - Transcendental functions come from the `libm` crate in `f64`, not from the system:
//!   results are within 2 units in the last place for `float64`, and rounded once from
//!   there for the other types. Neither the number of threads nor the width of vectors
//!   reorders operations.
//! - Sums, means, variances, products of matrices and convolutions accumulate floats in
//!   `f64` in a fixed order, and integers modulo their range.
//! - Zero-sized axes and rank 0 are ordinary shapes.
//!
//! # Resources
//!
//! A [`Control`] limits the size of results and of intermediate copies before
//! allocation, and interrupts long work. No function recurses.
//!
//! # Files
//!
//! | file | job |
//! |---|---|
//! | `element_type.rs`, `tensor.rs`, `control.rs` | types, views, limits and interruption |
//! | `element.rs`, `number.rs`, `small_float.rs` | one element: bytes, conversions, arithmetic |
//! | `strided.rs` | the one loop over operands with strides of their own |
//! | `difference.rs` | how far two tensors are apart |
//! | `shape/` | shapes of results, for kernels and for type inference |
//! | `elementwise/`, `movement/`, `indexing/` | operators by family |
//! | `create.rs`, `reduce.rs`, `normalize.rs`, `products.rs`, `windows.rs` | operators by family |
//!
//! The tests in Python compare the results with NumPy, `ml_dtypes` and mpmath;
//! `isoform-py/src/testing_kernels.rs` calls the operators by name. `docs/kernels.md` lists the decisions
//! where other libraries differ.
//!
//! Absent: broadcasting of types, lazy tensors, threads, BLAS.

#![forbid(unsafe_code)]

pub mod attention;
mod bits;
mod control;
mod convert;
pub mod create;
pub mod difference;
mod element;
mod element_type;
pub mod elementwise;
mod error;
pub mod indexing;
pub mod math;
pub mod movement;
pub mod normalize;
mod number;
pub mod products;
pub mod reduce;
pub mod shape;
mod small_float;
mod strided;
mod tensor;
pub mod windows;

pub use bits::{pack_bits, unpack_bits};
pub use control::{Control, POLL_INTERVAL};
pub use convert::{from_f64s, from_i64s, to_f64s, to_i64s};
pub use element::Native;
pub use element_type::ElementType;
pub use error::{ErrorKind, KernelError};
pub use small_float::ScaleRounding;
pub use tensor::{Tensor, View};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/kernels.md")]
struct KernelsPage;
