//! A statement IR for tiled tensor programs, with the names of PyPTO: loops
//! that carry values, hardware scopes, memory references.
//!
//! Unlike in a functional IR, an assignment is visible to all following statements;
//! only a [`Function`] is a scope.
//!
//! | topic | types |
//! |---|---|
//! | numbers | [`DataType`] |
//! | places in a source text | [`Span`] |
//! | types | [`Type`] and those that extend it, [`TensorView`], [`TileView`] |
//! | expressions | [`Expr`] and those that extend it |
//! | statements | [`Stmt`] and those that extend it |
//! | programs | [`Function`], [`Program`] |
//!
//! ```
//! use isoform_pto::{Add, AssignStmt, ConstInt, DataType, ScalarType, SeqStmts, Var};
//! use isoform::structural_equal;
//!
//! // first = 1; second = first + 1
//! let program = |first: &str, second: &str| {
//!     let int = ScalarType::new(DataType::Int64);
//!     let (x, y) = (Var::new(first, &int), Var::new(second, &int));
//!     let one = ConstInt::new(1, DataType::Int64);
//!     let sum = Add::new(&x, &one, DataType::Int64);
//!     SeqStmts::new([
//!         AssignStmt::new(&x, &one).upcast(),
//!         AssignStmt::new(&y, sum).upcast(),
//!     ])
//! };
//! assert!(structural_equal(program("a", "b"), program("x", "y"))?);
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `ty.rs`, `shaped.rs` | types |
//! | `expr.rs`, `call.rs`, `operation.rs` | expressions |
//! | `stmt.rs`, `scopes.rs`, `function.rs` | statements, functions, programs |
//! | `nodes.rs` | the list of node types, from which the visitor and mutator traits are generated |
//! | `enums.rs` | choices: enums whose members are objects, by `kernel/types/node_enum.rs` |
//! | `arguments.rs` | additional arguments of constructors |
//! | `operators.rs`, `functions.rs` | the meaning of operators, functions over programs |
//! | `operands.rs` | the operands of expressions and types, and the statements inside statements |
//! | `cse.rs`, `peephole.rs`, `passes.rs` | the passes |
//! | `roles.rs`, `purity.rs` | attributes for the passes; expressions that may move or go |
//! | `visitor.rs` | visits and rewrites with the generated traits |
//! | `verifier/`, `builder/`, `print/` | checks, construction by open blocks, text for people |
//!
//! Absent: a parser of the program text.

mod arguments;
mod builder;
mod call;
mod cse;
mod datatype;
mod enums;
mod expr;
mod fields;
mod function;
mod functions;
mod memory;
mod node;
mod nodes;
mod operands;
mod operation;
pub mod operators;
mod passes;
mod peephole;
mod print;
mod purity;
mod roles;
mod scopes;
mod shaped;
mod stmt;
mod ty;
mod verifier;
mod views;
mod visitor;

pub use builder::{IRBuilder, ProgramBuilder, Scope};
pub use cse::cse;
pub use datatype::{DataType, DataTypeObject};
pub use enums::*;
pub use fields::{FieldKind, field_kinds, field_kinds_of};
pub use functions::{
    collect_def_vars, collect_free_vars, deep_clone, find_yield_stmt, flatten_to_stmts,
    last_yield_stmt, substitute,
};
pub use nodes::*;
pub use peephole::{peephole_rules, simplify};
pub use print::{PrintOptions, python_print};
pub use purity::STATEFUL;
pub use verifier::{Failure, VerifyOptions, verify};
pub use visitor::{mutate, visit};

use isoform::Result;

/// Registers the node types and functions of this module.
///
/// First use registers the types, too; call this function in programs that look up
/// types by key earlier, for example readers of files.
///
/// # Errors
///
/// `ValueError` if another definition owns a name.
pub fn register() -> Result<()> {
    datatype::register()?;
    enums::register()?;
    nodes::register_types()?;
    node::register()?;
    ty::register()?;
    shaped::register()?;
    call::register()?;
    memory::register()?;
    scopes::register()?;
    function::register()?;
    operators::register()?;
    functions::register()?;
    builder::register()?;
    print::register()?;
    verifier::register()?;
    cse::register()?;
    peephole::register()?;
    roles::register()?;
    passes::register()
}
