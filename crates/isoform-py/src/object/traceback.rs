//! Lines of Rust code in Python's tracebacks.

use std::ffi::CString;

use isoform::errors::ErrorFrame;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Adds lines for these frames to an exception, around its existing lines, the last
/// frame innermost. It stays the same exception object.
///
/// A frame that cannot be made, for example without memory, is omitted.
#[cold]
pub(crate) fn extend(py: Python<'_>, error: PyErr, frames: &[ErrorFrame]) -> PyErr {
    let made: Vec<Bound<'_, PyAny>> = frames
        .iter()
        .rev()
        .filter_map(|frame| make(py, frame))
        .collect();
    error.restore(py);
    for frame in &made {
        // SAFETY: the object is a frame, and an exception is set, as the
        // function requires.
        unsafe { ffi::PyTraceBack_Here(frame.as_ptr().cast()) };
    }
    PyErr::fetch(py)
}

/// Makes a frame object for a place in Rust code.
fn make<'py>(py: Python<'py>, frame: &ErrorFrame) -> Option<Bound<'py, PyAny>> {
    let file = CString::new(frame.file).ok()?;
    let function = CString::new(frame.function.as_str()).ok()?;
    let line = i32::try_from(frame.line).ok()?;
    let globals = PyDict::new(py);
    // SAFETY: the GIL is held and the strings live through the calls; each
    // result is a new reference or null with an exception.
    let python_frame = unsafe {
        let code = ffi::PyCode_NewEmpty(file.as_ptr(), function.as_ptr(), line);
        let code = Bound::from_owned_ptr_or_opt(py, code.cast());
        code.and_then(|code| {
            let python_frame = ffi::PyFrame_New(
                ffi::PyThreadState_Get(),
                code.as_ptr().cast(),
                globals.as_ptr(),
                std::ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_opt(py, python_frame.cast())
        })
    };
    if python_frame.is_none() {
        drop(PyErr::take(py));
    }
    python_frame
}
