//! Checks values read from files against the schemas of fields.
//!
//! [`Schema::convert`] looks at every element of a typed container in each call. In a
//! file, one container may be in any number of fields, so a small file could cost
//! quadratic time and, with copying conversions, quadratic memory. The checker here
//! checks every container once per schema, and shares a converted container like the
//! original.

use hashbrown::{HashMap, HashSet};

use crate::kernel::container::{Array, Contents, Map};
use crate::kernel::error::{Error, Result};
use crate::kernel::types::{Parts, Schema, nearest};
use crate::kernel::value::Value;

/// Smaller containers that already fit are checked again instead of remembered: this is
/// cheaper, and costs at most this factor.
const REMEMBERED_LENGTH: usize = 8;

/// Checks and converts values, and remembers the results for containers.
#[derive(Default)]
pub(crate) struct SchemaChecker {
    // By address of the schema and identity number of the container; None for an
    // unfitting container.
    known: HashMap<(usize, u64), Option<Value>, rapidhash::fast::RandomState>,
    // Immutable containers whose lists and dicts have the demands of a schema; lists
    // and dicts themselves can be asked directly.
    claimed: HashSet<(usize, u64), rapidhash::fast::RandomState>,
}

impl SchemaChecker {
    /// Converts the value to the schema.
    ///
    /// Recursion follows the schema, a part of the type's declaration.
    ///
    /// # Errors
    ///
    /// `TypeError` describing the expected and the given value.
    pub(crate) fn fit(&mut self, schema: &'static Schema, value: Value) -> Result<Value> {
        match schema {
            Schema::Any => Ok(value),
            Schema::Optional(_) if value.is_none() => Ok(value),
            Schema::Optional(inner) => self.fit(inner, value),
            Schema::Union(options) => self.fit_union(schema, options, value),
            Schema::Tuple(_) => self.fit_container(schema, value),
            _ if schema.parts().is_some() => self.fit_container(schema, value),
            _ => schema.convert(value),
        }
    }

    /// True if the lists and dicts in a fitting value may still need the demands of the
    /// schema; true at most once for immutable values.
    pub(crate) fn is_unclaimed(&mut self, schema: &'static Schema, value: &Value) -> bool {
        match value.object_ref() {
            None => false,
            Some(object) if object.info().class().is_mutable() => true,
            Some(object) => {
                let key = (std::ptr::from_ref(schema).addr(), object.ident());
                self.claimed.insert(key)
            }
        }
    }

    /// An option that accepts the value unchanged takes precedence over an option that
    /// converts the value.
    fn fit_union(
        &mut self,
        schema: &'static Schema,
        options: &'static [Schema],
        value: Value,
    ) -> Result<Value> {
        let mut converted = None;
        for option in nearest(options, &value) {
            match self.fit(option, value.clone()) {
                Ok(fitting) if fitting.words() == value.words() => return Ok(value),
                Ok(fitting) => converted = converted.or(Some(fitting)),
                Err(_) => {}
            }
        }
        converted.ok_or_else(|| mismatch(schema, &value))
    }

    fn fit_container(&mut self, schema: &'static Schema, value: Value) -> Result<Value> {
        let Some(object) = value.as_object() else {
            return Err(mismatch(schema, &value));
        };
        let key = (std::ptr::from_ref(schema).addr(), object.identity());
        if let Some(known) = self.known.get(&key) {
            return known.clone().ok_or_else(|| mismatch(schema, &value));
        }
        let result = self.fit_parts(schema, &value);
        let as_it_was = matches!(&result, Ok(fitting) if fitting.words() == value.words());
        if !as_it_was
            || value
                .contents()
                .is_some_and(|parts| parts.len() > REMEMBERED_LENGTH)
        {
            self.known.insert(key, result.as_ref().ok().cloned());
        }
        result
    }

    fn fit_parts(&mut self, schema: &'static Schema, value: &Value) -> Result<Value> {
        let refused = || mismatch(schema, value);
        let contents = value.contents().ok_or_else(refused)?;
        if let (Schema::Tuple(items), Contents::Items(array)) = (schema, &contents)
            && array.len() == items.len()
        {
            let changed = self.fit_tuple(items, array)?;
            return Ok(changed.map_or_else(|| array.clone(), Array::from).into());
        }
        let (wanted, parts) = schema.parts().ok_or_else(refused)?;
        let changed = match (parts, &contents) {
            (Parts::Items(inner), Contents::Items(array)) => {
                let changed = self.fit_items(inner, array.values())?;
                changed.map(|items| Contents::Items(items.into()))
            }
            (Parts::Entries(pair), Contents::Entries(map)) => {
                let changed = self
                    .fit_entries(pair, map)?
                    .map(Map::try_from_entries)
                    .transpose()?;
                changed.map(Contents::Entries)
            }
            _ => return Err(refused()),
        };
        if changed.is_none() && value.container() == Some(wanted) {
            return Ok(value.clone());
        }
        let result = wanted.holding(changed.unwrap_or(contents));
        result.ok_or_else(refused)
    }

    /// Converts each item to its own schema; None if no item changes.
    fn fit_tuple(
        &mut self,
        schemas: &'static [Schema],
        array: &Array,
    ) -> Result<Option<Vec<Value>>> {
        let mut fitting = Vec::with_capacity(schemas.len());
        for (position, (schema, item)) in schemas.iter().zip(array.values()).enumerate() {
            let item = self
                .fit(schema, item.clone())
                .map_err(|error| within(&format_args!("element [{position}]"), &error))?;
            fitting.push(item);
        }
        let pairs = fitting.iter().zip(array.values());
        let changed = pairs
            .into_iter()
            .any(|(new, old)| new.words() != old.words());
        Ok(changed.then_some(fitting))
    }

    /// Converts the items; None if no item changes.
    fn fit_items(&mut self, inner: &'static Schema, items: &[Value]) -> Result<Option<Vec<Value>>> {
        if matches!(inner, Schema::Any) {
            return Ok(None);
        }
        let mut changed: Option<Vec<Value>> = None;
        for (position, item) in items.iter().enumerate() {
            let fitting = self
                .fit(inner, item.clone())
                .map_err(|error| within(&format_args!("element [{position}]"), &error))?;
            if changed.is_none() && fitting.words() != item.words() {
                changed = Some(items[..position].to_vec());
            }
            if let Some(changed) = &mut changed {
                changed.push(fitting);
            }
        }
        Ok(changed)
    }

    /// Converts the entries; None if no entry changes.
    fn fit_entries(
        &mut self,
        pair: &'static (Schema, Schema),
        map: &Map,
    ) -> Result<Option<Vec<(Value, Value)>>> {
        if matches!(pair, (Schema::Any, Schema::Any)) {
            return Ok(None);
        }
        let mut entries = Vec::with_capacity(map.len());
        let mut changed = false;
        for (key, value) in map.iter() {
            let new_key = self
                .fit(&pair.0, key.clone())
                .map_err(|error| within(&format_args!("key {key:?}"), &error))?;
            let new_value = self
                .fit(&pair.1, value.clone())
                .map_err(|error| within(&format_args!("element [{key:?}]"), &error))?;
            changed |= new_key.words() != key.words() || new_value.words() != value.words();
            entries.push((new_key, new_value));
        }
        Ok(changed.then_some(entries))
    }
}

fn mismatch(schema: &Schema, value: &Value) -> Error {
    Error::type_error(format!("expected {schema}, got {}", value.type_name()))
}

fn within(place: &dyn std::fmt::Display, error: &Error) -> Error {
    Error::type_error(format!("{place}: {}", error.message()))
}
