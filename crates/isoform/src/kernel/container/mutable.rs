//! The common part of lists and dicts: changing contents, the requirements of the
//! fields around a container, and possible membership in a cycle.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::demands::Demands;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::collect;
use crate::kernel::object::guarded::{Content, Guarded};
use crate::kernel::object::view::ObjRef;
use crate::kernel::value::Value;

/// The maximal number of lookups in a container changed by its own hooks. (Changes by
/// other threads need no limit: the other threads make progress, and the lookup will,
/// too.)
const MAX_LOOKS: usize = 100;

/// The payload of a list or dict, or its first part.
#[derive(Debug)]
pub(crate) struct Mutable<T: Content> {
    pub(crate) held: Guarded<T>,
    /// Counts the changes invalidating iterators.
    version: AtomicU64,
    /// True if the collector of cycles knows the object.
    tracked: AtomicBool,
    demands: Demands,
}

impl<T: Content> Drop for Mutable<T> {
    fn drop(&mut self) {
        if *self.tracked.get_mut() {
            collect::untrack_payload(self);
        }
    }
}

impl<T: Content> Mutable<T> {
    pub(crate) fn holding(held: T) -> Self {
        Mutable {
            held: Guarded::new(held),
            version: AtomicU64::new(0),
            tracked: AtomicBool::new(false),
            demands: Demands::default(),
        }
    }

    /// The current contents. O(1).
    pub(crate) fn snapshot(&self) -> T {
        self.held.snapshot()
    }

    pub(crate) fn copy_payload(&self) -> Self {
        Mutable::holding(self.snapshot())
    }

    /// Lends the current contents to a traversal.
    #[inline(always)]
    pub(crate) fn lend<'a>(&'a self, section: &Section) -> ObjRef<'a> {
        self.held.lend(section)
    }

    /// True if an inserted element may lead back to the container. The initial contents
    /// cannot.
    #[inline(always)]
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracked.load(Relaxed)
    }

    /// Tells the collector of cycles if an element may lead back to the container.
    pub(super) fn note(&self, part: &Value) {
        if part.as_object().is_some_and(collect::may_lead_on) {
            self.track();
        }
    }

    /// Makes a copy adopt the demands of fields, and the possible membership in a
    /// cycle, from its source.
    pub(crate) fn obey(&self, source: &Self) {
        self.demands.set(source.demands.number());
        if source.is_tracked() {
            self.track();
        }
    }

    fn track(&self) {
        if !self.tracked.swap(true, Relaxed) {
            collect::track_payload(self);
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Relaxed)
    }

    pub(super) fn advance_version(&self) {
        self.version.fetch_add(1, Relaxed);
    }

    /// The demands of the fields containing the object.
    pub(crate) fn demands(&self) -> &Demands {
        &self.demands
    }

    /// Adds a demand after checking the contents, unless the demand already applies.
    pub(super) fn demand(
        &self,
        extend: impl Fn(u32) -> u32,
        check: impl Fn(&T) -> Result<()>,
    ) -> Result<()> {
        loop {
            let before = self.demands.number();
            let after = extend(before);
            if after == before {
                return Ok(());
            }
            let held = self.snapshot();
            check(&held)?;
            // Nothing is inserted during this check.
            let is_same = |now: &T| now.raw() == held.raw();
            if self
                .held
                .read(|now| is_same(now) && self.demands.replace(before, after))
            {
                return Ok(());
            }
        }
    }

    /// Changes the contents with `body`, after `admit` has converted the new elements
    /// for the demands of a given number, and `find` has located their place. Both may
    /// run user code. `body` must not run foreign code. It takes the elements to store
    /// out of the new elements, or returns None to repeat the search for the place.
    /// `ident` is the identity number of the list or dict.
    ///
    /// # Errors
    ///
    /// Errors from `admit` and `find`; `RuntimeError` if this never succeeds, or if the
    /// host's lock is no longer available. On an error, nothing changes.
    pub(super) fn change<P, Q, R>(
        &self,
        ident: u64,
        parts: P,
        admit: impl Fn(u32, &mut P) -> Result<()>,
        find: impl Fn(&P) -> Result<Q>,
        mut body: impl FnMut(&mut T, &mut P, Q) -> Option<R>,
    ) -> Result<R> {
        let mut parts = parts;
        let (mut met, mut own_changes) = (0, 0);
        while own_changes < MAX_LOOKS {
            let before = access::own_writes();
            let number = self.demands.number();
            if number != met {
                admit(number, &mut parts)?;
                met = number;
            }
            let place = find(&parts)?;
            own_changes += usize::from(access::own_writes() != before);
            let done = self.held.write(ident, |held| {
                let is_met = self.demands.number() == met;
                is_met.then(|| body(held, &mut parts, place)).flatten()
            })?;
            if let Some(result) = done {
                // Destructors may be user code, and run from this line on.
                drop(parts);
                collect::collect_if_due();
                return Ok(result);
            }
        }
        Err(Error::new(
            ErrorKind::Runtime,
            "the dict changes whenever a key is looked up, by the hooks of the key's type",
        ))
    }
}
