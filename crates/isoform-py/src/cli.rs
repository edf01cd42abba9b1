//! The command `isoform`, run by the Python package.

use std::ffi::OsString;

use isoform_cli::Streams;
use pyo3::prelude::*;

pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cli_main, module)?)
}

/// Runs the command `isoform` with these arguments, the program's name first, and
/// returns its exit status: 0 if equal or done, 1 if different, 2 on error.
///
/// Writes to the process's own standard output and error, not to `sys.stdout`. Other
/// Python threads run meanwhile.
#[pyfunction]
fn cli_main(py: Python<'_>, argv: Vec<OsString>) -> u8 {
    py.detach(|| Streams::with_standard(|streams| isoform_cli::run(argv, streams)))
}
