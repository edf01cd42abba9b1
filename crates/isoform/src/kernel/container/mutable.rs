//! What lists and dicts have in common: contents that change, what the fields
//! they stand in demand of them, and whether they may be part of a cycle.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::demands::Demands;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::collect;
use crate::kernel::object::guarded::{Content, Guarded};
use crate::kernel::object::view::ObjRef;
use crate::kernel::value::Value;

/// How often parts are looked at in a container that their own hooks change
/// meanwhile. (When others do, those get on, and so will this.)
const MAX_LOOKS: usize = 100;

/// The payload of a list or dict, or the beginning of it.
#[derive(Debug)]
pub(crate) struct Mutable<T: Content> {
    pub(crate) held: Guarded<T>,
    /// Counts the changes that an iterator must not survive.
    version: AtomicU64,
    /// Whether the collector of cycles knows the object.
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

    /// What is held now. O(1).
    pub(crate) fn snapshot(&self) -> T {
        self.held.snapshot()
    }

    pub(crate) fn copy_payload(&self) -> Self {
        Mutable::holding(self.snapshot())
    }

    /// Lends what is held now to a traversal.
    #[inline(always)]
    pub(crate) fn lend<'a>(&'a self, section: &Section) -> ObjRef<'a> {
        self.held.lend(section)
    }

    /// Whether something was put in that may lead back here. What is held from
    /// the start cannot.
    #[inline(always)]
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracked.load(Relaxed)
    }

    /// Tells the collector of cycles when a part may lead back here.
    pub(super) fn note(&self, part: &Value) {
        if part.as_object().is_some_and(collect::may_lead_on) {
            self.track();
        }
    }

    /// Takes over what fields demand of a list or dict that this is a copy of,
    /// which may be part of a cycle just as well.
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

    /// What the fields demand in which the object stands.
    pub(crate) fn demands(&self) -> &Demands {
        &self.demands
    }

    /// Makes one more demand on what is held, once that is checked, unless it
    /// is made already.
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
            // Nothing is put in while this reads.
            let is_same = |now: &T| now.raw() == held.raw();
            if self
                .held
                .read(|now| is_same(now) && self.demands.replace(before, after))
            {
                return Ok(());
            }
        }
    }

    /// Changes what is held by `body`, once `admit` has made these parts such
    /// as the demands of a number want them, and `find` has told where they go.
    /// Both may run code of users. `body` must be no foreign code; it takes out
    /// of the parts what it stores, or gives None to have them found again.
    /// `ident` is the identity number of the list or dict.
    ///
    /// # Errors
    ///
    /// Those of `admit` and `find`; `RuntimeError` when that never ends, or when
    /// the host's lock cannot be had any more. Nothing was changed then.
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
                // Destructors may be code of users, and run from here on.
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
