//! Models of the ONNX format, for `isoform.onnx`.
//!
//! The node types of programs are registered here; their classes make
//! themselves.

use std::path::PathBuf;

use isoform_onnx::{ImportOptions, Model};
use pyo3::prelude::*;

use crate::convert::to_python;
use crate::error::IntoPyResult;

/// Adds the names of this file, and registers the node types so that their
/// classes can be asked for by key before a model is loaded.
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
    /// What the model computes, as an object of `onnx.Program`.
    #[getter]
    fn program<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.model.to_value())
    }

    /// The file the model was loaded from.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.model.path().map(PathBuf::from)
    }

    /// Nodes in the file, those of bodies and functions included.
    #[getter]
    fn node_count(&self) -> usize {
        self.model.counts().nodes
    }

    /// Nodes that no output needs; they are not part of the program.
    #[getter]
    fn dropped_node_count(&self) -> usize {
        self.model.counts().dropped
    }

    /// Initializers of the main graph and of all bodies.
    #[getter]
    fn initializer_count(&self) -> usize {
        self.model.counts().initializers
    }

    /// Local functions that the program calls.
    #[getter]
    fn function_count(&self) -> usize {
        self.model.counts().functions
    }

    /// Bytes of all constants.
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
    let options = ImportOptions::new().with_mmap(mmap).with_io_names(io_names);
    // Nothing of Python is needed to read a file, so other threads may run.
    let model = py.detach(|| isoform_onnx::load(path, &options)).into_py()?;
    Ok(OnnxModel { model })
}
