//! `Array`, `List`, `Map` and `Dict` as Python classes.
//!
//! The classes are written in Python, with documentation and types; this module
//! attaches the methods. Elements are converted on storing, and objects are returned as
//! the same Python objects.

mod compare;
mod contents;
mod dict;
mod iterators;
mod list;
mod mapping;
mod sequence;

pub(crate) use iterators::{MapIterator, SequenceIterator};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::object::method::Methods;

/// Makes a class the Python class of a container, and attaches its methods.
///
/// Raises ValueError for a name that is not a container's.
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
