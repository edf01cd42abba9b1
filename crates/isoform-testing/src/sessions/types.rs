//! Few types of all kinds, with unrestricted fields.

use std::sync::OnceLock;

use isoform::hooks::{DynEqual, DynHash, EqualCallback, HashCallback};
use isoform::objects::{construct, field_value};
use isoform::types::{
    FieldDef, FieldFlag, Kind, RegionChange, Schema, TypeDef, TypeIndex, register_type,
};
use isoform::{Array, Map, Obj, Ref, Result, Value};

/// The types.
#[allow(missing_docs)]
pub struct Types {
    pub var: TypeIndex,
    pub typed: TypeIndex,
    pub tree: TypeIndex,
    pub dag: TypeIndex,
    pub assign: TypeIndex,
    pub fun: TypeIndex,
    pub simple: TypeIndex,
    pub uses: TypeIndex,
    pub hooked: TypeIndex,
    pub cell: TypeIndex,
    pub odd: TypeIndex,
    pub dagscope: TypeIndex,
    pub frozenvar: TypeIndex,
}

/// The types, registered at the first call.
pub fn types() -> &'static Types {
    static TYPES: OnceLock<Types> = OnceLock::new();
    TYPES.get_or_init(|| {
        let any = |name: &str| FieldDef::new(name, Schema::Any);
        let ty = |def: TypeDef| register_type(def).expect("a new name");
        Types {
            var: ty(TypeDef::new("sessions.Var")
                .kind(Kind::Var)
                .field(any("name").flag(FieldFlag::Ignore))),
            typed: ty(TypeDef::new("sessions.Typed")
                .kind(Kind::Var)
                .field(any("ty").mutable(true))),
            tree: ty(TypeDef::new("sessions.Tree")
                .field(any("a"))
                .field(any("b"))),
            dag: ty(TypeDef::new("sessions.Dag")
                .kind(Kind::Dag)
                .field(any("a"))
                .field(any("b"))),
            assign: ty(TypeDef::new("sessions.Assign")
                .field(any("var").flag(FieldFlag::Def))
                .field(any("value"))),
            fun: ty(TypeDef::new("sessions.Fun")
                .scope(true)
                .field(any("params").flag(FieldFlag::Def))
                .field(any("body"))),
            simple: ty(TypeDef::new("sessions.Simple")
                .field(any("value"))
                .field(any("var").flag(FieldFlag::DefSimple))),
            uses: ty(TypeDef::new("sessions.Uses")
                .field(any("a").flag(FieldFlag::Use))
                .field(any("b"))),
            hooked: ty(TypeDef::new("sessions.Hooked")
                .field(any("a"))
                .field(any("b"))
                .hook(DynEqual::new(|l, r, eq| {
                    let ([la, lb], [ra, rb]) = (both(l)?, both(r)?);
                    if eq.attempt(&mut |eq| {
                        Ok(eq.equal_in(&la, &rb, RegionChange::Inherit, "a")?
                            && eq.equal_in(&lb, &ra, RegionChange::Inherit, "b")?)
                    })? {
                        return Ok(true);
                    }
                    Ok(eq.equal_in(&la, &ra, RegionChange::Inherit, "a")?
                        && eq.equal_in(&lb, &rb, RegionChange::Def, "b")?)
                }))
                .hook(DynHash::new(hash_both))),
            odd: ty(TypeDef::new("sessions.Odd")
                .field(any("mode"))
                .field(any("a"))
                .field(any("b"))
                .hook(DynEqual::new(odd))
                .hook(DynHash::new(hash_both))),
            cell: ty(TypeDef::new("sessions.Cell")
                .field(any("a").mutable(true))
                .field(any("b").mutable(true))),
            dagscope: ty(TypeDef::new("sessions.DagScope")
                .kind(Kind::Dag)
                .scope(true)
                .field(any("body"))
                .field(any("var").flag(FieldFlag::Def))),
            frozenvar: ty(TypeDef::new("sessions.Frozen")
                .kind(Kind::Var)
                .field(any("ty"))),
        }
    })
}

fn both(object: &Ref<Obj>) -> Result<[Value; 2]> {
    Ok([field_value(object, "a")?, field_value(object, "b")?])
}

fn hash_both(object: &Ref<Obj>, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
    let [a, b] = both(object)?;
    let first = hash.hash(&a, init)?;
    hash.hash_in(&b, first, RegionChange::Def)
}

/// A comparison that observes more than a conjunction would: a difference of parts, or
/// a failed comparison.
fn odd(l: &Ref<Obj>, r: &Ref<Obj>, eq: &mut dyn EqualCallback) -> Result<bool> {
    let ([la, lb], [ra, rb]) = (both(l)?, both(r)?);
    let mode = field_value(l, "mode")?.as_int().unwrap_or(0);
    let region = match mode % 2 {
        0 => RegionChange::Inherit,
        _ => RegionChange::Def,
    };
    match mode / 2 {
        0 => Ok(!eq.equal_in(&la, &ra, region, "a")? || eq.equal_in(&lb, &rb, region, "b")?),
        1 => match eq.equal_in(&la, &ra, region, "a") {
            Ok(false) => Ok(false),
            Ok(true) => eq.equal_in(&lb, &rb, region, "b"),
            Err(_) => Ok(true),
        },
        _ => Ok(eq.equal_in(&la, &ra, region, "a")?
            && !eq.attempt(&mut |eq| {
                Ok(eq.equal_in(&lb, &rb, region, "b")? && eq.equal_in(&la, &rb, region, "b")?)
            })?),
    }
}

/// An object of a type, given all fields.
pub fn make(ty: TypeIndex, fields: Vec<Value>) -> Value {
    construct(ty, fields).expect("as many fields").into()
}

/// A new variable.
pub fn var() -> Value {
    make(types().var, vec![Value::NONE])
}

/// A new variable with a field.
pub fn typed(ty: impl Into<Value>) -> Value {
    make(types().typed, vec![ty.into()])
}

/// A node of kind tree.
pub fn tree(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().tree, vec![a.into(), b.into()])
}

/// A node of kind dag.
pub fn dag(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().dag, vec![a.into(), b.into()])
}

/// Defines a variable where the definition is met.
pub fn assign(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().assign, vec![a.into(), b.into()])
}

/// A scope with parameters.
pub fn fun(a: impl Into<Value>, b: impl Into<Value>) -> Value {
    make(types().fun, vec![a.into(), b.into()])
}

/// An array.
pub fn arr(items: &[Value]) -> Value {
    Array::from(items.to_vec()).into()
}

/// A map.
pub fn map(entries: &[(Value, Value)]) -> Value {
    Map::from_iter(entries.iter().cloned()).into()
}
