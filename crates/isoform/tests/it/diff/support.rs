//! Node types of the tests.

use isoform::{Array, Node, Obj, Ref, Str, Value};

/// A variable.
#[derive(Node)]
#[node(key = "diff.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    /// Not compared.
    #[node(ignore)]
    pub(crate) name: Str,
}

/// A variable with a type.
#[derive(Node)]
#[node(key = "diff.Typed", kind = var)]
#[repr(C)]
pub(crate) struct Typed {
    /// Compared.
    pub(crate) ty: Value,
}

/// A number.
#[derive(Node)]
#[node(key = "diff.Int")]
#[repr(C)]
pub(crate) struct Int {
    /// Its value.
    pub(crate) value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "diff.Add")]
#[repr(C)]
pub(crate) struct Add {
    /// The left operand.
    pub(crate) lhs: Value,
    /// The right operand.
    pub(crate) rhs: Value,
}

/// A step before another value.
#[derive(Node)]
#[node(key = "diff.Step")]
#[repr(C)]
pub(crate) struct Step {
    /// The value.
    pub(crate) rest: Value,
}

/// Another step.
#[derive(Node)]
#[node(key = "diff.Stride")]
#[repr(C)]
pub(crate) struct Stride {
    /// The value.
    pub(crate) rest: Value,
}

/// Equal to itself alone.
#[derive(Node)]
#[node(key = "diff.Single", kind = singleton)]
#[repr(C)]
pub(crate) struct Single {
    /// Its only part.
    pub(crate) part: Value,
}

/// A function.
#[derive(Node)]
#[node(key = "diff.Fun", scope)]
#[repr(C)]
pub(crate) struct Fun {
    /// Bound here.
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    /// The result.
    pub(crate) body: Value,
}

/// A dataflow node.
#[derive(Node)]
#[node(key = "diff.Call", kind = dag)]
#[repr(C)]
pub(crate) struct Call {
    /// The operator.
    pub(crate) op: Str,
    /// The operands.
    pub(crate) args: Value,
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn int(value: i64) -> Ref<Obj> {
    Int::new(value).into_object()
}

pub(crate) fn add(lhs: impl Into<Value>, rhs: impl Into<Value>) -> Ref<Obj> {
    Add::new(lhs.into(), rhs.into()).into_object()
}

pub(crate) fn call(op: &str, args: impl Into<Value>) -> Value {
    Call::new(op, args.into()).into()
}

pub(crate) fn fun(params: &[Ref<Var>], body: impl Into<Value>) -> Value {
    Fun::new(params.to_vec(), body.into()).into()
}

pub(crate) fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::from(items.into_iter().collect::<Vec<_>>())
}
