//! `structural_mutate`: callbacks in control of rewriting below their value.

use std::sync::Arc;

use isoform::hooks::MutateCallback;
use isoform::host::with_scoped;
use isoform::traverse::MapOptions;
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::dispatch::{Callbacks, node_of};
use super::map::replacement;
use super::running::{MutatorHandle, Running};
use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{enter_call, under_gil};

impl MutatorHandle {
    /// Calls the core.
    fn ask<R>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&mut dyn MutateCallback, RegionKind) -> R,
    ) -> PyResult<R> {
        let (mutator, region) = self.0.current()?;
        let _depth = enter_call(py)?;
        let asked = mutator.with(|mutator| under_gil(py, || Ok(ask(mutator, region))));
        asked.into_py()
    }
}

/// Checks that an object can be remapped.
pub(crate) fn var_of(var: &Bound<'_, PyAny>) -> PyResult<Ref<Obj>> {
    let value = untyped(var)?;
    match node_of(&value) {
        Some(object) => Ok(object.clone()),
        None => Err(PyTypeError::new_err(format!(
            "expected a variable, got {}",
            value.type_name()
        ))),
    }
}

#[pymethods]
impl MutatorHandle {
    /// The result for a value: from its callback, or the value with its children
    /// rewritten if there is none.
    ///
    /// Returns the same object if nothing changes. Raises ValueError for a value that
    /// is still being rewritten, TypeError for a result that does not fit its field.
    fn mutate<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, part) = (value.py(), untyped(value)?);
        let result = self.ask(py, |mutator, region| mutator.mutate_in(&part, region))?;
        to_python(py, &result.into_py()?)
    }

    /// The value with its children rewritten, without calling a callback for it: by the
    /// hook `__s_mutate__` of its type, or by its fields. For the object whose hook is
    /// running, the fields are rewritten.
    fn default_mutate<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, part) = (value.py(), untyped(value)?);
        let result = self.ask(py, |mutator, region| {
            mutator.mutate_children_in(&part, region)
        })?;
        to_python(py, &result.into_py()?)
    }

    /// The recorded replacement of a variable, or None.
    fn var_remap_get<'py>(&self, var: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = var_of(var)?;
        let found = self.ask(var.py(), |mutator, _| mutator.remapped(&object))?;
        found.map(|value| to_python(var.py(), &value)).transpose()
    }

    /// Records a replacement for a variable wherever it is met from now on without its
    /// own callback.
    fn var_remap_set(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (object, value) = (var_of(var)?, untyped(value)?);
        self.ask(var.py(), |mutator, _| mutator.remap(&object, value))
    }

    /// Records a replacement for the uses of a variable that are met from now on,
    /// regardless of any callback for it.
    fn _remap_uses(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (object, value) = (var_of(var)?, untyped(value)?);
        self.ask(var.py(), |mutator, _| mutator.remap_uses(&object, value))
    }

    /// The replacement of a variable that was met before, or None.
    fn _image<'py>(&self, var: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = var_of(var)?;
        let found = self.ask(var.py(), |mutator, _| mutator.image(&object))?;
        found.map(|value| to_python(var.py(), &value)).transpose()
    }

    /// The region of the running rewrite, a DefRegionKind: whether variables are bound
    /// or used there.
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

/// Rewrites a value with callbacks of a value and a StructuralMutator; see
/// `isoform.structural_mutate`.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, *, regions_apart=true))]
pub(crate) fn structural_mutate<'py>(
    root: &Bound<'py, PyAny>,
    callbacks: Option<&Bound<'py, PyAny>>,
    regions_apart: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = root.py();
    let callbacks = Callbacks::parse("structural_mutate", callbacks, None)?;
    let value = untyped(root)?;
    let handle = Bound::new(py, MutatorHandle(Running::new("rewrite")))?;
    let options = MapOptions::default()
        .keys(false)
        .regions_apart(regions_apart);
    let call = |value: &Value, mutator: &mut dyn MutateCallback| {
        let Some(chosen) = callbacks.find_for(value) else {
            return Ok(value.clone());
        };
        let region = mutator.region();
        let called = with_scoped("structural_mutate", mutator, |scoped| {
            handle.get().0.during(Arc::clone(scoped), region, || {
                let result = chosen.call_with(&to_python(py, value)?, handle.as_any())?;
                replacement("structural_mutate", value, &result)
            })
        });
        called.map_err(from_python)
    };
    let wanted = |ty| callbacks.wants(ty);
    let result = under_gil(py, || {
        options.max_depth(u32::MAX).mutate(value, &wanted, &call)
    });
    to_python(py, &result.into_py()?)
}
