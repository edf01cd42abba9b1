//! Values of ONNX operators and of whole programs.
//!
//! [`evaluate`] computes one call on constants, for constant folding; [`precision`] says
//! beforehand how its result relates to that of a runtime. [`run`] computes a program.
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
//! Operators mean what the version of the operator set says that the call has. The
//! arithmetic is that of `isoform-kernels`: results have the same bits on every machine.

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
