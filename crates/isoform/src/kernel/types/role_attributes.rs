//! The attributes for the roles of types in rewrites: names, documentation, and the check
//! of their values.
//!
//! A value of the wrong form is refused where it is set, together with the type at fault.
//! The traversal (`traverse/roles.rs`) reads the attributes, and checks functions, whose
//! results nobody knows earlier.

use super::hints::name_hint;
use super::schema::Schema;
use super::{FieldDef, FieldFlag};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::table;
use crate::kernel::value::Value;

pub(crate) const BINDING: &str = "rewrite.binding";
pub(crate) const PURE: &str = "rewrite.pure";
pub(crate) const PROJECTION: &str = "rewrite.projection";
pub(crate) const COMMUTATIVE: &str = "rewrite.commutative";
pub(crate) const CONSTANT: &str = "rewrite.constant";

/// The forms of the value of [`COMMUTATIVE`].
pub(crate) const OPERANDS: &str =
    "the names of two fields, the name of one field with an array, or a function";

/// An attribute for a role: name, documentation, check of a value.
pub(crate) type RoleAttribute = (&'static str, &'static str, fn(&Value) -> Result<()>);

pub(crate) const ROLES: [RoleAttribute; 5] = [
    (
        BINDING,
        "The fields of a type that binds variables: a map with the names of the fields 'var' \
         (a variable, or an array of variables), 'value' and, for an expression around its \
         scope, 'body'.",
        check_binding,
    ),
    (
        PURE,
        "Evaluating a node, apart from its parts, has no effect but its result: a bool, or a \
         function from a node to a bool.",
        check_decision,
    ),
    (
        PROJECTION,
        "The fields of a type that selects one of several results of a node: a map with the \
         names of the fields 'of' and 'index'.",
        check_projection,
    ),
    (
        COMMUTATIVE,
        "The parts in any order: an array with the names of two fields, the name of one field \
         with an array, or a function from a node to one of these or None.",
        check_operands,
    ),
    (
        CONSTANT,
        "The objects of the type are constants: a bool.",
        check_flag,
    ),
];

fn unfit(expected: &str, got: &Value) -> Error {
    Error::type_error(format!("expected {expected}, got {}", got.type_name()))
}

fn check_flag(value: &Value) -> Result<()> {
    let flag = value.as_bool().ok_or_else(|| unfit("a bool", value));
    flag.map(drop)
}

fn check_decision(value: &Value) -> Result<()> {
    if value.as_bool().is_some() || value.extract::<Function>().is_ok() {
        return Ok(());
    }
    Err(unfit("a bool or a function", value))
}

fn check_binding(value: &Value) -> Result<()> {
    check_names(value, &["var", "value"], &["body"])
}

fn check_projection(value: &Value) -> Result<()> {
    check_names(value, &["of", "index"], &[])
}

/// Checks a map from roles to names of fields.
fn check_names(value: &Value, required: &[&str], optional: &[&str]) -> Result<()> {
    let Some(map) = value.as_map() else {
        return Err(unfit("a map from str to str", value));
    };
    let roles = || required.iter().chain(optional).copied();
    for (role, field) in map.iter() {
        let (Some(role), Some(_)) = (role.as_str(), field.as_str()) else {
            return Err(unfit("a map from str to str", value));
        };
        if roles().all(|known| known != role) {
            let known: Vec<String> = roles().map(|known| format!("'{known}'")).collect();
            return Err(Error::value_error(format!(
                "expected the names of fields under {}, got '{role}'{}",
                known.join(", "),
                name_hint(role, roles())
            )));
        }
    }
    for role in required {
        if map.get(Value::from(*role)).is_none() {
            return Err(Error::value_error(format!(
                "expected the name of a field under '{role}', got none"
            )));
        }
    }
    Ok(())
}

fn check_operands(value: &Value) -> Result<()> {
    if value.as_str().is_some() || value.extract::<Function>().is_ok() {
        return Ok(());
    }
    let Some(names) = value.items() else {
        return Err(unfit(OPERANDS, value));
    };
    let names: Vec<Option<&str>> = names.values().iter().map(Value::as_str).collect();
    match names[..] {
        [Some(first), Some(second)] if first != second => Ok(()),
        [Some(only)] => Err(Error::type_error(format!(
            "expected {OPERANDS}, got an array with one name; write '{only}' instead if the items \
             of this field may be in any order"
        ))),
        [Some(first), Some(_)] => Err(Error::value_error(format!(
            "expected {OPERANDS}, got '{first}' twice"
        ))),
        _ if names.contains(&None) => Err(Error::type_error(format!(
            "expected {OPERANDS}, got an array with other items than names"
        ))),
        _ => Err(Error::type_error(format!(
            "expected {OPERANDS}, got an array with {} names",
            names.len()
        ))),
    }
}

/// The names of fields in the value of an attribute; true for a field with an array.
fn field_names(attribute: &str, value: &Value) -> Vec<(String, bool)> {
    let owned = |name: &Value| name.as_str().map(|name| (name.to_owned(), false));
    match attribute {
        BINDING | PROJECTION => {
            let fields = value.as_map().into_iter().flat_map(|map| {
                let fields: Vec<_> = map.iter().filter_map(|(_, name)| owned(name)).collect();
                fields
            });
            fields.collect()
        }
        COMMUTATIVE => match value.as_str() {
            Some(name) => vec![(name.to_owned(), true)],
            None => {
                let names = value.items().into_iter();
                let names = names.flat_map(|names| names.values().to_vec());
                names.filter_map(|name| owned(&name)).collect()
            }
        },
        _ => Vec::new(),
    }
}

/// Checks the names of fields in the value of an attribute against the fields of a type.
/// A base type may name the fields of types extending the base, so a name counts as a
/// mistake only next to a name that the type has, similar to such a name, or alone where the
/// type has compared fields.
///
/// # Errors
///
/// `ValueError` for an unknown field, `TypeError` for a field without an array where the
/// attribute needs an array.
pub(crate) fn check_fields<'f>(
    key: &str,
    fields: impl Iterator<Item = &'f FieldDef> + Clone,
    attribute: &str,
    value: &Value,
) -> Result<()> {
    let named = field_names(attribute, value);
    let find = |name: &str| fields.clone().find(|field| field.name() == name);
    let is_compared = |field: &FieldDef| field.field_flag() != FieldFlag::Ignore;
    let is_complete = named.iter().any(|(name, _)| find(name).is_some())
        || named.len() == 1 && fields.clone().any(is_compared);
    for (name, holds_array) in &named {
        let Some(field) = find(name) else {
            let hint = name_hint(name, fields.clone().map(FieldDef::name));
            if is_complete || !hint.is_empty() {
                return Err(Error::value_error(format!(
                    "attribute '{attribute}' of type {key}: there is no field '{name}'{hint}"
                )));
            }
            continue;
        };
        if *holds_array && !may_hold_array(field.schema()) {
            return Err(Error::type_error(format!(
                "attribute '{attribute}' of type {key}: expected the name of a field with an \
                 array, got '{name}' with {}",
                field.schema()
            )));
        }
    }
    Ok(())
}

/// True if a field with this schema may hold an array or a list.
pub(crate) fn may_hold_array(schema: &Schema) -> bool {
    match schema {
        Schema::Any | Schema::Array(_) | Schema::List(_) | Schema::Tuple(_) => true,
        Schema::Object(ty) => ty.index().is_some_and(|ty| {
            let container = table::info(ty).container();
            container.is_some_and(|container| !container.is_mapping())
        }),
        Schema::Optional(inner) => may_hold_array(inner),
        Schema::Union(options) => options.iter().any(may_hold_array),
        _ => false,
    }
}
