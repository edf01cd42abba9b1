//! The small IR of the tests of known defects, and one verdict of everything
//! that compares.

use isoform::{
    CompareOptions, EqualCallback, ErrorKind, HashCallback, Map, Node, Ref, RegionChange, Result,
    Str, StructuralEqual, StructuralHash, Value, get_first_structural_mismatch_with,
    structural_digest_with, structural_equal_with, structural_hash_with,
};

/// A variable.
#[derive(Node)]
#[node(key = "kd.Var", kind = var, no_with)]
#[repr(C)]
pub(crate) struct Var {
    #[node(ignore)]
    pub(crate) name: Str,
}

/// A variable with a type.
#[derive(Node)]
#[node(key = "kd.TypedVar", kind = var, no_with)]
#[repr(C)]
pub(crate) struct TypedVar {
    pub(crate) ty: Value,
}

/// A tree node.
#[derive(Node)]
#[node(key = "kd.Add", no_with)]
#[repr(C)]
pub(crate) struct Add {
    pub(crate) lhs: Value,
    pub(crate) rhs: Value,
}

/// A node whose sharing counts.
#[derive(Node)]
#[node(key = "kd.DAdd", kind = dag, no_with)]
#[repr(C)]
pub(crate) struct DAdd {
    pub(crate) lhs: Value,
    pub(crate) rhs: Value,
}

/// A tree node with one field.
#[derive(Node)]
#[node(key = "kd.Cell", no_with)]
#[repr(C)]
pub(crate) struct Cell {
    pub(crate) v: Value,
}

/// A constant.
#[derive(Node)]
#[node(key = "kd.Const", kind = const_tree, no_with)]
#[repr(C)]
pub(crate) struct Const {
    pub(crate) v: Value,
}

/// Binds until the comparison ends.
#[derive(Node)]
#[node(key = "kd.Lam", no_with)]
#[repr(C)]
pub(crate) struct Lam {
    #[node(def)]
    pub(crate) params: Value,
    pub(crate) body: Value,
}

/// Binds until it ends.
#[derive(Node)]
#[node(key = "kd.ScopedLam", scope, no_with)]
#[repr(C)]
pub(crate) struct ScopedLam {
    #[node(def)]
    pub(crate) params: Value,
    pub(crate) body: Value,
}

/// One object per operator.
#[derive(Node)]
#[node(key = "kd.Op", kind = singleton, no_with)]
#[repr(C)]
pub(crate) struct Op {
    pub(crate) name: Str,
}

/// What cannot be compared.
#[derive(Node)]
#[node(key = "kd.Handle", kind = none, no_with)]
#[repr(C)]
pub(crate) struct Handle {
    pub(crate) v: i64,
}

/// An instruction, with the types of its results.
#[derive(Node)]
#[node(key = "kd.Inst", no_with)]
#[repr(C)]
pub(crate) struct Inst {
    pub(crate) name: Str,
    pub(crate) operands: Value,
    pub(crate) result_types: Value,
}

/// Operands in either order.
#[derive(Node)]
#[node(key = "kd.Comm", hooks(equal, hash), no_with)]
#[repr(C)]
pub(crate) struct Comm {
    pub(crate) lhs: Value,
    pub(crate) rhs: Value,
}

impl StructuralEqual for Comm {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        let straight =
            eq.attempt(&mut |eq| {
                Ok(eq.equal(&self.lhs, &other.lhs, "lhs")?
                    && eq.equal(&self.rhs, &other.rhs, "rhs")?)
            })?;
        Ok(straight
            || (eq.equal(&self.lhs, &other.rhs, "lhs")?
                && eq.equal(&self.rhs, &other.lhs, "rhs")?))
    }
}

impl StructuralHash for Comm {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let lhs = hash.hash(&self.lhs, init)?;
        Ok(lhs.wrapping_add(hash.hash(&self.rhs, init)?))
    }
}

/// Enters a region by number.
#[derive(Node)]
#[node(key = "kd.Enter", hooks(equal, hash), no_with)]
#[repr(C)]
pub(crate) struct Enter {
    pub(crate) region: i64,
    pub(crate) v: Value,
}

impl StructuralEqual for Enter {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        let region = RegionChange::from_number(self.region)?;
        Ok(self.region == other.region && eq.equal_in(&self.v, &other.v, region, "v")?)
    }
}

impl StructuralHash for Enter {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let region = RegionChange::from_number(self.region)?;
        let inner = hash.hash_in(&self.v, init, region)?;
        hash.hash(&self.region.into(), inner)
    }
}

/// A custom comparison without a custom hash.
#[derive(Node)]
#[node(key = "kd.EqualOnly", hooks(equal), no_with)]
#[repr(C)]
pub(crate) struct EqualOnly {
    pub(crate) v: i64,
}

impl StructuralEqual for EqualOnly {
    fn s_equal(&self, _other: &Self, _eq: &mut dyn EqualCallback) -> Result<bool> {
        Ok(true)
    }
}

/// A custom hash without a custom comparison, of two parts that are to be
/// equal: their hashes are.
#[derive(Node)]
#[node(key = "kd.Twins", hooks(hash), no_with)]
#[repr(C)]
pub(crate) struct Twins {
    pub(crate) a: Value,
    pub(crate) b: Value,
}

impl StructuralHash for Twins {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        let (a, b) = (hash.hash(&self.a, init)?, hash.hash(&self.b, init)?);
        assert_eq!(a, b, "equal parts hash differently in one walk");
        Ok(a)
    }
}

/// The two rules about the end of a binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binder {
    /// The binding lives until the comparison ends.
    Open,
    /// The binding lives until the function ends.
    Scoped,
}

impl Binder {
    pub(crate) const BOTH: [Binder; 2] = [Binder::Open, Binder::Scoped];

    /// A function of one parameter.
    pub(crate) fn bind(self, param: impl Into<Value>, body: impl Into<Value>) -> Value {
        let (params, body) = (Value::from([param.into()]), body.into());
        match self {
            Binder::Open => Lam::new(params, body).into(),
            Binder::Scoped => ScopedLam::new(params, body).into(),
        }
    }
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn cell(v: impl Into<Value>) -> Value {
    Cell::new(v.into()).into()
}

pub(crate) fn add(lhs: impl Into<Value>, rhs: impl Into<Value>) -> Value {
    Add::new(lhs.into(), rhs.into()).into()
}

/// An array of values of several types.
pub(crate) fn seq<const N: usize>(items: [&dyn ToValue; N]) -> Value {
    items.map(ToValue::to_value).into()
}

/// What may stand in [`seq`].
pub(crate) trait ToValue {
    fn to_value(&self) -> Value;
}

impl<T> ToValue for T
where
    T: Clone + Into<Value>,
{
    fn to_value(&self) -> Value {
        self.clone().into()
    }
}

/// A map with these entries, inserted in this order.
pub(crate) fn map<const N: usize>(entries: [(&dyn ToValue, &dyn ToValue); N]) -> Value {
    let entries = entries.map(|(key, value)| (key.to_value(), value.to_value()));
    entries.into_iter().collect::<Map>().into()
}

/// Free variables are equal up to renaming.
pub(crate) const MAPPED: CompareOptions = CompareOptions {
    map_free_vars: true,
    skip_tensor_content: false,
};

/// Whether two values are equal; fails unless equality (in both directions and
/// of each with itself), mismatch, hash and digest all say the same.
#[track_caller]
pub(crate) fn equal(left: impl Into<Value>, right: impl Into<Value>) -> bool {
    equal_with(left, right, CompareOptions::default())
}

/// [`equal`], with free variables mapped.
#[track_caller]
pub(crate) fn equal_mapped(left: impl Into<Value>, right: impl Into<Value>) -> bool {
    equal_with(left, right, MAPPED)
}

#[track_caller]
fn equal_with(left: impl Into<Value>, right: impl Into<Value>, options: CompareOptions) -> bool {
    let (left, right) = (left.into(), right.into());
    let equal = |l: &Value, r: &Value| structural_equal_with(l, r, options).expect("comparable");
    let verdict = equal(&left, &right);
    assert_eq!(equal(&right, &left), verdict, "symmetry");
    assert!(equal(&left, &left) && equal(&right, &right), "reflexivity");
    let mismatch = get_first_structural_mismatch_with(&left, &right, options).expect("comparable");
    assert_eq!(mismatch.is_none(), verdict, "mismatch {mismatch:?}");
    let hash = |value: &Value| structural_hash_with(value, options).expect("hashable");
    assert_eq!(hash(&left) == hash(&right), verdict, "hash");
    let digest = |value: &Value| match structural_digest_with(value, options) {
        Ok(digest) => Some(digest),
        // A free variable and an unbound key have no portable name.
        Err(error) if error.kind() == ErrorKind::Value => None,
        Err(error) => panic!("{error}"),
    };
    match (digest(&left), digest(&right)) {
        (Some(l), Some(r)) => assert_eq!(l == r, verdict, "digest"),
        (l, r) => assert!(l == r || !verdict, "only one has a digest"),
    }
    verdict
}
