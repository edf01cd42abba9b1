//! `Tensor`: arrays of numbers between Python and the core.

use isoform::{DType, DTypeCode, Tensor, Value, ValueRef, host};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyString, PyType};

use crate::convert::{dtype_to_python, parse_dtype, to_python};
use crate::object::method::Methods;
use crate::object::tensor::{Sharing, export, import, install_buffer, strides_of};
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// A tensor from an object that offers its memory; None when it offers none
/// that a tensor could hold, such as an array of strings.
///
/// # Errors
///
/// What the object's protocol methods raise, but for `BufferError`.
pub(crate) fn from_protocol(value: &Object<'_>) -> PyResult<Option<Value>> {
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

fn tensor_from(value: &Object<'_>, sharing: Sharing) -> PyResult<Tensor> {
    let py = value.py();
    if let Some(core) = wrapper::core_of(value)
        && let ValueRef::Tensor(tensor) = host::view(core)
    {
        return Ok(tensor.clone());
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
        // Producers of the time before versions know no such argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => export.call0(),
        other => other,
    }
}

/// A tensor from a NumPy array of a type that NumPy itself does not know, such
/// as bfloat16 of `ml_dtypes`: its bytes, under the name of the type.
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

fn new_tensor(dtype: DType, shape: Vec<i64>, data: impl Into<bytes::Bytes>) -> PyResult<Tensor> {
    Tensor::new(dtype, shape, data)
        .map_err(|error| PyValueError::new_err(error.message().to_owned()))
}

/// A tensor from an array; see `isoform.from_dlpack`.
#[pyfunction]
#[pyo3(name = "_from_dlpack")]
pub(crate) fn from_dlpack<'py>(value: &Object<'py>, copy: Option<bool>) -> PyResult<Object<'py>> {
    let sharing = match copy {
        None => Sharing::Shared,
        Some(false) => Sharing::Required,
        Some(true) => Sharing::Copied,
    };
    to_python(value.py(), &tensor_from(value, sharing)?.into())
}

/// A tensor from bytes; see `isoform.Tensor.from_bytes`.
#[pyfunction]
#[pyo3(name = "_tensor_from_bytes")]
pub(crate) fn from_bytes<'py>(
    py: Python<'py>,
    data: &[u8],
    shape: Vec<i64>,
    dtype: &str,
) -> PyResult<Object<'py>> {
    let tensor = new_tensor(parse_dtype(dtype)?, shape, data.to_vec())?;
    to_python(py, &tensor.into())
}

/// Makes a class the Python class of tensors.
#[pyfunction]
#[pyo3(name = "_install_tensor")]
pub(crate) fn install(class: &Bound<'_, PyType>) -> PyResult<()> {
    let methods = Methods::bind(class, "isoform.Tensor")?;
    methods.unary("_shape", |this| {
        let shape = isoform::Shape::from(own(this)?.shape().to_vec());
        to_python(this.py(), &shape.into())
    })?;
    methods.unary("_strides", |this| {
        let strides = strides_of(own(this)?.shape());
        to_python(this.py(), &isoform::Shape::from(strides).into())
    })?;
    methods.unary("_dtype", |this| {
        dtype_to_python(this.py(), own(this)?.dtype())
    })?;
    methods.unary("_nbytes", |this| {
        Ok(own(this)?.data().len().into_pyobject(this.py())?.into_any())
    })?;
    methods.unary("_as_bytes", |this| {
        let data = own(this)?.data().clone();
        let dtype = DType::new(DTypeCode::UInt, 8);
        let bytes = new_tensor(dtype, vec![data.len() as i64], data)?;
        to_python(this.py(), &bytes.into())
    })?;
    methods.unary("data_ptr", |this| {
        let address = own(this)?.data().as_ptr() as usize;
        Ok(address.into_pyobject(this.py())?.into_any())
    })?;
    methods.variadic("_dlpack", |this, given| {
        given.expect("_dlpack", 2, 2)?;
        let flag = |place| match given.get(place) {
            Some(flag) => flag.is_truthy(),
            None => Ok(false),
        };
        export(this.py(), own(this)?, flag(0)?, flag(1)?)
    })?;
    methods.finish();
    install_buffer(class);
    Ok(())
}

fn own<'a>(this: &'a Object<'_>) -> PyResult<&'a Tensor> {
    match wrapper::core_of(this).map(host::view) {
        Some(ValueRef::Tensor(tensor)) => Ok(tensor),
        _ => Err(PyTypeError::new_err("expected a Tensor")),
    }
}
