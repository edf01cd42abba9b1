//! The kept results of analyses, by object.
//!
//! Results are kept by the identity of the object, so an unchanged function keeps its
//! results without any bookkeeping.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use isoform::{Array, Obj, Ref, Str};

/// A result of any type.
pub(super) type AnalysisResult = Arc<dyn Any + Send + Sync>;

/// The analyses whose results stay valid when a pass changes a function.
pub(super) enum Preserved<'a> {
    All,
    Named(&'a Array<Str>),
}

impl<'a> Preserved<'a> {
    /// The declaration of a pass.
    pub(super) fn by(names: &'a Array<Str>) -> Self {
        if names.iter().any(|name| &**name == "*") {
            Preserved::All
        } else {
            Preserved::Named(names)
        }
    }

    fn includes(&self, analysis: &str) -> bool {
        match self {
            Preserved::All => true,
            Preserved::Named(names) => names.iter().any(|name| &**name == analysis),
        }
    }
}

type Results = SmallVec<[(Box<str>, AnalysisResult); 2]>;

/// Results by identity, which is never reused.
#[derive(Default)]
pub(super) struct Store(Mutex<HashMap<u64, Results, RandomState>>);

impl Store {
    fn with<T>(&self, body: impl FnOnce(&mut HashMap<u64, Results, RandomState>) -> T) -> T {
        body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// True without results.
    pub(super) fn is_empty(&self) -> bool {
        self.with(|results| results.is_empty())
    }

    /// The result of an analysis for an object.
    pub(super) fn find(&self, analysis: &str, object: &Ref<Obj>) -> Option<AnalysisResult> {
        self.with(|results| {
            let mut known = results.get(&object.identity())?.iter();
            let found = known.find(|(name, _)| **name == *analysis);
            found.map(|(_, result)| Arc::clone(result))
        })
    }

    /// Keeps a result; of two results computed at the same time, the first.
    pub(super) fn keep(
        &self,
        analysis: &str,
        object: &Ref<Obj>,
        result: AnalysisResult,
    ) -> AnalysisResult {
        self.with(|results| {
            let known = results.entry(object.identity()).or_default();
            if let Some((_, first)) = known.iter().find(|(name, _)| **name == *analysis) {
                return Arc::clone(first);
            }
            known.push((analysis.into(), Arc::clone(&result)));
            result
        })
    }

    /// Notes that a pass replaced an object: preserved results move to the new object,
    /// other results are dropped.
    pub(super) fn replace(
        &self,
        old: &Ref<Obj>,
        new: Option<&Ref<Obj>>,
        preserved: &Preserved<'_>,
    ) {
        let dropped = self.with(|results| {
            let old_results = results.remove(&old.identity())?;
            let (kept, dropped): (Results, Results) = old_results
                .into_iter()
                .partition(|(name, _)| new.is_some() && preserved.includes(name));
            if let Some(new) = new.filter(|_| !kept.is_empty()) {
                let present = results.entry(new.identity()).or_default();
                let is_known = |name: &str| present.iter().any(|(other, _)| **other == *name);
                let more: Results = kept
                    .into_iter()
                    .filter(|(name, _)| !is_known(name))
                    .collect();
                present.extend(more);
            }
            Some(dropped)
        });
        // Results may run any code when dropped, so not under the lock.
        drop(dropped);
    }

    /// Drops everything.
    pub(super) fn clear(&self) {
        let dropped = self.with(std::mem::take);
        drop(dropped);
    }
}
