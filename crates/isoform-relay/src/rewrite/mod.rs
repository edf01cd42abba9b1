//! Changes of programs: substitution, fresh variables, rewriting in post-order.

mod bind;
mod dedup;
mod let_chain;
mod rewriter;

pub(crate) use bind::replace_free;
pub use bind::{bind, bind_params_by_name, bind_types};
pub use dedup::{Renaming, dedup, fresh_pattern};
pub use let_chain::expand_a_normal_form;
pub use rewriter::{ExprRewriter, post_order_rewrite};

use isoform::Result;

pub(super) fn register() -> Result<()> {
    bind::register()?;
    dedup::register()?;
    rewriter::register()
}
