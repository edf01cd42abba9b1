//! Structural keys for Python.

use isoform::Value;
use isoform::compare::StructuralKey;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::object::wrapper;

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(structural_key, module)?)?;
    module.add_function(wrap_pyfunction!(structural_key_value, module)?)?;
    module.add_function(wrap_pyfunction!(structural_key_hash, module)?)?;
    module.add_function(wrap_pyfunction!(structural_key_equal, module)?)
}

/// Makes a key from a value, an instance of `StructuralKey`.
#[pyfunction]
fn structural_key<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = untyped(value)?;
    let key = under_gil(value.py(), || StructuralKey::new(given)).into_py()?;
    to_python(value.py(), &Value::from(key))
}

/// Runs `body` with the key of a Python object, if the object is a key.
fn with_key<R>(this: &Bound<'_, PyAny>, body: impl FnOnce(&StructuralKey) -> R) -> Option<R> {
    let value = Value::from(wrapper::core_of(this)?);
    value.as_structural_key().map(body)
}

fn expect<R>(this: &Bound<'_, PyAny>, body: impl FnOnce(&StructuralKey) -> R) -> PyResult<R> {
    with_key(this, body).ok_or_else(|| {
        let name = this.get_type().name();
        let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("expected a StructuralKey, got {name}"))
    })
}

/// The value that a key was made from.
#[pyfunction]
fn structural_key_value<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let value = expect(this, |key| key.value().clone())?;
    to_python(this.py(), &value)
}

/// The hash of a key for tables of this process.
#[pyfunction]
fn structural_key_hash(this: &Bound<'_, PyAny>) -> PyResult<u64> {
    expect(this, StructuralKey::table_hash)
}

/// True if the other object is an equal key.
#[pyfunction]
fn structural_key_equal(this: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = this.py();
    let Some(other) = with_key(other, StructuralKey::clone) else {
        return Ok(false);
    };
    expect(this, |key| under_gil(py, || key.try_eq(&other)))?.into_py()
}
