//! The operators of the standard: the numbers of inputs and outputs, and the attributes
//! with their defaults, in every version.
//!
//! The table is generated from the `onnx` package by `scripts/make_onnx_schemas.py`. Types
//! of inputs and outputs are not part of it, but which versions mean the same is.
//!
//! `table` reads the list, `check` compares nodes with it, and `meaning` finds the
//! newest version in which a call keeps its meaning.

mod check;
mod meaning;
mod table;

pub(crate) use check::{Form, listed_inputs, refusals};
pub(crate) use meaning::meaning;
pub(crate) use table::ir_version_for;
pub use table::{Schema, SchemaAttribute, lookup, newest};
