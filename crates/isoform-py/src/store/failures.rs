//! Exceptions that are kept as results, and raised again.

use isoform::Error;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::error::IntoPyResult;

/// The classes of exceptions that a function keeps.
pub(super) struct Failures(pub(super) Vec<Py<PyType>>);

impl Failures {
    /// The error to keep for an exception: the name of the declared class, so that callers
    /// who catch this class catch the exception again, and the message. None for an exception
    /// of another class.
    pub(super) fn kept(&self, py: Python<'_>, error: &PyErr) -> PyResult<Option<Error>> {
        let value = error.value(py);
        let mut declared = None;
        for class in &self.0 {
            let class = class.bind(py);
            if value.get_type().is(class) {
                declared = Some(class);
                break;
            }
            if declared.is_none() && value.is_instance(class)? {
                declared = Some(class);
            }
        }
        let Some(class) = declared else {
            return Ok(None);
        };
        // The text of a KeyError is not its message.
        let arguments = value.getattr("args")?;
        let only = match arguments.cast::<PyTuple>() {
            Ok(arguments) if arguments.len() == 1 => arguments.get_item(0).ok(),
            _ => None,
        };
        let message = match only.filter(|only| only.is_exact_instance_of::<PyString>()) {
            Some(only) => only.str()?,
            None => value.str()?,
        };
        let name = class.name()?.to_string();
        Ok(Some(Error::of_kind(&name, message.to_string())))
    }

    /// The exception for a kept error, of the declared class with its name.
    pub(super) fn raised(&self, py: Python<'_>, error: Error) -> PyResult<PyErr> {
        let (name, message) = (error.kind_name().to_owned(), error.message().to_owned());
        let general = Err::<(), Error>(error).into_py();
        let Err(general) = general else {
            return Ok(pyo3::exceptions::PyRuntimeError::new_err(message));
        };
        for class in &self.0 {
            let class = class.bind(py);
            // A class whose exceptions need more than a message cannot be made again.
            if class.name()?.to_str()? == name
                && let Ok(value) = class.call1((message.as_str(),))
            {
                if let Some(notes) = general.value(py).getattr_opt("__notes__")? {
                    value.setattr("__notes__", notes)?;
                }
                return Ok(PyErr::from_value(value));
            }
        }
        Ok(general)
    }
}
