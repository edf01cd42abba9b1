//! The markers for omitted arguments.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The class of a marker, with a single instance.
#[pyclass(frozen, module = "isoform._core")]
pub(crate) struct Marker {
    name: &'static str,
}

#[pymethods]
impl Marker {
    fn __repr__(&self) -> &'static str {
        self.name
    }

    fn __reduce__(&self) -> &'static str {
        self.name
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }
}

static MISSING: PyOnceLock<Py<Marker>> = PyOnceLock::new();
static KWARGS: PyOnceLock<Py<Marker>> = PyOnceLock::new();

/// The marker of an absent default.
pub(crate) fn missing(py: Python<'_>) -> PyResult<&Py<Marker>> {
    MISSING.get_or_try_init(py, || Py::new(py, Marker { name: "MISSING" }))
}

/// The marker before named arguments in a flat list of arguments.
pub(crate) fn kwargs(py: Python<'_>) -> PyResult<&Py<Marker>> {
    KWARGS.get_or_try_init(py, || Py::new(py, Marker { name: "KWARGS" }))
}

/// True if a Python object is the marker `KWARGS`.
pub(crate) fn is_kwargs(value: &Bound<'_, PyAny>) -> bool {
    KWARGS
        .get(value.py())
        .is_some_and(|kwargs| kwargs.as_ptr() == value.as_ptr())
}

/// True if a Python object is the marker `MISSING`.
pub(crate) fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    MISSING
        .get(value.py())
        .is_some_and(|missing| missing.as_ptr() == value.as_ptr())
}
