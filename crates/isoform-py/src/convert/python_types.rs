//! The value classes written in Python: `dtype`, `Device`, `Shape`.
//!
//! Instances of the first two are made once per value and cached; there are few.

use std::cell::RefCell;

use hashbrown::HashMap;
use isoform::values::{DType, Device};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

static DTYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DEVICE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SHAPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

thread_local! {
    static DTYPES: RefCell<HashMap<u32, Py<PyAny>>> = RefCell::default();
    static DEVICES: RefCell<HashMap<(u32, u32), Py<PyAny>>> = RefCell::default();
}

/// The number of instances that a thread caches; programs use a handful.
const KEPT: usize = 1024;

/// Registers the classes for data types (a subclass of str), devices and shapes (a
/// subclass of tuple). Called once, by the package.
#[pyfunction]
#[pyo3(name = "_set_python_types")]
pub(crate) fn set_python_types(
    py: Python<'_>,
    dtype: Py<PyType>,
    device: Py<PyType>,
    shape: Py<PyType>,
) {
    // A second call has no effect, for example if the package is imported again.
    let _ = DTYPE.set(py, dtype);
    let _ = DEVICE.set(py, device);
    let _ = SHAPE.set(py, shape);
}

/// The class of data types, once the package is imported.
pub(crate) fn dtype_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    DTYPE.get(py).map(|class| class.bind(py))
}

/// The class of devices.
pub(crate) fn device_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    DEVICE.get(py).map(|class| class.bind(py))
}

/// The class of shapes.
pub(crate) fn shape_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    SHAPE.get(py).map(|class| class.bind(py))
}

/// Usual names besides those of the core.
const ALIASES: [(&str, &str); 8] = [
    ("int", "int32"),
    ("uint", "uint32"),
    ("float", "float32"),
    ("half", "float16"),
    ("double", "float64"),
    ("bool_", "bool"),
    ("bf16", "bfloat16"),
    ("long", "int64"),
];

/// A data type by name or alias.
///
/// # Errors
///
/// `ValueError` for any other text.
pub(crate) fn parse_dtype(text: &str) -> PyResult<DType> {
    let text = text.strip_prefix("torch.").unwrap_or(text);
    let alias = ALIASES.iter().find(|(alias, _)| *alias == text);
    let name = alias.map_or(text, |(_, name)| name);
    name.parse()
        .map_err(|error: isoform::Error| PyValueError::new_err(error.message().to_owned()))
}

/// The name, code, bits and lanes of a data type, and all of them packed.
#[pyfunction]
#[pyo3(name = "_dtype_parts")]
pub(crate) fn dtype_parts(text: &str) -> PyResult<(String, u8, u8, u16, u32)> {
    let dtype = parse_dtype(text)?;
    Ok((
        dtype.to_string(),
        dtype.code() as u8,
        dtype.bits(),
        dtype.lanes(),
        dtype.to_bits(),
    ))
}

/// The name of a data type with DLPack's numbers.
#[pyfunction]
#[pyo3(name = "_dtype_name")]
pub(crate) fn dtype_name(code: u8, bits: u8, lanes: u16) -> PyResult<String> {
    match DType::from_parts(code, bits, lanes) {
        Some(dtype) => Ok(dtype.to_string()),
        None => Err(PyValueError::new_err(format!(
            "no dtype has code {code}, {bits} bits and {lanes} lanes"
        ))),
    }
}

/// DLPack's number for a kind of device and the ordinal, from text.
#[pyfunction]
#[pyo3(name = "_device_parts")]
pub(crate) fn device_parts(text: &str) -> PyResult<(u32, u32)> {
    let device: Device = text
        .parse()
        .map_err(|error: isoform::Error| PyValueError::new_err(error.message().to_owned()))?;
    Ok((device.kind(), device.ordinal()))
}

/// The name of a kind of device.
#[pyfunction]
#[pyo3(name = "_device_name")]
pub(crate) fn device_name(kind: u32) -> String {
    let text = Device::new(kind, 0).to_string();
    text.trim_end_matches(":0").to_owned()
}

/// The data type of an instance of `dtype`.
pub(crate) fn dtype_of_instance(value: &Bound<'_, PyAny>) -> PyResult<DType> {
    let packed: u32 = value.getattr(intern!(value.py(), "_packed"))?.extract()?;
    let [code, bits, low, high] = packed.to_le_bytes();
    DType::from_parts(code, bits, u16::from_le_bytes([low, high]))
        .ok_or_else(|| PyValueError::new_err(format!("{value} is no dtype")))
}

/// A data type as an instance of the class `dtype`.
///
/// # Errors
///
/// Exceptions from making an instance.
pub(crate) fn dtype_to_python(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let bits = dtype.to_bits();
    let known = DTYPES.with_borrow(|known| known.get(&bits).map(|made| made.clone_ref(py)));
    if let Some(made) = known {
        return Ok(made.into_bound(py));
    }
    let name = dtype.to_string();
    let Some(class) = dtype_class(py) else {
        return Ok(name.into_pyobject(py)?.into_any());
    };
    let made = class.call1((name,))?;
    DTYPES.with_borrow_mut(|known| {
        if known.len() < KEPT {
            known.insert(bits, made.clone().unbind());
        }
    });
    Ok(made)
}

/// A device as an instance of the class `Device`.
///
/// # Errors
///
/// Exceptions from making an instance.
pub(crate) fn device_to_python(py: Python<'_>, device: Device) -> PyResult<Bound<'_, PyAny>> {
    let key = (device.kind(), device.ordinal());
    let known = DEVICES.with_borrow(|known| known.get(&key).map(|made| made.clone_ref(py)));
    if let Some(made) = known {
        return Ok(made.into_bound(py));
    }
    let Some(class) = device_class(py) else {
        return Ok(device.to_string().into_pyobject(py)?.into_any());
    };
    let made = class.call1(key)?;
    DEVICES.with_borrow_mut(|known| {
        if known.len() < KEPT {
            known.insert(key, made.clone().unbind());
        }
    });
    Ok(made)
}

/// A shape as an instance of the class `Shape`.
///
/// # Errors
///
/// Exceptions from making an instance.
pub(crate) fn shape_to_python<'py>(
    py: Python<'py>,
    shape: &isoform::values::Shape,
) -> PyResult<Bound<'py, PyAny>> {
    let numbers = PyTuple::new(py, shape.iter())?;
    match shape_class(py) {
        // The numbers need none of the checks by the class's own constructor.
        Some(class) => py
            .get_type::<PyTuple>()
            .call_method1(intern!(py, "__new__"), (class, numbers)),
        None => Ok(numbers.into_any()),
    }
}
