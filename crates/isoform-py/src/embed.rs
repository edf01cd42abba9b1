//! The module as part of another library: access from Python to node types declared in
//! Rust.
//!
//! Types are in the copy of the core that is linked into an extension module. A library
//! with node types therefore links this crate, and the module of the library replaces
//! `isoform._core`. The package `isoform` then works with the types of the library like
//! built-in types.
//!
//! A process has one core; a second core causes an `ImportError`. `examples/rust_types`
//! is an example of an embedding library.

use isoform::Node;
use isoform::functions::Function;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::IntoPyResult;

/// The name of the extension module in imports of the package `isoform`.
const NAME: &str = "isoform._core";

/// Makes the Python package `isoform` use the core that is linked into the calling
/// extension module.
///
/// Call this first in the `#[pymodule]` of a library that declares node types: the
/// package finds the module where Python looks for loaded modules. The module of the
/// library must be imported before `isoform`, and a process can have only one;
/// libraries that are used together must be linked into one module.
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
/// `ImportError` if the package `isoform` or another such library has already been
/// imported; exceptions from CPython while types are made.
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

/// Registers a node type declared in Rust and makes it available as a Python class:
/// `isoform.types.<key>`.
///
/// # Errors
///
/// `ValueError` if another definition owns the key, or the definition is invalid.
pub fn register<T: Node>() -> PyResult<()> {
    isoform::types::register::<T>().into_py().map(drop)
}

/// Registers functions under their names, for example functions of `isoform::exports!`;
/// Python finds them with `get_global_func`.
///
/// # Errors
///
/// `ValueError` if a function has no name, or its name is taken. On an error, none is
/// registered.
pub fn register_functions(functions: impl IntoIterator<Item = Function>) -> PyResult<()> {
    isoform::functions::register_functions(functions).into_py()
}

/// Registers a method of a node type, called with the object first, and makes it a
/// method of the Python class.
///
/// # Errors
///
/// `ValueError` if the name is empty, taken, or the name of a field.
pub fn register_method<T: Node>(name: &str, function: Function) -> PyResult<()> {
    isoform::functions::register_method(T::type_index(), name, function, false).into_py()
}
