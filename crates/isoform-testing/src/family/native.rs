//! The family as Rust structs.

use super::role::{ROLES, Role};
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::types::{RegionChange, TypeIndex, register};
use isoform::values::DType;
use isoform::{Ref, Result, Str, Value};
use isoform_macros::Node;

/// The parent of the other types.
#[derive(Node)]
#[node(key = "testing.Expr")]
#[repr(C)]
pub struct Expr {
    /// Where the node comes from.
    #[node(ignore, default)]
    pub span: Value,
}

/// A variable.
#[derive(Node)]
#[node(key = "testing.Var", kind = var)]
#[repr(C)]
pub struct Var {
    #[node(base)]
    base: Expr,
    /// For people.
    #[node(ignore)]
    pub name: Str,
    /// May mention other variables.
    #[node(default)]
    pub ty: Value,
}

/// A variable without compared fields.
#[derive(Node)]
#[node(key = "testing.Name", kind = var)]
#[repr(C)]
pub struct Name {
    #[node(base)]
    base: Expr,
    /// For people.
    #[node(ignore)]
    pub name: Str,
}

/// A variable that extends `Var`.
#[derive(Node)]
#[node(key = "testing.TypedVar", kind = var)]
#[repr(C)]
pub struct TypedVar {
    #[node(base)]
    base: Var,
    /// How many dimensions it has.
    pub rank: i64,
}

/// A constant.
#[derive(Node)]
#[node(key = "testing.Const")]
#[repr(C)]
pub struct Const {
    /// Its value.
    pub value: Value,
}

/// A constant without children.
#[derive(Node)]
#[node(key = "testing.Literal")]
#[repr(C)]
pub struct Literal {
    #[node(base)]
    base: Expr,
    /// Its digits.
    pub bits: i64,
    /// The common factor.
    pub scale: f64,
}

/// A sum.
#[derive(Node)]
#[node(key = "testing.Add")]
#[repr(C)]
pub struct Add {
    #[node(base)]
    base: Expr,
    /// The left operand.
    pub lhs: Value,
    /// The right operand.
    pub rhs: Value,
}

/// A field of every storage, visited in another order than declared.
#[derive(Node)]
#[node(key = "testing.Storages")]
#[node(visit_order(text, object, any, dtype, nullable, float, int, flag))]
#[repr(C)]
pub struct Storages {
    /// Anything.
    pub any: Value,
    /// An object.
    pub object: Ref<Expr>,
    /// An object or None.
    pub nullable: Option<Ref<Expr>>,
    /// An integer.
    pub int: i64,
    /// A float.
    pub float: f64,
    /// A bool.
    pub flag: bool,
    /// A string.
    pub text: Str,
    /// A data type.
    pub dtype: DType,
}

/// An immutable node over ground values.
#[derive(Node)]
#[node(key = "testing.Frozen", kind = const_tree)]
#[repr(C)]
pub struct Frozen {
    /// A part.
    pub a: Value,
    /// Another part.
    pub b: Value,
}

/// A node whose sharing matters.
#[derive(Node)]
#[node(key = "testing.Shared", kind = dag)]
#[repr(C)]
pub struct Shared {
    #[node(base)]
    base: Expr,
    /// A part.
    pub lhs: Value,
    /// Another part.
    pub rhs: Value,
}

/// An operator.
#[derive(Node)]
#[node(key = "testing.Op", kind = singleton)]
#[repr(C)]
pub struct Op {
    /// Its name.
    pub name: Str,
}

/// A node that cannot be compared.
#[derive(Node)]
#[node(key = "testing.Hidden", kind = none)]
#[repr(C)]
pub struct Hidden {
    /// A value that comparison ignores.
    pub value: Value,
}

/// A scope with definitions in the last field, visited first.
#[derive(Node)]
#[node(key = "testing.Lambda", scope)]
#[repr(C)]
pub struct Lambda {
    #[node(base)]
    base: Expr,
    /// The result.
    pub body: Value,
    /// The bound variables.
    #[node(def)]
    pub params: Value,
}

/// A scope with definitions in the last field, visited last.
#[derive(Node)]
#[node(key = "testing.LateLambda", scope, defs_first = false)]
#[repr(C)]
pub struct LateLambda {
    /// The result.
    pub body: Value,
    /// The bound variables.
    #[node(def)]
    pub params: Value,
}

/// A binder that is not a scope.
#[derive(Node)]
#[node(key = "testing.Function")]
#[repr(C)]
pub struct Function {
    /// The bound variables.
    #[node(def)]
    pub params: Value,
    /// The result.
    pub body: Value,
}

/// A statement that binds a target in all following statements.
#[derive(Node)]
#[node(key = "testing.Let")]
#[repr(C)]
pub struct Let {
    /// The value of the target.
    pub value: Value,
    /// The bound variable.
    #[node(def_simple)]
    pub target: Value,
}

/// A scope of which sharing matters.
#[derive(Node)]
#[node(key = "testing.SharedLambda", kind = dag, scope)]
#[repr(C)]
pub struct SharedLambda {
    /// The bound variables.
    #[node(def)]
    pub params: Value,
    /// The result.
    pub body: Value,
}

/// A sum with operands in either order.
///
/// The operands must be closed: if alternatives left bindings open, equality would
/// depend on which alternative succeeds first.
#[derive(Node)]
#[node(key = "testing.Comm", hooks(equal, hash))]
#[repr(C)]
pub struct Comm {
    /// An operand.
    pub lhs: Value,
    /// The other operand.
    pub rhs: Value,
}

impl StructuralEqual for Comm {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        comm_equal([&self.lhs, &self.rhs], [&other.lhs, &other.rhs], eq)
    }
}

impl StructuralHash for Comm {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        comm_hash([&self.lhs, &self.rhs], init, hash)
    }
}

/// A binder in code: the parameters are defined by its hooks, not by a flag.
#[derive(Node)]
#[node(key = "testing.Binder", scope, hooks(equal, hash))]
#[repr(C)]
pub struct Binder {
    /// The bound variables. The flag is for walks; comparison asks the hooks.
    #[node(def)]
    pub params: Value,
    /// The result.
    pub body: Value,
}

impl StructuralEqual for Binder {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        binder_equal([&self.params, &self.body], [&other.params, &other.body], eq)
    }
}

impl StructuralHash for Binder {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        binder_hash(&self.params, &self.body, init, hash)
    }
}

pub(super) fn comm_equal(
    [a, b]: [&Value; 2],
    [other_a, other_b]: [&Value; 2],
    eq: &mut dyn EqualCallback,
) -> Result<bool> {
    let straight =
        eq.attempt(&mut |eq| Ok(eq.equal(a, other_a, "lhs")? && eq.equal(b, other_b, "rhs")?))?;
    Ok(straight || (eq.equal(a, other_b, "lhs")? && eq.equal(b, other_a, "rhs")?))
}

pub(super) fn comm_hash(
    [a, b]: [&Value; 2],
    init: u64,
    hash: &mut dyn HashCallback,
) -> Result<u64> {
    // Addition, because the exclusive or of two equal operands is zero.
    Ok(hash.hash(a, init)?.wrapping_add(hash.hash(b, init)?))
}

pub(super) fn binder_equal(
    [params, body]: [&Value; 2],
    [other_params, other_body]: [&Value; 2],
    eq: &mut dyn EqualCallback,
) -> Result<bool> {
    Ok(
        eq.equal_in(params, other_params, RegionChange::Def, "params")?
            && eq.equal(body, other_body, "body")?,
    )
}

pub(super) fn binder_hash(
    params: &Value,
    body: &Value,
    init: u64,
    hash: &mut dyn HashCallback,
) -> Result<u64> {
    // Parameters are hashed before the body that uses them.
    let params = hash.hash_in(params, init, RegionChange::Def)?;
    hash.hash(body, params)
}

/// A part with a custom use of variables, counted as a use at every place.
#[derive(Node)]
#[node(key = "testing.Sized")]
#[repr(C)]
pub struct Sized {
    /// Used, also inside a definition field.
    #[node(uses)]
    pub size: Value,
    /// Defined inside a definition field.
    pub inner: Value,
}

/// A variable that binds further variables at its binding or first use.
#[derive(Node)]
#[node(key = "testing.ShapedVar", kind = var)]
#[repr(C)]
pub struct ShapedVar {
    /// The variables that it binds.
    #[node(def)]
    pub dims: Value,
}

/// A part that is compared by hooks.
#[derive(Node)]
#[node(key = "testing.Wrap", hooks(equal, hash))]
#[repr(C)]
pub struct Wrap {
    /// The part.
    pub part: Value,
}

impl StructuralEqual for Wrap {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        wrap_equal(&self.part, &other.part, eq)
    }
}

impl StructuralHash for Wrap {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        wrap_hash(&self.part, init, hash)
    }
}

/// A definition in code without a scope.
#[derive(Node)]
#[node(key = "testing.Define", hooks(equal, hash))]
#[repr(C)]
pub struct Define {
    /// Compared by the hooks themselves.
    pub number: i64,
    /// The variables that are defined. The flag is for walks; comparison asks the hooks.
    #[node(def)]
    pub target: Value,
}

impl StructuralEqual for Define {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        define_equal(self.number, &self.target, other.number, &other.target, eq)
    }
}

impl StructuralHash for Define {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        define_hash(self.number, &self.target, init, hash)
    }
}

pub(super) fn wrap_equal(part: &Value, other: &Value, eq: &mut dyn EqualCallback) -> Result<bool> {
    eq.equal(part, other, "part")
}

pub(super) fn wrap_hash(part: &Value, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
    hash.hash(part, init)
}

pub(super) fn define_equal(
    number: i64,
    target: &Value,
    other_number: i64,
    other_target: &Value,
    eq: &mut dyn EqualCallback,
) -> Result<bool> {
    Ok(number == other_number && eq.equal_in(target, other_target, RegionChange::Def, "target")?)
}

pub(super) fn define_hash(
    number: i64,
    target: &Value,
    init: u64,
    hash: &mut dyn HashCallback,
) -> Result<u64> {
    let target = hash.hash_in(target, init, RegionChange::Def)?;
    Ok(target.wrapping_mul(31).wrapping_add(number as u64))
}

/// Registers the structs, in the order of [`ROLES`].
pub(super) fn register_all() -> Result<[TypeIndex; ROLES.len()]> {
    let mut types = [<isoform::Obj as isoform::Node>::type_index(); ROLES.len()];
    for role in ROLES {
        types[role as usize] = match role {
            Role::Expr => register::<Expr>(),
            Role::Var => register::<Var>(),
            Role::Name => register::<Name>(),
            Role::TypedVar => register::<TypedVar>(),
            Role::Const => register::<Const>(),
            Role::Literal => register::<Literal>(),
            Role::Add => register::<Add>(),
            Role::Storages => register::<Storages>(),
            Role::Frozen => register::<Frozen>(),
            Role::Shared => register::<Shared>(),
            Role::Op => register::<Op>(),
            Role::Hidden => register::<Hidden>(),
            Role::Lambda => register::<Lambda>(),
            Role::LateLambda => register::<LateLambda>(),
            Role::Function => register::<Function>(),
            Role::Let => register::<Let>(),
            Role::SharedLambda => register::<SharedLambda>(),
            Role::Comm => register::<Comm>(),
            Role::Binder => register::<Binder>(),
            Role::Sized => register::<Sized>(),
            Role::ShapedVar => register::<ShapedVar>(),
            Role::Wrap => register::<Wrap>(),
            Role::Define => register::<Define>(),
        }?;
    }
    Ok(types)
}
