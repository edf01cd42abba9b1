//! Files: JSON graphs and the binary form, for Python.

use isoform::{BinaryReadOptions, JsonOptions, JsonReadOptions};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(to_json_graph_str, module)?)?;
    module.add_function(wrap_pyfunction!(from_json_graph_str, module)?)?;
    module.add_function(wrap_pyfunction!(json_graph_metadata, module)?)?;
    module.add_function(wrap_pyfunction!(to_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(from_bytes, module)?)
}

/// A value as a JSON graph, which keeps sharing.
///
/// `metadata` is JSON data that is written beside the nodes. Raises TypeError
/// for a value that no file can hold, ValueError for one that contains itself,
/// both with the path. O(size).
#[pyfunction]
#[pyo3(signature = (obj, metadata=None))]
fn to_json_graph_str(
    obj: &Bound<'_, PyAny>,
    metadata: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let value = untyped(obj)?;
    let mut options = JsonOptions::default();
    if let Some(metadata) = metadata {
        options = options.metadata(untyped(metadata)?);
    }
    under_gil(obj.py(), || isoform::to_json_graph(&value, &options)).into_py()
}

fn read_options(ignore_unknown_fields: bool) -> JsonReadOptions {
    JsonReadOptions::default().ignore_unknown_fields(ignore_unknown_fields)
}

/// The value that a JSON graph holds.
///
/// Fields that are missing take their default. Raises ValueError for a text
/// that is no JSON graph, and for fields that the type does not have unless
/// `ignore_unknown_fields`; TypeError for an unknown type, a missing field
/// without default and a value that does not fit; each names the node.
/// O(length).
#[pyfunction]
#[pyo3(signature = (json_str, ignore_unknown_fields=false))]
fn from_json_graph_str<'py>(
    py: Python<'py>,
    json_str: &str,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read_options(ignore_unknown_fields);
    let value = under_gil(py, || isoform::from_json_graph(json_str, &options)).into_py()?;
    to_python(py, &value)
}

/// What was given as `metadata` when a JSON graph was written; None if nothing
/// was. Reads the whole graph.
#[pyfunction]
#[pyo3(signature = (json_str, ignore_unknown_fields=true))]
fn json_graph_metadata<'py>(
    py: Python<'py>,
    json_str: &str,
    ignore_unknown_fields: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let options = read_options(ignore_unknown_fields);
    let read = || isoform::from_json_graph_with_metadata(json_str, &options);
    let (_, metadata) = under_gil(py, read).into_py()?;
    metadata.map(|value| to_python(py, &value)).transpose()
}

/// A value in the compact binary form, with version and checksum.
///
/// Raises as `to_json_graph_str`. O(size).
#[pyfunction]
fn to_bytes<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let value = untyped(obj)?;
    let bytes = under_gil(obj.py(), || isoform::to_bytes(&value)).into_py()?;
    Ok(PyBytes::new(obj.py(), &bytes))
}

/// The value in a binary form made by `to_bytes`; `data` is any buffer of
/// bytes.
///
/// Raises ValueError for damaged data or another version, otherwise as
/// `from_json_graph_str`. O(length).
#[pyfunction]
#[pyo3(signature = (data, ignore_unknown_fields=false))]
fn from_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    // Other buffers may be changed while they are read, so they are copied.
    let data = match data.cast::<PyBytes>() {
        Ok(bytes) => bytes.clone(),
        Err(_) => {
            let view = py.get_type::<PyMemoryView>().call1((data,))?;
            py.get_type::<PyBytes>().call1((view,))?.cast_into()?
        }
    };
    let data = data.as_bytes();
    let options = BinaryReadOptions::default().ignore_unknown_fields(ignore_unknown_fields);
    let value = under_gil(py, || isoform::from_bytes_with(data, &options)).into_py()?;
    to_python(py, &value)
}
