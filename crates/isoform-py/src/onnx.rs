//! Models of the ONNX format, for `isoform.onnx`.
//!
//! Registers the node types of programs; their classes are made on demand.

use std::path::PathBuf;

use isoform_onnx::{ImportOptions, Model};
use pyo3::prelude::*;

use crate::convert::to_python;
use crate::error::IntoPyResult;

/// Adds the names of this file, and registers the node types so that their classes can
/// be found by key before a model is loaded.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OnnxModel>()?;
    module.add_function(wrap_pyfunction!(onnx_load, module)?)?;
    isoform_onnx::ir::register().into_py()
}

/// A loaded ONNX model; see `isoform.onnx.load`.
#[pyclass(frozen, name = "OnnxModel", module = "isoform._core")]
struct OnnxModel {
    model: Model,
}

#[pymethods]
impl OnnxModel {
    /// The computation of the model, as an object of `onnx.Program`.
    #[getter]
    fn program<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.model.to_value())
    }

    /// The file from which the model was loaded.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.model.path().map(PathBuf::from)
    }

    /// The number of nodes in the file, including those of bodies and functions.
    #[getter]
    fn node_count(&self) -> usize {
        self.model.counts().nodes
    }

    /// The number of nodes that no output needs; they are not part of the program.
    #[getter]
    fn dropped_node_count(&self) -> usize {
        self.model.counts().dropped
    }

    /// The number of initializers of the main graph and of all bodies.
    #[getter]
    fn initializer_count(&self) -> usize {
        self.model.counts().initializers
    }

    /// The number of local functions that the program calls.
    #[getter]
    fn function_count(&self) -> usize {
        self.model.counts().functions
    }

    /// The number of bytes of all constants.
    #[getter]
    fn constant_bytes(&self) -> u64 {
        self.model.counts().bytes
    }

    fn __repr__(&self) -> String {
        let path = match self.model.path() {
            Some(path) => format!("'{}'", path.display()),
            None => "in memory".to_owned(),
        };
        format!("<OnnxModel {path}, {} nodes>", self.model.counts().nodes)
    }
}

/// Loads a model; see `isoform.onnx.load`.
#[pyfunction]
#[pyo3(signature = (path, *, mmap = true, io_names = false))]
fn onnx_load(py: Python<'_>, path: PathBuf, mmap: bool, io_names: bool) -> PyResult<OnnxModel> {
    let options = ImportOptions::default().mmap(mmap).io_names(io_names);
    // Reading a file does not need Python, so other threads may run.
    let model = py.detach(|| options.load(path)).into_py()?;
    Ok(OnnxModel { model })
}
