//! `Array`, `List`, `Map` and `Dict` as Python classes.
//!
//! The classes are written in Python, with documentation and types; what they
//! do is written here and attached to them. Elements are converted when they
//! come in, and come out as the same Python objects where they are objects.

mod compare;
mod dict;
mod iterators;
mod list;
mod mapping;
mod sequence;

pub(crate) use iterators::{MapIterator, SequenceIterator};

use isoform::ValueRef;
use isoform::host;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyType};

use crate::object::method::Methods;
use crate::object::wrapper;

/// Makes a class the Python class of a container, and attaches its methods.
///
/// Raises ValueError for the name of anything else.
#[pyfunction]
#[pyo3(name = "_install_container")]
pub(crate) fn install(class: &Bound<'_, PyType>, name: &str) -> PyResult<()> {
    let methods = |key| Methods::bind(class, key);
    match name {
        "Array" => sequence::install_array(methods("isoform.Array")?),
        "List" => list::install(methods("isoform.List")?),
        "Map" => mapping::install_map(methods("isoform.Map")?),
        "Dict" => dict::install(methods("isoform.Dict")?),
        other => Err(PyValueError::new_err(format!(
            "'{other}' is no kind of container"
        ))),
    }
}

/// What a Python object holds, if it stands for a core object.
#[inline(always)]
fn contents<'a>(this: &'a Bound<'_, PyAny>) -> PyResult<ValueRef<'a>> {
    match wrapper::core_of(this) {
        Some(core) => Ok(host::view(core)),
        None => Err(foreign(this)),
    }
}

#[cold]
fn foreign(this: &Bound<'_, PyAny>) -> PyErr {
    let name = this.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected a container, got {name}"))
}

fn none<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(this.py().None().into_bound(this.py()))
}

/// Refuses Python objects that can change as keys: a copy of their contents
/// would be stored, which nothing could look up again.
fn check_key(key: &Bound<'_, PyAny>) -> PyResult<()> {
    if key.is_instance_of::<PyList>()
        || key.is_instance_of::<PyDict>()
        || key.is_instance_of::<PySet>()
    {
        return Err(PyTypeError::new_err(format!(
            "unhashable type: '{}'",
            key.get_type().name()?
        )));
    }
    Ok(())
}
