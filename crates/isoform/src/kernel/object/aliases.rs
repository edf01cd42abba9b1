//! The former keys of types and names of fields, which files may have.

use std::collections::HashMap;

use super::header::TypeIndex;
use super::table::{TypeInfo, info};
use crate::kernel::error::{Error, Result};
use crate::kernel::types::{FieldDef, TypeDef};

/// The types by their former keys.
#[derive(Default)]
pub(super) struct Aliases(HashMap<Box<str>, TypeIndex>);

impl Aliases {
    /// The type with this alias.
    pub(super) fn find(&self, alias: &str) -> Option<TypeIndex> {
        self.0.get(alias).copied()
    }

    /// Enters the aliases of a new type, in place of those of a replaced type.
    pub(super) fn enter(&mut self, new: &TypeInfo, replaced: Option<&'static TypeInfo>) {
        if let Some(replaced) = replaced {
            self.0.retain(|_, owner| *owner != replaced.index);
        }
        for alias in new.definition().former_keys() {
            self.0.insert(alias.clone(), new.index);
        }
    }

    /// Checks that files name one type by each key; `replaced` gives up its aliases.
    pub(super) fn check(
        &self,
        definition: &TypeDef,
        replaced: Option<&'static TypeInfo>,
        is_key: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let key = definition.key();
        let owner = |name: &str| {
            let owner = self.find(name).map(info)?;
            let stays = replaced.is_none_or(|replaced| replaced.index != owner.index);
            stays.then_some(owner)
        };
        if let Some(owner) = owner(key) {
            return Err(Error::value_error(format!(
                "type key {key} is an alias of type {}, so files with it are read as that type; \
                 choose another key, or remove the alias",
                owner.key()
            )));
        }
        for alias in definition.former_keys() {
            let what = if alias.is_empty() {
                "an alias must not be empty".to_owned()
            } else if **alias == *key {
                format!("alias '{alias}' is the type's own key")
            } else if is_key(alias) {
                format!("alias '{alias}' is the key of another registered type")
            } else if let Some(owner) = owner(alias) {
                format!("alias '{alias}' is an alias of type {}, too", owner.key())
            } else {
                continue;
            };
            return Err(Error::value_error(format!("type {key}: {what}")));
        }
        Ok(())
    }
}

/// Checks that each field alias, those of the parent included, names one field.
pub(super) fn check_field_aliases(parent: &TypeInfo, definition: &TypeDef) -> Result<()> {
    let fields = || parent.fields().iter().chain(definition.own_fields());
    for field in fields() {
        for alias in field.former_names() {
            let is_other = |other: &&FieldDef| {
                let is_called = !std::ptr::eq(*other, field) && other.is_called(alias);
                other.name() == &**alias || is_called
            };
            if let Some(other) = fields().find(is_other) {
                return Err(Error::value_error(format!(
                    "type {}: alias '{alias}' of field '{}' is a name or an alias of field '{}'",
                    definition.key(),
                    field.name(),
                    other.name()
                )));
            }
        }
    }
    Ok(())
}
