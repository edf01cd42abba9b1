//! `structural_visit`: callbacks in control of visits below their value.

use std::sync::Arc;

use isoform::Value;
use isoform::hooks::VisitCallback;
use isoform::host::with_scoped;
use isoform::traverse::{Sharing, WalkOptions};
use isoform::types::RegionKind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::dispatch::Callbacks;
use super::running::{Running, VisitorHandle};
use super::walker::{InterruptHandle, interrupt_of};
use crate::convert::{HostObject, to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{enter_call, under_gil};

/// The result of a visit: None, or the final interrupt.
type Outcome = PyResult<Option<Py<PyAny>>>;

impl VisitorHandle {
    /// Calls the core.
    fn ask(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut dyn VisitCallback, RegionKind) -> isoform::Result<Option<Value>>,
    ) -> Outcome {
        let (visitor, region) = self.0.current()?;
        let _depth = enter_call(py)?;
        let end = visitor.with(|visitor| under_gil(py, || ask(visitor, region)));
        end.into_py()?.map(|end| interrupt_of(py, &end)).transpose()
    }
}

#[pymethods]
impl VisitorHandle {
    /// Visits a value: calls its callback, or visits the children if no callback fits.
    ///
    /// Returns None, or the VisitInterrupt that a callback returned. Raises ValueError
    /// for a value that is still being visited.
    fn visit(&self, value: &Bound<'_, PyAny>) -> Outcome {
        let part = untyped(value)?;
        self.ask(value.py(), |visitor, region| {
            visitor.visit_in(&part, region)
        })
    }

    /// Visits the children of a value, without calling a callback for the value: by the
    /// hook `__s_visit__` of its type, or by its fields. For the object whose hook is
    /// running, the fields are visited.
    fn default_visit(&self, value: &Bound<'_, PyAny>) -> Outcome {
        let part = untyped(value)?;
        self.ask(value.py(), |visitor, region| {
            visitor.visit_children_in(&part, region)
        })
    }

    /// The region of the running visit, a DefRegionKind: whether variables are bound or
    /// used there.
    fn def_region_kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.region(py)
    }

    /// Calls a function without arguments in another kind of region, and returns its
    /// result.
    fn with_def_region_kind<'py>(
        &self,
        kind: &Bound<'py, PyAny>,
        callback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.0.with_region(kind, callback)
    }
}

/// The result of a callback, as the end of the visit.
fn checked(result: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if result.is_none() {
        return Ok(None);
    }
    if result.is_instance_of::<InterruptHandle>() {
        return Ok(Some(HostObject::wrap(result)));
    }
    Err(PyTypeError::new_err(format!(
        "structural_visit: a callback answers None or a VisitInterrupt, got {}",
        result.get_type().name()?
    )))
}

/// Visits a value with callbacks that control what is visited below their values.
///
/// `callbacks` is as for `structural_walk`, but each function receives the value and a
/// StructuralVisitor: `visitor.visit(child)` continues below the value,
/// `visitor.default_visit(value)` visits all its children, and without either, nothing
/// below it is visited. Values without a callback are traversed. An object is visited
/// once in each kind of region, or only once without `regions_apart`. Returns None, or
/// the VisitInterrupt that a callback returned.
///
/// Raises TypeError for any other result, ValueError for a value that contains itself,
/// RecursionError if callbacks nest too deeply, and exceptions of callbacks.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, *, regions_apart=true))]
pub(crate) fn structural_visit(
    root: &Bound<'_, PyAny>,
    callbacks: Option<&Bound<'_, PyAny>>,
    regions_apart: bool,
) -> Outcome {
    let py = root.py();
    let callbacks = Callbacks::parse("structural_visit", callbacks, None)?;
    let value = untyped(root)?;
    let handle = Bound::new(py, VisitorHandle(Running::new("visit")))?;
    let sharing = if regions_apart {
        Sharing::OncePerRegion
    } else {
        Sharing::Once
    };
    let options = WalkOptions::default().keys(false).sharing(sharing);
    let call = |value: &Value, visitor: &mut dyn VisitCallback| {
        let Some(chosen) = callbacks.find_for(value) else {
            return Ok(None);
        };
        let region = visitor.region();
        let called = with_scoped("structural_visit", visitor, |scoped| {
            handle.get().0.during(Arc::clone(scoped), region, || {
                checked(&chosen.call_with(&to_python(py, value)?, handle.as_any())?)
            })
        });
        called.map_err(from_python)
    };
    let wanted = |ty| callbacks.wants(ty);
    let end = under_gil(py, || {
        options.max_depth(u32::MAX).visit(value, &wanted, &call)
    });
    end.into_py()?.map(|end| interrupt_of(py, &end)).transpose()
}
