//! `Tensor` as a Python class.

use isoform::host;
use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::convert::{dtype_to_python, new_tensor, parse_dtype, tensor_from, to_python};
use crate::object::method::Methods;
use crate::object::tensor::{Sharing, export, install_buffer, strides_of};
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// Makes a tensor from an array; see `isoform.from_dlpack`.
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

/// Makes a tensor from bytes; see `isoform.Tensor.from_bytes`.
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
        let shape = isoform::values::Shape::from(own(this)?.shape().to_vec());
        to_python(this.py(), &shape.into())
    })?;
    methods.unary("_strides", |this| {
        let strides = strides_of(own(this)?.shape());
        to_python(this.py(), &isoform::values::Shape::from(strides).into())
    })?;
    methods.unary("_dtype", |this| {
        dtype_to_python(this.py(), own(this)?.dtype())
    })?;
    methods.unary("_nbytes", |this| {
        Ok(own(this)?.data().len().into_pyobject(this.py())?.into_any())
    })?;
    methods.unary("_as_bytes", |this| {
        to_python(this.py(), &as_bytes(own(this)?)?.into())
    })?;
    methods.unary("data_ptr", |this| {
        let address = own(this)?.data().as_ptr() as usize;
        Ok(address.into_pyobject(this.py())?.into_any())
    })?;
    methods.variadic("_dlpack", |this, arguments| {
        arguments.expect("_dlpack", 2, 2)?;
        let flag = |place| match arguments.get(place) {
            Some(flag) => flag.is_truthy(),
            None => Ok(false),
        };
        export(this.py(), own(this)?, flag(0)?, flag(1)?)
    })?;
    methods.finish();
    install_buffer(class);
    Ok(())
}

/// The memory of a tensor as a tensor of bytes.
pub(crate) fn as_bytes(tensor: &Tensor) -> PyResult<Tensor> {
    let data = tensor.data().clone();
    let dtype = DType::new(DTypeCode::UInt, 8);
    new_tensor(dtype, vec![data.len() as i64], data)
}

fn own<'a>(this: &'a Object<'_>) -> PyResult<&'a Tensor> {
    match wrapper::core_of(this).map(host::view) {
        Some(ValueRef::Tensor(tensor)) => Ok(tensor),
        _ => Err(PyTypeError::new_err("expected a Tensor")),
    }
}
