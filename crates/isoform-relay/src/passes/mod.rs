//! Passes over programs of Relay.
//!
//! Every pass is a function from module to module, or from expression to expression. A
//! pass does not change its module, and returns the module itself if no change is
//! needed.
//!
//! | to | use |
//! |---|---|
//! | replace what is known by its value | [`fold_constant`], [`FoldConstantOptions`] |
//! | compute equal calls once | [`eliminate_common_subexpr`], [`CommonSubexprOptions`] |
//! | remove unused bindings | [`eliminate_dead_code`], [`DeadCodeOptions`] |
//! | name every value | [`to_a_normal_form`] |
//! | name values that several blocks use | [`to_basic_block_normal_form`] |
//! | share values instead of naming them | [`to_graph_normal_form`] |
//! | replace normalizations and dropout by arithmetic | [`simplify_inference`] |
//! | multiply weights by the factors of channels | [`backward_fold_scale_axis`], [`forward_fold_scale_axis`] |
//! | apply identities | [`simplify`], [`SimplifyOptions`] |
//! | put functions in the place of their calls | [`inline_functions`] |
//! | make functions inside of functions global | [`lambda_lift`] |
//! | make kernels of operators | [`fuse_ops`], [`FuseOptions`] |
//! | take kernels apart | [`defuse_ops`] |
//! | remove functions that nothing calls | [`remove_unused_functions`] |
//!
//! In a graph, an expression with several users is computed once, in the innermost
//! scope around all users. Scopes are the bodies of functions, the branches of an `if`
//! and the clauses of a match. The computation takes place at the first need in that
//! scope, before the branches and functions that need the value. Operands are computed
//! from left to right. Every pass keeps the value of a program under this rule, and the
//! order of its effects.
//!
//! Variables must be bound once, as in modules; programs with repeated bindings are an
//! error.
//!
//! | file | job |
//! |---|---|
//! | `registered.rs` | the names of the passes for pipelines |
//! | `graph.rs`, `form.rs` | the program in arrays; expressions taken apart and put together |
//! | `scopes.rs`, `effects.rs` | scopes of expressions; equations about effects in a module |
//! | `live.rs` | the expressions and bindings that the result needs |
//! | `let_list.rs`, `blocks.rs`, `instance.rs` | bindings of normal forms; copies of a body |
//! | `fuse/` | kernels made of operators, and taken apart again |
//! | `simplify/` | identities as rules of `pattern` |
//! | `scale_axis/` | factors of channels in weights |
//!
//! The passes share the graph of `graph.rs`, so most passes are loops over the numbers of
//! that graph. Only `fold_constant.rs` evaluates operators, and `simplify/` through it.

mod a_normal_form;
mod basic_block;
mod blocks;
mod common_subexpr;
mod dead_code;
pub(crate) mod effects;
mod fold_constant;
pub(super) mod form;
mod fuse;
pub(super) mod graph;
mod graph_normal_form;
mod inline;
mod instance;
mod lambda_lift;
mod let_list;
mod live;
mod module;
mod registered;
mod scale_axis;
pub(super) mod scopes;
mod simplify;
mod simplify_inference;
mod unused_functions;

pub use a_normal_form::{to_a_normal_form, to_a_normal_form_expr};
pub use basic_block::{to_basic_block_normal_form, to_basic_block_normal_form_expr};
pub use common_subexpr::{CommonSubexprOptions, eliminate_common_subexpr};
pub use dead_code::{DeadCodeOptions, eliminate_dead_code};
pub use fold_constant::{FoldConstantOptions, fold_constant, fold_constant_expr};
pub use fuse::{FuseOptions, defuse_ops, defuse_ops_expr, fuse_ops};
pub use graph_normal_form::{to_graph_normal_form, to_graph_normal_form_expr};
pub use inline::inline_functions;
pub use lambda_lift::lambda_lift;
pub use scale_axis::{
    backward_fold_scale_axis, backward_fold_scale_axis_expr, forward_fold_scale_axis,
    forward_fold_scale_axis_expr,
};
pub use simplify::{Simplified, SimplifyOptions, SimplifyRule, simplify, simplify_rules};
pub use simplify_inference::{simplify_inference, simplify_inference_expr};
pub use unused_functions::remove_unused_functions;

use isoform::Result;

/// Registers the passes under their names.
pub(super) fn register() -> Result<()> {
    registered::register()
}
