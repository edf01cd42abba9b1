//! Values of ONNX operators and of whole programs.
//!
//! [`evaluate`] computes a call on constants, for constant folding; [`precision`] tells
//! in advance how the result relates to the result of a runtime. [`run`] computes a
//! program.
//!
//! | file | job |
//! |---|---|
//! | `call.rs` | the value of one call |
//! | `refusal.rs` | the reason why a call has no value |
//! | `precision.rs` | what is fixed bit by bit, and what is not |
//! | `args.rs`, `results.rs` | operands and attributes for kernels, and results as constants |
//! | `constants.rs` | the tensors in constants |
//! | `strings.rs` | strings as numbers in the order of their bytes, so that kernels move them |
//! | `ops/` | operators by family |
//! | `run/` | programs: graphs, functions, control flow, sequences |
//!
//! An operator has the meaning defined by the version in the call. The arithmetic comes
//! from `isoform-kernels`: results have the same bits on every machine.

mod args;
pub(crate) mod call;
mod constants;
mod ops;
mod precision;
mod refusal;
mod results;
mod run;
mod strings;

pub use call::evaluate;
pub use isoform_kernels::Control;
pub use precision::{Precision, precision};
pub use refusal::Refusal;
pub use run::{RunError, run};
