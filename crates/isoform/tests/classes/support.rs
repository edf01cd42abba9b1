//! Node types of the tests, and what a table says about some values.

use isoform::compare::{ClassOptions, SubtermClasses};
use isoform::{Array, Node, Obj, Ref, Result, Str, Value};

/// A variable.
#[derive(Node)]
#[node(key = "classes.Var", kind = var)]
#[repr(C)]
pub struct Var {
    /// Not compared.
    #[node(ignore)]
    pub name: Str,
    /// May mention other variables.
    pub ty: Value,
}

/// A number.
#[derive(Node)]
#[node(key = "classes.Int")]
#[repr(C)]
pub struct Int {
    /// Its value.
    pub value: i64,
    /// Not compared.
    #[node(ignore)]
    pub note: Str,
}

/// A sum.
#[derive(Node)]
#[node(key = "classes.Add")]
#[repr(C)]
pub struct Add {
    /// The left operand.
    pub lhs: Ref<Obj>,
    /// The right operand.
    pub rhs: Ref<Obj>,
}

/// A step in front of another value.
#[derive(Node)]
#[node(key = "classes.Step")]
#[repr(C)]
pub struct Step {
    /// What follows.
    pub rest: Value,
}

/// A function.
#[derive(Node)]
#[node(key = "classes.Fun", scope)]
#[repr(C)]
pub struct Fun {
    /// Bound here.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The result.
    pub body: Value,
}

/// A statement.
#[derive(Node)]
#[node(key = "classes.Assign")]
#[repr(C)]
pub struct Assign {
    /// Evaluated first.
    pub value: Value,
    /// Bound from here to the end of the function.
    #[node(def_simple)]
    pub target: Ref<Var>,
}

/// A dataflow node.
#[derive(Node)]
#[node(key = "classes.Call", kind = dag)]
#[repr(C)]
pub struct Call {
    /// The operands.
    pub args: Array<Value>,
}

/// An operator.
#[derive(Node)]
#[node(key = "classes.Op", kind = singleton)]
#[repr(C)]
pub struct Op {
    /// For people.
    pub name: Str,
}

/// A cell.
#[derive(Node)]
#[node(key = "classes.Handle", kind = none)]
#[repr(C)]
pub struct Handle {
    /// A number.
    pub number: i64,
}

pub fn var(name: &str) -> Ref<Var> {
    Var::new(name, "i32")
}

pub fn int(value: i64) -> Ref<Obj> {
    Int::new(value, "").into()
}

pub fn add(lhs: impl Into<Ref<Obj>>, rhs: impl Into<Ref<Obj>>) -> Ref<Obj> {
    Add::new(lhs.into(), rhs.into()).into()
}

pub fn fun(params: &[&Ref<Var>], body: impl Into<Value>) -> Value {
    let params: Vec<Ref<Var>> = params.iter().map(|&param| param.clone()).collect();
    Fun::new(params, body.into()).into()
}

pub fn arr(items: impl IntoIterator<Item = Value>) -> Value {
    Value::from(items.into_iter().collect::<Vec<_>>())
}

pub const RENAMING: ClassOptions = ClassOptions {
    map_free_vars: true,
    sharing: false,
    mutable_contents: false,
};

pub fn table(values: &[&Value], options: ClassOptions) -> Result<SubtermClasses> {
    options.classes(arr(values.iter().map(|&value| value.clone())))
}

/// Checks whether two values have one class, and whether comparison agrees.
#[track_caller]
pub fn check(left: &Value, right: &Value, options: ClassOptions, expected: bool) {
    let classes = table(&[left, right], options).expect("has classes");
    let same = classes.class_of(left).expect("a subterm") == classes.class_of(right).expect("one");
    assert_eq!(same, expected, "{left:?} and {right:?} with {options:?}");
    let compare = isoform::compare::CompareOptions {
        map_free_vars: options.map_free_vars,
        ..Default::default()
    };
    if options.sharing && options.mutable_contents {
        assert_eq!(compare.equal(left, right).unwrap_or(false), expected);
    }
}
