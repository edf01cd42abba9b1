//! The registry of global functions, for Python.

use isoform::{ErrorKind, ValueRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, to_python as raise};

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_register_global_func, module)?)?;
    module.add_function(wrap_pyfunction!(get_global_func, module)?)?;
    module.add_function(wrap_pyfunction!(list_global_func_names, module)?)?;
    module.add_function(wrap_pyfunction!(remove_global_func, module)?)
}

/// Registers a callable under a global name; the function as it is registered.
///
/// Raises ValueError when the name is taken and `replace` is false.
#[pyfunction]
fn _register_global_func<'py>(
    name: &str,
    function: &Bound<'py, PyAny>,
    replace: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let value = untyped(function)?;
    let ValueRef::Function(found) = value.view() else {
        return Err(PyTypeError::new_err(format!(
            "global function '{name}': expected a callable, got {}",
            function.get_type().name()?
        )));
    };
    isoform::register_function(name, found.clone(), replace).into_py()?;
    to_python(function.py(), &value)
}

/// The function registered under a global name.
///
/// Raises ValueError when there is none, unless `allow_missing`: then it is
/// None.
#[pyfunction]
#[pyo3(signature = (name, allow_missing=false))]
fn get_global_func<'py>(
    py: Python<'py>,
    name: &str,
    allow_missing: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match isoform::get_function(name) {
        Ok(function) => to_python(py, &function.into()).map(Some),
        Err(error) if error.kind() == ErrorKind::Key => match allow_missing {
            true => Ok(None),
            // The kind that programs written for other libraries expect.
            false => Err(PyValueError::new_err(error.message().to_owned())),
        },
        Err(error) => Err(raise(error)),
    }
}

/// The names of all registered functions, in order of registration.
#[pyfunction]
fn list_global_func_names() -> Vec<String> {
    isoform::list_functions()
}

/// Takes a function out of the registry; does nothing if there is none.
#[pyfunction]
fn remove_global_func(name: &str) {
    isoform::remove_function(name);
}
