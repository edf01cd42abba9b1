//! The operators of the dialect, and functions for making calls.
//!
//! An operator is a row of a table: its inputs, the class of its attributes, the relation
//! between the types of a call, and what passes need to know. From a row follow its entry
//! in the [registry](isoform_ir::ir::OpRegistry), a function here, and a function under the
//! global name `relay.op._make.` and the operator's name, which takes the inputs and then
//! the fields of the attributes.
//!
//! ```
//! use isoform_relay::attrs::DenseAttrs;
//! use isoform_relay::{Function, Var, infer_type_local, op};
//! use isoform_ir::ir::TensorType;
//! use isoform::values::DType;
//! use isoform_ir::tir;
//!
//! let tensor = |shape: [i64; 2]| {
//!     let dims = shape.map(|dim| tir::constant(DType::INT32, dim));
//!     let [rows, columns] = dims;
//!     Ok::<_, isoform::Error>(TensorType::new([rows?, columns?]))
//! };
//! let (x, w) = (Var::typed("x", tensor([4, 8])?), Var::typed("w", tensor([2, 8])?));
//! let call = op::dense(&x, &w, DenseAttrs::new(None));
//! let ty = infer_type_local(call)?;
//! assert!(isoform::structural_equal(ty, tensor([4, 2])?)?);
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! Programs add operators by [`register_op!`](isoform_ir::register_op) and
//! [`relation`]; inference treats them alike.

mod elementwise;
mod nn;
mod reduce;
pub(super) mod relation;
mod relations;
mod spec;
mod tensor;

pub use elementwise::*;
pub use nn::*;
pub use reduce::*;
pub use relation::{CallTypes, relation};
pub use spec::OpPattern;
pub use tensor::*;

pub(super) use relations::{dims, join::MOST_PARTS, upsampling::scaled_size};

use isoform::Result;

/// Registers the operators with their relations and constructor functions.
///
/// # Errors
///
/// `ValueError` if a program has given another meaning to an operator name.
pub(super) fn register() -> Result<()> {
    elementwise::TABLE.register()?;
    tensor::TABLE.register()?;
    reduce::TABLE.register()?;
    nn::TABLE.register()
}
