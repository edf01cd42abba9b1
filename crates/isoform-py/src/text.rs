//! Text for people, for Python.
//!
//! `python/isoform/ir/printing.py` decides what `astext` and `script` leave out.

use isoform::paths::AccessPath;
use isoform::text::{TensorText, TextOptions, TextReadOptions};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{self, under_gil};
use crate::path::PathHandle;

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(to_text, module)?)?;
    module.add_function(wrap_pyfunction!(from_text, module)?)
}

/// The text of a value.
///
/// `options` are those of `isoform.text.to_text`, by name.
#[pyfunction]
fn to_text(obj: &Bound<'_, PyAny>, options: &Bound<'_, PyDict>) -> PyResult<String> {
    let value = untyped(obj)?;
    let mut text = TextOptions::default();
    for (name, given) in options {
        text = set(text, name.cast::<PyString>()?.to_str()?, &given)?;
    }
    under_gil(obj.py(), || text.to_text(&value)).into_py()
}

/// Sets one option.
fn set(mut text: TextOptions, name: &str, value: &Bound<'_, PyAny>) -> PyResult<TextOptions> {
    match name {
        "width" => text.width = value.extract()?,
        "indent" => text.indent = value.extract()?,
        "depth" => text.depth = value.extract()?,
        "defaults" => text.defaults = value.is_truthy()?,
        "ignored_fields" => text.ignored_fields = value.is_truthy()?,
        "spans" => text.spans = value.is_truthy()?,
        "types" => text.types = value.is_truthy()?,
        "hide" => text.hidden_fields = value.extract()?,
        "structural_names" => text.structural_names = value.is_truthy()?,
        "metadata" => text.metadata = value.is_truthy()?,
        "placeholders" => text.placeholders = value.is_truthy()?,
        "color" => text.color = value.is_truthy()?,
        "tensors" => text.tensors = tensors(value)?,
        "marks" => {
            for mark in value.try_iter()? {
                let (path, note): (Bound<'_, PathHandle>, String) = mark?.extract()?;
                text = text.mark(AccessPath::from(path.get()), note);
            }
        }
        "annotate" => {
            if !value.is_none() {
                text = annotate(text, value.clone().unbind());
            }
        }
        _ => {
            let what = format!("unknown option {name:?} of text");
            return Err(PyTypeError::new_err(what));
        }
    }
    Ok(text)
}

fn tensors(given: &Bound<'_, PyAny>) -> PyResult<TensorText> {
    match given.extract::<&str>()? {
        "section" => Ok(TensorText::Section),
        "inline" => Ok(TensorText::Inline),
        "abbreviated" => Ok(TensorText::Abbreviated),
        other => Err(PyValueError::new_err(format!(
            "tensors: expected 'section', 'inline' or 'abbreviated', got {other:?}"
        ))),
    }
}

fn annotate(text: TextOptions, callback: Py<PyAny>) -> TextOptions {
    text.annotate(move |object| {
        Python::attach(|py| -> PyResult<Option<String>> {
            let object = to_python(py, &object.into())?;
            gil::call(callback.bind(py), &[&object])?.extract()
        })
        .map_err(from_python)
    })
}

/// Parses the text of a value.
///
/// Raises ValueError for text that is not a value, with line, column and the line
/// itself, and for fields that the type does not have unless `ignore_unknown_fields`;
/// TypeError for unknown types, missing fields and values that do not fit. O(length).
#[pyfunction]
#[pyo3(signature = (text, ignore_unknown_fields=false))]
fn from_text<'py>(
    py: Python<'py>,
    text: &str,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = TextReadOptions::default().ignore_unknown_fields(ignore_unknown_fields);
    let value = under_gil(py, || options.read(text)).into_py()?;
    to_python(py, &value)
}
