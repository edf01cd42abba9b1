//! Building programs statement by statement.
//!
//! [`IRBuilder`] keeps track of open parts (a function, loops, branches, scopes) and
//! adds statements to the innermost one.
//!
//! | file | job |
//! |---|---|
//! | `frame.rs` | an open part |
//! | `ir_builder.rs` | the builder of functions, whose parts are closures |
//! | `open.rs` | the begin and the end of each part |
//! | `emit.rs` | the statements without parts |
//! | `declared.rs` | the types of calls of known functions |
//! | `program.rs` | the builder of programs |
//! | `commands.rs` | the interface for other languages |

mod commands;
mod declared;
mod emit;
mod frame;
mod ir_builder;
mod open;
mod program;

pub(super) use commands::register;
pub use frame::Scope;
pub use ir_builder::IRBuilder;
pub use program::ProgramBuilder;
