//! Programs as text that reads like Python.
//!
//! The text is for people: it says everything that comparison looks at, and is
//! not read back. Files are written by [`to_json_graph`](crate::to_json_graph),
//! [`to_bytes`](crate::to_bytes) and [`to_text`](crate::to_text).
//!
//! | file | job |
//! |---|---|
//! | `options.rs` | how a text is written |
//! | `program.rs` | the text of a value |
//! | `printer.rs` | one text in the making, as a stack of tasks |
//! | `stmt.rs`, `expr.rs`, `ty.rs` | statements and functions, expressions, types |
//! | `names.rs` | names of variables |
//! | `sharing.rs` | what is written once |

mod expr;
mod names;
mod options;
mod printer;
mod program;
mod sharing;
mod stmt;
mod ty;

pub use options::PrintOptions;
pub use program::python_print;
pub(super) use program::register;
