//! Tensors from the arrays of other libraries.

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Value, host};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyString};

use super::python_types::parse_dtype;
use crate::object::tensor::{Sharing, import};
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// Makes a tensor from an object that exports its memory. None if the object exports no
/// memory, or only elements that a tensor cannot hold, for example strings.
///
/// # Errors
///
/// Exceptions from the object's protocol methods, except `BufferError`.
pub(super) fn from_protocol(value: &Object<'_>) -> PyResult<Option<Value>> {
    if value
        .getattr_opt(intern!(value.py(), "__dlpack__"))?
        .is_none()
    {
        return Ok(None);
    }
    match tensor_from(value, Sharing::ReadOnly) {
        Ok(tensor) => Ok(Some(tensor.into())),
        Err(error) if error.is_instance_of::<PyBufferError>(value.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a tensor from a tensor or a memory-exporting object.
///
/// # Errors
///
/// Exceptions from the object's protocol methods; `TypeError` if no protocol method
/// exists.
pub(crate) fn tensor_from(value: &Object<'_>, sharing: Sharing) -> PyResult<Tensor> {
    let py = value.py();
    if let Some(core) = wrapper::core_of(value)
        && let ValueRef::Tensor(tensor) = host::view(core)
    {
        return Ok(tensor.clone());
    }
    if is_masked(value)? {
        return Err(PyTypeError::new_err(
            "a tensor has no mask, got a masked array; write array.filled(value) for the elements \
             with a value in place of the masked ones, or pass array.data and array.mask, which \
             numpy.ma.getmaskarray gives, as two tensors",
        ));
    }
    let capsule = match capsule_of(value) {
        Ok(capsule) => capsule,
        Err(error) if error.is_instance_of::<PyBufferError>(py) => {
            return relabelled(value, sharing)?.ok_or(error);
        }
        Err(error) => return Err(error),
    };
    import(&capsule, sharing)
}

/// True for masked arrays of NumPy, whose memory exports without the mask.
fn is_masked(value: &Object<'_>) -> PyResult<bool> {
    let py = value.py();
    if value.getattr_opt(intern!(py, "mask"))?.is_none() {
        return Ok(false);
    }
    let modules = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "modules"))?;
    match modules.get_item(intern!(py, "numpy.ma")) {
        Ok(masked) => value.is_instance(&masked.getattr(intern!(py, "MaskedArray"))?),
        Err(_) => Ok(false),
    }
}

fn capsule_of<'py>(value: &Object<'py>) -> PyResult<Object<'py>> {
    let py = value.py();
    let export = value
        .getattr_opt(intern!(py, "__dlpack__"))?
        .ok_or_else(|| {
            let name = value.get_type().name();
            let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("expected an object with __dlpack__, got {name}"))
        })?;
    let version = [("max_version", (1, 0))].into_py_dict(py)?;
    match export.call((), Some(&version)) {
        // Producers older than the versioned protocol do not accept this argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0(),
        other => other,
    }
}

/// Makes a tensor from a NumPy array of a type that NumPy itself does not define, such
/// as bfloat16 of `ml_dtypes`: from the bytes and the name of the type.
fn relabelled(value: &Object<'_>, sharing: Sharing) -> PyResult<Option<Tensor>> {
    let py = value.py();
    let Some(dtype) = value.getattr_opt(intern!(py, "dtype"))? else {
        return Ok(None);
    };
    let Some(name) = dtype.getattr_opt(intern!(py, "name"))? else {
        return Ok(None);
    };
    let Ok(name) = name.cast::<PyString>() else {
        return Ok(None);
    };
    let Ok(dtype) = parse_dtype(name.to_str()?) else {
        return Ok(None);
    };
    let unsigned = match (dtype.bits(), dtype.lanes()) {
        (8, 1) => "uint8",
        (16, 1) => "uint16",
        _ => return Ok(None),
    };
    let bits = value.call_method1(intern!(py, "view"), (unsigned,))?;
    let bits = import(&capsule_of(&bits)?, sharing)?;
    new_tensor(dtype, bits.shape().to_vec(), bits.data().clone()).map(Some)
}

/// The text of the data type of an array, for messages; None for other objects.
pub(super) fn dtype_of_array(value: &Object<'_>) -> Option<String> {
    let py = value.py();
    let attribute = |name| value.getattr_opt(name).ok().flatten();
    attribute(intern!(py, "__dlpack__"))?;
    let text = attribute(intern!(py, "dtype"))?.str().ok()?.to_string();
    // Records may have any number of fields.
    let is_long = text.chars().count() > LONGEST_DTYPE;
    let start: String = text.chars().take(LONGEST_DTYPE).collect();
    Some(if is_long {
        format!("{start}…")
    } else {
        start
    })
}

const LONGEST_DTYPE: usize = 60;

/// Makes a tensor from its parts.
///
/// # Errors
///
/// `ValueError` if the data does not have the size that dtype and shape require.
pub(crate) fn new_tensor(
    dtype: DType,
    shape: Vec<i64>,
    data: impl Into<bytes::Bytes>,
) -> PyResult<Tensor> {
    Tensor::new(dtype, shape, data)
        .map_err(|error| PyValueError::new_err(error.message().to_owned()))
}
