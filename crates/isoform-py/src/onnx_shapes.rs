//! Derived shapes of ONNX programs, and dimensions as numbers, for `isoform.onnx`.

use std::sync::{Mutex, PoisonError};

use isoform::values::ValueRef;
use isoform::{Error, Value};
use isoform_onnx::facts::{Analysis, Fact, Problem, Size, fix_dims, problems};
use isoform_onnx::ir::{Input, Output, SparseTensor, StringTensor};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyTuple;

use crate::convert::{dtype_to_python, to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::onnx::program_of;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OnnxShapes>()?;
    module.add_function(wrap_pyfunction!(onnx_infer_shapes, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_fix_dims, module)?)
}

/// The types of a program's values; see `isoform.onnx.infer_shapes`.
#[pyclass(frozen, name = "OnnxShapes", module = "isoform._core")]
struct OnnxShapes {
    // The lock is held only while the core computes, without waiting for the GIL.
    analysis: Mutex<Analysis>,
    problems: Vec<Problem>,
}

/// Element type, extents, and elements of a small tensor of integers.
type ValueType<'py> = (
    Bound<'py, PyAny>,
    Option<Bound<'py, PyTuple>>,
    Option<Bound<'py, PyTuple>>,
);

#[pymethods]
impl OnnxShapes {
    /// Element type, extents and elements of a value.
    fn type_of<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<ValueType<'py>> {
        let py = value.py();
        let value = untyped(value)?;
        if !is_value(&value) {
            return Err(Error::type_error(format!(
                "expected a value of a program, that is an onnx.Output, an onnx.Input or a \
                 constant, got {}",
                value.type_name()
            )))
            .into_py();
        }
        let fact = under_gil(py, || {
            let analysis = self.analysis.lock_py_attached(py);
            // After a panic, the facts are still right, though perhaps incomplete.
            let mut analysis = analysis.unwrap_or_else(PoisonError::into_inner);
            analysis.fact(&value)
        });
        known(py, &fact)
    }

    /// The name, declared and derived type of each output whose declared type is wrong, and
    /// that as a sentence.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn problems<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(String, ValueType<'py>, ValueType<'py>, String)>> {
        let problems = self.problems.iter();
        let rows = problems.map(|problem| {
            Ok((
                problem.name.to_string(),
                known(py, &problem.declared)?,
                known(py, &problem.derived)?,
                problem.to_string(),
            ))
        });
        rows.collect()
    }
}

fn is_value(value: &Value) -> bool {
    match value.view() {
        ValueRef::Tensor(_) => true,
        ValueRef::Object(object) => {
            object.downcast_ref::<Output>().is_some()
                || object.downcast_ref::<Input>().is_some()
                || object.downcast_ref::<StringTensor>().is_some()
                || object.downcast_ref::<SparseTensor>().is_some()
        }
        _ => false,
    }
}

fn known<'py>(py: Python<'py>, fact: &Fact) -> PyResult<ValueType<'py>> {
    let elem = match fact.elem {
        None => py.None().into_bound(py),
        Some(elem) => match elem.dtype() {
            Some(dtype) => dtype_to_python(py, dtype)?,
            None => elem.name().into_pyobject(py)?.into_any(),
        },
    };
    let sizes = |sizes: &Option<Vec<Size>>| {
        let sizes = sizes.as_ref().map(|sizes| {
            let sizes = sizes.iter().map(|size| match size.as_const() {
                Some(number) => Ok(number.into_pyobject(py)?.into_any()),
                None => Ok(size.to_string().into_pyobject(py)?.into_any()),
            });
            PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
        });
        sizes.transpose()
    };
    Ok((elem, sizes(&fact.shape)?, sizes(&fact.elements)?))
}

/// Derives the types of all values; see `isoform.onnx.infer_shapes`.
#[pyfunction]
fn onnx_infer_shapes(model: &Bound<'_, PyAny>) -> PyResult<OnnxShapes> {
    let program = program_of(model)?;
    Ok(under_gil(model.py(), || {
        let mut analysis = Analysis::of_program(&program);
        let problems = problems(&mut analysis, &program.graph);
        OnnxShapes {
            analysis: Mutex::new(analysis),
            problems,
        }
    }))
}

/// The program with dimensions as numbers; see `isoform.onnx.fix_dims`.
#[pyfunction]
fn onnx_fix_dims<'py>(
    model: &Bound<'py, PyAny>,
    dims: Vec<(String, i64)>,
    input_shapes: Vec<(String, Vec<Option<i64>>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let program = program_of(model)?;
    let py = model.py();
    let fixed = under_gil(py, || fix_dims(&program, &dims, &input_shapes)).into_py()?;
    to_python(py, &Value::from(fixed))
}
