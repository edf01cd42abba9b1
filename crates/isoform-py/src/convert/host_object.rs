//! Python objects inside core values.

use std::fmt;

use isoform::{Function, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

use super::{to_python, untyped};
use crate::error::from_python;
use crate::object::gil::Owned;

/// A Python object of which the core knows nothing.
pub(crate) struct HostObject {
    object: Owned,
    is_pointer: bool,
}

impl fmt::Debug for HostObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostObject")
    }
}

impl HostObject {
    /// The object as an opaque value.
    pub(crate) fn wrap(object: &Bound<'_, PyAny>) -> Value {
        Value::opaque(HostObject {
            object: Owned::new(object),
            is_pointer: is_pointer(object),
        })
    }

    /// Whether the object is a `ctypes.c_void_p`. Known without Python, so that
    /// any thread may ask.
    pub(crate) fn is_pointer(&self) -> bool {
        self.is_pointer
    }

    /// The address of the object, for the cycle collector.
    pub(crate) fn as_ptr(&self) -> *mut pyo3::ffi::PyObject {
        self.object.as_ptr()
    }

    /// The object.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.object.get(py)
    }
}

/// Whether an object is a `ctypes.c_void_p`.
fn is_pointer(object: &Bound<'_, PyAny>) -> bool {
    static POINTER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let pointer = POINTER.import(object.py(), "ctypes", "c_void_p");
    pointer.is_ok_and(|pointer| object.is_instance(pointer).unwrap_or(false))
}

/// A Python callable as a function of the core. Exceptions come back to Python
/// unchanged.
pub(crate) fn function(callable: &Bound<'_, PyAny>) -> Function {
    let callable = HostObject {
        object: Owned::new(callable),
        is_pointer: false,
    };
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
