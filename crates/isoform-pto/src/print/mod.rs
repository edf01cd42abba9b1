//! Programs as text similar to Python.
//!
//! The text is for people: it contains everything that comparison looks at, and cannot
//! be read back. To write files, use [`to_json_graph`](isoform::files::to_json_graph),
//! [`to_bytes`](isoform::files::to_bytes) and [`to_text`](isoform::text::to_text).
//!
//! | file | job |
//! |---|---|
//! | `options.rs` | options |
//! | `program.rs` | the text of a value |
//! | `printer.rs` | a text under construction, as a stack of tasks |
//! | `stmt.rs`, `expr.rs`, `ty.rs` | statements and functions, expressions, types |
//! | `names.rs` | names of variables |
//! | `sharing.rs` | parts that are written only once |

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
