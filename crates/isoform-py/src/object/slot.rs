//! Handling of errors and panics in all functions called by CPython.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::abandoned;

/// Runs the body of a slot; for an error, sets the exception in CPython and returns
/// `failed`. A panic also becomes an exception: it must not leave a function called by
/// C code, and is a bug in this library.
#[inline(always)]
pub(super) fn guarded<R>(py: Python<'_>, failed: R, body: impl FnOnce() -> PyResult<R>) -> R {
    let result = catch_unwind(AssertUnwindSafe(body));
    abandoned::settle();
    let error = match result {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_panic) => PyRuntimeError::new_err("internal error of isoform: a slot panicked"),
    };
    error.restore(py);
    failed
}

/// As [`guarded`], for a slot that returns an object.
#[inline(always)]
pub(super) fn guarded_object<'py>(
    py: Python<'py>,
    body: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> *mut ffi::PyObject {
    guarded(py, ptr::null_mut(), || body().map(Bound::into_ptr))
}
