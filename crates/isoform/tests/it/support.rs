//! Node types and helpers shared by several test modules.

use isoform::traverse::{WalkOptions, WalkResult};
use isoform::{Array, Node, Obj, Ref, Result, Value};
pub(crate) use isoform_testing::source::scaled;

/// The parent of the expressions.
#[derive(Node)]
#[node(key = "it.Expr", no_new, no_with)]
#[repr(C)]
pub(crate) struct Expr {
    /// A remark without a meaning.
    #[node(ignore)]
    note: Value,
}

impl Default for Expr {
    fn default() -> Self {
        Expr { note: Value::NONE }
    }
}

/// A variable with a type.
#[derive(Node)]
#[node(key = "it.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(base, default)]
    base: Expr,
    pub(crate) name: isoform::Str,
    #[node(default)]
    pub(crate) ty: Option<Ref<Expr>>,
}

/// An integer.
#[derive(Node)]
#[node(key = "it.Int")]
#[repr(C)]
pub(crate) struct Int {
    #[node(base, default)]
    base: Expr,
    pub(crate) value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "it.Add")]
#[repr(C)]
pub(crate) struct Add {
    #[node(base, default)]
    base: Expr,
    pub(crate) lhs: Ref<Expr>,
    pub(crate) rhs: Ref<Expr>,
}

/// Any number of values.
#[derive(Node)]
#[node(key = "it.Call")]
#[repr(C)]
pub(crate) struct Call {
    #[node(base, default)]
    base: Expr,
    pub(crate) args: Array<Value>,
}

/// A function with parameters declared after its body and bound first.
#[derive(Node)]
#[node(key = "it.Lambda", scope)]
#[repr(C)]
pub(crate) struct Lambda {
    #[node(base, default)]
    base: Expr,
    pub(crate) body: Ref<Expr>,
    #[node(ignore, default)]
    pub(crate) span: Value,
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
}

/// A node with a field of any type.
#[derive(Node)]
#[node(key = "it.Link", no_with)]
#[repr(C)]
pub(crate) struct Link {
    pub(crate) next: Value,
}

/// A node with a field of a nullable object type.
#[derive(Node)]
#[node(key = "it.Chain", no_with)]
#[repr(C)]
pub(crate) struct Chain {
    pub(crate) next: Option<Ref<Chain>>,
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn int(value: i64) -> Ref<Expr> {
    Int::new(value).upcast()
}

pub(crate) fn add(
    lhs: impl isoform::types::IntoField<Ref<Expr>>,
    rhs: impl isoform::types::IntoField<Ref<Expr>>,
) -> Ref<Expr> {
    Add::new(lhs, rhs).upcast()
}

/// A chain of this many nodes through fields of a declared type.
pub(crate) fn chain(length: usize) -> Ref<Chain> {
    let mut head = Chain::new(None);
    for _ in 1..length {
        head = Chain::new(head);
    }
    head
}

/// `x = x + x`, this many times: exponential as a tree.
pub(crate) fn doubled(levels: usize) -> Ref<Expr> {
    let mut root = int(1);
    for _ in 0..levels {
        root = add(&root, &root);
    }
    root
}

/// The number of objects of declared types that a walk visits.
pub(crate) fn count_objects(root: impl Into<Value>, options: WalkOptions) -> Result<usize> {
    let mut count = 0;
    options.walk_objects(root, |_, _| {
        count += 1;
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(count)
}

/// Every visit of a walk as `path region value`, one a line.
pub(crate) fn trace(root: impl Into<Value>, options: WalkOptions) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    options.walk(root, |visit| {
        let key = if visit.is_key() { " key" } else { "" };
        let what = match visit.object() {
            Some(object) => {
                if object.type_info().is_builtin() {
                    visit.value().type_name().to_string()
                } else {
                    name_of(object)
                }
            }
            None => format!("{:?}", visit.value()),
        };
        lines.push(format!("{} {:?}{key} {what}", visit.path(), visit.region()));
        assert_eq!(visit.depth(), visit.path().depth());
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(lines)
}

/// The type of an object, with the name of a variable.
fn name_of(object: &Ref<Obj>) -> String {
    let key = object.type_info().key().trim_start_matches("it.");
    match object.downcast_ref::<Var>() {
        Some(var) => format!("{key}:{}", var.name),
        None => key.to_string(),
    }
}

impl Var {
    /// A variable with a type.
    pub(crate) fn typed(name: &str, ty: impl isoform::types::IntoField<Ref<Expr>>) -> Ref<Var> {
        Ref::new(Var {
            base: Expr::default(),
            name: name.into(),
            ty: Some(ty.into_field()),
        })
    }
}
