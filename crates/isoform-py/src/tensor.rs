//! Tensors from Python arrays.

use isoform::Value;
use pyo3::prelude::*;

/// A tensor from an object that offers its memory; None when it offers none.
///
/// # Errors
///
/// What the object's protocol methods raise.
pub(crate) fn from_protocol(_value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    Ok(None)
}
