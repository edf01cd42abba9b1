//! The common vocabulary of compiler IRs: types, expressions, functions, modules,
//! operators, attributes, source locations, memory pools.
//!
//! The names are the names of `tvm.ir`. Each class is a single declaration; equality,
//! files, text and the Python class follow from the declaration.
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
//! use isoform_ir::ir::{FuncType, TensorType, TypeVar};
//! use isoform::structural_equal;
//! use isoform_ir::tir;
//! use isoform::values::DType;
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
//!
//! If the constructor of a type takes arguments other than the fields, an exported
//! function (`init`) next to the struct defines them. The ranges and compatibility of
//! data types are in `number_types.rs`.
//!
//! Absent: type inference.

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
pub(crate) mod roles;
mod span;
mod ty;

pub use attrs::AttrsRef;
pub use diagnostics::DiagnosticLevel;
pub use function::BaseFuncRef;
pub use generic::TypeKind;
pub use module::{ADMIT, IRModuleRef};
pub use op::{AttributeInfo, OpRegistry};
pub use prim::StringImm;

use isoform::Result;

isoform::dialect! {
    "ir";
    pub use span::{SourceName, Span, SequentialSpan, Source, SourceMap};
    pub use expr::{Type, BaseExpr, RelayExpr, GlobalVar};
    pub use prim::{PrimExpr, IntImm, FloatImm};
    pub use ty::{
        PrimType, PointerType, TupleType, TensorType, IncompleteType, RelayRefType,
        TensorAffineType, TupleAffineType,
    };
    pub use generic::{
        TypeVar, GlobalTypeVar, TypeConstraint, FuncType, TypeCall, EnvFunc, TypeRelation,
        Constructor, TypeData,
    };
    pub use attrs::{Attrs, DictAttrs, AttrFieldInfo};
    pub use function::BaseFunc;
    pub use global_info::{GlobalInfo, DummyGlobalInfo, Target, VDevice};
    pub use memory::{
        PoolInfoProperties, PoolInfo, WorkspacePoolInfo, ConstantInfo, ConstantPoolInfo,
        WorkspaceMemoryPools, ConstantMemoryPools, AllocatedPoolInfo,
    };
    pub use module::IRModule;
    pub use op::Op;
    pub use names::{NameSupply, GlobalVarSupply};
    pub use diagnostics::{Diagnostic, DiagnosticRenderer, DiagnosticContext};
}

/// Registers the node types and functions of this module.
///
/// First use registers the types, too; call this function in programs that look up
/// types by key earlier, for example readers of files.
///
/// # Errors
///
/// `ValueError` if another definition owns a name.
pub fn register() -> Result<()> {
    register_types()?;
    // The type belongs to another dialect, but strings are converted to it where an
    // expression is expected.
    isoform::types::register::<StringImm>()?;
    span::register()?;
    expr::register()?;
    ty::register()?;
    generic::register()?;
    attrs::register()?;
    function::register()?;
    module::register()?;
    op::register()?;
    names::register()?;
    diagnostics::register()?;
    roles::register()
}
