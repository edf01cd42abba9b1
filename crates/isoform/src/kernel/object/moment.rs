//! Past contents of values, saved only on a change.
//!
//! A key represents the value at the time of making the key. Copying all changeable
//! parts would cost more than the rest of the key, and most parts never change. A
//! [`Version`] therefore copies nothing: the lists, dicts and objects with mutable
//! fields below the value are *watched*; a write to a watched object saves its old
//! contents first, and ends the watch. The contents of an object at a moment are then
//! the first contents saved after the moment, or else the current contents. Time is the
//! number of writes. Moments begin and watches begin in sections, and writes happen
//! outside of all sections ([`access`](super::access)), so no code of this module runs
//! at the same time as a write. Each watch records the earliest moment it serves: saved
//! contents are dropped, in O(1) amortised per save, when no moment is left between the
//! recorded moment and the save, however old other moments are.

use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;

use super::reference::{Obj, Ref};

/// The number of writes to fields, lists and dicts in this process.
static WRITES: AtomicU64 = AtomicU64::new(0);
/// The time after the last save; zero before the first.
static SAVED: AtomicU64 = AtomicU64::new(0);
/// True if any object is watched.
static WATCHING: AtomicBool = AtomicBool::new(false);
/// The number of ended watches without a moment to serve.
static CLEARED: AtomicU64 = AtomicU64::new(0);
/// The number of times a frozen field of a type was first overwritten, or a type got a
/// custom comparison or hash.
static CHANGED_TYPES: AtomicU64 = AtomicU64::new(0);
static HISTORY: Mutex<Option<History>> = Mutex::new(None);

/// The number of saved contents, or pages of watched objects, above which a search for
/// unneeded entries starts.
const FEW: usize = 1 << 10;

/// The maximal number of pages of watched objects, about 130 MB. Dead objects are not
/// recognised here, so endlessly changing keys would otherwise take ever more memory.
const MOST: usize = 1 << 18;

/// Marks an object in a page as certainly unwatched.
const UNWATCHED: u64 = u64::MAX;

/// Identity numbers are dense, so neighbours share a page.
const PAGE: u64 = 64;

/// The moments at which watches began, plus one; zero for unwatched objects.
type Page = [u64; PAGE as usize];

/// Saved contents of an object.
struct Saved {
    /// The first moment possibly needing the contents.
    since: u64,
    /// The last moment possibly needing the contents.
    until: u64,
    content: Ref<Obj>,
}

#[derive(Default)]
struct History {
    /// The number of users of each moment.
    moments: BTreeMap<u64, usize>,
    /// By identity number; oldest first.
    saved: HashMap<u64, Vec<Saved>, rapidhash::fast::RandomState>,
    count: usize,
    /// The numbers of contents, and of pages, at which the next search for unneeded
    /// entries starts.
    limits: (usize, usize),
    watched: HashMap<u64, Page, rapidhash::fast::RandomState>,
    /// Up to this moment, any object without an entry may be watched.
    forgotten: Option<u64>,
}

fn with_history<T>(body: impl FnOnce(&mut History) -> T) -> T {
    let mut history = HISTORY.lock().unwrap_or_else(PoisonError::into_inner);
    body(history.get_or_insert_default())
}

impl History {
    fn watch(&mut self, idents: &[u64], at: u64) {
        for neighbours in idents.chunk_by(|one, next| one / PAGE == next / PAGE) {
            let page = self.watched.entry(neighbours[0] / PAGE);
            let page = page.or_insert([0; PAGE as usize]);
            for ident in neighbours {
                let since = &mut page[(ident % PAGE) as usize];
                if *since == 0 || *since > at + 1 {
                    *since = at + 1;
                }
            }
        }
    }

    /// Ends the watch on an object; returns the first moment served by the watch.
    fn unwatch(&mut self, ident: u64) -> Option<u64> {
        let Some(forgotten) = self.forgotten else {
            let page = self.watched.get_mut(&(ident / PAGE))?;
            return std::mem::take(&mut page[(ident % PAGE) as usize]).checked_sub(1);
        };
        if self.moments.range(..=forgotten).next().is_none() {
            self.forgotten = None;
            self.unwatch_unneeded();
            return self.unwatch(ident);
        }
        let page = self.watched.entry(ident / PAGE);
        let page = page.or_insert([0; PAGE as usize]);
        match std::mem::replace(&mut page[(ident % PAGE) as usize], UNWATCHED) {
            UNWATCHED => None,
            // Watched since an unknown moment.
            since => Some(since.saturating_sub(1)),
        }
    }

    fn save(&mut self, ident: u64, saved: Saved) {
        self.saved.entry(ident).or_default().push(saved);
        self.count += 1;
    }

    /// Ends all watches that serve no moment.
    fn unwatch_unneeded(&mut self) {
        let last = self.moments.last_key_value().map(|(at, _)| *at);
        let needed = |since: &u64| *since != 0 && last.is_some_and(|last| *since <= last + 1);
        self.watched.retain(|_, page| page.iter().any(needed));
        if self.watched.len() > MOST {
            self.watched = HashMap::default();
            self.forgotten = last;
        }
        self.limits.1 = 2 * self.watched.len();
        let watching = !self.watched.is_empty() || self.forgotten.is_some();
        WATCHING.store(watching, Relaxed);
        CLEARED.fetch_add(1, Relaxed);
    }

    /// Removes contents unneeded by all moments, if the removal is worth the time.
    /// Watches without a moment to serve are ended by the next write, if not here.
    fn take_unneeded(&mut self) -> Vec<Saved> {
        if self.watched.len() > self.limits.1.max(FEW) {
            self.unwatch_unneeded();
        }
        let mut unneeded = Vec::new();
        let moments = &self.moments;
        if moments.is_empty() || self.count > self.limits.0.max(FEW) {
            self.saved.retain(|_, contents| {
                let is_unneeded =
                    |saved: &mut Saved| moments.range(saved.since..=saved.until).next().is_none();
                unneeded.extend(contents.extract_if(.., is_unneeded));
                !contents.is_empty()
            });
            self.count -= unneeded.len();
            self.limits.0 = 2 * self.count;
        }
        unneeded
    }
}

/// A point in time with contents readable later.
#[derive(Debug)]
pub(crate) struct Version {
    at: u64,
}

impl Version {
    /// The moment of the open section. O(log n) in the number of moments.
    pub(crate) fn begin() -> Version {
        super::access::assert_inside();
        let at = WRITES.load(Relaxed);
        with_history(|history| *history.moments.entry(at).or_default() += 1);
        Version { at }
    }

    /// True if no contents were saved since.
    pub(crate) fn is_present(&self) -> bool {
        SAVED.load(Relaxed) <= self.at
    }

    /// True if there was no write since.
    pub(crate) fn is_now(&self) -> bool {
        WRITES.load(Relaxed) == self.at
    }

    /// Watches objects from this moment on.
    pub(crate) fn watch(&self, idents: &[u64]) {
        if !idents.is_empty() {
            with_history(|history| history.watch(idents, self.at));
            WATCHING.store(true, Relaxed);
        }
    }

    /// The objects watched from this moment on.
    pub(crate) fn watched(&self) -> Watched {
        Watched {
            at: self.at,
            cleared: CLEARED.load(Relaxed),
        }
    }

    /// The contents of an object, list or dict at this moment, if saved since.
    pub(crate) fn saved(&self, ident: u64) -> Option<Ref<Obj>> {
        with_history(|history| {
            let contents = history.saved.get(&ident)?;
            let first = contents.partition_point(|saved| saved.until < self.at);
            // Another watch on the object may have begun after this moment, before the
            // watch for this moment.
            let mut later = contents[first..].iter();
            let saved = later.find(|saved| saved.since <= self.at)?;
            Some(saved.content.clone())
        })
    }
}

/// Objects watched from one moment on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    at: u64,
    cleared: u64,
}

impl Watched {
    /// Everything, from now on.
    pub(crate) fn now() -> Self {
        Watched {
            at: WRITES.load(Relaxed),
            cleared: CLEARED.load(Relaxed),
        }
    }

    /// True if all these objects are still watched, and there was no write meanwhile.
    pub(crate) fn holds(self) -> bool {
        WRITES.load(Relaxed) == self.at && CLEARED.load(Relaxed) == self.cleared
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        let unneeded = with_history(|history| {
            let count = history.moments.get_mut(&self.at)?;
            *count -= 1;
            if *count > 0 {
                return None;
            }
            history.moments.remove(&self.at);
            Some(history.take_unneeded())
        });
        // Destructors may be user code, and may make keys.
        drop(unneeded);
    }
}

/// The number of writes in this process, used as a clock.
pub(crate) fn time() -> u64 {
    WRITES.load(Relaxed)
}

/// Results remembered for frozen objects are valid while this is unchanged: it changes
/// when frozen fields are overwritten for the first time, or a type gets a custom
/// comparison or hash.
#[inline(always)]
pub fn changed_types() -> u64 {
    CHANGED_TYPES.load(Acquire)
}

/// Records that objects of one more type may change, or are compared or hashed in
/// another way; the type's entry is already up to date.
pub(super) fn note_changed_type() {
    CHANGED_TYPES.fetch_add(1, Release);
}

/// Counts a write, and first saves the contents of the object if it is watched. Must be
/// called while nobody else reads or writes.
#[inline]
pub(super) fn before_write(ident: u64, content: impl FnOnce() -> Ref<Obj>) {
    let now = WRITES.load(Relaxed);
    // Only one thread writes.
    WRITES.store(now + 1, Relaxed);
    if WATCHING.load(Relaxed) {
        save(ident, now, content);
    }
}

#[cold]
fn save(ident: u64, now: u64, content: impl FnOnce() -> Ref<Obj>) {
    with_history(|history| {
        if history.moments.is_empty() {
            history.unwatch_unneeded();
        }
        let Some(since) = history.unwatch(ident) else {
            return;
        };
        if history.moments.range(since..=now).next().is_none() {
            return;
        }
        let content = content();
        SAVED.store(now + 1, Relaxed);
        history.save(
            ident,
            Saved {
                since,
                until: now,
                content,
            },
        );
    });
}
