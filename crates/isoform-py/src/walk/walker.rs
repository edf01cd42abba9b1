//! `structural_walk`: every value below a root, first match wins.

use isoform::Value;
use isoform::traverse::{InterruptCodec, Sharing, Visit, WalkOptions, WalkOrder, WalkResult};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::dispatch::Callbacks;
use super::{enums, parse};
use crate::convert::{HostObject, to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Returned by a callback to end a walk, with a value for the caller.
#[pyclass(frozen, name = "VisitInterrupt", module = "isoform")]
pub(crate) struct InterruptHandle {
    /// The value for the caller.
    #[pyo3(get)]
    value: Py<PyAny>,
}

#[pymethods]
impl InterruptHandle {
    #[new]
    #[pyo3(signature = (value=None))]
    fn new(py: Python<'_>, value: Option<Py<PyAny>>) -> Self {
        InterruptHandle {
            value: value.unwrap_or_else(|| py.None()),
        }
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("value",)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("VisitInterrupt({})", self.value.bind(py).repr()?))
    }
}

/// The interrupt with which a hook ended a walk; a hook of another language returns the
/// value itself.
pub(crate) fn interrupt_of(py: Python<'_>, end: &Value) -> PyResult<Py<PyAny>> {
    let end = to_python(py, end)?;
    if end.is_instance_of::<InterruptHandle>() {
        return Ok(end.unbind());
    }
    let interrupt = InterruptHandle {
        value: end.unbind(),
    };
    Ok(Bound::new(py, interrupt)?.into_any().unbind())
}

/// Visits every value below a root, the root included, and calls the first
/// callback that was given for its type.
///
/// `callbacks` is a function of the value, a pair of a type (or a tuple of types) and a
/// function, or a sequence of such pairs. The functions in `with_def_region_kind` also
/// receive the kind of region. A callback returns None, a WalkResult, or a
/// VisitInterrupt, which ends the walk and is its result. Shared objects are visited
/// once, where they are met first; with `with_def_region_kind`, once in each kind of
/// region: a variable where it is defined and where it is used. Keys of maps and fields
/// that comparison ignores are not visited. `order` is "post" (children first) or
/// "pre".
///
/// Raises TypeError for any other result, ValueError for a value that contains itself,
/// and exceptions of the callbacks. O(values), in constant native stack.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, with_def_region_kind=None, order=None))]
pub(crate) fn structural_walk<'py>(
    root: &Bound<'py, PyAny>,
    callbacks: Option<&Bound<'py, PyAny>>,
    with_def_region_kind: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Py<PyAny>>> {
    let order = parse::order("structural_walk", order)?;
    let callbacks = Callbacks::parse("structural_walk", callbacks, with_def_region_kind)?;
    let value = untyped(root)?;
    let sharing = if callbacks.with_region() {
        Sharing::OncePerRegion
    } else {
        Sharing::Once
    };
    let options = WalkOptions::default()
        .order(order)
        .keys(false)
        .sharing(sharing);
    let py = root.py();
    let call = |visit: &Visit<'_>| {
        let called = call(py, &callbacks, order, visit);
        called.map_err(|error| callbacks.failed(py, error, visit))
    };
    let interrupts = InterruptCodec {
        to_value: |end: &Py<PyAny>| Python::attach(|py| HostObject::wrap(end.bind(py))),
        from_value: |end| Python::attach(|py| interrupt_of(py, end).ok()),
    };
    let wanted = |ty| callbacks.wants(ty);
    under_gil(py, || {
        options.walk_selected(value, wanted, interrupts, call)
    })
    .into_py()
}

#[inline]
fn call(
    py: Python<'_>,
    callbacks: &Callbacks,
    order: WalkOrder,
    visit: &Visit<'_>,
) -> PyResult<WalkResult<Py<PyAny>>> {
    let Some((chosen, value)) = callbacks.find_for_visit(py, visit)? else {
        return Ok(WalkResult::Advance);
    };
    let result = chosen.call(&value, visit.region())?;
    if result.is_none() {
        return Ok(WalkResult::Advance);
    }
    if result.is_instance_of::<InterruptHandle>() {
        return Ok(WalkResult::Interrupt(result.unbind()));
    }
    match enums::walk_result(&result)? {
        Some(true) if order == WalkOrder::Pre => Ok(WalkResult::Skip),
        Some(_) => Ok(WalkResult::Advance),
        None => Err(PyTypeError::new_err(format!(
            "structural_walk: a callback answers None, a WalkResult or a VisitInterrupt, got {}",
            result.get_type().name()?
        ))),
    }
}
