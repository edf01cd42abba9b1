//! Programs built statement by statement.
//!
//! [`IRBuilder`] keeps what is open (a function, loops, branches, scopes) and
//! adds statements to the innermost.
//!
//! | file | job |
//! |---|---|
//! | `frame.rs` | a part that is open |
//! | `ir_builder.rs` | the builder of functions, whose parts are closures |
//! | `open.rs` | the begin and the end of each part |
//! | `emit.rs` | the statements that have no parts |
//! | `program.rs` | the builder of programs |
//! | `commands.rs` | what other languages call |

mod commands;
mod emit;
mod frame;
mod ir_builder;
mod open;
mod program;

pub(super) use commands::register;
pub use frame::Scope;
pub use ir_builder::IRBuilder;
pub use program::ProgramBuilder;
