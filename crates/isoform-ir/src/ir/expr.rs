//! The bases of types and expressions, and global variables.

use isoform::{Error, Node, Obj, Ref, Result, Str, export};

use super::span::Span;

/// The base of all types.
#[derive(Node, Default)]
#[node(key = "ir.Type")]
#[repr(C)]
pub struct Type {
    /// The source location.
    #[node(ignore, default, repr = false)]
    pub span: Option<Ref<Span>>,
}

/// The base of all expressions.
#[derive(Node, Default)]
#[node(key = "ir.BaseExpr")]
#[repr(C)]
pub struct BaseExpr {
    /// The source location.
    #[node(ignore, default, repr = false)]
    pub span: Option<Ref<Span>>,
}

/// The base of the expressions over tensors, functions and other large values.
#[derive(Node, Default)]
#[node(key = "ir.RelayExpr", attrs("text.type" = "checked_type_"))]
#[repr(C)]
pub struct RelayExpr {
    #[node(base, default)]
    base: BaseExpr,
    /// The type found by type inference.
    #[node(ignore, default, repr = false)]
    pub checked_type_: Option<Ref<Type>>,
    /// Information about the structure of the value.
    #[node(ignore, default, repr = false)]
    pub struct_info_: Option<Ref<Obj>>,
}

impl RelayExpr {
    /// The fields of an expression with a known type only.
    pub fn typed(checked_type: Option<Ref<Type>>, span: Option<Ref<Span>>) -> Self {
        RelayExpr {
            base: BaseExpr { span },
            checked_type_: checked_type,
            struct_info_: None,
        }
    }

    /// Returns the type found by type inference.
    ///
    /// # Errors
    ///
    /// `ValueError` before type inference.
    pub fn checked_type(&self) -> Result<&Ref<Type>> {
        self.checked_type_.as_ref().ok_or_else(|| {
            Error::value_error("The type checker has not populated the checked_type for this node")
        })
    }
}

#[export("ir.RelayExpr.checked_type")]
fn checked_type(this: &Ref<RelayExpr>) -> Result<Ref<Type>> {
    this.checked_type().cloned()
}

/// The name of a function of a module.
///
/// The name is compared, because modules are linked by names. The node is also a
/// variable, bound by the module.
#[derive(Node)]
#[node(key = "ir.GlobalVar", kind = var, init = make_global_var)]
#[node(attrs("diff.align" = "name"))]
#[repr(C)]
pub struct GlobalVar {
    #[node(base, default)]
    base: RelayExpr,
    /// The name.
    pub name_hint: Str,
}

/// Makes the name of a function, with the type if known.
#[export("ir.GlobalVar")]
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
    isoform::register_functions![checked_type]
}
