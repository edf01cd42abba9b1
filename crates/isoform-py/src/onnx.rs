//! Models of the ONNX format, for `isoform.onnx`.
//!
//! Registers the node types of programs; their classes are made on demand.

use std::path::PathBuf;

use isoform::{Error, Ref, Value};
use isoform_onnx::eval::{Control, Refusal, run};
use isoform_onnx::{
    ExternalResolver, ImportOptions, Model, SaveOptions, decode_model, ir::Program,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::{under_gil, with_signals};
use crate::pages::{self, Names};

/// Adds the names of this file, and registers the node types so that their classes can
/// be found by key before a model is loaded.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<OnnxModel>()?;
    module.add_function(wrap_pyfunction!(onnx_load, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_load_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_save, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_to_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_evaluate, module)?)?;
    isoform_onnx::ir::register().into_py()
}

/// A loaded ONNX model; see `isoform.onnx.load`.
#[pyclass(frozen, name = "OnnxModel", module = "isoform._core")]
pub(crate) struct OnnxModel {
    pub(crate) model: Model,
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

    /// The model as a page for a browser, one file of HTML: its operators, weights with
    /// statistics, and nodes.
    ///
    /// `names` is the name of the model, by default that of its file. Linear in the nodes and
    /// in the elements of weights, of which the first ones are read.
    #[pyo3(signature = (*, names=None))]
    fn to_html(this: &Bound<'_, Self>, names: Option<Names>) -> PyResult<String> {
        pages::html(this, names)
    }

    /// Writes the page of `to_html` to a file, completely or not at all.
    ///
    /// Raises FileExistsError for a file that exists, unless `force` is true, and OSError for
    /// one that cannot be written.
    #[pyo3(signature = (path, *, names=None, force=false))]
    fn save_html(
        this: &Bound<'_, Self>,
        path: PathBuf,
        names: Option<Names>,
        force: bool,
    ) -> PyResult<()> {
        pages::save(this, &path, names, force)
    }

    /// The page as Markdown, for a comment: always below 60,000 characters. `page_url` is the
    /// address of the whole page.
    #[pyo3(signature = (*, names=None, page_url=None))]
    fn to_markdown(
        this: &Bound<'_, Self>,
        names: Option<Names>,
        page_url: Option<&str>,
    ) -> PyResult<String> {
        pages::markdown(this, names, page_url)
    }

    /// The nodes as a picture, in the format `"svg"`, `"dot"` or `"mermaid"`. Copies of a
    /// repeated block are drawn once.
    #[pyo3(signature = (format="svg", *, title=None))]
    fn picture(this: &Bound<'_, Self>, format: &str, title: Option<&str>) -> PyResult<String> {
        pages::picture(this, format, title)
    }

    /// The model in a notebook, without the contents of weights.
    fn _repr_html_(this: &Bound<'_, Self>) -> Option<String> {
        pages::notebook(this)
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
#[pyo3(signature = (path, *, mmap = true, io_names = false, follow_links = false))]
fn onnx_load(
    py: Python<'_>,
    path: PathBuf,
    mmap: bool,
    io_names: bool,
    follow_links: bool,
) -> PyResult<OnnxModel> {
    let options = ImportOptions::default()
        .mmap(mmap)
        .io_names(io_names)
        .follow_links(follow_links);
    // Other threads may run, since reading a file does not need Python.
    let model = py.detach(|| options.load(path)).into_py()?;
    Ok(OnnxModel { model })
}

/// Loads an encoded model from memory; see `isoform.onnx.load`.
#[pyfunction]
#[pyo3(signature = (data, *, io_names = false))]
fn onnx_load_bytes(py: Python<'_>, data: PyBuffer<u8>, io_names: bool) -> PyResult<OnnxModel> {
    let data = data.to_vec(py)?;
    let model = py.detach(|| {
        let proto = decode_model(data.into()).map_err(Error::from)?;
        let options = ImportOptions::default().io_names(io_names);
        options.import(&proto, &ExternalResolver::none())
    });
    Ok(OnnxModel {
        model: model.into_py()?,
    })
}

/// The program of a model, or of an object of `onnx.Program`.
pub(crate) fn program_of(model: &Bound<'_, PyAny>) -> PyResult<Ref<Program>> {
    if let Ok(model) = model.cast::<OnnxModel>() {
        return Ok(model.get().model.program().clone());
    }
    let value = untyped(model)?;
    let program = value.extract::<Ref<Program>>().map_err(|_| {
        Error::type_error(format!(
            "expected a model or an onnx.Program, got {}; isoform.onnx.load reads files",
            value.type_name()
        ))
    });
    program.into_py()
}

/// Inputs of a program by name.
pub(crate) fn named_values(
    inputs: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<Vec<(String, Value)>> {
    let inputs = inputs.into_iter();
    let inputs = inputs.map(|(name, value)| Ok((name, untyped(&value)?)));
    inputs.collect()
}

/// IR version, the one it was raised from, and the number of bytes; then the files of
/// external data, and the number of bytes in them.
type Saved = (i64, Option<i64>, u64, Vec<PathBuf>, u64);

/// Writes a program to a file; see `isoform.onnx.save`.
#[pyfunction]
#[pyo3(signature = (
    model, path, *, save_as_external_data = false, all_tensors_to_one_file = true,
    location = None, size_threshold = 1024, convert_attribute = false, check = true,
))]
#[allow(clippy::too_many_arguments)]
#[allow(clippy::fn_params_excessive_bools)]
fn onnx_save(
    model: &Bound<'_, PyAny>,
    path: PathBuf,
    save_as_external_data: bool,
    all_tensors_to_one_file: bool,
    location: Option<String>,
    size_threshold: u64,
    convert_attribute: bool,
    check: bool,
) -> PyResult<Saved> {
    let mut options = SaveOptions::default()
        .save_as_external_data(save_as_external_data)
        .all_tensors_to_one_file(all_tensors_to_one_file)
        .size_threshold(size_threshold)
        .convert_attribute(convert_attribute)
        .check(check);
    if let Some(location) = location {
        options = options.location(location);
    }
    let program = program_of(model)?;
    let saved = under_gil(model.py(), || options.save(&program, &path)).into_py()?;
    Ok((
        saved.ir_version,
        saved.raised_from,
        saved.bytes,
        saved.external_files,
        saved.external_bytes,
    ))
}

/// Encodes a program as a model; see `isoform.onnx.to_bytes`.
#[pyfunction]
#[pyo3(signature = (model, *, check = true))]
fn onnx_to_bytes<'py>(model: &Bound<'py, PyAny>, check: bool) -> PyResult<Bound<'py, PyBytes>> {
    let options = SaveOptions::default().check(check);
    let program = program_of(model)?;
    let bytes = under_gil(model.py(), || options.to_bytes(&program)).into_py()?;
    Ok(PyBytes::new(model.py(), &bytes))
}

/// The results of a program by name; see `isoform.onnx.evaluate`.
#[pyfunction]
fn onnx_evaluate<'py>(
    program: &Bound<'py, PyAny>,
    inputs: Vec<(String, Bound<'py, PyAny>)>,
    max_bytes: usize,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let py = program.py();
    let program = &program_of(program)?;
    let inputs = named_values(inputs)?;
    let results = with_signals(py, |control| {
        let control = Control {
            max_bytes,
            ..*control
        };
        run(program, &inputs, &control)
    });
    let results = results?.map_err(|error| match error.refusal {
        Refusal::Unknown(_) if !error.node.is_empty() => PyValueError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.refusal.to_string()),
    })?;
    let names = program
        .graph
        .result_names
        .iter()
        .map(|name| name.as_str().to_owned())
        .chain(std::iter::repeat(String::new()));
    results
        .iter()
        .zip(names)
        .map(|(value, name)| Ok((name, to_python(py, value)?)))
        .collect()
}
