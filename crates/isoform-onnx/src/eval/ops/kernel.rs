//! The type of the functions that compute operators.

use crate::eval::args::Args;
use crate::eval::results::Outcome;

/// How an operator is computed.
pub(in crate::eval) type Kernel = fn(&Args<'_>) -> Outcome;

/// The kernel of a function of each element.
macro_rules! unary {
    ($op:ident) => {
        |args| {
            one(elementwise::unary(
                Unary::$op,
                args.input(0)?,
                args.control,
            )?)
        }
    };
}
pub(super) use unary;
