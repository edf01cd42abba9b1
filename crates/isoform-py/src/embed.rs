//! The module inside another library: how node types declared in Rust come to
//! Python.
//!
//! Types live in the copy of the core that is linked into an extension module,
//! so a library with types of its own links this crate, and its module stands
//! in for `isoform._core`. The package `isoform` then works on those types as
//! on its own.

use isoform::{Function, Node};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::IntoPyResult;

/// The name under which the package `isoform` imports its extension module.
const NAME: &str = "isoform._core";

/// Makes the core that is linked into the calling extension module the one
/// that the Python package `isoform` uses.
///
/// Called first in the `#[pymodule]` of a library that declares node types:
/// the package finds the module where Python looks for loaded modules. Such a
/// module must be imported before `isoform`, and there can be one in a
/// process; libraries that are to be used together are linked into one module.
///
/// ```ignore
/// #[pymodule]
/// fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
///     isoform_py::embed(module)?;
///     isoform_py::register::<Add>()
/// }
/// ```
///
/// # Errors
///
/// `ImportError` when the package `isoform` or another such library has been
/// imported before; what CPython raises while types are made.
pub fn embed(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let modules = py
        .import("sys")?
        .getattr("modules")?
        .cast_into::<PyDict>()?;
    let name = module.name()?;
    if let Some(loaded) = modules.get_item(NAME)? {
        let owner = loaded.getattr("__embedded_in__");
        return Err(PyImportError::new_err(match owner {
            Ok(owner) => format!(
                "{name} and {owner} each bring a core of their own, and a process can have one; \
                 link the two libraries into one extension module"
            ),
            Err(_) => format!("{name} declares node types in Rust: import it before isoform"),
        }));
    }
    let core = PyModule::new(py, NAME)?;
    core.add("__embedded_in__", name)?;
    crate::init(&core)?;
    modules.set_item(NAME, core)
}

/// Registers a node type declared in Rust, which thereby is a Python class:
/// `isoform.types.<key>`.
///
/// # Errors
///
/// `ValueError` when another definition owns the key, or the definition is
/// refused.
pub fn register<T: Node>() -> PyResult<()> {
    isoform::register::<T>().into_py().map(drop)
}

/// Registers functions under their own names, such as those of
/// `isoform::exports!`; Python finds them with `get_global_func`.
///
/// # Errors
///
/// `ValueError` when a function has no name, or another one has its name; none
/// is registered then.
pub fn register_functions(functions: impl IntoIterator<Item = Function>) -> PyResult<()> {
    isoform::register_functions(functions).into_py()
}

/// Registers a method of a node type, whose first argument is the object; it
/// is a method of the Python class.
///
/// # Errors
///
/// `ValueError` when the name is empty, taken, or that of a field.
pub fn register_method<T: Node>(name: &str, function: Function) -> PyResult<()> {
    isoform::register_method(T::type_index(), name, function, false).into_py()
}
