//! Where in a value an error was raised.

use isoform::Value;
use isoform::paths::{AccessPath, AccessStep};
use isoform::traverse::{ChildOptions, Children};
use isoform::types::RegionKind;
use pyo3::exceptions::PyRecursionError;
use pyo3::prelude::*;

use crate::object::gil::under_gil;
use crate::path::PathHandle;

/// How many steps at each end of a long way are written.
const SHOWN: usize = 6;

/// The steps from a node to a part of it, the last one first: to a field, or to
/// an element of a container in a field. None when it is neither. O(children).
pub(super) fn between(py: Python<'_>, node: &Value, part: &Value) -> Vec<AccessStep> {
    let options = ChildOptions::default().keys(false);
    let place = |children: &Children| {
        let mut parts = children.iter(RegionKind::Use);
        parts.position(|child| child.value == *part)
    };
    under_gil(py, || {
        let children = options.children_of(node);
        if let Some(position) = place(&children) {
            return children.step(position).into_iter().collect();
        }
        for (position, child) in children.iter(RegionKind::Use).enumerate() {
            let is_container = child
                .value
                .as_object()
                .is_some_and(|object| object.type_info().is_builtin());
            let inner = options.children_of(&child.value);
            if is_container && let Some(inside) = place(&inner) {
                let steps = [inner.step(inside), children.step(position)];
                return steps.into_iter().flatten().collect();
            }
        }
        Vec::new()
    })
}

/// An error with the place where it was raised, if that is known. `way` leads
/// there from its end.
pub(super) fn located(py: Python<'_>, error: PyErr, way: &[AccessStep]) -> PyErr {
    if way.is_empty() || !error.is_instance_of::<PyRecursionError>(py) {
        return error;
    }
    let steps: Vec<AccessStep> = way.iter().rev().cloned().collect();
    let first = AccessPath::from_steps(steps[..steps.len().min(SHOWN)].to_vec());
    let mut text = first.to_string();
    if steps.len() > SHOWN {
        let rest = &steps[(steps.len() - SHOWN).max(SHOWN)..];
        let rest = AccessPath::from_steps(rest.to_vec()).to_string();
        text = format!("{text}…{}", rest.trim_start_matches("<root>"));
    }
    let located = PyRecursionError::new_err(format!(
        "{text}: methods nest too deeply, {} steps below the root; a method that calls visit() or \
         super() nests in Python, one that yields the child does not",
        steps.len()
    ));
    let path = PathHandle::from(AccessPath::from_steps(steps));
    // Without the path, the error is still the right one.
    let _ = located.value(py).setattr("path", path);
    located.set_cause(py, Some(error));
    located
}
