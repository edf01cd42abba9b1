//! Random modules over every class of [`isoform_ir::ir`] and [`isoform_ir::tir`], and their
//! properties.
//!
//! | file | job |
//! |---|---|
//! | `generate.rs` | draws objects by the schemas of their fields, so a new class is covered without adding a line here |
//! | `classes.rs` | the available classes, and the sizes of their smallest objects |
//! | `typing.rs` | compatible data types in an expression |
//! | `properties.rs` | the properties |

mod classes;
mod generate;
mod properties;
mod typing;

pub use properties::IR_PROPERTIES;

use super::program::{Streams, with_random_streams};
use super::source::random_bytes;
use generate::Generator;
use isoform::{Ref, Result, Value};
use isoform_ir::ir::IRModule;

/// Returns a random module of about `size` nodes, the same one for the same seed and
/// size, on every machine.
///
/// It has functions, type definitions and attributes that may contain any comparable
/// class of the IR, with shared nodes, free and bound variables, operators, spans and
/// tensors. Linear in the size.
///
/// # Errors
///
/// None as long as the classes of the IR are consistent; construction is fallible in
/// general.
///
/// ```
/// use isoform_testing::ir::random_module;
/// use isoform::compare::CompareOptions;
///
/// let options = CompareOptions { map_free_vars: true, ..CompareOptions::default() };
/// let (one, again) = (random_module(7, 50)?, random_module(7, 50)?);
/// assert!(options.equal(&one, &again)?);
/// assert!(!options.equal(&one, &random_module(8, 50)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn random_module(seed: u64, size: usize) -> Result<Ref<IRModule>> {
    with_random_streams(seed, size, |streams| {
        Generator::new(streams, None)?.module(size)?.cast()
    })
}

/// Random incomparable nodes, for example supplies of names; equal seeds give equal
/// nodes.
///
/// # Errors
///
/// As [`random_module`].
pub fn random_incomparable(seed: u64) -> Result<Value> {
    let main = random_bytes(seed, 400);
    let streams = Streams {
        main: &main,
        hints: &main,
        ignored: &main,
    };
    Generator::new(streams, None)?.incomparable()
}
