//! The extension module `isoform._core` of the Python package `isoform`.
//!
//! Everything in it is in the library `isoform-py`, which other extension modules link,
//! too, to bring their own node types: see `isoform_py::embed`.

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    isoform_py::init(module)
}
