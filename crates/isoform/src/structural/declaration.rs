//! The digest of a declaration: the name of a meaning, for cache keys.

use std::collections::BTreeMap;

use super::digest::Digest;
use super::fingerprint::structural_digest;
use crate::kernel::container::{Array, Bytes};
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::{FieldDef, FieldFlag, Parts, Schema, TypeRef};
use crate::kernel::value::Value;

/// The first part of the data of each digest; changes with the choice of the other parts.
const FORMAT: &str = "isoform.declaration.1";

/// Returns the digest of the declaration of a type and of all types that its compared fields
/// name, directly or through other types: a part of cache keys, beside the digest of a program.
///
/// The same declarations have the same digest in every process, in any order of registration.
/// It changes with type keys, those of ancestors included, kinds, scopes, and with names, schemas,
/// flags, defaults and the order of visit of compared fields. Ignored fields, aliases, members of
/// enums, methods, hooks and documentation have no part in it, nor have types that extend a named
/// type.
///
/// Functions that make defaults are called twice; if the two values differ, only the presence of
/// the default counts.
///
/// Linear in the number of fields of all these types, and in the sizes of their defaults.
///
/// # Errors
///
/// As [`structural_digest`] for a default, with type and field.
///
/// ```
/// use isoform::compare::declaration_digest;
/// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
/// let of = |key, schema| {
///     let field = FieldDef::new("value", schema);
///     declaration_digest(register_type(TypeDef::new(key).field(field))?)
/// };
/// assert_eq!(of("doc.A", Schema::Int)?, of("doc.A", Schema::Int)?);
/// assert_ne!(of("doc.A", Schema::Int)?, of("doc.B", Schema::Int)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn declaration_digest(ty: TypeIndex) -> Result<Digest> {
    // By key: the order of registration must not matter.
    let mut declarations = BTreeMap::new();
    let root = table::info(ty);
    let mut waiting = vec![(root.key(), Some(root))];
    while let Some((key, info)) = waiting.pop() {
        if declarations.contains_key(key) {
            continue;
        }
        let data = match info.filter(|info| !info.is_builtin()) {
            None => Value::NONE,
            Some(info) => {
                for field in compared(info) {
                    let named = named_types(field.schema()).into_iter();
                    waiting.extend(named.map(|ty| (ty.key(), ty.index().map(table::info))));
                }
                declaration(info)?
            }
        };
        declarations.insert(key, data);
    }
    let mut data: Vec<Value> = vec![FORMAT.into(), root.key().into()];
    for (key, declaration) in declarations {
        data.extend([key.into(), declaration]);
    }
    structural_digest(array(data))
}

/// The declaration of one type as data.
fn declaration(info: &'static TypeInfo) -> Result<Value> {
    let ancestors = info.lineage().map(|ty| table::info(ty).key().into());
    let mut data = vec![
        info.kind().name().into(),
        info.is_scope().into(),
        array(ancestors.collect()),
    ];
    for field in compared(info) {
        let default = default_of(field)
            .map_err(|error| error.in_context(format!("{}.{}", info.key(), field.name())))?;
        data.push(array(vec![
            field.name().into(),
            field.schema().to_string().into(),
            field.field_flag().name().unwrap_or_default().into(),
            default,
        ]));
    }
    Ok(array(data))
}

/// The default of a field as data: None for a required field.
fn default_of(field: &FieldDef) -> Result<Value> {
    let (Some(one), Some(other)) = (field.make_default(), field.make_default()) else {
        return Ok(Value::NONE);
    };
    let (one, other) = (structural_digest(one)?, structural_digest(other)?);
    Ok(if one == other {
        Bytes::from(one.as_bytes().to_vec()).into()
    } else {
        true.into()
    })
}

fn compared(info: &'static TypeInfo) -> impl Iterator<Item = &'static FieldDef> {
    info.fields_as_visited()
        .filter(|field| field.field_flag() != FieldFlag::Ignore)
}

/// The types that a schema names.
fn named_types(schema: &Schema) -> Vec<&TypeRef> {
    let mut named = Vec::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        match schema {
            Schema::Object(ty) => named.push(ty),
            Schema::Optional(inner) => waiting.push(inner),
            Schema::Union(items) | Schema::Tuple(items) => waiting.extend(items),
            _ => match schema.parts() {
                Some((_, Parts::Items(inner))) => waiting.push(inner),
                Some((_, Parts::Entries((keys, values)))) => waiting.extend([keys, values]),
                None => {}
            },
        }
    }
    named
}

fn array(values: Vec<Value>) -> Value {
    Array::from(values).into()
}
