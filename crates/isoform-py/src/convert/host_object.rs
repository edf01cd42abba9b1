//! Python objects inside core values.

use std::fmt;

use isoform::{Function, Value};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{to_python, untyped};
use crate::error::from_python;
use crate::object::gil::Owned;

/// A Python object of which the core knows nothing.
pub(crate) struct HostObject(Owned);

impl fmt::Debug for HostObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostObject")
    }
}

impl HostObject {
    /// The object as an opaque value.
    pub(crate) fn wrap(object: &Bound<'_, PyAny>) -> Value {
        Value::opaque(HostObject(Owned::new(object)))
    }

    /// The address of the object, for the cycle collector.
    pub(crate) fn as_ptr(&self) -> *mut pyo3::ffi::PyObject {
        self.0.as_ptr()
    }

    /// The object.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.0.get(py)
    }
}

/// A Python callable as a function of the core. Exceptions come back to Python
/// unchanged.
pub(crate) fn function(callable: &Bound<'_, PyAny>) -> Function {
    let callable = HostObject(Owned::new(callable));
    Function::with_content(callable, |callable, arguments| {
        Python::attach(|py| {
            let call = || -> PyResult<Value> {
                let converted = arguments
                    .iter()
                    .map(|value| to_python(py, value))
                    .collect::<PyResult<Vec<_>>>()?;
                let result = callable.get(py).call1(PyTuple::new(py, converted)?)?;
                untyped(&result)
            };
            call().map_err(from_python)
        })
    })
}
