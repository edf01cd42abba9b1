//! The callbacks received by hooks written in Python: instances of dedicated classes
//! around functions of the core. `hooks.rs` and `walk` implement the calls.

use std::sync::Arc;

use isoform::functions::Function;
use isoform::host::{ScopedEqual, ScopedHash, ScopedMutate, ScopedVisit};
use pyo3::prelude::*;

use crate::walk::{MutatorHandle, VisitorHandle};

/// Wraps a callback of the core for its hook in Python; None for any other function.
pub(crate) fn callback_of<'py>(
    py: Python<'py>,
    function: &Function,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(
        if let Some(scoped) = function.content::<Arc<ScopedEqual>>() {
            Bound::new(py, EqualHandle(Arc::clone(scoped)))?.into_any()
        } else if let Some(scoped) = function.content::<Arc<ScopedHash>>() {
            Bound::new(py, HashHandle(Arc::clone(scoped)))?.into_any()
        } else if let Some(scoped) = function.content::<Arc<ScopedVisit>>() {
            Bound::new(py, VisitorHandle::scoped(Arc::clone(scoped)))?.into_any()
        } else if let Some(scoped) = function.content::<Arc<ScopedMutate>>() {
            Bound::new(py, MutatorHandle::scoped(Arc::clone(scoped)))?.into_any()
        } else {
            return Ok(None);
        },
    ))
}

/// The function wrapped by a callback; None for any other object.
pub(crate) fn function_of(value: &Bound<'_, PyAny>) -> Option<Function> {
    if let Ok(handle) = value.cast::<EqualHandle>() {
        return Some(handle.get().0.function());
    }
    if let Ok(handle) = value.cast::<HashHandle>() {
        return Some(handle.get().0.function());
    }
    if let Ok(handle) = value.cast::<VisitorHandle>() {
        return handle.get().function();
    }
    value.cast::<MutatorHandle>().ok()?.get().function()
}

/// `eq_cb` of `__s_equal__`.
#[pyclass(frozen, name = "StructuralEqualCallback", module = "isoform._core")]
pub(crate) struct EqualHandle(pub(crate) Arc<ScopedEqual>);

/// `hash_cb` of `__s_hash__`.
#[pyclass(frozen, name = "StructuralHashCallback", module = "isoform._core")]
pub(crate) struct HashHandle(pub(crate) Arc<ScopedHash>);
