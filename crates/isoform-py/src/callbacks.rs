//! What hooks written in Python get as callbacks: objects of classes of their
//! own around what the core gives them as functions. What calling them does is in
//! `hooks.rs` and `walk`.

use std::sync::Arc;

use isoform::Function;
use isoform::host::{ScopedEqual, ScopedHash, ScopedMutate, ScopedVisit};
use pyo3::prelude::*;

use crate::walk::{MutatorHandle, VisitorHandle};

/// A callback of the core as its hook in Python sees it; None for any other
/// function.
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

/// The function behind a callback; None for any other object.
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
