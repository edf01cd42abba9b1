//! Random ONNX programs, whose values optimisation must keep.
//!
//! They are valid: sizes fit under two assignments of the symbolic dimensions, indices
//! are within bounds, integers are divided by numbers other than 0, and loops end.
//! Sizes of 0 and 1 occur, and so do special floats and the extremes of integers.
//!
//! | file | job |
//! |---|---|
//! | `generate.rs` | draws programs: inputs, scopes, calls, results |
//! | `values.rs` | sizes and elements of what is drawn |
//! | `elementwise.rs`, `moves.rs`, `compute.rs` | draw calls of operators |
//! | `shapes.rs` | draws arithmetic on shapes, and what takes its results |
//! | `patterns.rs` | draws what rewriting has rules for |
//! | `control.rs` | draws branches, loops, scans and local functions |
//! | `build.rs` | makes the nodes |
//! | `rebuild.rs` | the same program with other names, made in another order |
//! | `running.rs` | runs programs and compares results |
//! | `shrink.rs` | makes a program that breaks a promise small |
//! | `properties.rs` | what evaluation and optimisation promise |

mod build;
mod compute;
mod control;
mod elementwise;
mod generate;
mod moves;
mod patterns;
mod properties;
mod rebuild;
mod running;
mod shapes;
mod shrink;
mod values;

pub use generate::{OPSETS, RandomProgram};
pub use properties::ONNX_PROPERTIES;
pub use rebuild::{rebuilt, replace_values};

use crate::source::{Source, random_bytes};
use generate::Generator;

/// All constructs that may be drawn, by the names in [`RandomProgram::patterns`].
pub fn drawn_constructs() -> Vec<&'static str> {
    let tables = [
        elementwise::DRAWS,
        moves::DRAWS,
        shapes::DRAWS,
        patterns::DRAWS,
        compute::DRAWS,
        control::DRAWS,
    ];
    tables
        .iter()
        .flat_map(|table| table.iter().map(|row| row.0))
        .collect()
}

/// Returns a random valid program of about `size` constructs, the same one for the same
/// seed and size.
///
/// ```
/// use isoform_testing::onnx::random_onnx_program;
///
/// let drawn = random_onnx_program(3, 20);
/// assert_eq!(drawn.inputs[0].len(), drawn.program.graph.params.len());
/// assert_eq!(drawn.shapes[0].len(), drawn.program.graph.results.len());
/// ```
pub fn random_onnx_program(seed: u64, size: usize) -> RandomProgram {
    let bytes = random_bytes(seed, size.saturating_mul(12).saturating_add(32));
    drawn_program(&bytes, size)
}

/// Returns the program of a byte string; a shorter one means a simpler program.
pub fn drawn_program(bytes: &[u8], size: usize) -> RandomProgram {
    Generator::new(Source::new(bytes), size).program()
}
