//! A graph IR of tensors, under the classic names of Relay: variables, calls, functions,
//! algebraic data types.
//!
//! Compound expressions are of kind `dag`: computing a value once for two uses differs
//! from computing the value twice. Constants and items of tuples are of kind `tree`,
//! because sharing makes no difference.
//!
//! | topic | types |
//! |---|---|
//! | values | [`Constant`], [`Var`], [`Tuple`], [`TupleGetItem`], [`Call`] |
//! | control | [`Let`], [`If`], [`Match`] with its [`Clause`]s and [`Pattern`]s |
//! | functions | [`Function`], and [`GlobalVar`](isoform_ir::ir::GlobalVar) for those of a module |
//! | state | [`RefCreate`], [`RefRead`], [`RefWrite`] |
//! | sizes | [`Any`] |
//! | patterns over programs | [`Wildcard`] |
//!
//! ```
//! use isoform_relay::{AsExpr, Call, Function, Var};
//! use isoform_ir::ir::OpRegistry;
//! use isoform::structural_equal;
//!
//! let add = OpRegistry::get_or_register("doc.relay.add")?.op().clone();
//! let twice = |name: &str| {
//!     let x = Var::new(name);
//!     Function::new([x.clone()], Call::new(&add, [x.expr(), x.expr()]))
//! };
//! assert!(structural_equal(twice("x"), twice("y"))?);
//! # Ok::<(), isoform::Error>(())
//! ```
//!
//! | file | job |
//! |---|---|
//! | `expr.rs`, `var.rs`, `call.rs`, `control.rs`, `function.rs` | nodes |
//! | `state.rs`, `adt.rs`, `any.rs`, `temporary.rs` | more nodes |
//! | `attribute.rs` | names of attributes |
//! | `admission.rs`, `module.rs` | checks of values that are added to a module; a module from an expression |
//! | `with_fields.rs` | copies of nodes |
//! | `attrs/`, `op/` | the classes of attributes, and the operators |
//! | `infer/` | type inference |
//! | `analysis/`, `rewrite/` | facts about programs, and changes of expressions |
//! | `eval/` | values of operators and programs |
//! | `text/` | programs as text in the format of Relay |
//! | `passes/` | the passes |

mod admission;
mod adt;
pub mod analysis;
mod any;
pub mod attribute;
pub mod attrs;
mod call;
mod control;
pub mod eval;
mod expr;
mod function;
mod infer;
mod module;
pub mod op;
pub mod passes;
mod rewrite;
mod roles;
mod state;
mod temporary;
mod text;
mod var;
mod with_fields;

pub use call::is_primitive_op;
pub use expr::AsExpr;
pub use infer::{infer_type, infer_type_expr, infer_type_local};
pub use module::module_from_expr;
pub use rewrite::{
    ExprRewriter, Renaming, bind, bind_params_by_name, bind_types, dedup, expand_a_normal_form,
    fresh_pattern, post_order_rewrite,
};
pub use text::relay_text;
pub use with_fields::with_fields;

use isoform::Result;

isoform::dialect! {
    "relay";
    pub use expr::{ExprWithOp, Constant, Tuple, EmptyTuple, TupleGetItem};
    pub use var::{Id, Var, Wildcard, AttrsWildcard};
    pub use call::Call;
    pub use control::{Let, If};
    pub use function::Function;
    pub use state::{RefCreate, RefRead, RefWrite};
    pub use adt::{
        Pattern, PatternWildcard, PatternVar, PatternConstructor, PatternTuple, Clause, Match,
    };
    pub use any::Any;
    pub use temporary::TempExpr;
}

/// Registers the node types and functions of this crate.
///
/// From then on, functions that are added to an [`IRModule`](isoform_ir::ir::IRModule) are
/// checked: they must be well formed, without free variables and type variables.
///
/// # Errors
///
/// `ValueError` if another definition owns a key.
pub fn register() -> Result<()> {
    register_types()?;
    roles::register()?;
    attrs::register()?;
    op::register()?;
    infer::register()?;
    expr::register()?;
    call::register()?;
    function::register()?;
    temporary::register()?;
    with_fields::register()?;
    analysis::register()?;
    rewrite::register()?;
    admission::register()?;
    text::register()?;
    module::register()?;
    eval::register()?;
    passes::register()
}

// The examples of the page about Relay run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/relay.md")]
struct RelayPage;
