//! Differences of ONNX models, for `isoform.onnx`.

use std::cell::RefCell;

use isoform::compare::CompareOptions;
use isoform::{Ref, Value};
use isoform_onnx::eval::Control;
use isoform_onnx::ir::Program;
use isoform_onnx::levels::Levels;
use isoform_onnx::report::{ChangeGroup, ReportOptions, Tolerance};
use pyo3::prelude::*;

use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::onnx::program_of;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(onnx_diff, module)?)
}

/// Kind, count, names of nodes, operator, place and text of a change.
type ChangeRow = (String, usize, Vec<String>, String, String, String);
/// True if nothing differs; the summary, the whole text, and the changes.
type DiffRow = (bool, String, String, Vec<ChangeRow>);

fn change_row(group: &ChangeGroup) -> ChangeRow {
    let nodes = group.nodes.iter();
    (
        group.kind.to_owned(),
        group.count,
        nodes.map(|node| node.name.clone()).collect(),
        group
            .nodes
            .first()
            .map_or_else(String::new, |node| node.op.clone()),
        group.place.clone(),
        group.text.clone(),
    )
}

/// The differences of two models; see `isoform.onnx.diff`.
#[pyfunction]
#[pyo3(signature = (left, right, *, ignore_shapes, strict, skip_tensor_content, tolerance))]
fn onnx_diff(
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    ignore_shapes: bool,
    strict: bool,
    skip_tensor_content: bool,
    tolerance: Option<(f64, f64)>,
) -> PyResult<DiffRow> {
    let py = left.py();
    let (left, right) = (program_of(left)?, program_of(right)?);
    let stopped = RefCell::new(None);
    let interrupted = || match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            stopped.replace(Some(error));
            true
        }
    };
    let control = Control {
        interrupted: Some(&interrupted),
        ..Control::default()
    };
    let options = ReportOptions {
        levels: Levels {
            ignore_shapes,
            same_opset_meaning: !strict,
            defaults: !strict,
        },
        compare: CompareOptions {
            skip_tensor_content,
            ..CompareOptions::default()
        },
        tolerance: tolerance.map(|(rtol, atol)| Tolerance { rtol, atol }),
    };
    let report = under_gil(py, || options.report(&left, &right, &control));
    if let Some(error) = stopped.take() {
        return Err(error);
    }
    let report = report.into_py()?;
    let lines = report.summary_lines().into_iter();
    let summary: Vec<String> = lines.map(|line| line.text).collect();
    Ok((
        report.is_equal(),
        summary.join("\n"),
        report.to_string(),
        report.groups.iter().map(change_row).collect(),
    ))
}

/// The differences of two programs of models, more detailed than the first mismatch; None
/// for other values.
pub(crate) fn report_of_programs(
    left: &Value,
    right: &Value,
    compare: CompareOptions,
) -> Option<String> {
    let (left, right) = (left.peek::<Ref<Program>>()?, right.peek::<Ref<Program>>()?);
    let options = ReportOptions {
        levels: Levels::NONE,
        compare,
        tolerance: None,
    };
    let report = options.report(left, right, &Control::default()).ok()?;
    (!report.is_equal()).then(|| report.to_string())
}
