//! Expressions over the machine's scalars and vectors, used in types, ranges and
//! shapes.
//!
//! A constructor makes the node as written, and checks the operands: [`Add::new`](Add)
//! of two literals is a sum. The functions ([`add()`], [`sub()`], ...) behave like the
//! operators of a language: they bring operands to a common data type and fold
//! constants.
//!
//! ```
//! use isoform_ir::tir;
//! let x = tir::Var::new("x", isoform::values::DType::INT32);
//! let sum = tir::add(&tir::constant(isoform::values::DType::INT32, 2)?, &tir::constant(isoform::values::DType::INT32, 3)?)?;
//! assert_eq!(sum.downcast_ref::<tir::IntImm>().map(|sum| sum.value), Some(5));
//! assert!(tir::add(&x.upcast(), &sum)?.isa::<tir::Add>());
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! The nodes are in `nodes.rs` and `ir/prim.rs`, the functions in `operators.rs` and
//! `fold.rs`. The ranges and compatibility of data types are in `ir/number_types.rs`.

mod fold;
mod literal;
mod nodes;
mod number_types;
mod operators;
mod ramp;
mod range;
mod roles;

pub use crate::ir::prim::{FloatImm, IntImm};
pub use literal::{constant, is_zero, literal};
pub use number_types::Comparison;
pub use operators::{
    add, and, cast, compare, div, floordiv, floormod, max, min, mul, not, or, sub, truncmod,
};
pub use range::Range;

use isoform::Result;

isoform::dialect! {
    "tir";
    pub use crate::ir::prim::StringImm;
    pub use ramp::Ramp;
    pub use nodes::{
        Var, SizeVar, Cast, BinaryOpExpr, CmpExpr, LogicalExpr,
        Add, Sub, Mul, Div, Mod, FloorDiv, FloorMod, Min, Max,
        EQ, NE, LT, LE, GT, GE, And, Or, Not, Select, Let, Call, Broadcast,
    };
}

/// Registers the node types and functions of this module.
///
/// # Errors
///
/// `ValueError` if another definition owns a name.
pub fn register() -> Result<()> {
    register_types()?;
    literal::register()?;
    range::register()?;
    operators::register()?;
    roles::register()
}
