//! Node types of the tests, and checks of the classes of some values.

use isoform::compare::{ClassOptions, SubtermClasses};
use isoform::{Array, Node, Obj, Ref, Result, Str, Value};

/// A variable.
#[derive(Node)]
#[node(key = "classes.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    /// Not compared.
    #[node(ignore)]
    pub(crate) name: Str,
    /// May mention other variables.
    pub(crate) ty: Value,
}

/// A number.
#[derive(Node)]
#[node(key = "classes.Int")]
#[repr(C)]
pub(crate) struct Int {
    /// Its value.
    pub(crate) value: i64,
    /// Not compared.
    #[node(ignore)]
    pub(crate) note: Str,
}

/// A sum.
#[derive(Node)]
#[node(key = "classes.Add")]
#[repr(C)]
pub(crate) struct Add {
    /// The left operand.
    pub(crate) lhs: Value,
    /// The right operand.
    pub(crate) rhs: Value,
}

/// A step before another value.
#[derive(Node)]
#[node(key = "classes.Step")]
#[repr(C)]
pub(crate) struct Step {
    /// The value.
    pub(crate) rest: Value,
}

/// A function.
#[derive(Node)]
#[node(key = "classes.Fun", scope)]
#[repr(C)]
pub(crate) struct Fun {
    /// Bound here.
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    /// The result.
    pub(crate) body: Value,
}

/// A statement.
#[derive(Node)]
#[node(key = "classes.Assign")]
#[repr(C)]
pub(crate) struct Assign {
    /// Evaluated first.
    pub(crate) value: Value,
    /// Bound from here to the end of the function.
    #[node(def_simple)]
    pub(crate) target: Ref<Var>,
}

/// A dataflow node.
#[derive(Node)]
#[node(key = "classes.Call", kind = dag)]
#[repr(C)]
pub(crate) struct Call {
    /// The operands.
    pub(crate) args: Array<Value>,
}

/// An operator.
#[derive(Node)]
#[node(key = "classes.Op", kind = singleton)]
#[repr(C)]
pub(crate) struct Op {
    /// For people.
    pub(crate) name: Str,
}

/// A cell.
#[derive(Node)]
#[node(key = "classes.Handle", kind = none)]
#[repr(C)]
pub(crate) struct Handle {
    /// A number.
    pub(crate) number: i64,
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name, "i32")
}

pub(crate) fn int(value: i64) -> Ref<Obj> {
    Int::new(value, "").into_object()
}

pub(crate) fn add(lhs: impl Into<Value>, rhs: impl Into<Value>) -> Ref<Obj> {
    Add::new(lhs.into(), rhs.into()).into_object()
}

pub(crate) fn fun(params: &[&Ref<Var>], body: impl Into<Value>) -> Value {
    let params: Vec<Ref<Var>> = params.iter().map(|&param| param.clone()).collect();
    Fun::new(params, body.into()).into()
}

pub(crate) fn arr(items: impl IntoIterator<Item = Value>) -> Value {
    Value::from(items.into_iter().collect::<Vec<_>>())
}

pub(crate) const RENAMING: ClassOptions = ClassOptions {
    map_free_vars: true,
    sharing: false,
    mutable_by_identity: false,
};

pub(crate) fn table(values: &[&Value], options: ClassOptions) -> Result<SubtermClasses> {
    options.classes(arr(values.iter().map(|&value| value.clone())))
}

/// Checks whether two values have one class, and whether comparison agrees.
#[track_caller]
pub(crate) fn check(left: &Value, right: &Value, options: ClassOptions, expected: bool) {
    let classes = table(&[left, right], options).expect("has classes");
    let same = classes.class_of(left).expect("a subterm") == classes.class_of(right).expect("one");
    assert_eq!(same, expected, "{left:?} and {right:?} with {options:?}");
    let compare = isoform::compare::CompareOptions {
        map_free_vars: options.map_free_vars,
        ..Default::default()
    };
    if options.sharing && !options.mutable_by_identity {
        assert_eq!(compare.equal(left, right).unwrap_or(false), expected);
    }
}
