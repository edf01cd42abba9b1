//! The family as data, registered at run time.

use std::sync::OnceLock;

use super::native::{binder_equal, binder_hash, comm_equal, comm_hash};
use super::role::{ROLES, Role};
use isoform::TypeIndex;
use isoform::Value;
use isoform::get_field;
use isoform::{DynEqual, DynHash, FieldDef, FieldFlag, Kind, Schema, TypeDef, register_type};
use isoform::{Error, Result};
use isoform::{Obj, Ref};

/// Registers the types, in the order of [`ROLES`].
pub(super) fn register_all() -> Result<[TypeIndex; ROLES.len()]> {
    // Hooks are closures here, and two definitions are equal only if they have the
    // same closure, so they are registered once.
    static TYPES: OnceLock<Result<[TypeIndex; ROLES.len()], String>> = OnceLock::new();
    let types = TYPES.get_or_init(|| register_anew().map_err(|error| error.message().to_string()));
    types.clone().map_err(Error::value_error)
}

fn register_anew() -> Result<[TypeIndex; ROLES.len()]> {
    let mut types = [<Obj as isoform::Node>::type_index(); ROLES.len()];
    for role in ROLES {
        types[role as usize] = register_type(definition(role, &types))?;
    }
    Ok(types)
}

/// True if the fields of a role's type are mutable: about half of the types are, and
/// every kind of field is in both halves.
fn is_mutable(role: Role) -> bool {
    matches!(
        role,
        Role::Var
            | Role::Add
            | Role::Storages
            | Role::Shared
            | Role::Hidden
            | Role::Function
            | Role::LateLambda
            | Role::Comm
            | Role::Binder
            | Role::Sized
    )
}

fn definition(role: Role, types: &[TypeIndex]) -> TypeDef {
    let expr = || Schema::named("testing.dyn.Expr");
    let new = |name: &str| TypeDef::new(&format!("testing.dyn.{name}"));
    let field = |name: &str, schema| FieldDef::new(name, schema).mutable(is_mutable(role));
    let any = |name: &str| field(name, Schema::Any);
    let def = |name: &str| any(name).flag(FieldFlag::Def);
    let expr_type = types[Role::Expr as usize];
    match role {
        Role::Expr => new("Expr").field(any("span").flag(FieldFlag::Ignore)),
        Role::Var => new("Var")
            .parent(expr_type)
            .kind(Kind::Var)
            .field(field("name", Schema::Str).flag(FieldFlag::Ignore))
            .field(any("ty")),
        Role::TypedVar => new("TypedVar")
            .parent(types[Role::Var as usize])
            .kind(Kind::Var)
            .field(field("rank", Schema::Int)),
        Role::Const => new("Const").field(any("value")),
        Role::Literal => new("Literal")
            .parent(expr_type)
            .field(field("bits", Schema::Int))
            .field(field("scale", Schema::Float)),
        Role::Add => new("Add")
            .parent(expr_type)
            .field(any("lhs"))
            .field(any("rhs")),
        Role::Storages => new("Storages")
            .visit_order([
                "text", "object", "any", "dtype", "nullable", "float", "int", "flag",
            ])
            .field(any("any"))
            .field(field("object", expr()))
            .field(field("nullable", Schema::Optional(Box::new(expr()))))
            .field(field("int", Schema::Int))
            .field(field("float", Schema::Float))
            .field(field("flag", Schema::Bool))
            .field(field("text", Schema::Str))
            .field(field("dtype", Schema::DType)),
        Role::Frozen => new("Frozen")
            .kind(Kind::ConstTree)
            .field(any("a"))
            .field(any("b")),
        Role::Shared => new("Shared")
            .parent(expr_type)
            .kind(Kind::Dag)
            .field(any("lhs"))
            .field(any("rhs")),
        Role::Op => new("Op")
            .kind(Kind::Singleton)
            .field(field("name", Schema::Str)),
        Role::Hidden => new("Hidden").kind(Kind::None).field(any("value")),
        Role::Lambda => new("Lambda")
            .parent(expr_type)
            .scope(true)
            .field(any("body"))
            .field(def("params")),
        Role::LateLambda => new("LateLambda")
            .scope(true)
            .defs_first(false)
            .field(any("body"))
            .field(def("params")),
        Role::Function => new("Function").field(def("params")).field(any("body")),
        Role::Let => new("Let")
            .field(any("value"))
            .field(any("target").flag(FieldFlag::DefSimple)),
        Role::SharedLambda => new("SharedLambda")
            .kind(Kind::Dag)
            .scope(true)
            .field(def("params"))
            .field(any("body")),
        Role::Comm => new("Comm")
            .custom_equal(DynEqual::new(|left, right, eq| {
                let (left, right) = (two(left, "lhs", "rhs")?, two(right, "lhs", "rhs")?);
                comm_equal(left.each_ref(), right.each_ref(), eq)
            }))
            .custom_hash(DynHash::new(|object, init, hash| {
                comm_hash(two(object, "lhs", "rhs")?.each_ref(), init, hash)
            }))
            .field(any("lhs"))
            .field(any("rhs")),
        Role::Binder => new("Binder")
            .scope(true)
            .custom_equal(DynEqual::new(|left, right, eq| {
                let (left, right) = (two(left, "params", "body")?, two(right, "params", "body")?);
                binder_equal(left.each_ref(), right.each_ref(), eq)
            }))
            .custom_hash(DynHash::new(|object, init, hash| {
                let [params, body] = two(object, "params", "body")?;
                binder_hash(&params, &body, init, hash)
            }))
            .field(def("params"))
            .field(any("body")),
        Role::Sized => new("Sized")
            .field(any("size").flag(FieldFlag::Use))
            .field(any("inner")),
    }
}

fn two(object: &Ref<Obj>, first: &str, second: &str) -> Result<[Value; 2]> {
    Ok([get_field(object, first)?, get_field(object, second)?])
}
