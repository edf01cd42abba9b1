//! The command `isoform`, run by the Python package.

use std::ffi::OsString;
use std::path::Path;

use isoform_cli::{IndexRequest, RunOptions, Streams};
use isoform_corpus::UpdateReport;
use isoform_onnx::verify::Runner;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::corpus::{CorpusReport, progress_function};
use crate::onnx_optimize::Runtime;

pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli_main, module)?)
}

/// Runs the command `isoform` with these arguments, the program's name first, and
/// returns its exit status: 0 if equal or done, 1 if different, 2 on error.
///
/// `import_module` is called with each value of the option `--import`, or of the settings of a
/// project, and with a folder; it returns None, or the text of an error. `find_types` is
/// called with the keys of unknown types of a file, and returns notes. `find_runtime` is called for `optimize --verify` and `diff --run`, and
/// returns None or a pair: the name of a runtime, and a function that runs models with it.
/// `index_with_ray` is called for `index --engine ray` with the arguments of
/// `isoform._corpus_ray.index_with_ray`; the message of its exception is that of the command.
///
/// Writes to the process's own standard output and error, not to `sys.stdout`. Other
/// Python threads run meanwhile.
#[pyfunction]
#[pyo3(signature = (
    argv,
    import_module=None,
    find_runtime=None,
    index_with_ray=None,
    find_types=None
))]
fn cli_main(
    py: Python<'_>,
    argv: Vec<OsString>,
    import_module: Option<Py<PyAny>>,
    find_runtime: Option<Py<PyAny>>,
    index_with_ray: Option<Py<PyAny>>,
    find_types: Option<Py<PyAny>>,
) -> u8 {
    let python = py.import("sys").and_then(|sys| sys.getattr("executable"));
    // An embedded interpreter may have none.
    let python = python
        .and_then(|path| path.extract::<OsString>())
        .ok()
        .filter(|path| !path.is_empty());
    py.detach(|| {
        let mut options = RunOptions::default();
        if let Some(python) = python {
            options = options.program([python, "-m".into(), "isoform".into()]);
        }
        if let Some(import_module) = import_module {
            options = options.import(move |name, folder| call(&import_module, name, folder));
        }
        if let Some(find_types) = find_types {
            options = options.find_types(move |keys| notes(&find_types, keys));
        }
        if let Some(find_runtime) = find_runtime {
            options = options.runtime(move || find(&find_runtime));
        }
        if let Some(index_with_ray) = index_with_ray {
            options = options.ray(move |request| index(&index_with_ray, request));
        }
        Streams::with_standard(|streams| options.run(argv, streams))
    })
}

/// Calls the function that imports a module.
fn call(import_module: &Py<PyAny>, name: &str, folder: &Path) -> Result<(), String> {
    let failure = Python::attach(|py| {
        let failure = import_module.call1(py, (name, folder.as_os_str()))?;
        failure.extract::<Option<String>>(py)
    });
    match failure {
        Ok(None) => Ok(()),
        Ok(Some(failure)) => Err(failure),
        Err(error) => Err(error.to_string()),
    }
}

/// Searches for types; a failure of the search itself is a note, too.
fn notes(find_types: &Py<PyAny>, keys: &[String]) -> Vec<String> {
    let found = Python::attach(|py| find_types.call1(py, (keys,))?.extract(py));
    found.unwrap_or_else(|error: PyErr| vec![format!("entry points: {error}")])
}

/// The runtime found by Python; None if the search itself is impossible.
fn find(find_runtime: &Py<PyAny>) -> Option<Box<dyn Runner>> {
    let found = Python::attach(|py| Runtime::of(&find_runtime.bind(py).call0()?));
    let runtime = found.ok().flatten()?;
    Some(Box::new(runtime))
}

/// Makes an index with a Ray cluster.
fn index(index_with_ray: &Py<PyAny>, request: &IndexRequest) -> Result<UpdateReport, String> {
    let report = Python::attach(|py| {
        let options = PyDict::new(py);
        let progress = request.clone();
        let progress = progress_function(py, move |report| progress.show(report))?;
        options.set_item("jobs", request.jobs)?;
        options.set_item("follow_links", request.follow_links)?;
        options.set_item("progress", progress)?;
        options.set_item("address", &request.address)?;
        let arguments = (&request.roots, request.output.as_os_str());
        let report = index_with_ray.call(py, arguments, Some(&options))?;
        let report = report.bind(py).cast::<CorpusReport>()?.get();
        Ok(UpdateReport::from(report))
    });
    report.map_err(|error: PyErr| Python::attach(|py| error.value(py).to_string()))
}
