//! The roles that types have to declare for an option of a pattern to have any effect. An
//! option without effect is an error: a pattern that silently never matches costs more
//! time than any message.
//!
//! A type is asked together with the types of its dialect, which have the same type key
//! before the last dot. A template of subtractions may therefore ask for operands in any
//! order as soon as its dialect knows operands in any order.

use super::data::{Hole, PatternOptions, Root};
use crate::kernel::container::Bytes;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, TypeInfo, is_a};
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::role_attributes::may_hold_array;
use crate::kernel::types::{Kind, Parts, Schema};
use crate::kernel::value::Value;
use crate::traverse::{BINDING, COMMUTATIVE, CONSTANT, PROJECTION, PURE};

/// The part of a type key before the last dot.
fn dialect(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(dialect, _)| dialect)
}

/// The types with an attribute, with its values. O(types).
fn declared(attribute: &str) -> Vec<(&'static TypeInfo, &'static Value)> {
    let column = attributes::table().find(attribute);
    let entries = column.into_iter().flat_map(|column| column.entries());
    entries
        .map(|(index, value)| (table::info(TypeIndex(index)), value))
        .collect()
}

/// True if one of the types, or a type of the same dialect, has an attribute.
fn is_known(types: &[TypeIndex], attribute: &str) -> bool {
    let has = |ty: &TypeIndex| attributes::get(*ty, attribute, Lookup::Nearest).is_some();
    types.iter().any(has) || {
        let all = declared(attribute);
        let mut dialects = all.iter().map(|(info, _)| dialect(info.key()));
        dialects.any(|known| {
            let mut own = types.iter().map(|ty| dialect(table::info(*ty).key()));
            own.any(|own| own == known)
        })
    }
}

fn useless(option: &str, found: &str, ty: TypeIndex, attribute: &str, value: &str) -> Error {
    let key = table::info(ty).key();
    Error::value_error(format!(
        "{option} has no effect on {key}: {found}; declare this role where the types are \
         declared, for example type_attrs.set({key}, \"{attribute}\", {value}), in Rust \
         attrs::set"
    ))
}

/// Checks that types declare the roles for the options of a pattern and its holes; `types`
/// are the declared types of the template's nodes, without variables and singletons.
///
/// # Errors
///
/// `ValueError` with the type and the missing role.
pub(super) fn check_options(
    types: &[TypeIndex],
    holes: &[Hole],
    options: PatternOptions,
) -> Result<()> {
    let Some(&first) = types.first() else {
        return Ok(());
    };
    if options.commutative && !is_known(types, COMMUTATIVE) {
        return Err(useless(
            "Pattern.commutative",
            &format!(
                "neither the types of the template nor other types of '{}' have the attribute \
                 '{COMMUTATIVE}'",
                dialect(table::info(first).key())
            ),
            first,
            COMMUTATIVE,
            "the names of two fields, the name of one array field, or a function of the node",
        ));
    }
    if options.definitions {
        check_definitions(types, first)?;
    }
    let wants_constant = |hole: &&Hole| hole.form.constant;
    for hole in holes.iter().filter(wants_constant) {
        check_constant(hole, types, first)?;
    }
    Ok(())
}

fn check_definitions(types: &[TypeIndex], first: TypeIndex) -> Result<()> {
    let may_be_pure = |ty: &TypeIndex| {
        let pure = attributes::get(*ty, PURE, Lookup::Nearest);
        pure.is_some_and(|pure| pure.as_bool() != Some(false))
    };
    if !types.iter().any(may_be_pure) {
        return Err(useless(
            "Pattern.definitions",
            &format!(
                "no node of the template has a type with the attribute '{PURE}', and a value \
                 that may have an effect stays where its variable is bound"
            ),
            first,
            PURE,
            "True",
        ));
    }
    let binds = |(info, names): &(&'static TypeInfo, &'static Value)| {
        let value = named_field(info, names, "value");
        value.is_none_or(|value| types.iter().any(|ty| admits(value, *ty)))
    };
    if declared(BINDING).iter().any(binds) {
        return Ok(());
    }
    let key = table::info(first).key();
    Err(Error::value_error(format!(
        "Pattern.definitions has no effect on {key}: no type with the attribute '{BINDING}' binds \
         variables to such values; declare the role for the type that binds variables, for \
         example type_attrs.set(Let, \"{BINDING}\", {{\"var\": \"var\", \"value\": \"value\"}}), \
         in Rust attrs::set"
    )))
}

/// The schema of the field that an attribute names for a role; None if unknown.
fn named_field<'i>(info: &'i TypeInfo, names: &Value, role: &str) -> Option<&'i Schema> {
    let name = names.as_map()?.get(role)?.as_str()?.to_owned();
    let field = info.field_index(&name)?;
    Some(info.fields()[field].schema())
}

/// True if a field with this schema may hold objects of a type, or of types extending it.
fn admits(schema: &Schema, ty: TypeIndex) -> bool {
    match schema {
        Schema::Any => true,
        Schema::Object(class) => {
            let class = class.index();
            class.is_none_or(|class| is_a(ty, class) || is_a(class, ty))
        }
        Schema::Optional(inner) => admits(inner, ty),
        Schema::Union(options) => options.iter().any(|option| admits(option, ty)),
        _ => false,
    }
}

/// A hole for constants is useless only if no type of the dialects declares constants,
/// and no field of the template that may hold the variable may hold a plain value.
fn check_constant(hole: &Hole, types: &[TypeIndex], first: TypeIndex) -> Result<()> {
    let own = hole.var().as_object().map(|var| var.type_info());
    let lineage = own.into_iter().flat_map(TypeInfo::lineage);
    let lineage = lineage.filter(|ty| !table::info(*ty).is_builtin());
    let all: Vec<TypeIndex> = types
        .iter()
        .copied()
        .chain(lineage)
        .chain(hole.class)
        .collect();
    if is_known(&all, CONSTANT) {
        return Ok(());
    }
    let samples = [
        0.into(),
        0.0.into(),
        "".into(),
        Value::from(Bytes::from(Vec::new())),
    ];
    let holds_plain = |schema: &Schema| {
        schema.check(hole.var()).is_ok()
            && samples.iter().any(|sample| schema.check(sample).is_ok())
    };
    let mut open: Vec<&Schema> = types
        .iter()
        .flat_map(|ty| table::info(*ty).fields())
        .map(|field| field.schema())
        .collect();
    while let Some(schema) = open.pop() {
        if holds_plain(schema) {
            return Ok(());
        }
        match schema {
            Schema::Optional(inner) => open.push(inner),
            Schema::Union(parts) | Schema::Tuple(parts) => open.extend(parts.iter()),
            Schema::Object(ty) if ty.index().is_some_and(|ty| table::info(ty).is_builtin()) => {
                // A container without declared parts holds anything.
                return Ok(());
            }
            _ => match schema.parts() {
                Some((_, Parts::Items(inner))) => open.push(inner),
                Some((_, Parts::Entries((_, inner)))) => open.push(inner),
                None => {}
            },
        }
    }
    Err(useless(
        "Hole.constant",
        &format!(
            "neither the types of the template and the hole nor other types of their dialects \
             have the attribute '{CONSTANT}', and the fields take no numbers, strings and tensors"
        ),
        first,
        CONSTANT,
        "True",
    )
    .in_context(format_args!("the hole {:?}", hole.var())))
}

/// Checks that a type selects a result of the nodes that a pattern matches, or binds
/// variables to the results.
///
/// # Errors
///
/// `ValueError` with the type and the missing role.
pub(super) fn check_results(roots: &[Root]) -> Result<()> {
    let exact = |root: &Root| match root {
        Root::Exactly(ty) if !table::info(*ty).is_builtin() => Some(*ty),
        _ => None,
    };
    let Some(types) = roots.iter().map(exact).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let Some(&first) = types.first() else {
        return Ok(());
    };
    let takes = |schema: Option<&Schema>| {
        schema.is_none_or(|schema| types.iter().any(|ty| admits(schema, *ty)))
    };
    let selects = declared(PROJECTION)
        .iter()
        .any(|(info, names)| takes(named_field(info, names, "of")));
    let binds = declared(BINDING).iter().any(|(info, names)| {
        takes(named_field(info, names, "value"))
            && named_field(info, names, "var").is_none_or(may_hold_array)
    });
    if selects || binds {
        return Ok(());
    }
    let key = table::info(first).key();
    Err(Error::value_error(format!(
        "Rule.results has no effect on {key}: no type with the attribute '{PROJECTION}' selects a \
         result of such nodes, and none with '{BINDING}' binds an array of variables to them; \
         declare the role for the type that selects a result, for example \
         type_attrs.set(GetItem, \"{PROJECTION}\", {{\"of\": \"value\", \"index\": \"index\"}}), in \
         Rust attrs::set"
    )))
}

/// True for a type whose nodes may have a role: neither built in, nor a variable, nor an
/// object with a name of its own.
pub(super) fn has_roles(info: &TypeInfo) -> bool {
    !info.is_builtin() && !matches!(info.kind(), Kind::Var | Kind::Singleton)
}
