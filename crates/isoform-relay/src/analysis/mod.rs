//! Questions about programs: variables, constants, kinds, features, calls.
//!
//! | file | subject |
//! |---|---|
//! | `order.rs` | in which order expressions are visited |
//! | `post_order.rs` | visits in post-order, numbers of uses |
//! | `variables.rs`, `type_variables.rs` | free, bound and all variables |
//! | `well_formed.rs`, `blocks.rs` | whether scopes and blocks are respected |
//! | `constant.rs`, `features.rs`, `kinds.rs` | constants, features of the language, kinds |
//! | `patterns.rs`, `coverage.rs` | variables of patterns, and the cases that a match leaves out |
//! | `call_graph.rs`, `counts.rs` | calls of functions and of operators |
//! | `extract.rs` | parts of programs as programs |

mod blocks;
pub(super) mod call_graph;
mod constant;
mod counts;
mod coverage;
mod extract;
mod features;
mod kinds;
pub(super) mod order;
pub(super) mod patterns;
mod post_order;
mod type_variables;
mod variables;
mod well_formed;

pub use blocks::check_basic_block_normal_form;
pub use call_graph::CallGraph;
pub use constant::check_constant;
pub use counts::{all_dtypes, count_layers, count_ops, list_op_freqs, total_mac_number};
pub(super) use coverage::first_unmatched;
pub use coverage::unmatched_cases;
pub use extract::{extract_fused_functions, extract_intermediate_expr};
pub use features::{Feature, detect_feature};
pub use kinds::check_kind;
pub use patterns::pattern_vars;
pub use post_order::{PostOrderOptions, expr_ref_counts, post_order_visit};
pub use type_variables::{TypeVars, type_vars};
pub use variables::{all_vars, bound_vars, free_vars};
pub(super) use well_formed::check_scopes;
pub use well_formed::{check_well_formed, well_formed};

use isoform::Result;

pub(super) fn register() -> Result<()> {
    post_order::register()?;
    variables::register()?;
    type_variables::register()?;
    well_formed::register()?;
    constant::register()?;
    features::register()?;
    call_graph::register()?;
    coverage::register()?;
    kinds::register()?;
    counts::register()?;
    extract::register()?;
    blocks::register()
}
