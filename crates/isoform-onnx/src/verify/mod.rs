//! Check by example: runs two programs on the same inputs and compares the results.
//!
//! ```no_run
//! use isoform_onnx::optimize::OptimizeOptions;
//! use isoform_onnx::verify::verify;
//!
//! let model = isoform_onnx::load("model.onnx")?;
//! let done = OptimizeOptions::default().optimize(model.program())?;
//! assert!(verify(model.program(), &done.program)?.is_same());
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! | concept | items |
//! |---|---|
//! | comparison of two programs | [`verify`], [`VerifyOptions`], [`Tolerance`], [`LOOSE`], [`HALF`] |
//! | what was run, and what came out | [`Verification`], [`Case`], [`Outcome`], [`Difference`], [`ROUNDED`] |
//! | what runs programs | [`Runner`], [`Evaluator`], [`Subject`] |
//!
//! `inputs` chooses the inputs, `draw` draws their elements, and `compare` judges the
//! results. A caller with a runtime at hand can use the runtime to run the programs,
//! like the Python package uses onnxruntime; [`Evaluator`] is always available.

mod compare;
mod draw;
mod inputs;
mod options;
mod outcome;
mod runner;
mod verification;

pub use compare::{HALF, LOOSE};
pub(crate) use compare::{has_half, wider};
pub use inputs::Inputs;
pub(crate) use inputs::{Plan, UserInputs, plans};
pub use isoform_kernels::difference::Tolerance;
pub use options::{VerifyOptions, verify};
pub use outcome::{Difference, Outcome, ROUNDED};
pub use runner::{Evaluator, Ran, Runner, Subject};
pub use verification::{Case, Verification};
