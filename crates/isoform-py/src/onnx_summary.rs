//! Summaries of ONNX models, for `isoform.onnx`.

use std::cell::RefCell;

use isoform::Str;
use isoform_onnx::eval::Control;
use isoform_onnx::summary::{
    Changed, MeasuredWeight, ModelSummary, ModelsSummary, ValueSummary, Weight,
};
use pyo3::prelude::*;

use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::onnx::program_of;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(onnx_summary, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_summary_of_two, module)?)
}

/// Name, element type and shape of an input or output.
type IoRow = (String, String, String);
/// IR version, producer, operator sets by domain, inputs, outputs, the number of nodes by
/// operator, of nodes, of the nodes in the longest chain, of nested bodies, of constants; count,
/// elements and bytes of the weights by type; functions with the number of their nodes.
type ModelRow = (
    i64,
    String,
    Vec<(String, Vec<i64>)>,
    Vec<IoRow>,
    Vec<IoRow>,
    Vec<(String, usize)>,
    usize,
    usize,
    usize,
    usize,
    Vec<(String, usize, u64, u64)>,
    Vec<(String, usize)>,
);

fn named(value: &ValueSummary) -> IoRow {
    let ValueSummary { name, dtype, shape } = value.clone();
    (name, dtype, shape)
}

fn model_row(summary: &ModelSummary) -> ModelRow {
    let opsets = summary.opsets.iter();
    let operators = summary.operators.iter();
    let weights = summary.weights.iter();
    let functions = summary.functions.iter();
    (
        summary.ir_version,
        summary.producer.clone(),
        opsets
            .map(|(domain, versions)| (domain.clone(), versions.iter().copied().collect()))
            .collect(),
        summary.inputs.iter().map(named).collect(),
        summary.outputs.iter().map(named).collect(),
        operators
            .map(|(operator, count)| (operator.to_string(), *count))
            .collect(),
        summary.nodes,
        summary.depth,
        summary.nesting,
        summary.constants,
        weights
            .map(|(dtype, it)| (dtype.clone(), it.count, it.elements, it.bytes))
            .collect(),
        functions.map(|it| (it.name.clone(), it.nodes)).collect(),
    )
}

/// The text and the numbers of a model; see `isoform.onnx.summary`.
#[pyfunction]
fn onnx_summary(model: &Bound<'_, PyAny>) -> PyResult<(String, ModelRow)> {
    let program = program_of(model)?;
    let summary = under_gil(model.py(), || ModelSummary::new(&program));
    Ok((summary.to_string(), model_row(&summary)))
}

/// Name, element type and shape of a weight.
type WeightRow = (String, String, Vec<i64>);
/// Elements, elements that differ, and the position of the first; the largest distance, also
/// exactly, the relative distance and the cosine.
type DifferenceRow = (
    usize,
    usize,
    Option<usize>,
    Option<f64>,
    Option<u64>,
    Option<f64>,
    Option<f64>,
);
/// Both weights of a pair, and their difference.
type ChangedRow = (WeightRow, WeightRow, Option<DifferenceRow>);
/// The number of pairs, differing pairs, names without a partner, elements, differing
/// elements, and the largest distance.
type WeightsRow = (
    usize,
    Vec<ChangedRow>,
    Vec<String>,
    Vec<String>,
    u64,
    u64,
    Option<f64>,
);
/// A difference by position, with both sides.
type ValueRow = (usize, Option<IoRow>, Option<IoRow>);
/// Versions of an operator set, by domain, on both sides.
type OpsetRow = (String, Option<Vec<i64>>, Option<Vec<i64>>);
/// The text, both models, operator sets, inputs and outputs that differ, operators with both
/// counts, and weights.
type ModelsRow = (
    String,
    (String, ModelRow),
    (String, ModelRow),
    Vec<OpsetRow>,
    Vec<ValueRow>,
    Vec<ValueRow>,
    Vec<(String, usize, usize)>,
    WeightsRow,
);

/// The text and the numbers of two models; see `isoform.onnx.summary`.
#[pyfunction]
fn onnx_summary_of_two(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<ModelsRow> {
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
    let summary = under_gil(py, || ModelsSummary::new(&left, &right, &control));
    if let Some(error) = stopped.take() {
        return Err(error);
    }
    let summary = summary.into_py()?;
    let opsets = summary.opsets.iter().map(|(domain, changed)| {
        let versions = [&changed.left, &changed.right]
            .map(|side| side.as_ref().map(|it| it.iter().copied().collect()));
        let [left, right] = versions;
        (domain.clone(), left, right)
    });
    let operators = summary.operators.iter();
    let weights = &summary.weights;
    let names = |names: &[Str]| names.iter().map(ToString::to_string).collect();
    Ok((
        summary.to_string(),
        (summary.left.to_string(), model_row(&summary.left)),
        (summary.right.to_string(), model_row(&summary.right)),
        opsets.collect(),
        values(&summary.inputs),
        values(&summary.outputs),
        operators
            .map(|it| (it.operator.to_string(), it.left, it.right))
            .collect(),
        (
            weights.pairs,
            weights.changed.iter().map(changed).collect(),
            names(&weights.left_only),
            names(&weights.right_only),
            weights.elements,
            weights.differing,
            weights.max_abs,
        ),
    ))
}

fn values(values: &[(usize, Changed<ValueSummary>)]) -> Vec<ValueRow> {
    let values = values.iter();
    let row = |(at, changed): &(usize, Changed<ValueSummary>)| {
        let [left, right] = [&changed.left, &changed.right].map(|it| it.as_ref().map(named));
        (*at, left, right)
    };
    values.map(row).collect()
}

fn changed(it: &MeasuredWeight) -> ChangedRow {
    let side = |it: &Weight| {
        let (dtype, shape) = (it.tensor.dtype(), it.tensor.shape());
        (it.name.to_string(), dtype.to_string(), shape.to_vec())
    };
    let difference = it.difference.map(|it| {
        (
            it.count,
            it.differing,
            it.first,
            it.max_abs,
            it.max_abs_int,
            it.relative_l2,
            it.cosine,
        )
    });
    (side(&it.left), side(&it.right), difference)
}
