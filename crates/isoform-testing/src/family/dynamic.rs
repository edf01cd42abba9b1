//! The family as data, registered at run time: twins of the Rust types.

use std::sync::OnceLock;

use super::native::{
    self, binder_equal, binder_hash, comm_equal, comm_hash, define_equal, define_hash, wrap_equal,
    wrap_hash,
};
use super::role::{ROLES, Role};
use isoform::hooks::{DynEqual, DynHash};
use isoform::host::type_info;
use isoform::objects::field_value;
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::{Error, Obj, Ref, Result, Value};

/// Registers the types, in the order of [`ROLES`].
pub(super) fn register_all() -> Result<[TypeIndex; ROLES.len()]> {
    // Hooks are closures here, and two closures are never the same definition; the
    // types are therefore registered once.
    static TYPES: OnceLock<Result<[TypeIndex; ROLES.len()], String>> = OnceLock::new();
    let types = TYPES.get_or_init(|| register_anew().map_err(|error| error.message().to_string()));
    types.clone().map_err(Error::value_error)
}

fn register_anew() -> Result<[TypeIndex; ROLES.len()]> {
    let native = native::register_all()?;
    let mut types = native;
    for role in ROLES {
        let parent = type_info(native[role as usize])
            .parent()
            .and_then(|info| native.iter().position(|ty| *ty == info.index()));
        let mut twin = twin(role, native[role as usize]);
        if let Some(parent) = parent {
            twin = twin.parent(types[parent]);
        }
        types[role as usize] = register_type(twin)?;
    }
    Ok(types)
}

/// The run-time definition equivalent to the registration of a Rust type, except for
/// the parent.
fn twin(role: Role, native: TypeIndex) -> TypeDef {
    let info = type_info(native);
    let declared = info.definition();
    let mut twin = TypeDef::new(&key_of_twin(info.key()))
        .kind(info.kind())
        .scope(info.is_scope());
    if let Some(defs_first) = declared.declared_defs_first() {
        twin = twin.defs_first(defs_first);
    }
    if let Some(order) = declared.stated_order() {
        twin = twin.visit_order(order.iter().cloned());
    }
    for field in declared.own_fields() {
        let mut twin_field = FieldDef::new(field.name(), schema_of_twin(field.schema()))
            .flag(field.field_flag())
            .mutable(is_mutable(role));
        if let Some(default) = field.make_default() {
            twin_field = twin_field.default_value(default);
        }
        twin = twin.field(twin_field);
    }
    with_hooks(role, twin)
}

fn key_of_twin(key: &str) -> String {
    key.replacen("testing.", "testing.dyn.", 1)
}

/// The schema with twins in place of the named types.
fn schema_of_twin(schema: &Schema) -> Schema {
    match schema {
        Schema::Object(ty) => Schema::named(&key_of_twin(ty.key())),
        Schema::Optional(inner) => Schema::Optional(Box::new(schema_of_twin(inner))),
        other => other.clone(),
    }
}

/// True if the fields of a role's type are mutable. About half of the types have
/// mutable fields, and both halves have fields of every kind.
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
            | Role::Define
    )
}

/// Adds what is code and not data.
fn with_hooks(role: Role, twin: TypeDef) -> TypeDef {
    match role {
        Role::Comm => twin
            .hook(DynEqual::new(|left, right, eq| {
                let (left, right) = (two(left, "lhs", "rhs")?, two(right, "lhs", "rhs")?);
                comm_equal(left.each_ref(), right.each_ref(), eq)
            }))
            .hook(DynHash::new(|object, init, hash| {
                comm_hash(two(object, "lhs", "rhs")?.each_ref(), init, hash)
            })),
        Role::Binder => twin
            .hook(DynEqual::new(|left, right, eq| {
                let (left, right) = (two(left, "params", "body")?, two(right, "params", "body")?);
                binder_equal(left.each_ref(), right.each_ref(), eq)
            }))
            .hook(DynHash::new(|object, init, hash| {
                let [params, body] = two(object, "params", "body")?;
                binder_hash(&params, &body, init, hash)
            })),
        Role::Wrap => twin
            .hook(DynEqual::new(|left, right, eq| {
                let (left, right) = (field_value(left, "part")?, field_value(right, "part")?);
                wrap_equal(&left, &right, eq)
            }))
            .hook(DynHash::new(|object, init, hash| {
                wrap_hash(&field_value(object, "part")?, init, hash)
            })),
        Role::Define => twin
            .hook(DynEqual::new(|left, right, eq| {
                let (left, right) = (definition(left)?, definition(right)?);
                define_equal(left.0, &left.1, right.0, &right.1, eq)
            }))
            .hook(DynHash::new(|object, init, hash| {
                let (number, target) = definition(object)?;
                define_hash(number, &target, init, hash)
            })),
        _ => twin,
    }
}

fn definition(object: &Ref<Obj>) -> Result<(i64, Value)> {
    let number = field_value(object, "number")?.extract()?;
    Ok((number, field_value(object, "target")?))
}

fn two(object: &Ref<Obj>, first: &str, second: &str) -> Result<[Value; 2]> {
    Ok([field_value(object, first)?, field_value(object, second)?])
}
