//! Random well-typed programs, to check that passes keep their values.
//!
//! Every expression in a program has a value: indices are within bounds, integers are
//! divided by numbers other than 0, and recursion ends.
//!
//! | file | job |
//! |---|---|
//! | `generate.rs` | draws programs: bindings, branches, functions, references, sharing |
//! | `operators.rs` | draws calls of operators with attributes |
//! | `simplifiable.rs` | draws what simplification has rules for |
//! | `smooth.rs` | draws programs of floats that hardly depend on rounding |
//! | `networks.rs` | draws networks for inference |
//! | `types.rs` | the types of what is drawn |
//! | `properties.rs` | what passes promise about values and types |

mod generate;
mod networks;
mod operators;
mod properties;
mod simplifiable;
mod smooth;
mod types;

pub use properties::{PASSES, Pass, TYPED_PROPERTIES};
pub use types::TypedProgram;

use crate::source::{Source, random_bytes};
use generate::Generator;

/// Returns a random well-typed program of about `size` expressions, the same one for the
/// same seed and size. The function `main` returns tensors, or tuples of tensors.
///
/// ```
/// use isoform_relay::eval::Evaluator;
/// use isoform_relay::infer_type;
/// use isoform_testing::relay::random_typed_program;
///
/// let program = random_typed_program(3, 30);
/// let module = infer_type(&program.module)?;
/// let main = module.global_var("main")?;
/// let evaluator = Evaluator::new().module(&module);
/// let value = evaluator.call(&evaluator.evaluate(main.upcast())?, &program.arguments)?;
/// assert!(!value.is_none());
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn random_typed_program(seed: u64, size: usize) -> TypedProgram {
    let bytes = random_bytes(seed, size.saturating_mul(8).saturating_add(32));
    Generator::new(Source::new(&bytes), size).program()
}

/// Returns a random network of floats for inference: convolutions or products of matrices,
/// normalizations, activations, factors and biases of channels. Equal seeds give equal
/// programs.
pub fn random_network(seed: u64) -> TypedProgram {
    let bytes = random_bytes(seed, 2_000);
    Generator::new(Source::new(&bytes), 0).inference()
}

/// Returns a random well-typed program of floats near 1 with a result that hardly depends
/// on rounding, and the relative precision of the result; equal seeds give equal programs.
pub fn random_smooth_program(seed: u64) -> (TypedProgram, f64) {
    let bytes = random_bytes(seed, 160);
    Generator::new(Source::new(&bytes), 0).smooth()
}
