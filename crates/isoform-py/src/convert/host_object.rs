//! Python objects inside core values.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use hashbrown::HashSet;
use isoform::Value;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::arrays::dtype_of_array;
use crate::object::gil::Owned;
use crate::onnx::OnnxModel;

/// A Python object opaque to the core.
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
    /// Wraps the object as an opaque value.
    pub(crate) fn wrap(object: &Bound<'_, PyAny>) -> Value {
        let content = HostObject {
            object: Owned::new(object),
            is_pointer: is_pointer(object),
        };
        Value::opaque_named(content, name_of_class(object))
    }

    /// Wraps a callable as the content of a function.
    pub(super) fn of_callable(callable: &Bound<'_, PyAny>) -> HostObject {
        HostObject {
            object: Owned::new(callable),
            is_pointer: false,
        }
    }

    /// True if the object is a `ctypes.c_void_p`. Computed in advance, to let any
    /// thread check it without Python.
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

/// Programs have fewer classes in their fields.
const MOST_NAMES: usize = 10_000;

/// The name for objects of a Python class in messages, for example "Python set".
fn name_of_class(object: &Bound<'_, PyAny>) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let Ok(name) = object.get_type().name() else {
        return "Python object";
    };
    let name = match dtype_of_array(object) {
        // No tensor holds its elements.
        Some(dtype) => format!("Python {name} of dtype {dtype}"),
        None if object.is_instance_of::<OnnxModel>() => {
            format!("Python {name} (pass `.program` for its program)")
        }
        None => format!("Python {name}"),
    };
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    match names.get(name.as_str()) {
        Some(known) => known,
        None => {
            // The number of classes is bounded by a program's source, but that of data
            // types is not.
            if names.len() >= MOST_NAMES {
                return "Python object";
            }
            let name: &'static str = name.leak();
            names.insert(name);
            name
        }
    }
}

/// True if an object is a `ctypes.c_void_p`.
fn is_pointer(object: &Bound<'_, PyAny>) -> bool {
    static POINTER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let pointer = POINTER.import(object.py(), "ctypes", "c_void_p");
    pointer.is_ok_and(|pointer| object.is_instance(pointer).unwrap_or(false))
}
