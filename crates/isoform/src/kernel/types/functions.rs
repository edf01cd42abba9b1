//! The global function registry.

use std::sync::{PoisonError, RwLock};

use indexmap::IndexMap;

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::function::{Function, Signature};

static FUNCTIONS: RwLock<Option<IndexMap<Box<str>, Function>>> = RwLock::new(None);

/// Registers a function under a global name, which becomes the function's name.
///
/// # Errors
///
/// `ValueError` if the name is empty, or taken and `replace` is false, and for a
/// default unfit for its argument.
pub fn register_function(name: &str, function: Function, replace: bool) -> Result<()> {
    check(name, &function)?;
    // Named before taking the lock, as copying the contents of a function may run user
    // code.
    let function = if function.name() == Some(name) {
        function
    } else {
        function.named(name)
    };
    let mut guard = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    let table = guard.get_or_insert_default();
    if !replace && table.contains_key(name) {
        return Err(taken(name));
    }
    let old = table.insert(name.into(), function);
    // Dropping the contents of a function may run user code, which may call this again.
    drop(guard);
    drop(old);
    Ok(())
}

/// Registers functions under their own names, such as the functions of
/// [`exports!`](crate::exports); all functions or, after an error, none.
///
/// The very same function may be registered again, so a library may register its
/// functions at each of its entry points.
///
/// # Errors
///
/// `ValueError` if a function has no name, or the name of another function, and for a
/// default unfit for its argument.
///
/// ```
/// use isoform::functions::{Function, global_function, register_functions};
/// let double = Function::typed(|x: i64| 2 * x).named("doc.twice");
/// register_functions([double.clone()])?;
/// register_functions([double])?;
/// assert_eq!(global_function("doc.twice")?.call(&[4.into()])?, 8.into());
///
/// let other = Function::typed(|x: i64| x + x).named("doc.twice");
/// let error = register_functions([other]).expect_err("the name is taken");
/// assert_eq!(error.message(), "global function 'doc.twice' is already registered");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_functions(functions: impl IntoIterator<Item = Function>) -> Result<()> {
    register_all(functions.into_iter().collect())
}

fn register_all(functions: Vec<Function>) -> Result<()> {
    for function in &functions {
        check(function.name().unwrap_or_default(), function)?;
    }
    let mut guard = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    let table = guard.get_or_insert_default();
    let mut added = IndexMap::new();
    for function in &functions {
        let name = function.name().unwrap_or_default();
        let known = table.get(name).or_else(|| added.get(name));
        match known {
            Some(known) if known.same_as(function) => {}
            Some(_) => return Err(taken(name)),
            None => {
                added.insert(Box::from(name), function.clone());
            }
        }
    }
    table.extend(added);
    Ok(())
}

/// Checks the name, and the defaults of a function with argument conversion.
fn check(name: &str, function: &Function) -> Result<()> {
    if name.is_empty() {
        return Err(Error::value_error("a global function needs a name"));
    }
    let checked = |signature: &&Signature| signature.written_in() == "rust";
    let signature = function.signature().filter(checked);
    let parameters = signature.map_or(&[][..], Signature::parameters);
    for (position, parameter) in parameters.iter().enumerate() {
        let Some(default) = parameter.default() else {
            continue;
        };
        parameter
            .schema()
            .convert(default.clone())
            .map_err(|error| {
                let label = function.named(name).argument_label(position);
                Error::value_error(format!("the default of {label}: {}", error.message()))
            })?;
    }
    Ok(())
}

fn taken(name: &str) -> Error {
    Error::value_error(format!("global function '{name}' is already registered"))
}

/// The function registered under a global name.
///
/// # Errors
///
/// `KeyError` if there is none.
pub fn global_function(name: &str) -> Result<Function> {
    let table = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    let found = table.as_ref().and_then(|table| table.get(name)).cloned();
    found.ok_or_else(|| {
        Error::new(
            ErrorKind::Key,
            format!("global function '{name}' is not registered"),
        )
    })
}

/// Removes a function from the registry; false if no function has the name.
pub fn remove_function(name: &str) -> bool {
    let mut table = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
    let old = table.as_mut().and_then(|table| table.shift_remove(name));
    // As in `register_function`: the contents of the function are dropped without the
    // lock.
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
