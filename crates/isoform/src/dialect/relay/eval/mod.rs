//! The values of expressions: operators on known tensors, and whole programs.
//!
//! | item | computes |
//! |---|---|
//! | [`evaluate_call`] | the result of an operator on values |
//! | [`Evaluator`] | the value of an expression, a function or a program |
//!
//! A value is a [`Tensor`](crate::values::Tensor), an array of values for a tuple, a
//! [`RefValue`] for a reference, or a [`Closure`] for a function. Other values are
//! [`ConstructorValue`]s of algebraic data types, and operators and constructors
//! themselves.
//!
//! Operators are computed by the crate `isoform-kernels`: exact about data types, overflow
//! and NaN, and with the same results on every machine. An operator of a program gets its
//! own by [`register_kernel`].
//!
//! | file | job |
//! |---|---|
//! | `run.rs`, `call.rs` | a call of an operator: its kernel, inputs, attributes, refusals |
//! | `contract.rs` | what type inference requires of a call, and promises of its result |
//! | `kernels/` | from the names and attributes of operators to kernels |
//! | `numbers.rs` | single numbers for passes |
//! | `plan.rs`, `steps.rs` | a function as steps, each shared expression in one place |
//! | `program.rs` | the functions that programs name |
//! | `machine.rs` | running steps, without recursion |
//! | `values.rs` | closures, references, values of constructors |

mod call;
mod contract;
mod evaluator;
mod kernels;
mod machine;
mod numbers;
mod plan;
mod program;
mod run;
mod steps;
mod values;

pub(super) use call::Refusal;
pub use evaluator::Evaluator;
pub(super) use numbers::{numbers, scalar};
pub(super) use run::{Implementation, Runner, integers};
pub use run::{KernelCall, evaluate_call, kernel, register_kernel};

use crate::kernel::error::Result;

isoform_macros::dialect! {
    "relay.value", crate = crate;
    pub use values::{Closure, RefValue, ConstructorValue};
}

pub(super) fn register() -> Result<()> {
    register_types()?;
    values::register()?;
    run::register()?;
    evaluator::register()
}
