//! Files: JSON graphs and the binary form, for Python.

use isoform::files::{BinaryReadOptions, JsonOptions, JsonReadOptions};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// Writes a value as a JSON graph, which keeps sharing.
///
/// `metadata` is JSON data that is written next to the nodes. Raises TypeError for a
/// value that files cannot store, ValueError for one that contains itself, both with
/// the path. O(size).
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
    under_gil(obj.py(), || options.to_json_graph(&value)).into_py()
}

fn read_options(ignore_unknown_fields: bool) -> JsonReadOptions {
    JsonReadOptions::default().ignore_unknown_fields(ignore_unknown_fields)
}

/// Reads the value of a JSON graph.
///
/// Missing fields take their default. Raises ValueError for text that is not a JSON
/// graph, and for fields that the type does not have unless `ignore_unknown_fields`;
/// TypeError for an unknown type, a missing field without default and a value that does
/// not fit; each names the node. O(length).
#[pyfunction]
#[pyo3(signature = (json_str, ignore_unknown_fields=false))]
fn from_json_graph_str<'py>(
    py: Python<'py>,
    json_str: &str,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read_options(ignore_unknown_fields);
    let value = under_gil(py, || options.read(json_str)).into_py()?;
    to_python(py, &value)
}

/// The `metadata` that was passed when a JSON graph was written, or None. Reads the
/// whole graph.
#[pyfunction]
#[pyo3(signature = (json_str, ignore_unknown_fields=true))]
fn json_graph_metadata<'py>(
    py: Python<'py>,
    json_str: &str,
    ignore_unknown_fields: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let options = read_options(ignore_unknown_fields);
    let read = || options.read_with_metadata(json_str);
    let (_, metadata) = under_gil(py, read).into_py()?;
    metadata.map(|value| to_python(py, &value)).transpose()
}

/// Writes a value in the compact binary form, with version and checksum.
///
/// Raises the same exceptions as `to_json_graph_str`. O(size).
#[pyfunction]
fn to_bytes<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let value = untyped(obj)?;
    let bytes = under_gil(obj.py(), || isoform::files::to_bytes(&value)).into_py()?;
    Ok(PyBytes::new(obj.py(), &bytes))
}

/// Reads a value in the binary form made by `to_bytes`.
///
/// Raises ValueError for damaged data or another version, otherwise the same exceptions
/// as `from_json_graph_str`. O(length).
#[pyfunction]
#[pyo3(signature = (data, ignore_unknown_fields=false))]
fn from_bytes<'py>(
    py: Python<'py>,
    data: PyBuffer<u8>,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let data = data.to_vec(py)?;
    let options = BinaryReadOptions::default().ignore_unknown_fields(ignore_unknown_fields);
    let value = under_gil(py, || options.read(&data)).into_py()?;
    to_python(py, &value)
}
