//! Conversion of core values to Python objects.

use isoform::Value;
use isoform::functions::Function;
use isoform::values::{OpaqueObj, ValueRef};
use num_bigint::BigInt;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBool, PyBytes, PyFloat, PyInt, PyString};

use super::HostObject;
use super::python_types::{device_to_python, dtype_to_python, shape_to_python};
use crate::object::wrapper;

/// Converts a value to a Python object. O(1) except for strings, bytes, shapes and
/// large ints, which are copied.
///
/// # Errors
///
/// Exceptions from making the class of a native type.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value.view() {
        ValueRef::None => py.None().into_bound(py),
        ValueRef::Bool(flag) => PyBool::new(py, flag).to_owned().into_any(),
        ValueRef::Int(number) => number.into_pyobject(py)?.into_any(),
        ValueRef::BigInt(number) => large_int(py, number)?,
        ValueRef::Float(number) => PyFloat::new(py, number).into_any(),
        ValueRef::Str(text) => PyString::new(py, text).into_any(),
        ValueRef::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        ValueRef::DType(dtype) => dtype_to_python(py, dtype)?,
        ValueRef::Device(device) => device_to_python(py, device)?,
        ValueRef::Shape(shape) => shape_to_python(py, shape)?,
        _ => {
            let Some(object) = value.as_object() else {
                return Ok(py.None().into_bound(py));
            };
            if let Some(opaque) = object.downcast_ref::<OpaqueObj>()
                && let Some(host) = opaque.content::<HostObject>()
            {
                return Ok(host.get(py));
            }
            if let Some(function) = Function::of(object)
                && let Some(callback) = crate::callbacks::callback_of(py, function)?
            {
                return Ok(callback);
            }
            wrapper::wrap_borrowed(py, object)?
        }
    })
}

fn large_int<'py>(py: Python<'py>, number: &BigInt) -> PyResult<Bound<'py, PyAny>> {
    // By bytes instead of digits: linear, and not subject to the limit that Python sets
    // on conversions from text.
    let bytes = PyBytes::new(py, &number.to_signed_bytes_le());
    let options = [("signed", true)].into_py_dict(py)?;
    py.get_type::<PyInt>()
        .call_method("from_bytes", (bytes, "little"), Some(&options))
}
