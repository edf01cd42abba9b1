//! Shapes and values that hold in every run: symbolic inference over a program.
//!
//! A fact relies only on the types of the inputs of the main graph, on constants, and
//! on conclusions from the definitions of operators. Declared types of results and of
//! values between nodes are ignored, because they may be wrong in files that run. Sizes
//! are polynomials over symbols, and equal only if equal in every run.
//!
//! | concept | items |
//! |---|---|
//! | an extent or an integer element | [`Size`], [`Symbol`], [`Symbols`] |
//! | knowledge about one value | [`Fact`], [`Kind`] |
//! | knowledge about a program, on demand | [`Analysis`] |
//! | knowledge about the results of one call | [`infer`] |
//! | declared types that are wrong | [`problems`], [`Problem`] |
//! | dimensions as numbers | [`fix_dims`] |
//!
//! Inference computes only the integers on which shapes depend; [`eval`](crate::eval)
//! evaluates constants in general.
//!
//! | file | job |
//! |---|---|
//! | `size.rs`, `symbols.rs` | polynomials, and symbols for everything else |
//! | `fact.rs` | knowledge about one value |
//! | `ops/` | rules of operators by family |
//! | `values/` | elements of small tensors |
//! | `analysis.rs`, `walk.rs` | the facts that are known so far, and the walk on demand |
//! | `control.rs`, `scopes.rs` | If, Loop and Scan; the loops on which a fact depends |
//! | `fix.rs`, `declared.rs` | dimensions as numbers; wrong declarations |

#![expect(
    clippy::mutable_key_type,
    reason = "that a symbol is known not to be zero takes no part in its identity"
)]

mod analysis;
mod arithmetic;
mod control;
mod declared;
mod fact;
mod fix;
mod ops;
mod scopes;
mod size;
mod symbols;
mod values;
mod walk;

pub(crate) use self::fact::fact_of_type;
pub(crate) use self::ops::is_far;
pub use self::{
    analysis::Analysis,
    declared::{Problem, problems},
    fact::{Fact, Kind, MAX_ELEMENTS},
    fix::fix_dims,
    ops::infer,
    size::{Size, Symbol},
    symbols::Symbols,
};
