//! Results of functions as bytes: never as pickles, which would run code when read.

use isoform::Value;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use super::buffer;
use super::entry::binary;
use crate::convert::{device_class, dtype_class, shape_class, to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::object::wrapper::core_of;

/// The first byte of a result: bytes, or a value in the binary form.
const BYTES: u8 = b'B';
const VALUE: u8 = b'V';

/// The functions of a user that write and read results.
pub(super) struct Codec {
    pub(super) dumps: Option<Py<PyAny>>,
    pub(super) loads: Option<Py<PyAny>>,
}

impl Codec {
    /// The bytes of a result.
    pub(super) fn encode(&self, result: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let py = result.py();
        if let Some(dumps) = &self.dumps {
            let bytes = dumps.bind(py).call1((result,))?;
            let read = buffer(&bytes).map(|bytes| bytes.to_vec());
            return read.map_err(|_| {
                let class = class_of(&bytes);
                PyTypeError::new_err(format!("dumps returned a {class}, expected bytes"))
            });
        }
        if let Ok(bytes) = result.cast_exact::<PyBytes>() {
            return Ok([&[BYTES], bytes.as_bytes()].concat());
        }
        if !is_value(result)? {
            return Err(refused(result, None));
        }
        let bytes = untyped(result).and_then(|value| binary(py, &value));
        let bytes = bytes.map_err(|error| {
            if error.is_instance_of::<PyException>(py) {
                refused(result, Some(error))
            } else {
                error
            }
        })?;
        Ok([&[VALUE], &bytes[..]].concat())
    }

    /// The result in bytes; None for bytes that this process cannot read. Errors of `loads`
    /// are errors of the call.
    pub(super) fn decode<'py>(
        &self,
        py: Python<'py>,
        bytes: &[u8],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(loads) = &self.loads {
            return loads.bind(py).call1((PyBytes::new(py, bytes),)).map(Some);
        }
        match bytes.split_first() {
            Some((&BYTES, rest)) => Ok(Some(PyBytes::new(py, rest).into_any())),
            Some((&VALUE, rest)) => {
                let read = under_gil(py, || isoform::files::from_bytes(rest)).into_py();
                match read.and_then(|value: Value| to_python(py, &value)) {
                    Ok(result) => Ok(Some(result)),
                    Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
                    Err(error) => Err(error),
                }
            }
            _ => Ok(None),
        }
    }
}

/// True for a value that comes back as a value of the same class.
fn is_value(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = result.py();
    if core_of(result).is_some()
        || result.is_none()
        || result.is_instance_of::<PyBool>()
        || result.is_exact_instance_of::<PyInt>()
        || result.is_exact_instance_of::<PyFloat>()
        || result.is_exact_instance_of::<PyString>()
    {
        return Ok(true);
    }
    for class in [dtype_class(py), device_class(py), shape_class(py)] {
        if let Some(class) = class
            && result.is_instance(class)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn class_of(value: &Bound<'_, PyAny>) -> String {
    let class = value.get_type().name().map(|name| name.to_string());
    class.unwrap_or_default()
}

fn refused(result: &Bound<'_, PyAny>, cause: Option<PyErr>) -> PyErr {
    let py = result.py();
    let advice = if result.is_instance_of::<PyDict>() {
        "return isoform.Map(...)"
    } else if result.is_instance_of::<PyList>() || result.is_instance_of::<PyTuple>() {
        "return isoform.Array(...)"
    } else {
        "return a node, a container of isoform, a plain value or bytes"
    };
    let reason = cause
        .as_ref()
        .map_or(String::new(), |error| format!(": {}", error.value(py)));
    let error = PyTypeError::new_err(format!(
        "the result is a {}, which has no binary form that comes back as the same{reason}; \
         {advice}, or pass dumps and loads",
        class_of(result)
    ));
    error.set_cause(py, cause);
    error
}
