//! The text of an error with the place in a value where it was raised.

use isoform::paths::{AccessPath, AccessStep};
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

use crate::path::PathHandle;

/// How many steps at each end of a long way are written.
const SHOWN: usize = 6;

/// An error with the steps to the place where it was raised, if known.
pub(super) fn located(py: Python<'_>, error: PyErr, steps: Vec<AccessStep>) -> PyErr {
    if steps.is_empty() || !error.is_instance_of::<PyRecursionError>(py) {
        return error;
    }
    let text = shortened(&steps);
    let located = PyRecursionError::new_err(format!(
        "{text}: methods nest too deeply, {} steps below the root; a method that calls visit() or \
         super() nests in Python, one that yields the child does not",
        steps.len()
    ));
    let path = PathHandle::from(AccessPath::from_steps(steps));
    // Without the path, the error is still correct.
    let _ = located.value(py).setattr("path", path);
    located.set_cause(py, Some(error));
    located
}

/// The text of a way, without the middle of a long one.
pub(super) fn shortened(steps: &[AccessStep]) -> String {
    let first = AccessPath::from_steps(steps[..steps.len().min(SHOWN)].to_vec());
    let text = first.to_string();
    if steps.len() <= SHOWN {
        return text;
    }
    let rest = &steps[(steps.len() - SHOWN).max(SHOWN)..];
    let rest = AccessPath::from_steps(rest.to_vec()).to_string();
    format!("{text}…{}", rest.trim_start_matches("<root>"))
}
