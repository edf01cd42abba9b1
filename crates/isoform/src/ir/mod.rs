//! The vocabulary that compiler IRs share: types, expressions, functions,
//! modules, operators, attributes, source locations, memory pools.
//!
//! The names are those of `tvm.ir`. Each class is a single declaration; equality,
//! files, text and the Python class follow from it.
//!
//! | topic | types |
//! |---|---|
//! | places in a source text | [`SourceName`], [`Span`], [`SequentialSpan`], [`Source`], [`SourceMap`] |
//! | types | [`Type`] and those that extend it |
//! | expressions | [`BaseExpr`], [`PrimExpr`], [`RelayExpr`], [`GlobalVar`], [`Constructor`] |
//! | attributes | [`Attrs`], [`DictAttrs`], [`AttrFieldInfo`] |
//! | functions and modules | [`BaseFunc`], [`IRModule`], [`GlobalInfo`] and what extends it |
//! | operators | [`Op`], with attributes in the order of their priority |
//! | memory | [`PoolInfo`] and what extends it |
//!
//! ```
//! use isoform::ir::{FuncType, TensorType, TypeVar};
//! use isoform::{DType, structural_equal, tir};
//!
//! let identity = |name: &str| {
//!     let of = TypeVar::new(name);
//!     FuncType::new([of.clone().upcast()], &of).with_type_params([of])
//! };
//! assert!(structural_equal(identity("A"), identity("B"))?);
//!
//! let vector = TensorType::new([tir::constant(DType::INT64, 8)?]);
//! assert_eq!(vector.concrete_shape()?, [8]);
//! # Ok::<(), isoform::Error>(())
//! ```

mod attrs;
mod diagnostics;
mod expr;
mod function;
mod generic;
mod global_info;
mod memory;
pub(crate) mod module;
mod names;
pub(crate) mod number_types;
mod op;
pub(crate) mod prim;
mod span;
mod ty;

pub use attrs::{AttrFieldInfo, Attrs, DictAttrs};
pub use diagnostics::{Diagnostic, DiagnosticContext, DiagnosticLevel, DiagnosticRenderer};
pub use expr::{BaseExpr, GlobalVar, RelayExpr, Type};
pub use function::BaseFunc;
pub use generic::{
    Constructor, EnvFunc, FuncType, GlobalTypeVar, TypeCall, TypeConstraint, TypeData, TypeKind,
    TypeRelation, TypeVar,
};
pub use global_info::{DummyGlobalInfo, GlobalInfo, Target, VDevice};
pub use memory::{
    AllocatedPoolInfo, ConstantInfo, ConstantMemoryPools, ConstantPoolInfo, PoolInfo,
    PoolInfoProperties, WorkspaceMemoryPools, WorkspacePoolInfo,
};
pub use module::IRModule;
pub use names::{GlobalVarSupply, NameSupply};
pub use op::{AttributeInfo, Op, OpRegistry};
pub use prim::{FloatImm, IntImm, PrimExpr, StringImm};
pub use span::{SequentialSpan, Source, SourceMap, SourceName, Span};
pub use ty::{
    IncompleteType, PointerType, PrimType, RelayRefType, TensorAffineType, TensorType,
    TupleAffineType, TupleType,
};

use crate::kernel::error::Result;

/// Registers node types.
macro_rules! types {
    ($($node:ty),* $(,)?) => {
        $(crate::kernel::types::register::<$node>()?;)*
    };
}
pub(crate) use types;

/// Registers exported functions under their names.
macro_rules! functions {
    ($($function:path),* $(,)?) => {
        crate::kernel::types::register_functions(crate::exports![$($function),*])
    };
}
pub(crate) use functions;

/// Registers exported functions as methods of a node type.
macro_rules! methods {
    ($node:ty: $($name:ident = $function:path),* $(,)?) => {{
        let ty = <$node as crate::kernel::object::reference::Node>::type_index();
        $(crate::kernel::types::register_method(
            ty,
            stringify!($name),
            <$function>::function(),
            false,
        )?;)*
    }};
}
pub(crate) use methods;

/// Registers the node types and functions of this module.
///
/// They are registered on first use anyway; this is for programs that look up types by
/// their keys before, such as readers of files.
///
/// # Errors
///
/// `ValueError` if another definition owns one of the names.
pub fn register() -> Result<()> {
    span::register()?;
    expr::register()?;
    prim::register()?;
    ty::register()?;
    generic::register()?;
    attrs::register()?;
    function::register()?;
    global_info::register()?;
    memory::register()?;
    module::register()?;
    op::register()?;
    names::register()?;
    diagnostics::register()
}
