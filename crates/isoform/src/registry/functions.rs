//! The global function registry.

use std::sync::{PoisonError, RwLock};

use indexmap::IndexMap;

use crate::error::{Error, ErrorKind, Result};
use crate::function::Function;

static FUNCTIONS: RwLock<Option<IndexMap<Box<str>, Function>>> = RwLock::new(None);

/// Registers a function under a global name, which becomes its own.
///
/// # Errors
///
/// `ValueError` when the name is empty, or taken and `replace` is false.
pub fn register_function(name: &str, function: Function, replace: bool) -> Result<()> {
    if name.is_empty() {
        return Err(Error::value_error("a global function needs a name"));
    }
    // Under its name before the lock: what a function holds may be counted by
    // code of the user.
    let function = match function.name() == Some(name) {
        true => function,
        false => function.named(name),
    };
    let mut guard = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    let table = guard.get_or_insert_default();
    if !replace && table.contains_key(name) {
        return Err(Error::value_error(format!(
            "global function '{name}' is already registered"
        )));
    }
    let old = table.insert(name.into(), function);
    // What a function holds may run code of the user when it goes, which may
    // come back here.
    drop(guard);
    drop(old);
    Ok(())
}

/// The function registered under a global name.
///
/// # Errors
///
/// `KeyError` when there is none.
pub fn get_function(name: &str) -> Result<Function> {
    let table = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    let found = table.as_ref().and_then(|table| table.get(name)).cloned();
    found.ok_or_else(|| {
        Error::new(
            ErrorKind::Key,
            format!("global function '{name}' is not registered"),
        )
    })
}

/// Takes a function out of the registry; false when there was none.
pub fn remove_function(name: &str) -> bool {
    let mut table = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    let old = table.as_mut().and_then(|table| table.shift_remove(name));
    // As in `register_function`: what the function holds goes without the lock.
    drop(table);
    old.is_some()
}

/// The names of all registered functions, in order of registration.
pub fn list_functions() -> Vec<String> {
    let table = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    table
        .iter()
        .flat_map(|table| table.keys())
        .map(|name| name.to_string())
        .collect()
}
