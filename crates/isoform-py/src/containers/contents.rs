//! Access to the objects received by the methods of all containers.

use isoform::host;
use isoform::values::ValueRef;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet};

use crate::object::wrapper;

/// The core value of a Python object, if it represents a core object.
#[inline(always)]
pub(super) fn contents<'a>(this: &'a Bound<'_, PyAny>) -> PyResult<ValueRef<'a>> {
    match wrapper::core_of(this) {
        Some(core) => Ok(host::view(core)),
        None => Err(foreign(this)),
    }
}

#[cold]
pub(super) fn foreign(this: &Bound<'_, PyAny>) -> PyErr {
    let name = this.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected a container, got {name}"))
}

pub(super) fn none<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(this.py().None().into_bound(this.py()))
}

/// Rejects mutable Python objects as keys: a copy of their contents would be stored,
/// and no lookup could find the copy.
pub(super) fn check_key(key: &Bound<'_, PyAny>) -> PyResult<()> {
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
