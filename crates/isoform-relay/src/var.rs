//! Variables.
//!
//! A variable is one object, so maps keyed by `Var` need no second identity.

use isoform::errors::ErrorKind;
use isoform::types::IntoField;
use isoform::{Error, Node, Ref, Result, Str, export};
use isoform_ir::ir::{Attrs, RelayExpr, Span, Type};

use super::expr::ExprWithOp;
use super::function::is_complete;

/// The identity of a variable: a view of the variable itself.
///
/// The binding and all uses share one variable object, so a variable is its own
/// identity. A variable with another annotation is another variable.
#[derive(Node, Default)]
#[node(key = "relay.Id", kind = var, init = refuse_id, no_new)]
#[repr(C)]
pub struct Id {
    #[node(base)]
    base: ExprWithOp,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
}

/// Identities come with variables: always raises RuntimeError.
#[export("relay.Id")]
fn refuse_id(#[default = ""] name_hint: &str) -> Result<Ref<Id>> {
    let _ = name_hint;
    Err(Error::new(
        ErrorKind::Runtime,
        "Cannot directly construct Id: construct a relay.Var, whose `vid` is its identity",
    ))
}

/// A variable: compared by the place of its binding, and by its annotation; the name is
/// ignored.
#[derive(Node)]
#[node(key = "relay.Var", kind = var, init = make_var, no_new)]
#[repr(C)]
pub struct Var {
    #[node(base)]
    base: Id,
    /// The annotated type of the value.
    #[node(default)]
    pub type_annotation: Option<Ref<Type>>,
}

impl Var {
    /// A variable without an annotation.
    pub fn new(name: impl Into<Str>) -> Ref<Var> {
        make_var(name.into(), None, None)
    }

    /// A variable with the type of its value. A type without unknown parts is the checked
    /// type, too. Linear in the size of the type.
    pub fn typed(name: impl Into<Str>, ty: impl IntoField<Ref<Type>>) -> Ref<Var> {
        make_var(name.into(), Some(ty.into_field()), None)
    }

    /// A variable made by a pass for a value, with the span and checked type of the
    /// value.
    pub(super) fn holding(name: impl Into<Str>, value: &Ref<RelayExpr>) -> Ref<Var> {
        Ref::new(Var {
            base: Id {
                base: ExprWithOp::typed(value.checked_type_.clone(), value.span.clone()),
                name_hint: name.into(),
            },
            type_annotation: None,
        })
    }

    /// Another variable with the same name, annotation, span and checked type.
    pub(super) fn renewed(&self) -> Ref<Var> {
        Ref::new(self.clone_fields())
    }
}

/// Makes a variable; the name is only a hint.
#[export("relay.Var")]
fn make_var(
    name_hint: Str,
    type_annotation: Option<Ref<Type>>,
    span: Option<Ref<Span>>,
) -> Ref<Var> {
    // A complete annotation is the type, so type inference keeps the object, and with it
    // the identity of the variable.
    let is_known = |ty: &Ref<Type>| is_complete(ty).unwrap_or(false);
    let checked_type = type_annotation.clone().filter(is_known);
    Ref::new(Var {
        base: Id {
            base: ExprWithOp::typed(checked_type, span),
            name_hint,
        },
        type_annotation,
    })
}

/// A variable of patterns, as a hole for any expression.
///
/// A hole agrees with its part in the fields of their common class. A [`Var`] has an
/// annotation, and so matches only variables with the same annotation; this class has
/// no compared field.
#[derive(Node)]
#[node(key = "relay.Wildcard", kind = var, init = make_wildcard, no_new)]
#[repr(C)]
pub struct Wildcard {
    #[node(base)]
    base: Id,
}

impl Wildcard {
    /// A variable of patterns.
    pub fn new(name: impl Into<Str>) -> Ref<Wildcard> {
        make_wildcard(name.into(), None)
    }
}

/// Makes a variable of patterns; the name is only a hint.
#[export("relay.Wildcard")]
fn make_wildcard(#[default = ""] name_hint: Str, span: Option<Ref<Span>>) -> Ref<Wildcard> {
    Ref::new(Wildcard {
        base: Id {
            base: ExprWithOp::at(span),
            name_hint,
        },
    })
}

/// A variable of patterns, as a hole for the attributes of a call.
///
/// It fills the field `attrs` of a call in a template, and matches attributes of any class;
/// a [`Hole`](isoform::pattern::Hole) for it may ask for their class and their values. A call
/// without attributes does not match.
///
/// ```
/// use isoform_relay::attrs::{CastAttrs, TransposeAttrs};
/// use isoform_relay::{AttrsWildcard, Call, Var, Wildcard, op};
/// use isoform::pattern::{Hole, Pattern};
/// use isoform::values::DType;
///
/// let (x, attrs, a) = (Wildcard::new("x"), AttrsWildcard::new("attrs"), Var::new("a"));
/// let cast = op::cast(&x, CastAttrs::new(DType::INT32));
/// let any_cast = cast.with_attrs(&attrs);
/// let to_float = Hole::new(&attrs).field("dtype", DType::FLOAT32);
/// let pattern = Pattern::new(any_cast, [(&x).into(), to_float])?;
/// let cast = |dtype| op::cast(&a, CastAttrs::new(dtype));
/// assert!(pattern.match_value(cast(DType::FLOAT32))?.is_some());
/// assert!(pattern.match_value(cast(DType::INT64))?.is_none());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Node)]
#[node(key = "relay.AttrsWildcard", kind = var, init = make_attrs_wildcard, no_new)]
#[repr(C)]
pub struct AttrsWildcard {
    #[node(base, default)]
    base: Attrs,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
}

impl AttrsWildcard {
    /// A variable of patterns.
    pub fn new(name: impl Into<Str>) -> Ref<AttrsWildcard> {
        make_attrs_wildcard(name.into())
    }
}

/// Makes a variable of patterns for attributes; the name is only a hint.
#[export("relay.AttrsWildcard")]
fn make_attrs_wildcard(#[default = ""] name_hint: Str) -> Ref<AttrsWildcard> {
    Ref::new(AttrsWildcard {
        base: Attrs::default(),
        name_hint,
    })
}
