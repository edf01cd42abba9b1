//! The value classes that are written in Python: `dtype`, `Device`, `Shape`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static DTYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DEVICE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static SHAPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Tells the conversions which classes stand for data types (a subclass of
/// str), devices and shapes (a subclass of tuple). Called once, by the package.
#[pyfunction]
#[pyo3(name = "_set_python_types")]
pub(crate) fn set_python_types(
    py: Python<'_>,
    dtype: Py<PyType>,
    device: Py<PyType>,
    shape: Py<PyType>,
) {
    // A second call has no effect, as when the package is imported again.
    let _ = DTYPE.set(py, dtype);
    let _ = DEVICE.set(py, device);
    let _ = SHAPE.set(py, shape);
}

/// The class of data types, once the package is imported.
pub(crate) fn dtype_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    DTYPE.get(py).map(|class| class.bind(py))
}

/// The class of devices.
pub(crate) fn device_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    DEVICE.get(py).map(|class| class.bind(py))
}

/// The class of shapes.
pub(crate) fn shape_class(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    SHAPE.get(py).map(|class| class.bind(py))
}
