//! Requirements on the elements of lists and dicts.
//!
//! A list in a field of type `List[Var]` accepts only variables, whichever handle
//! changes the list. Otherwise, the field would contain values forbidden by its type,
//! and files written from the field would be unreadable. The requirements therefore
//! travel with the container and apply from the moment the container enters the field.
//! A container in several fields satisfies the demands of all fields. Demands are never
//! revoked; a copy of the elements in a new container starts without any.
//!
//! A container stores the number of a set of demands in a process-wide table; 0 means
//! no demand. Sets are few: one per typed field, and one for each combination of fields
//! sharing a container.
//!
//! Demands are recorded when a container enters a typed field, or leaves a field of a
//! Rust struct, and are checked by the function that inserts an element.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use hashbrown::HashMap;

use super::{Array, Entries};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::contents::MutableContents;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::types::{Parts, Schema, in_place};
use crate::kernel::value::Value;

/// The demands on one container. Demands change only while nobody writes the contents.
#[derive(Debug, Default)]
pub(crate) struct Demands(AtomicU32);

impl Demands {
    /// The number of the set, or 0 without demands.
    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn set(&self, number: u32) {
        self.0.store(number, Ordering::Release);
    }

    /// Sets the number if the current number is the expected number.
    pub(super) fn replace(&self, expected: u32, number: u32) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        let replaced = self.0.compare_exchange(expected, number, success, failure);
        replaced.is_ok()
    }
}

/// The requirement of one field on the elements of a container in the field.
#[derive(Clone, Copy)]
struct ElementConstraint {
    field: Field,
    parts: Parts<'static>,
}

/// A field of a type, as named in messages.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    info: &'static TypeInfo,
    position: usize,
}

impl Field {
    pub(crate) fn new(info: &'static TypeInfo, position: usize) -> Self {
        Field { info, position }
    }

    fn schema(self) -> &'static Schema {
        self.info.fields()[self.position].schema()
    }

    fn blame(self, error: Error) -> Error {
        let name = self.info.fields()[self.position].name();
        in_place(format_args!("{}.{name}", self.info.key()), error)
    }
}

#[derive(Default)]
struct Table {
    /// The sets by number, starting at 1.
    sets: Vec<&'static [ElementConstraint]>,
    /// Maps a set and the address of a further demand to the extended set.
    extended: HashMap<(u32, usize), u32>,
}

impl Table {
    fn set(&self, number: u32) -> &'static [ElementConstraint] {
        let position = (number as usize).checked_sub(1);
        position.map_or(&[], |position| self.sets[position])
    }
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

fn set(number: u32) -> &'static [ElementConstraint] {
    TABLE
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .set(number)
}

/// The number of the set with one more demand, or the same number if the set already
/// contains the demand.
fn extended(number: u32, demand: ElementConstraint) -> u32 {
    let key = (number, demand.parts.address());
    let read_table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(&superset) = read_table.extended.get(&key) {
        return superset;
    }
    drop(read_table);
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(&superset) = table.extended.get(&key) {
        return superset;
    }
    let demands = table.set(number);
    let result = if demands.iter().any(|other| other.parts == demand.parts) {
        number
    } else {
        let demands: Vec<_> = demands.iter().copied().chain([demand]).collect();
        table.sets.push(Vec::leak(demands));
        // Each set takes four bytes at least, so four billion sets do not fit.
        table.sets.len() as u32
    };
    table.extended.insert(key, result);
    result
}

/// Converts the items to the form stored by a list with these demands.
///
/// # Errors
///
/// `TypeError` naming type and field, expected and given value; errors of the types'
/// hooks.
#[cold]
pub(super) fn admit_items(number: u32, items: &mut [Value]) -> Result<()> {
    let demands = set(number);
    for item in items {
        for demand in demands {
            if let Parts::Items(schema) = demand.parts {
                let value = std::mem::take(item);
                let converted = schema.convert(value);
                *item = converted.map_err(|error| {
                    let error = in_place(format_args!("element"), error);
                    demand.field.blame(error)
                })?;
            }
        }
        for demand in demands {
            if let Parts::Items(schema) = demand.parts {
                let settled = recheck(schema, item, demands)
                    .and_then(|()| settle(demand.field, schema, item));
                settled.map_err(|error| {
                    let error = in_place(format_args!("element"), error);
                    demand.field.blame(error)
                })?;
            }
        }
    }
    Ok(())
}

/// Converting for one demand may violate another.
fn recheck(schema: &Schema, value: &Value, demands: &[ElementConstraint]) -> Result<()> {
    match demands {
        [_] => Ok(()),
        _ => schema.check(value),
    }
}

/// Converts an entry to the form stored by a dict with these demands.
///
/// # Errors
///
/// As [`admit_items`].
#[cold]
pub(super) fn admit_entry(number: u32, key: &mut Value, value: &mut Value) -> Result<()> {
    let demands = set(number);
    let shown = key.clone();
    let at_key = |error| in_place(format_args!("key {shown:?}"), error);
    let at_value = |error| in_place(format_args!("element [{shown:?}]"), error);
    for ElementConstraint { field, parts } in demands {
        if let Parts::Entries((keys, values)) = parts {
            let converted = keys.convert(std::mem::take(key)).map_err(at_key);
            *key = converted.map_err(|error| field.blame(error))?;
            let converted = values.convert(std::mem::take(value)).map_err(at_value);
            *value = converted.map_err(|error| field.blame(error))?;
        }
    }
    for ElementConstraint { field, parts } in demands {
        if let Parts::Entries((keys, values)) = parts {
            let settled = recheck(keys, key, demands)
                .and_then(|()| settle(*field, keys, key))
                .map_err(at_key);
            settled.map_err(|error| field.blame(error))?;
            let settled = recheck(values, value, demands)
                .and_then(|()| settle(*field, values, value))
                .map_err(at_value);
            settled.map_err(|error| field.blame(error))?;
        }
    }
    Ok(())
}

/// True if values of a schema contain lists or dicts whose elements must stay typed.
pub(crate) fn binds(schema: &Schema) -> bool {
    match schema {
        Schema::Optional(inner) => binds(inner),
        Schema::Union(parts) | Schema::Tuple(parts) => parts.iter().any(binds),
        _ => match schema.parts() {
            Some((container, parts)) if container.is_mutable() => parts.demand_anything(),
            Some((_, Parts::Items(inner))) => binds(inner),
            Some((_, Parts::Entries((keys, values)))) => binds(keys) || binds(values),
            None => false,
        },
    }
}

/// Adds the demands of a field to the lists and dicts in a value of the field. O(1) for
/// a container already under these demands, O(elements) otherwise.
///
/// # Errors
///
/// `TypeError` if another thread has meanwhile made part of the value unfit.
#[cold]
pub(crate) fn claim(field: Field, value: &Value) -> Result<()> {
    settle(field, field.schema(), value).map_err(|error| field.blame(error))
}

/// [`claim`] for part of a field's schema. Recursion follows the schema, which belongs
/// to the type's declaration.
fn settle(field: Field, schema: &'static Schema, value: &Value) -> Result<()> {
    if !binds(schema) {
        return Ok(());
    }
    let (container, parts) = match (schema, schema.parts()) {
        (_, Some(typed_container)) => typed_container,
        (Schema::Optional(inner), _) => return settle(field, inner, value),
        (Schema::Union(options), _) => {
            // If several fit, the first one counts.
            let option = options.iter().find(|option| option.check(value).is_ok());
            return option.map_or(Ok(()), |option| settle(field, option, value));
        }
        (Schema::Tuple(parts), _) => {
            let items = value.as_array().map_or(&[][..], Array::values);
            let mut items = parts.iter().zip(items);
            return items.try_for_each(|(part, item)| settle(field, part, item));
        }
        _ => return Ok(()),
    };
    let Some(object) = value.object_ref() else {
        return Ok(());
    };
    if object.info().container() != Some(container) {
        return Ok(());
    }
    let demand = ElementConstraint { field, parts };
    let extend = |number| extended(number, demand);
    match (parts, object.changing()) {
        (Parts::Items(inner), Some(MutableContents::Items(list))) => list.demand(extend, |items| {
            items.values().iter().try_for_each(|item| {
                inner.check(item)?;
                settle(field, inner, item)
            })
        }),
        (Parts::Entries((keys, values)), Some(MutableContents::Entries(dict))) => {
            dict.demand(extend, |entries| {
                entries.iter().try_for_each(|(key, value)| {
                    keys.check(key)?;
                    values.check(value)?;
                    settle(field, keys, key)?;
                    settle(field, values, value)
                })
            })
        }
        (Parts::Items(inner), _) => {
            let mut items = object.items().into_iter().flatten();
            items.try_for_each(|item| settle(field, inner, item))
        }
        (Parts::Entries((keys, values)), _) => {
            let mut entries = object.entries().into_iter().flat_map(Entries::pairs);
            entries.try_for_each(|(key, value)| {
                settle(field, keys, key)?;
                settle(field, values, value)
            })
        }
    }
}
