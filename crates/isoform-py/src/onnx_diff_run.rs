//! Where the results of two ONNX models part, for `isoform.onnx`.

use isoform_onnx::divergence::DivergenceOptions;
use isoform_onnx::verify::{Evaluator, Runner, Tolerance};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::error::IntoPyResult;
use crate::onnx::{named_values, program_of};
use crate::onnx_optimize::Runtime;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(onnx_diff_run, module)?)
}

/// Runs two models on the same inputs and compares their values; see `isoform.onnx.diff_run`.
/// Returns the result, and its text.
#[pyfunction]
#[pyo3(signature = (left, right, *, tolerance, seed, sets, thresholds, runtime, inputs, shapes))]
#[expect(clippy::too_many_arguments, reason = "options of Python are keywords")]
fn onnx_diff_run<'py>(
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
    tolerance: (f64, f64),
    seed: u64,
    sets: usize,
    thresholds: Vec<f64>,
    runtime: &Bound<'_, PyAny>,
    inputs: Vec<(String, Bound<'_, PyAny>)>,
    shapes: Vec<(String, Vec<i64>)>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let py = left.py();
    let (left, right) = (program_of(left)?, program_of(right)?);
    let runtime = Runtime::of(runtime)?;
    let (rtol, atol) = tolerance;
    let options = DivergenceOptions::default()
        .tolerance(Tolerance { rtol, atol })
        .seed(seed)
        .sets(sets)
        .thresholds(thresholds)
        .inputs(named_values(inputs)?)
        .shapes(shapes);
    let result = py.detach(|| {
        let mut runners: Vec<&dyn Runner> = Vec::new();
        runners.extend(runtime.as_ref().map(|runner| runner as &dyn Runner));
        runners.push(&Evaluator);
        options.compare(&left, &right, &runners, &mut |_, _| ())
    });
    let result = result.into_py()?;
    Ok((pythonize(py, &result)?, result.to_string()))
}
