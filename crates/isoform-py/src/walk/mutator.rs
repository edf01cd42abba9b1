//! The object through which callbacks and hooks ask a rewrite to go on, with
//! what it keeps; what it does is in `mutate.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use isoform::host::ScopedMutate;
use isoform::{Function, RegionKind, Value};
use pyo3::prelude::*;

use super::dispatch::Callbacks;

/// An object in a kind of region.
pub(super) type Place = (u64, RegionKind);

pub(super) struct State {
    pub(super) active: bool,
    pub(super) region: RegionKind,
    /// Whether an object is rewritten anew in each kind of region.
    pub(super) regions_apart: bool,
    /// What became of objects; None while one is being rewritten.
    pub(super) results: HashMap<Place, Option<Value>>,
    /// What variables and dag nodes became in a descent, for every region.
    pub(super) descents: HashMap<u64, Value>,
    /// What users recorded for variables.
    pub(super) remapped: HashMap<u64, Value>,
    /// What they recorded for uses of variables only.
    pub(super) uses: HashMap<u64, Value>,
}

/// The running rewrite, for callbacks that rewrite children themselves.
///
/// An object is rewritten once, in each kind of region if these are told
/// apart, and its result is used wherever it is met again. Not for use after the rewrite has ended.
#[pyclass(frozen, name = "StructuralMutator", module = "isoform")]
pub(crate) struct MutatorHandle {
    pub(super) work: Work,
    pub(super) state: Mutex<State>,
}

/// Who rewrites.
pub(super) enum Work {
    /// This rewrite, with these callbacks.
    Here(Callbacks),
    /// A rewrite that called a hook.
    Elsewhere(Arc<ScopedMutate>),
}

impl State {
    pub(super) fn new(region: RegionKind, regions_apart: bool) -> Self {
        State {
            active: true,
            region,
            regions_apart,
            results: HashMap::new(),
            descents: HashMap::new(),
            remapped: HashMap::new(),
            uses: HashMap::new(),
        }
    }

    /// Records what comes in place of a variable; what came before.
    ///
    /// Where regions are told apart, what was rewritten before may be asked for
    /// again in another one, so it is forgotten. Where they are not, it stays:
    /// a variable is replaced from its definition on.
    pub(super) fn remap(&mut self, identity: u64, value: Value) -> Option<Value> {
        if !self.regions_apart {
            let place = (identity, RegionKind::Use);
            self.results.insert(place, Some(value.clone()));
            return self.remapped.insert(identity, value);
        }
        let regions = [RegionKind::Use, RegionKind::Def, RegionKind::DefSimple];
        let met = |region| matches!(self.results.get(&(identity, region)), Some(Some(_)));
        if regions.into_iter().any(met) {
            // What was rewritten so far may contain the variable.
            self.results.retain(|_, result| result.is_none());
            self.descents.clear();
        }
        self.remapped.insert(identity, value)
    }
}

impl MutatorHandle {
    /// The mutator of a hook.
    pub(crate) fn scoped(mutator: Arc<ScopedMutate>) -> Self {
        let region = mutator.with(|mutator| Ok(mutator.region()));
        MutatorHandle {
            work: Work::Elsewhere(mutator),
            state: Mutex::new(State::new(region.unwrap_or_default(), true)),
        }
    }

    /// The mutator of a hook as a function of the core.
    pub(crate) fn function(&self) -> Option<Function> {
        match &self.work {
            Work::Here(_) => None,
            Work::Elsewhere(mutator) => Some(mutator.function()),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
