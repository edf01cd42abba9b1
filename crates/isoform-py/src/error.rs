//! The one map between the core's errors and Python's exceptions.

use std::fmt;

use isoform::{Error, ErrorKind};
use pyo3::exceptions::{
    PyAttributeError, PyIndexError, PyKeyError, PyOSError, PyRecursionError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;

/// A Python exception travelling through the core as an error's source.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Raised {}

/// A Python exception as an error of the core; [`to_python`] gives the very
/// same exception back.
pub(crate) fn from_python(error: PyErr) -> Error {
    let (kind, message) = Python::attach(|py| {
        let kinds = [
            (py.get_type::<PyTypeError>(), ErrorKind::Type),
            (py.get_type::<PyValueError>(), ErrorKind::Value),
            (py.get_type::<PyKeyError>(), ErrorKind::Key),
            (py.get_type::<PyAttributeError>(), ErrorKind::Attribute),
            (py.get_type::<PyIndexError>(), ErrorKind::Index),
            (py.get_type::<PyRecursionError>(), ErrorKind::Recursion),
            (py.get_type::<PyOSError>(), ErrorKind::Io),
        ];
        let known = kinds.iter().find(|(class, _)| error.is_instance(py, class));
        let kind = known.map(|(_, kind)| *kind);
        // The kind stands for the class of the exception.
        let message = match kind {
            Some(_) => error.value(py).to_string(),
            None => error.to_string(),
        };
        (kind.unwrap_or(ErrorKind::Runtime), message)
    });
    Error::new(kind, message).caused_by(Raised(error))
}

/// The Python exception that an error of the core carries, if it does.
pub(crate) fn raised(error: &Error) -> Option<&PyErr> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref::<Raised>().map(|raised| &raised.0)
}

/// The core's error as a Python exception of the same kind. Exceptions that
/// came from Python come back unchanged, traceback included.
pub(crate) fn to_python(error: Error) -> PyErr {
    let kind = error.kind();
    let mut message = error.message().to_owned();
    if let Some(path) = error.path() {
        message.push_str(&format!(" (at {path})"));
    }
    if let Some(source) = error.into_source() {
        match source.downcast::<Raised>() {
            Ok(raised) => return raised.0,
            Err(other) => match other.downcast::<std::io::Error>() {
                Ok(io) => return PyErr::from(*io),
                Err(_) => return of_kind(kind, message),
            },
        }
    }
    of_kind(kind, message)
}

fn of_kind(kind: ErrorKind, message: String) -> PyErr {
    match kind {
        ErrorKind::Type => PyTypeError::new_err(message),
        ErrorKind::Value => PyValueError::new_err(message),
        ErrorKind::Key => PyKeyError::new_err(message),
        ErrorKind::Attribute => PyAttributeError::new_err(message),
        ErrorKind::Index => PyIndexError::new_err(message),
        ErrorKind::Recursion => PyRecursionError::new_err(message),
        ErrorKind::Io => PyOSError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// Turns a result of the core into one that Python understands.
pub(crate) trait IntoPyResult<T> {
    /// Maps the error with [`to_python`].
    fn into_py(self) -> PyResult<T>;
}

impl<T> IntoPyResult<T> for isoform::Result<T> {
    #[inline]
    fn into_py(self) -> PyResult<T> {
        self.map_err(to_python)
    }
}
