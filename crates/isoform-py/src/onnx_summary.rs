//! Summaries of ONNX models, for `isoform.onnx`.

use std::fmt::Display;

use isoform_onnx::summary::{ModelSummary, ModelsSummary};
use pyo3::prelude::*;
use pythonize::pythonize;
use serde::Serialize;

use crate::error::IntoPyResult;
use crate::object::gil::{under_gil, with_signals};
use crate::onnx::program_of;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(onnx_summary, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_summary_of_two, module)?)
}

/// The numbers of a model and their text; see `isoform.onnx.summary`.
#[pyfunction]
fn onnx_summary<'py>(model: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let program = program_of(model)?;
    let summary = under_gil(model.py(), || ModelSummary::new(&program));
    with_text(model.py(), &summary)
}

/// The numbers of two models and their text; see `isoform.onnx.summary`.
#[pyfunction]
fn onnx_summary_of_two<'py>(
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = left.py();
    let (left, right) = (program_of(left)?, program_of(right)?);
    let summary = with_signals(py, |control| ModelsSummary::new(&left, &right, control))?;
    let summary = summary.into_py()?;
    let data = with_text(py, &summary)?;
    data.set_item("left", with_text(py, &summary.left)?)?;
    data.set_item("right", with_text(py, &summary.right)?)?;
    Ok(data)
}

fn with_text<'py>(
    py: Python<'py>,
    summary: &(impl Serialize + Display),
) -> PyResult<Bound<'py, PyAny>> {
    let data = pythonize(py, summary)?;
    data.set_item("_text", summary.to_string())?;
    Ok(data)
}
