//! The object through which callbacks and hooks ask a visit to go on; what it
//! does is in `visit.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use isoform::host::ScopedVisit;
use isoform::{Function, RegionKind};
use pyo3::prelude::*;

use super::dispatch::Callbacks;

/// Where an object stands in a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Its callback runs, or its children are being visited.
    Open,
    Done,
}

pub(super) struct State {
    pub(super) active: bool,
    pub(super) region: RegionKind,
    /// Whether the kind of region is part of a mark.
    pub(super) regions_apart: bool,
    pub(super) marks: HashMap<(u64, RegionKind), Mark>,
}

impl State {
    pub(super) fn new(region: RegionKind, regions_apart: bool) -> Self {
        State {
            active: true,
            region,
            regions_apart,
            marks: HashMap::new(),
        }
    }
}

/// The running visit, for callbacks that visit children themselves.
///
/// An object is visited once, in each kind of region if these are told apart;
/// visiting it again does nothing. Not for use after the visit has ended.
#[pyclass(frozen, name = "StructuralVisitor", module = "isoform")]
pub(crate) struct VisitorHandle {
    pub(super) work: Work,
    pub(super) state: Mutex<State>,
}

/// Who visits.
pub(super) enum Work {
    /// This visit, with these callbacks.
    Here(Callbacks),
    /// A walk that called a hook.
    Elsewhere(Arc<ScopedVisit>),
}

impl VisitorHandle {
    /// The visitor of a hook.
    pub(crate) fn scoped(visitor: Arc<ScopedVisit>) -> Self {
        let region = visitor.with(|visitor| Ok(visitor.region()));
        VisitorHandle {
            work: Work::Elsewhere(visitor),
            state: Mutex::new(State::new(region.unwrap_or_default(), true)),
        }
    }

    /// The visitor of a hook as a function of the core.
    pub(crate) fn function(&self) -> Option<Function> {
        match &self.work {
            Work::Here(_) => None,
            Work::Elsewhere(visitor) => Some(visitor.function()),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
