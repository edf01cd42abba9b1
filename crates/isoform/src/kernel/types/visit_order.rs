//! The order of visit of the fields of a type, as declared by the type and its
//! ancestors, independent of the fields' offsets.
//!
//! Fields of parents come first, then the type's own fields in the order of
//! declaration, with definitions first if the type asks for it; a type's `visit_order`
//! overrides this order. Comparison, hashes, digests, walks and rewrites follow this
//! order; constructors, text and files follow the order of declaration.

use std::collections::HashMap;

use super::definition::{FieldDef, FieldFlag, TypeDef};
use crate::kernel::error::{Error, Result};

/// The positions of all fields of a type in the order of visit. `line` goes from the
/// root to the type itself; the ancestors are known to be valid.
///
/// # Errors
///
/// `ValueError` if the declared order names an unknown field, repeats or omits a field,
/// or contradicts `defs_first`.
pub(crate) fn visit_order(line: &[&TypeDef]) -> Result<Vec<usize>> {
    let mut fields: Vec<&FieldDef> = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    for definition in line {
        let inherited = fields.len();
        fields.extend(definition.own_fields());
        match definition.stated_order() {
            None => order.extend(inherited..fields.len()),
            Some(names) => {
                let (stated, is_named) = stated(names, &fields, inherited).map_err(|error| {
                    error.in_context(format!("type {}: visit_order", definition.key()))
                })?;
                order.retain(|position| !is_named[*position]);
                order.extend(stated);
                // Ignored fields may be omitted.
                order.extend((inherited..fields.len()).filter(|own| !is_named[*own]));
            }
        }
    }
    let Some(definition) = line.last() else {
        return Ok(order);
    };
    let is_stated = line
        .iter()
        .any(|type_def| type_def.stated_order().is_some());
    let by_default = definition.is_scope() && !is_stated;
    if definition.declared_defs_first().unwrap_or(by_default) {
        // The sort is stable, keeping the order within both groups.
        order.sort_by_key(|position| !is_definition(fields[*position]));
    }
    Ok(order)
}

/// The positions of the named fields, and for each field a flag telling whether the
/// field is named.
fn stated(
    names: &[Box<str>],
    fields: &[&FieldDef],
    inherited: usize,
) -> Result<(Vec<usize>, Vec<bool>)> {
    let positions: HashMap<&str, usize> = fields
        .iter()
        .enumerate()
        .map(|(position, field)| (field.name(), position))
        .collect();
    let mut order = Vec::with_capacity(names.len());
    let mut is_named = vec![false; fields.len()];
    for name in names {
        let Some(position) = positions.get(&**name).copied() else {
            let field_names: Vec<_> = fields.iter().map(|field| field.name()).collect();
            return Err(Error::value_error(format!(
                "unknown field '{name}', expected some of {}",
                field_names.join(", ")
            )));
        };
        if std::mem::replace(&mut is_named[position], true) {
            return Err(Error::value_error(format!("field '{name}' is named twice")));
        }
        order.push(position);
    }
    let mut own = fields.iter().zip(&is_named).skip(inherited);
    let missing = own.find(|(field, named)| !*named && field.field_flag() != FieldFlag::Ignore);
    match missing {
        None => Ok((order, is_named)),
        Some((field, _)) => Err(Error::value_error(format!(
            "field '{}' is missing, expected every field of the type's own that comparison visits",
            field.name()
        ))),
    }
}

/// A definition field put by the declared order after a field that `defs_first` puts
/// later: its name and the name of the other field.
pub(super) fn contradiction(definition: &TypeDef) -> Option<(&str, &str)> {
    let names = definition.stated_order()?;
    let own = |name: &str| {
        let mut fields = definition.own_fields().iter();
        fields.find(|field| field.name() == name)
    };
    let mut earlier = None;
    for field in names.iter().filter_map(|name| own(name)) {
        match (is_definition(field), earlier) {
            (true, Some(earlier)) => return Some((field.name(), earlier)),
            (false, None) => earlier = Some(field.name()),
            _ => {}
        }
    }
    None
}

fn is_definition(field: &FieldDef) -> bool {
    matches!(field.field_flag(), FieldFlag::Def | FieldFlag::DefSimple)
}
