//! The command `isoform`, run by the Python package.

use std::ffi::OsString;

use isoform_cli::{RunOptions, Streams};
use pyo3::prelude::*;

pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli_main, module)?)
}

/// Runs the command `isoform` with these arguments, the program's name first, and
/// returns its exit status: 0 if equal or done, 1 if different, 2 on error.
///
/// `import_module` is called with each value of the option `--import`; it returns None, or
/// the text of an error.
///
/// Writes to the process's own standard output and error, not to `sys.stdout`. Other
/// Python threads run meanwhile.
#[pyfunction]
#[pyo3(signature = (argv, import_module=None))]
fn cli_main(py: Python<'_>, argv: Vec<OsString>, import_module: Option<Py<PyAny>>) -> u8 {
    py.detach(|| {
        let mut options = RunOptions::default();
        if let Some(import_module) = import_module {
            options = options.import(move |name| call(&import_module, name));
        }
        Streams::with_standard(|streams| options.run(argv, streams))
    })
}

/// Calls the function that imports a module.
fn call(import_module: &Py<PyAny>, name: &str) -> Result<(), String> {
    let failure = Python::attach(|py| {
        let failure = import_module.call1(py, (name,))?;
        failure.extract::<Option<String>>(py)
    });
    match failure {
        Ok(None) => Ok(()),
        Ok(Some(failure)) => Err(failure),
        Err(error) => Err(error.to_string()),
    }
}
