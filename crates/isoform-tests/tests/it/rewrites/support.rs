//! Node types of a small IR, with attributes that declare their roles in rewrites.

use isoform::functions::Function;
use isoform::traverse::{BINDING, COMMUTATIVE, CONSTANT, PROJECTION, PURE};
use isoform::{Array, Map, Node, Ref, Result, Str, Value, attrs};
pub(crate) use isoform_testing::source::scaled;

/// The parent of the expressions.
#[derive(Node)]
#[node(key = "rw.Expr", no_new, no_with)]
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

/// A variable.
#[derive(Node)]
#[node(key = "rw.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(base, default)]
    base: Expr,
    #[node(ignore)]
    pub(crate) name: Str,
    #[node(default)]
    pub(crate) ty: Option<Ref<Expr>>,
}

/// An integer.
#[derive(Node)]
#[node(key = "rw.Int")]
#[repr(C)]
pub(crate) struct Int {
    #[node(base, default)]
    base: Expr,
    pub(crate) value: i64,
}

/// A sum, in any order.
#[derive(Node)]
#[node(key = "rw.Add")]
#[repr(C)]
pub(crate) struct Add {
    #[node(base, default)]
    base: Expr,
    pub(crate) lhs: Ref<Expr>,
    pub(crate) rhs: Ref<Expr>,
}

/// A difference.
#[derive(Node)]
#[node(key = "rw.Sub")]
#[repr(C)]
pub(crate) struct Sub {
    #[node(base, default)]
    base: Expr,
    pub(crate) lhs: Ref<Expr>,
    pub(crate) rhs: Ref<Expr>,
}

/// An operation given by its name.
#[derive(Node)]
#[node(key = "rw.Call")]
#[repr(C)]
pub(crate) struct Call {
    #[node(base, default)]
    base: Expr,
    pub(crate) op: Str,
    pub(crate) args: Array<Value>,
}

/// A node of a dataflow graph: two equal ones are two computations.
#[derive(Node)]
#[node(key = "rw.Flow", kind = dag)]
#[repr(C)]
pub(crate) struct Flow {
    #[node(base, default)]
    base: Expr,
    pub(crate) op: Str,
    pub(crate) inputs: Array<Value>,
}

/// One of the results of a node.
#[derive(Node)]
#[node(key = "rw.Out")]
#[repr(C)]
pub(crate) struct Out {
    #[node(base, default)]
    base: Expr,
    pub(crate) of: Ref<Expr>,
    pub(crate) index: i64,
}

/// A statement that binds a variable.
#[derive(Node)]
#[node(key = "rw.Assign")]
#[repr(C)]
pub(crate) struct Assign {
    #[node(def)]
    pub(crate) var: Ref<Var>,
    pub(crate) value: Ref<Expr>,
}

/// A statement that binds a variable to every result.
#[derive(Node)]
#[node(key = "rw.Unpack")]
#[repr(C)]
pub(crate) struct Unpack {
    #[node(def)]
    pub(crate) vars: Array<Ref<Var>>,
    pub(crate) value: Ref<Expr>,
}

/// Statements and a result.
#[derive(Node)]
#[node(key = "rw.Block", scope)]
#[repr(C)]
pub(crate) struct Block {
    #[node(base, default)]
    base: Expr,
    pub(crate) stmts: Array<Value>,
    pub(crate) result: Value,
}

/// An expression with a variable bound to a value, where the value does not see the
/// variable.
#[derive(Node)]
#[node(key = "rw.Let", scope, defs_first = false)]
#[repr(C)]
pub(crate) struct Let {
    #[node(base, default)]
    base: Expr,
    pub(crate) value: Ref<Expr>,
    #[node(def)]
    pub(crate) var: Ref<Var>,
    pub(crate) body: Ref<Expr>,
}

/// A function.
#[derive(Node)]
#[node(key = "rw.Lambda", scope)]
#[repr(C)]
pub(crate) struct Lambda {
    #[node(base, default)]
    base: Expr,
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    pub(crate) body: Ref<Expr>,
}

fn names(pairs: &[(&str, &str)]) -> Value {
    let map: Map<Str, Str> = pairs
        .iter()
        .map(|(role, field)| (Str::from(*role), Str::from(*field)))
        .collect();
    map.into()
}

/// Declares the attributes, once.
pub(crate) fn declare() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| declared().expect("the attributes are new"));
}

fn declared() -> Result<()> {
    attrs::set(Expr::type_index(), PURE, true)?;
    attrs::set(
        Call::type_index(),
        PURE,
        Value::from(Function::new(|arguments| {
            let call: Ref<Call> = arguments[0].extract()?;
            Ok((call.op.as_str() != "effect").into())
        })),
    )?;
    let operands = Array::from(vec![Str::from("lhs"), Str::from("rhs")]);
    attrs::set(Add::type_index(), COMMUTATIVE, operands)?;
    attrs::set(
        Call::type_index(),
        COMMUTATIVE,
        Value::from(Function::new(|arguments| {
            let call: Ref<Call> = arguments[0].extract()?;
            Ok(match call.op.as_str() {
                "mul" => "args".into(),
                _ => Value::NONE,
            })
        })),
    )?;
    attrs::set(Int::type_index(), CONSTANT, true)?;
    attrs::set(Add::type_index(), "rw.level", 3)?;
    attrs::set(
        Out::type_index(),
        PROJECTION,
        names(&[("of", "of"), ("index", "index")]),
    )?;
    attrs::set(
        Assign::type_index(),
        BINDING,
        names(&[("var", "var"), ("value", "value")]),
    )?;
    attrs::set(
        Unpack::type_index(),
        BINDING,
        names(&[("var", "vars"), ("value", "value")]),
    )?;
    attrs::set(
        Let::type_index(),
        BINDING,
        names(&[("var", "var"), ("value", "value"), ("body", "body")]),
    )?;
    Ok(())
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    declare();
    Var::new(name)
}

pub(crate) fn int(value: i64) -> Ref<Expr> {
    declare();
    Int::new(value).upcast()
}

pub(crate) fn add(
    lhs: impl isoform::types::IntoField<Ref<Expr>>,
    rhs: impl isoform::types::IntoField<Ref<Expr>>,
) -> Ref<Expr> {
    Add::new(lhs, rhs).upcast()
}

pub(crate) fn sub(
    lhs: impl isoform::types::IntoField<Ref<Expr>>,
    rhs: impl isoform::types::IntoField<Ref<Expr>>,
) -> Ref<Expr> {
    Sub::new(lhs, rhs).upcast()
}

pub(crate) fn call(op: &str, args: impl IntoIterator<Item = Value>) -> Ref<Expr> {
    Call::new(op, args.into_iter().collect::<Array<Value>>()).upcast()
}

pub(crate) fn flow(op: &str, inputs: impl IntoIterator<Item = Value>) -> Ref<Expr> {
    Flow::new(op, inputs.into_iter().collect::<Array<Value>>()).upcast()
}

pub(crate) fn assign(var: &Ref<Var>, value: impl isoform::types::IntoField<Ref<Expr>>) -> Value {
    Assign::new(var, value).into()
}

pub(crate) fn block(stmts: Vec<Value>, result: impl Into<Value>) -> Value {
    Block::new(Array::from(stmts), result.into()).into()
}

#[track_caller]
pub(crate) fn assert_same(left: impl Into<Value>, right: impl Into<Value>) {
    let found = isoform::explain_mismatch(left, right).expect("comparable");
    if let Some(found) = found {
        panic!("{found}");
    }
}
