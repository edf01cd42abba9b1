//! Node types and helpers shared by several test modules.

use isoform::compare::CompareOptions;
use isoform::traverse::{WalkOptions, WalkResult};
use isoform::{Array, Node, Obj, Ref, Result, Value};
use isoform_testing::properties::Property;
use isoform_testing::source::RandomCases;
pub(crate) use isoform_testing::source::scaled;

/// Free variables are equal up to renaming.
pub(crate) const MAPPED: CompareOptions = CompareOptions {
    map_free_vars: true,
    skip_tensor_content: false,
};

/// Checks every property on this many random byte strings of fewer than `limit` bytes.
#[track_caller]
pub(crate) fn hold(properties: &[(&str, Property)], seed: u64, count: usize, limit: usize) {
    for (name, property) in properties {
        let cases = RandomCases {
            seed,
            count,
            lengths: 4..limit,
        };
        cases.check(name, property);
    }
}

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
    (1..length).fold(Chain::new(None), |head, _| Chain::new(head))
}

/// `x = x + x`, this many times: exponential as a tree.
pub(crate) fn doubled(levels: usize) -> Ref<Expr> {
    (0..levels).fold(int(1), |root, _| add(&root, &root))
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

/// A family with fields of any type, which compares neither names nor notes.
pub(crate) mod terms {
    use isoform::{Array, Map, Node, Obj, Ref, Str, Value};

    /// A variable with a type, which may mention other variables.
    #[derive(Node)]
    #[node(key = "term.Var", kind = var)]
    #[repr(C)]
    pub(crate) struct Var {
        #[node(ignore)]
        pub(crate) name: Str,
        #[node(default)]
        pub(crate) ty: Value,
    }

    /// An integer.
    #[derive(Node)]
    #[node(key = "term.Int")]
    #[repr(C)]
    pub(crate) struct Int {
        pub(crate) value: i64,
        #[node(ignore, default)]
        pub(crate) note: Value,
    }

    /// A sum.
    #[derive(Node)]
    #[node(key = "term.Add")]
    #[repr(C)]
    pub(crate) struct Add {
        pub(crate) lhs: Value,
        pub(crate) rhs: Value,
    }

    /// A step before another value.
    #[derive(Node)]
    #[node(key = "term.Step")]
    #[repr(C)]
    pub(crate) struct Step {
        pub(crate) rest: Value,
    }

    /// Another step.
    #[derive(Node)]
    #[node(key = "term.Stride")]
    #[repr(C)]
    pub(crate) struct Stride {
        pub(crate) rest: Value,
    }

    /// A function.
    #[derive(Node)]
    #[node(key = "term.Fun", scope)]
    #[repr(C)]
    pub(crate) struct Fun {
        #[node(def)]
        pub(crate) params: Array<Ref<Var>>,
        pub(crate) body: Value,
    }

    /// A statement that binds a variable up to the end of the function.
    #[derive(Node)]
    #[node(key = "term.Assign")]
    #[repr(C)]
    pub(crate) struct Assign {
        pub(crate) value: Value,
        #[node(def_simple)]
        pub(crate) target: Ref<Var>,
    }

    /// A dataflow node.
    #[derive(Node)]
    #[node(key = "term.Call", kind = dag)]
    #[repr(C)]
    pub(crate) struct Call {
        pub(crate) op: Str,
        pub(crate) args: Value,
    }

    /// One of the results of a dataflow node.
    #[derive(Node)]
    #[node(key = "term.Pick", attrs("rewrite.projection" = projection()))]
    #[repr(C)]
    pub(crate) struct Pick {
        pub(crate) of: Ref<Call>,
        pub(crate) index: i64,
    }

    fn projection() -> Map<Str, Str> {
        let fields = [("of", "of"), ("index", "index")];
        let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
        fields.into_iter().collect()
    }

    /// Equal to itself alone.
    #[derive(Node)]
    #[node(key = "term.Single", kind = singleton)]
    #[repr(C)]
    pub(crate) struct Single {
        pub(crate) part: Value,
    }

    /// A cell.
    #[derive(Node)]
    #[node(key = "term.Handle", kind = none)]
    #[repr(C)]
    pub(crate) struct Handle {
        pub(crate) number: i64,
    }

    pub(crate) fn var(name: &str) -> Ref<Var> {
        Var::new(name)
    }

    pub(crate) fn typed(ty: impl Into<Value>) -> Ref<Var> {
        Var::new("t").with_ty(ty.into())
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

    pub(crate) fn fun<'v>(
        params: impl IntoIterator<Item = &'v Ref<Var>>,
        body: impl Into<Value>,
    ) -> Value {
        let params: Vec<Ref<Var>> = params.into_iter().cloned().collect();
        Fun::new(params, body.into()).into()
    }

    pub(crate) fn array(items: impl IntoIterator<Item = Value>) -> Value {
        Value::from(items.into_iter().collect::<Vec<_>>())
    }

    /// This many steps before a value.
    pub(crate) fn steps(count: usize, last: impl Into<Value>) -> Value {
        (0..count).fold(last.into(), |rest, _| Step::new(rest).into())
    }

    /// The sum of a value and itself, this many times: exponential as a tree.
    pub(crate) fn doubled(levels: usize, leaf: Ref<Obj>) -> Ref<Obj> {
        (0..levels).fold(leaf, |part, _| add(&part, &part))
    }

    /// A balanced tree over leaves.
    pub(crate) fn tree(mut level: Vec<Ref<Obj>>) -> Ref<Obj> {
        while level.len() > 1 {
            let pairs = level.chunks(2);
            level = pairs
                .map(|pair| match pair {
                    [one, other] => add(one, other),
                    _ => pair[0].clone(),
                })
                .collect();
        }
        level.swap_remove(0)
    }
}
