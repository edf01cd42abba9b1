//! Differences of ONNX models, for `isoform.onnx`.

use isoform::compare::CompareOptions;
use isoform::{Ref, Value};
use isoform_onnx::eval::Control;
use isoform_onnx::ir::Program;
use isoform_onnx::levels::Levels;
use isoform_onnx::report::{ChangeGroup, ReportOptions, Tolerance};
use pyo3::prelude::*;

use crate::error::IntoPyResult;
use crate::object::gil::with_signals;
use crate::onnx::program_of;
use crate::pages::{ReportHandle, model_names};

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(onnx_diff, module)?)
}

/// Kind, count, first node, its operator, place, text and names of all nodes of a change.
type ChangeRow = (String, usize, String, String, String, String, Vec<String>);
/// True if nothing differs; the changes, the summary, the whole text, and the report itself.
type DiffRow = (bool, Vec<ChangeRow>, String, String, ReportHandle);

fn change_row(group: &ChangeGroup) -> ChangeRow {
    let nodes = group.nodes.iter();
    let first = group.nodes.first();
    let (node, op) = first.map_or_else(Default::default, |it| (it.name.clone(), it.op.clone()));
    (
        group.kind.to_owned(),
        group.count,
        node,
        op,
        group.place.clone(),
        group.text.clone(),
        nodes.map(|node| node.name.clone()).collect(),
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
    let names = model_names(left, right);
    let (left, right) = (program_of(left)?, program_of(right)?);
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
    let report = with_signals(py, |control| options.report(&left, &right, control))?;
    let report = report.into_py()?;
    let lines = report.summary_lines().into_iter();
    let summary: Vec<String> = lines.map(|line| line.text).collect();
    Ok((
        report.is_equal(),
        report.groups.iter().map(change_row).collect(),
        summary.join("\n"),
        report.to_string(),
        ReportHandle { report, names },
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
