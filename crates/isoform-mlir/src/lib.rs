//! MLIR programs of any dialect: reads the generic textual form, compares programs by what
//! they mean, and writes them.
//!
//! No dialect is known to the reader, and none needs to be: the generic form of an operation
//! has a name, operands, successors, attributes, regions and types in fixed places.
//!
//! ```
//! use isoform::{explain_mismatch, structural_digest};
//!
//! let program = |callee: &str, constant: i32| {
//!     isoform_mlir::read(format!(r#"
//!         func.func @main(%x: i32) -> i32 {{
//!           %y = "func.call"(%x) <{{callee = @{callee}}}> : (i32) -> i32 loc("main.py":3:1)
//!           return %y : i32
//!         }}
//!         func.func private @{callee}(%a: i32) -> i32 {{
//!           %b = arith.constant {constant} : i32
//!           %c = "arith.addi"(%a, %b) : (i32, i32) -> i32
//!           return %c : i32
//!         }}"#))
//! };
//! let (left, right) = (program("helper", 1)?, program("helper_7", 1)?);
//! assert_eq!(structural_digest(&left)?, structural_digest(&right)?);
//!
//! let mismatch = explain_mismatch(&left, program("helper", 2)?)?.expect("they differ");
//! assert!(mismatch.left_path.to_string().ends_with(r#"properties["value"].value"#));
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! The page `docs/mlir.md` says what is compared, and how to print the generic form.
//!
//! | file | job |
//! |---|---|
//! | `nodes/` | the node types |
//! | `read/`, `write/` | the reader and the writer |
//! | `levels/` | normal forms of programs that differ in what a [`Level`] ignores |
//! | `report/` | differences in words |
//! | `dumps/` | the dumps of a pass pipeline: what did each pass change |
//! | `reduce.rs` | programs without some of their operations |
//! | `extract.rs` | operations with everything that they refer to |
//!
//! Absent: the semantics of dialects beyond the table of [`Dialects`]; pretty forms except
//! those of modules, functions, calls, conversions and constants; bytecode.

mod dumps;
mod extract;
mod levels;
mod nodes;
mod read;
mod reduce;
mod report;
mod write;

pub use dumps::{
    DumpMoment, OperationHistory, PassDump, PassHistory, PassStep, UnitChange, read_dumps,
    read_dumps_so_far,
};
pub use extract::{extract, symbol_name};
pub use levels::{Dialects, Level};
pub use nodes::*;
pub use read::{ReadOptions, read, read_attribute, read_split};
pub use reduce::{ReducibleProgram, Replacement};
pub use report::{OperationChange, OperationChangeKind, Report};
pub use write::{ProgramText, WriteOptions, write};

use isoform::Result;

/// Registers the node types of this crate.
///
/// First use registers the types, too; call this function in programs that look up types by
/// key earlier, for example readers of files.
///
/// # Errors
///
/// `ValueError` if another definition owns a key.
pub fn register() -> Result<()> {
    register_types()
}

// The examples of the page about MLIR run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/mlir.md")]
struct MlirPage;
