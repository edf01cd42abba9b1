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
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::IntoPyResult;
use crate::object::bind;

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
///     isoform_py::register_all(module, "calc", register_types, exports![evaluate])
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

/// Registers the types of a dialect and functions, and makes them names of the module: with
/// the dialect `calc`, `from module import Add` is the class of the type `calc.Add`, and
/// `module.evaluate` the function `calc.evaluate`.
///
/// `types` registers the types: the function `register_types` that
/// [`dialect!`](macro@isoform::dialect) declares. Call [`embed`] before, and
/// [`register_method`] as well, because classes are made here. The module imports the
/// package `isoform`, so that programs may import both in the order that they like from
/// then on.
///
/// ```ignore
/// isoform::dialect! {
///     "calc";
///     pub use nodes::{Const, Add};
/// }
///
/// #[pymodule]
/// fn calc_ir(module: &Bound<'_, PyModule>) -> PyResult<()> {
///     isoform_py::embed(module)?;
///     isoform_py::register_all(module, "calc", register_types, exports![evaluate])
/// }
/// ```
///
/// # Errors
///
/// `ValueError` if another definition owns a key or a name, or no type has a key of the
/// dialect; `ImportError` if the package `isoform` is not installed.
pub fn register_all(
    module: &Bound<'_, PyModule>,
    dialect: &str,
    types: fn() -> isoform::Result<()>,
    functions: impl IntoIterator<Item = Function>,
) -> PyResult<()> {
    let py = module.py();
    types().into_py()?;
    let functions: Vec<Function> = functions.into_iter().collect();
    register_functions(functions.iter().cloned())?;
    let package = py.import("isoform")?;
    let mut has_types = false;
    for info in isoform::types::registered_types() {
        if let Some(name) = name_in(dialect, info.key()) {
            module.add(name, bind::class_by_key(py, info.key())?)?;
            has_types = true;
        }
    }
    if !has_types {
        return Err(PyValueError::new_err(format!(
            "register_all: no registered type has a key of the dialect '{dialect}'"
        )));
    }
    for function in functions.iter().filter_map(Function::name) {
        if let Some(name) = name_in(dialect, function) {
            module.add(name, package.call_method1("get_global_func", (function,))?)?;
        }
    }
    Ok(())
}

/// The name of a type or function in its dialect; None for one of another dialect.
fn name_in<'k>(dialect: &str, key: &'k str) -> Option<&'k str> {
    let name = key.strip_prefix(dialect)?.strip_prefix('.')?;
    (!name.contains('.')).then_some(name)
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
