//! Random expressions of Relay, and the properties of analyses and rewrites.
//!
//! | file | job |
//! |---|---|
//! | `generate.rs` | draws expressions |
//! | `oracles.rs` | the results of the same analyses by plain recursion |
//! | `properties.rs` | the properties |
//! | `text.rs` | reads the names in the text of expressions |
//! | `typed/` | well-typed programs, and what passes promise about their values |

mod generate;
mod oracles;
mod properties;
mod text;
mod typed;

pub use properties::RELAY_PROPERTIES;
pub use typed::{
    PASSES, Pass, TYPED_PROPERTIES, TypedProgram, random_network, random_smooth_program,
    random_typed_program,
};

use isoform::Ref;
use isoform_ir::ir::RelayExpr;

use super::source::{Source, random_bytes};
use generate::Programs;

/// Returns a random well-formed expression of at most about `size` nodes, the same one for
/// the same seed and size, on every machine.
///
/// The expression has no types, and may contain every class of expressions and
/// patterns, shared parts, and a few free variables. Linear in the size.
///
/// ```
/// use isoform_relay::analysis::well_formed;
/// use isoform::compare::CompareOptions;
/// use isoform_testing::relay::random_expr;
///
/// let (one, again) = (random_expr(7, 50), random_expr(7, 50));
/// // Their free variables correspond to each other.
/// let options = CompareOptions { map_free_vars: true, ..CompareOptions::default() };
/// assert!(options.equal(&one, &again)? && well_formed(&one));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn random_expr(seed: u64, size: usize) -> Ref<RelayExpr> {
    let bytes = random_bytes(seed, size.saturating_mul(4).saturating_add(16));
    Programs::new(Source::new(&bytes), size, false).expr()
}
