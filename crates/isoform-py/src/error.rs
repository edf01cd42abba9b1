//! The conversion between the core's errors and Python's exceptions.
//!
//! An exception that passes through the core gets the notes of the core's error. A
//! `TextFault` becomes the exception `TextError`.

use std::fmt;

use isoform::Error;
use isoform::errors::{ErrorFrame, ErrorKind};
use isoform::text::TextFault;
use pyo3::exceptions::{
    PyAttributeError, PyBaseException, PyIndexError, PyKeyError, PyOSError, PyRecursionError,
    PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

use crate::object::traceback::extend;

/// A Python exception that passes through the core inside of an error.
#[derive(Debug)]
struct Raised(PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Raised {}

/// Makes an error of the core from a Python exception, with the most fitting kind and
/// the text of the exception; [`to_python`] returns the very same exception, and the
/// error's traceback includes its lines.
pub(crate) fn from_python(error: PyErr) -> Error {
    Python::attach(|py| {
        let value = error.value(py);
        // An error here comes from code of the exception's class, and the original
        // exception is more useful.
        let message = value.str().map(|text| text.to_string()).unwrap_or_default();
        let class = class_name(value).unwrap_or_else(|_| "Exception".to_owned());
        let made = Error::new(kind_of(value), message);
        made.caused_by(Raised(error)).from_host(&class, traceback)
    })
}

/// The stable kind of an exception.
fn kind_of(exception: &Bound<'_, PyBaseException>) -> ErrorKind {
    let known = [
        (exception.is_instance_of::<PyTypeError>(), ErrorKind::Type),
        (exception.is_instance_of::<PyValueError>(), ErrorKind::Value),
        (exception.is_instance_of::<PyKeyError>(), ErrorKind::Key),
        (
            exception.is_instance_of::<PyAttributeError>(),
            ErrorKind::Attribute,
        ),
        (exception.is_instance_of::<PyIndexError>(), ErrorKind::Index),
        (
            exception.is_instance_of::<PyRecursionError>(),
            ErrorKind::Recursion,
        ),
        (exception.is_instance_of::<PyOSError>(), ErrorKind::Io),
    ];
    let found = known.iter().find(|(is_instance, _)| *is_instance);
    found.map_or(ErrorKind::Runtime, |(_, kind)| *kind)
}

/// The registered name of an exception's class, or the name of the class itself.
fn class_name(exception: &Bound<'_, PyBaseException>) -> PyResult<String> {
    let error = exception.py().import("isoform.error")?;
    error
        .call_method1("_name_of", (exception.get_type(),))?
        .extract()
}

/// The traceback of an exception as printed by Python, including lines for Rust code.
fn traceback(source: &(dyn std::error::Error + 'static), frames: &[ErrorFrame]) -> String {
    let Some(Raised(raised)) = source.downcast_ref::<Raised>() else {
        return source.to_string();
    };
    Python::attach(|py| {
        let own = raised.traceback(py);
        let extended = extend(py, raised.clone_ref(py), frames);
        let lines = py
            .import("traceback")
            .and_then(|module| {
                module.call_method1(
                    "format_exception",
                    (
                        extended.get_type(py),
                        extended.value(py),
                        extended.traceback(py),
                    ),
                )
            })
            .and_then(|lines| lines.extract::<Vec<String>>());
        // The lines are for this text only: the exception may propagate further.
        raised.set_traceback(py, own);
        lines.map_or_else(|_| raised.to_string(), |lines| lines.concat())
    })
}

/// The Python exception that an error of the core contains, if any.
pub(crate) fn raised(error: &Error) -> Option<&PyErr> {
    let source = std::error::Error::source(error)?;
    source.downcast_ref::<Raised>().map(|raised| &raised.0)
}

/// Makes a Python exception of the same kind from an error of the core. Exceptions from
/// Python are returned unchanged, including the traceback, to which lines are added for
/// the Rust functions that the error passed through.
pub(crate) fn to_python(error: Error) -> PyErr {
    let frames = if error.has_traceback() {
        error.frames()
    } else {
        Vec::new()
    };
    let notes: Vec<String> = match raised(&error) {
        Some(_) => error.notes().map(str::to_owned).collect(),
        // They are part of the message of a new exception.
        None => Vec::new(),
    };
    let raised = exception(error);
    if frames.is_empty() && notes.is_empty() {
        return raised;
    }
    Python::attach(|py| {
        // The exception matters even if a note cannot be added.
        let _ = add_notes(py, &raised, notes);
        if frames.is_empty() {
            raised
        } else {
            extend(py, raised, &frames)
        }
    })
}

/// Adds a note to an exception.
pub(crate) fn note(py: Python<'_>, raised: &PyErr, note: String) {
    // The exception matters even if a note cannot be added.
    let _ = add_notes(py, raised, vec![note]);
}

/// Adds notes to an exception, as `BaseException.add_note` of later versions does.
fn add_notes(py: Python<'_>, raised: &PyErr, notes: Vec<String>) -> PyResult<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let value = raised.value(py);
    let known = value.getattr_opt("__notes__")?;
    let mut all: Vec<String> = known.map_or_else(|| Ok(Vec::new()), |known| known.extract())?;
    all.extend(notes);
    value.setattr("__notes__", all)
}

fn exception(error: Error) -> PyErr {
    let kind = error.kind();
    let name = Some(error.kind_name())
        .filter(|name| *name != kind.name())
        .map(str::to_owned);
    let message = error.message_with_path().into_owned();
    if let Some(source) = error.into_source() {
        let other = match source.downcast::<Raised>() {
            Ok(raised) => return raised.0,
            Err(other) => other,
        };
        let other = match other.downcast::<std::io::Error>() {
            Ok(io) => return of_io(*io, message),
            Err(other) => other,
        };
        if let Some(fault) = other.downcast_ref::<TextFault>() {
            return of_text(kind, &message, fault).unwrap_or_else(|error| error);
        }
    }
    match name {
        Some(name) => of_name(&name, &message).unwrap_or_else(|error| error),
        None => of_kind(kind, message),
    }
}

/// Makes an exception of the class that is registered under a name.
pub(crate) fn of_name(name: &str, message: &str) -> PyResult<PyErr> {
    Python::attach(|py| {
        let module = py.import("isoform.error")?;
        let error = module.call_method1("Error", (name, message))?;
        Ok(PyErr::from_value(error.call_method0("py_error")?))
    })
}

/// The exception for text that cannot be parsed, with the position.
fn of_text(kind: ErrorKind, message: &str, fault: &TextFault) -> PyResult<PyErr> {
    Python::attach(|py| {
        let module = py.import("isoform.error")?;
        let class = match kind {
            ErrorKind::Type => "TextTypeError",
            _ => "TextError",
        };
        let place = (message, fault.message(), fault.line(), fault.column());
        Ok(PyErr::from_value(module.call_method1(class, place)?))
    })
}

/// The exception for an error of the system, of the class that belongs to its number.
fn of_io(error: std::io::Error, message: String) -> PyErr {
    match error.raw_os_error() {
        // The message of the core tells more than the text of the system.
        Some(number) if message != error.to_string() => PyOSError::new_err((number, message)),
        None if message != error.to_string() => PyOSError::new_err(message),
        _ => PyErr::from(error),
    }
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

/// Converts results of the core for Python.
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
