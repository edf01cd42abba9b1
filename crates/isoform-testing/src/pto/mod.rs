//! Random well-formed programs of the [statement dialect](isoform_pto), and
//! their properties.
//!
//! | file | job |
//! |---|---|
//! | `known.rs` | variables, functions and types known at a place of a program |
//! | `generate.rs` | the state of drawing, and the construction of nodes |
//! | `functions.rs` | draws programs, functions and statements |
//! | `exprs.rs` | draws expressions of a given type |
//! | `types.rs` | draws types, views and references to memory |
//! | `faults.rs` | one change that breaks a program |
//! | `properties.rs` | the properties |

mod exprs;
mod faults;
mod functions;
mod generate;
mod known;
mod properties;
mod types;

pub use properties::PTO_PROPERTIES;

use super::program::{Drawing, with_random_streams};
use isoform::{Ref, Result};
use isoform_pto::Program;
use properties::Programs;

/// Returns a random program of about `size` nodes, the same one for the same seed and
/// size, on every machine.
///
/// The functions of the program call each other, and may contain every class of the
/// dialect. The program is well-formed: operands have compatible types, loops yield the
/// values they carry, and every variable is defined at its uses. Expressions,
/// statements and types are shared. Linear in the size.
///
/// # Errors
///
/// None as long as the classes of the dialect are consistent; construction is fallible
/// in general.
///
/// ```
/// use isoform::structural_equal;
/// use isoform_testing::pto::random_program;
///
/// assert!(structural_equal(random_program(7, 50)?, random_program(7, 50)?)?);
/// assert!(!structural_equal(random_program(7, 50)?, random_program(8, 50)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn random_program(seed: u64, size: usize) -> Result<Ref<Program>> {
    let drawn = with_random_streams(seed, size, |streams| Programs::draw(streams, size, None));
    drawn?.root.extract()
}
