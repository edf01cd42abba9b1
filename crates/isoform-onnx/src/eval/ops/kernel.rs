//! The type of the functions that compute operators.

use crate::eval::args::Args;
use crate::eval::results::Outcome;

/// How an operator is computed.
pub(in crate::eval) type Kernel = fn(&Args<'_>) -> Outcome;
