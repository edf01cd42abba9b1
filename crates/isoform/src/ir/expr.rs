//! The bases of expressions, global variables, ranges.

use isoform_macros::{Node, export};

use super::literal::natural_literal;
use super::span::Span;
use super::ty::Type;
use crate::kernel::container::Str;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::{DType, Value};

/// The base of all expressions.
#[derive(Node, Default)]
#[node(key = "ir.BaseExpr", crate = crate)]
#[repr(C)]
pub struct BaseExpr {
    /// Where it was written.
    #[node(ignore, default, repr = false)]
    pub span: Option<Ref<Span>>,
}

/// The base of the expressions over scalars and vectors of the machine.
///
/// Numbers become literals where one is expected: a bool of type bool, an int
/// of type int32 or, if it is larger, int64, a float of type float32 or, if it
/// is larger, float64; a string becomes a string literal.
#[derive(Node)]
#[node(key = "ir.PrimExpr", convert = prim_expr_from, crate = crate)]
#[node(attrs("text.type" = "dtype"))]
#[repr(C)]
pub struct PrimExpr {
    #[node(base, default)]
    base: BaseExpr,
    /// The data type of its value.
    pub dtype: DType,
}

impl PrimExpr {
    /// The fields of an expression of this data type.
    pub fn typed(dtype: DType, span: Option<Ref<Span>>) -> Self {
        PrimExpr {
            base: BaseExpr { span },
            dtype,
        }
    }
}

/// The literal of a number or a string.
#[export("ir.PrimExpr.__ffi_convert__", crate = crate)]
fn prim_expr_from(value: Value) -> Result<Ref<PrimExpr>> {
    natural_literal(&value)
}

/// The base of the expressions over tensors, functions and other large values.
#[derive(Node, Default)]
#[node(key = "ir.RelayExpr", attrs("text.type" = "checked_type_"), crate = crate)]
#[repr(C)]
pub struct RelayExpr {
    #[node(base, default)]
    base: BaseExpr,
    /// The type that type inference has found.
    #[node(ignore, default, repr = false)]
    pub checked_type_: Option<Ref<Type>>,
    /// What is known about the structure of its value.
    #[node(ignore, default, repr = false)]
    pub struct_info_: Option<Ref<Obj>>,
}

impl RelayExpr {
    /// The fields of an expression of which only this is known.
    pub fn typed(checked_type: Option<Ref<Type>>, span: Option<Ref<Span>>) -> Self {
        RelayExpr {
            base: BaseExpr { span },
            checked_type_: checked_type,
            struct_info_: None,
        }
    }

    /// The type that type inference has found.
    ///
    /// # Errors
    ///
    /// `ValueError` when there is none yet.
    pub fn checked_type(&self) -> Result<&Ref<Type>> {
        self.checked_type_.as_ref().ok_or_else(|| {
            Error::value_error("The type checker has not populated the checked_type for this node")
        })
    }
}

#[export("ir.RelayExpr.checked_type", crate = crate)]
fn checked_type(this: &Ref<RelayExpr>) -> Result<Ref<Type>> {
    this.checked_type().cloned()
}

/// The name of a function of a module.
///
/// Its name is compared, because it is how a module is linked; and it is a
/// variable, which the module binds.
#[derive(Node)]
#[node(key = "ir.GlobalVar", kind = var, init = make_global_var, crate = crate)]
#[repr(C)]
pub struct GlobalVar {
    #[node(base, default)]
    base: RelayExpr,
    /// The name.
    pub name_hint: Str,
}

/// Makes the name of a function, with its type if that is known.
#[export("ir.GlobalVar", crate = crate)]
fn make_global_var(
    name_hint: Str,
    type_annot: Option<Ref<Type>>,
    span: Option<Ref<Span>>,
) -> Ref<GlobalVar> {
    Ref::new(GlobalVar {
        base: RelayExpr::typed(type_annot, span),
        name_hint,
    })
}

pub(super) fn register() -> Result<()> {
    super::types![BaseExpr, PrimExpr, RelayExpr, GlobalVar];
    super::functions![checked_type]
}
