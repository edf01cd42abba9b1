//! Expressions over scalars and vectors of the machine: what types, ranges and
//! shapes are written in.
//!
//! A node is made as it is said, and checked: [`Add::new`](Add) of two
//! literals is a sum. The functions ([`add()`], [`sub()`], ...) are what operators
//! of a language mean: they bring operands to a common data type and compute
//! what is known.
//!
//! ```
//! use isoform::tir;
//! let x = tir::Var::new("x", isoform::DType::INT32);
//! let sum = tir::add(&tir::constant(isoform::DType::INT32, 2)?, &tir::constant(isoform::DType::INT32, 3)?)?;
//! assert_eq!(sum.downcast_ref::<tir::IntImm>().map(|sum| sum.value), Some(5));
//! assert!(tir::add(&x.upcast(), &sum)?.isa::<tir::Add>());
//! # Ok::<(), isoform::Error>(())
//! ```

mod fold;
mod literal;
mod nodes;
mod operators;
mod ramp;
mod range;

pub use crate::ir::number_types::Comparison;
pub use crate::ir::prim::{FloatImm, IntImm, is_zero};
pub use literal::{constant, literal};
pub use operators::{
    add, and, cast, compare, div, floordiv, floormod, max, min, mul, not, or, sub, truncmod,
};
pub use range::Range;

use crate::kernel::error::Result;

isoform_macros::dialect! {
    "tir", crate = crate;
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
/// `ValueError` when another definition owns one of the names.
pub fn register() -> Result<()> {
    register_types()?;
    literal::register()?;
    range::register()?;
    operators::register()
}
