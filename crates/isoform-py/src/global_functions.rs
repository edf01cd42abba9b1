//! The registry of global functions, for Python.

use isoform::errors::ErrorKind;
use isoform::functions::{Function, register_method};
use isoform::types::TypeInfo;
use isoform::values::ValueRef;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

use crate::convert::{HostObject, to_python, untyped};
use crate::error::{IntoPyResult, to_python as raise};
use crate::object::class::{of_class, of_index};

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_register_global_func, module)?)?;
    module.add_function(wrap_pyfunction!(_register_method, module)?)?;
    module.add_function(wrap_pyfunction!(_methods_of, module)?)?;
    module.add_function(wrap_pyfunction!(_set_method_hook, module)?)?;
    module.add_function(wrap_pyfunction!(call_method, module)?)?;
    module.add_function(wrap_pyfunction!(get_global_func, module)?)?;
    module.add_function(wrap_pyfunction!(list_global_func_names, module)?)?;
    module.add_function(wrap_pyfunction!(remove_global_func, module)?)
}

/// Registers a callable under a global name and returns the registered function.
///
/// Raises ValueError if the name is taken and `replace` is false.
#[pyfunction]
fn _register_global_func<'py>(
    name: &str,
    function: &Bound<'py, PyAny>,
    replace: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let value = untyped(function)?;
    let ValueRef::Function(found) = value.view() else {
        return Err(not_callable(name, function));
    };
    let named = found.named(name);
    isoform::functions::register_function(name, named.clone(), replace).into_py()?;
    to_python(function.py(), &named.into())
}

fn not_callable(name: &str, found: &Bound<'_, PyAny>) -> PyErr {
    match found.get_type().name() {
        Ok(got) => PyTypeError::new_err(format!(
            "global function '{name}': expected a callable, got {got}"
        )),
        Err(error) => error,
    }
}

/// Registers a method of the type of a class. Its first argument is the object unless
/// it is static.
///
/// Raises TypeError for anything that is not a class of a type or not callable, and
/// ValueError for the name of a field, and for a name that is taken unless `replace`.
#[pyfunction]
fn _register_method(
    cls: &Bound<'_, PyType>,
    name: &str,
    function: &Bound<'_, PyAny>,
    is_static: bool,
    replace: bool,
) -> PyResult<()> {
    let py = cls.py();
    let data = of_class(py, cls.as_type_ptr())
        .ok_or_else(|| PyTypeError::new_err(format!("{cls} is not a registered cls")))?;
    let value = untyped(function)?;
    let ValueRef::Function(method) = value.view() else {
        return Err(PyTypeError::new_err(format!(
            "method '{name}' of {}: expected a callable, got {}",
            data.info.key(),
            function.get_type().name()?
        )));
    };
    let mut method = method.clone();
    if is_static {
        let inner = method;
        // The core passes the object to every method.
        method = Function::new(move |arguments| inner.call(arguments.get(1..).unwrap_or_default()));
    }
    register_method(data.info.index(), name, method, replace).into_py()
}

static METHOD_HOOK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sets, once, the function that adds methods registered in Rust to classes.
#[pyfunction]
fn _set_method_hook(py: Python<'_>, hook: Py<PyAny>) {
    // A second call has no effect, for example if the package is imported again.
    let _ = METHOD_HOOK.set(py, hook);
    isoform::host::set_method_hook(method_registered);
}

/// An existing class gets the method at once; a class that is made later gets all
/// methods then.
fn method_registered(info: &'static TypeInfo, name: &str, function: &Function) {
    // For a Python callable, the class already has the method.
    if function.content::<HostObject>().is_some() {
        return;
    }
    Python::attach(|py| {
        let (Some(hook), Some(data)) = (METHOD_HOOK.get(py), of_index(py, info.index())) else {
            return;
        };
        let install = || -> PyResult<()> {
            let function = to_python(py, &function.clone().into())?;
            hook.bind(py)
                .call1((data.class(py), name, function))
                .map(drop)
        };
        // The method stays registered even if Python cannot add it.
        if let Err(error) = install() {
            error.write_unraisable(py, None);
        }
    });
}

/// The methods that are registered for exactly the type of a class: names and
/// functions.
#[pyfunction]
fn _methods_of<'py>(cls: &Bound<'py, PyType>) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
    let py = cls.py();
    let Some(data) = of_class(py, cls.as_type_ptr()) else {
        return Ok(Vec::new());
    };
    let methods = data.info.methods().into_iter();
    methods
        .map(|(name, function)| Ok((name, to_python(py, &function.into())?)))
        .collect()
}

/// Calls a method of an object by its name, as Rust does.
///
/// Raises AttributeError if the type has no such method, and exceptions of the method.
#[pyfunction]
#[pyo3(signature = (object, name, *arguments))]
fn call_method<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let given: Vec<_> = arguments
        .iter()
        .map(|argument| untyped(&argument))
        .collect::<PyResult<_>>()?;
    let result = isoform::functions::call_method(untyped(object)?, name, &given).into_py()?;
    to_python(object.py(), &result)
}

/// The function registered under a global name.
///
/// Raises ValueError if there is none; with `allow_missing`, returns None instead.
#[pyfunction]
#[pyo3(signature = (name, allow_missing=false))]
fn get_global_func<'py>(
    py: Python<'py>,
    name: &str,
    allow_missing: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match isoform::functions::global_function(name) {
        Ok(function) => to_python(py, &function.into()).map(Some),
        Err(error) if error.kind() == ErrorKind::Key => {
            if allow_missing {
                Ok(None)
            } else {
                // The kind expected by programs written for other libraries.
                Err(PyValueError::new_err(error.message().to_owned()))
            }
        }
        Err(error) => Err(raise(error)),
    }
}

/// The names of all registered functions, in order of registration.
#[pyfunction]
fn list_global_func_names() -> Vec<String> {
    isoform::functions::list_functions()
}

/// Removes a function from the registry; does nothing if there is none.
#[pyfunction]
fn remove_global_func(name: &str) {
    isoform::functions::remove_function(name);
}
