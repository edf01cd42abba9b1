//! The common part of the objects through which callbacks and hooks continue a
//! traversal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isoform::functions::Function;
use isoform::hooks::{MutateCallback, VisitCallback};
use isoform::host::{ScopedMutate, ScopedRef, ScopedVisit};
use isoform::types::RegionKind;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::enums;

/// A traversal with a running callback.
pub(super) struct Running<C: ?Sized> {
    /// The name of the traversal in messages.
    name: &'static str,
    state: Mutex<State<C>>,
}

struct State<C: ?Sized> {
    /// The core's engines for the running callbacks, the innermost last.
    scoped: Vec<Arc<ScopedRef<C>>>,
    /// The current region: whether variables are bound or used.
    region: RegionKind,
}

impl<C: ?Sized> Running<C> {
    /// A traversal without running callbacks.
    pub(super) fn new(name: &'static str) -> Self {
        Running {
            name,
            state: Mutex::new(State {
                scoped: Vec::new(),
                region: RegionKind::Use,
            }),
        }
    }

    /// A traversal that called a hook; the hook may keep the object.
    pub(super) fn hook(name: &'static str, scoped: Arc<ScopedRef<C>>, region: RegionKind) -> Self {
        Running {
            name,
            state: Mutex::new(State {
                scoped: vec![scoped],
                region,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a callback, which may call the core through `scoped`.
    pub(super) fn during<R>(
        &self,
        scoped: Arc<ScopedRef<C>>,
        region: RegionKind,
        callback: impl FnOnce() -> R,
    ) -> R {
        let before = {
            let mut state = self.state();
            state.scoped.push(scoped);
            std::mem::replace(&mut state.region, region)
        };
        let result = callback();
        let mut state = self.state();
        state.scoped.pop();
        state.region = before;
        result
    }

    /// The engine of the innermost callback, and its region.
    ///
    /// # Errors
    ///
    /// `RuntimeError` if no callback runs.
    pub(super) fn current(&self) -> PyResult<(Arc<ScopedRef<C>>, RegionKind)> {
        let state = self.state();
        match state.scoped.last() {
            Some(scoped) => Ok((Arc::clone(scoped), state.region)),
            None => Err(PyRuntimeError::new_err(format!(
                "the {} has ended; its engine cannot be used any more",
                self.name
            ))),
        }
    }

    /// The engine of the outermost callback.
    pub(super) fn outermost(&self) -> Option<Arc<ScopedRef<C>>> {
        self.state().scoped.first().cloned()
    }

    /// The region as a `DefRegionKind`.
    pub(super) fn region<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (_, region) = self.current()?;
        Ok(enums::region_kind(py, region)?.clone())
    }

    /// Calls a function without arguments in another region.
    pub(super) fn with_region<'py>(
        &self,
        kind: &Bound<'py, PyAny>,
        callback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let region = enums::region_of(kind)?;
        self.current()?;
        let before = std::mem::replace(&mut self.state().region, region);
        let result = callback.call0();
        self.state().region = before;
        result
    }
}

/// The running visit, for callbacks that visit children themselves.
///
/// An object is visited once, in each kind of region if these are distinguished;
/// visiting it again does nothing. Must not be used after the visit has ended.
#[pyclass(frozen, name = "StructuralVisitor", module = "isoform")]
pub(crate) struct VisitorHandle(pub(super) Running<dyn VisitCallback>);

impl VisitorHandle {
    /// The visitor of a hook.
    pub(crate) fn scoped(visitor: Arc<ScopedVisit>) -> Self {
        let region = visitor.with(|visitor| Ok(visitor.region()));
        VisitorHandle(Running::hook("visit", visitor, region.unwrap_or_default()))
    }

    /// The visitor of a hook as a function of the core.
    pub(crate) fn function(&self) -> Option<Function> {
        self.0.outermost().map(|visitor| visitor.function())
    }
}

/// The running rewrite, for callbacks that rewrite children themselves.
///
/// An object is rewritten once, in each kind of region if these are distinguished, and
/// its result is used wherever it is met again. Must not be used after the rewrite has
/// ended.
#[pyclass(frozen, name = "StructuralMutator", module = "isoform")]
pub(crate) struct MutatorHandle(pub(super) Running<dyn MutateCallback>);

impl MutatorHandle {
    /// The mutator of a hook.
    pub(crate) fn scoped(mutator: Arc<ScopedMutate>) -> Self {
        let region = mutator.with(|mutator| Ok(mutator.region()));
        MutatorHandle(Running::hook(
            "rewrite",
            mutator,
            region.unwrap_or_default(),
        ))
    }

    /// The mutator of a hook as a function of the core.
    pub(crate) fn function(&self) -> Option<Function> {
        self.0.outermost().map(|mutator| mutator.function())
    }
}
