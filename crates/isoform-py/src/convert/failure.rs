//! Failed conversions of Python objects to a schema.

use pyo3::exceptions::{
    PyException, PyMemoryError, PyRecursionError, PyTypeError, PyUnicodeEncodeError,
};
use pyo3::prelude::*;

/// The reason why a Python object does not fit a schema.
pub(crate) enum Failure {
    /// The object has another type; the message names what was expected and given.
    Mismatch(String),
    /// A value protocol of the object raised; a message, and the exception.
    Protocol(Box<(String, PyErr)>),
    /// A str with an unpaired surrogate, which cannot be encoded; the place, and the
    /// exception.
    Surrogate(Box<(String, PyErr)>),
    /// Other Python code raised.
    Raised(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error)
    }
}

impl Failure {
    /// The encoding of a str failed.
    #[cold]
    pub(super) fn of_text(raised: PyErr) -> Self {
        if Python::attach(|py| raised.is_instance_of::<PyUnicodeEncodeError>(py)) {
            Failure::Surrogate(Box::new(("surrogates not allowed".to_owned(), raised)))
        } else {
            Failure::Raised(raised)
        }
    }

    /// A method of an object raised while its value was requested.
    ///
    /// Exceptions unrelated to the object, for example an interrupt from the keyboard,
    /// stay unchanged.
    #[cold]
    pub(super) fn of_protocol(object: &Bound<'_, PyAny>, method: &str, raised: PyErr) -> Self {
        let py = object.py();
        let about_object = raised.is_instance_of::<PyException>(py)
            && !raised.is_instance_of::<PyRecursionError>(py)
            && !raised.is_instance_of::<PyMemoryError>(py);
        if !about_object {
            return Failure::Raised(raised);
        }
        let message = format!("{}.{method}() raised {raised}", class_of(object));
        Failure::Protocol(Box::new((message, raised)))
    }

    /// The exception, with the message completed by the caller.
    #[cold]
    pub(crate) fn into_python(self, describe: impl FnOnce(&str) -> String) -> PyErr {
        match self {
            Failure::Mismatch(message) => PyTypeError::new_err(describe(&message)),
            Failure::Protocol(protocol) => {
                let (message, cause) = *protocol;
                let error = PyTypeError::new_err(describe(&message));
                Python::attach(|py| error.set_cause(py, Some(cause)));
                error
            }
            Failure::Surrogate(surrogate) => {
                let (message, error) = *surrogate;
                let reason = describe(&message);
                match Python::attach(|py| error.value(py).setattr("reason", reason)) {
                    Ok(()) => error,
                    Err(other) => other,
                }
            }
            Failure::Raised(error) => error,
        }
    }

    /// The exception for conversion without a schema: that of a protocol itself.
    #[cold]
    pub(super) fn without_schema(self) -> PyErr {
        match self {
            Failure::Protocol(protocol) => protocol.1,
            other => other.into_python(str::to_owned),
        }
    }

    /// Adds the place where the object was found.
    pub(super) fn at(self, place: impl FnOnce() -> String) -> Self {
        self.restated(|message| format!("{}: {message}", place()))
    }

    /// Changes the description of the object.
    pub(super) fn restated(self, restate: impl FnOnce(&str) -> String) -> Self {
        match self {
            Failure::Mismatch(message) => Failure::Mismatch(restate(&message)),
            Failure::Protocol(mut protocol) => {
                protocol.0 = restate(&protocol.0);
                Failure::Protocol(protocol)
            }
            Failure::Surrogate(mut surrogate) => {
                surrogate.0 = restate(&surrogate.0);
                Failure::Surrogate(surrogate)
            }
            raised => raised,
        }
    }
}

/// The name of an object's class.
pub(super) fn class_of(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}
