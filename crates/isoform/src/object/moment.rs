//! Values as they were at an earlier moment, kept when they change and not
//! before.
//!
//! A key stands for a value as it was when the key was made. To copy all that
//! may change would cost more than everything else about a key, and most of it
//! never changes. So a [`Moment`] copies nothing: the objects below the value
//! are *watched*, and whoever writes to a watched object saves what it held,
//! and ends the watch. What an object held at a moment is then what was saved
//! first after it, or else what it holds now.
//!
//! Lists and dicts are watched by a bit of their own ([`shelf`](super::shelf)),
//! objects with mutable fields in a table here, since their writers wait for a
//! lock anyway. Each watch remembers the earliest moment that it serves, so
//! that a content is dropped, in O(1) amortised per save, when no moment is
//! left between that one and the save, however old other moments are.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use super::dynamic::copy_while_writing;
use super::reference::{Obj, Ref};

/// How many contents were saved so far.
static SAVES: AtomicU64 = AtomicU64::new(0);
/// How many fields were written so far.
static WRITES: AtomicU64 = AtomicU64::new(0);
/// How many moments there are.
static LIVING: AtomicUsize = AtomicUsize::new(0);
static HISTORY: Mutex<Option<History>> = Mutex::new(None);

/// So many contents, or pages of watched objects, are kept before it is asked
/// which are still needed.
const FEW: usize = 1 << 10;

/// Identity numbers are dense, so that neighbours share a page.
const PAGE: u64 = 64;

/// What an object held.
struct Saved {
    /// It may be needed by moments from here on,
    since: u64,
    /// and up to here, where it was replaced.
    until: u64,
    content: Ref<Obj>,
}

#[derive(Default)]
struct History {
    /// Advances with each moment and each save.
    time: u64,
    moments: BTreeSet<u64>,
    /// The moments whose objects are not all watched yet.
    unsettled: Vec<u64>,
    /// By identity number; oldest first.
    saved: HashMap<u64, Vec<Saved>, rapidhash::fast::RandomState>,
    count: usize,
    /// With how many contents, and pages, unneeded ones are looked for.
    limits: (usize, usize),
    /// Objects with mutable fields that are watched: the first moment that
    /// needs what they hold; zero for others.
    watched: HashMap<u64, [u64; PAGE as usize], rapidhash::fast::RandomState>,
}

fn with_history<T>(body: impl FnOnce(&mut History) -> T) -> T {
    let mut history: MutexGuard<'_, _> = HISTORY.lock().unwrap_or_else(PoisonError::into_inner);
    body(history.get_or_insert_default())
}

impl History {
    fn save(&mut self, ident: u64, since: u64, content: Ref<Obj>) {
        self.time += 1;
        // A moment that is being walked may have met the object, and not have
        // watched it yet.
        let first = self.unsettled.iter().min().copied();
        let since = since.min(first.unwrap_or(self.time));
        self.saved.entry(ident).or_default().push(Saved {
            since,
            until: self.time,
            content,
        });
        self.count += 1;
        SAVES.fetch_add(1, SeqCst);
    }

    fn watch(&mut self, idents: &[u64], at: u64) {
        for neighbours in idents.chunk_by(|one, next| one / PAGE == next / PAGE) {
            let page = self.watched.entry(neighbours[0] / PAGE);
            let page = page.or_insert([0; PAGE as usize]);
            for ident in neighbours {
                let since = &mut page[(ident % PAGE) as usize];
                if *since == 0 || *since > at {
                    *since = at;
                }
            }
        }
    }

    /// Ends the watch over an object; the first moment that it served.
    fn unwatch(&mut self, ident: u64) -> Option<u64> {
        let page = self.watched.get_mut(&(ident / PAGE))?;
        let since = std::mem::take(&mut page[(ident % PAGE) as usize]);
        (since != 0).then_some(since)
    }

    /// Takes out what no moment needs any more, if that is worth the time.
    fn take_unneeded(&mut self) -> Vec<Ref<Obj>> {
        let mut unneeded = Vec::new();
        let moments = &self.moments;
        if moments.is_empty() || self.watched.len() > self.limits.1.max(FEW) {
            let last = moments.last().copied().unwrap_or(0);
            let needed = |since: &u64| (1..=last).contains(since);
            self.watched.retain(|_, page| page.iter().any(needed));
            self.limits.1 = 2 * self.watched.len();
        }
        if moments.is_empty() || self.count > self.limits.0.max(FEW) {
            self.saved.retain(|_, contents| {
                let needed = |saved: &mut Saved| {
                    let mut users = moments.range(saved.since..saved.until);
                    users.next().is_none()
                };
                unneeded.extend(contents.extract_if(.., needed));
                !contents.is_empty()
            });
            self.count -= unneeded.len();
            self.limits.0 = 2 * self.count;
        }
        unneeded.into_iter().map(|saved| saved.content).collect()
    }
}

/// A point in time that somebody may want to look back to.
#[derive(Debug)]
pub(crate) struct Moment {
    at: u64,
    saves: u64,
    writes: u64,
}

impl Moment {
    /// This moment; to be [settled](Self::settle). O(log n) in the number of
    /// moments.
    pub(crate) fn begin() -> Moment {
        let (at, saves) = with_history(|history| {
            LIVING.fetch_add(1, SeqCst);
            history.time += 1;
            history.moments.insert(history.time);
            history.unsettled.push(history.time);
            (history.time, SAVES.load(SeqCst))
        });
        let writes = WRITES.load(SeqCst);
        Moment { at, saves, writes }
    }

    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Whether nothing was saved since.
    pub(crate) fn is_present(&self) -> bool {
        SAVES.load(SeqCst) == self.saves
    }

    /// Watches objects with mutable fields that were read since this moment;
    /// false when one may have changed since it was read. To be called in the
    /// section they were read in.
    pub(crate) fn watch(&self, idents: &[u64]) -> bool {
        with_history(|history| history.watch(idents, self.at));
        self.is_present() && WRITES.load(SeqCst) == self.writes
    }

    /// To be called when all that belongs to the moment is watched.
    pub(crate) fn settle(&self) {
        with_history(|history| history.unsettled.retain(|at| *at != self.at));
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        let unneeded = with_history(|history| {
            history.unsettled.retain(|at| *at != self.at);
            history.moments.remove(&self.at);
            LIVING.fetch_sub(1, SeqCst);
            history.take_unneeded()
        });
        // Destructors may be code of users, which may make keys.
        drop(unneeded);
    }
}

/// Something that is another one after each write that may concern a moment.
pub(crate) fn clock() -> (u64, u64) {
    (SAVES.load(SeqCst), WRITES.load(SeqCst))
}

/// What an object, list or dict held at a moment, if it has been saved since.
pub(crate) fn saved(ident: u64, at: u64) -> Option<Ref<Obj>> {
    with_history(|history| {
        let contents = history.saved.get(&ident)?;
        let first = contents.partition_point(|saved| saved.until <= at);
        contents.get(first).map(|saved| saved.content.clone())
    })
}

/// Watches an object with mutable fields from now on.
pub(crate) fn watch(ident: u64, at: u64) {
    with_history(|history| history.watch(&[ident], at));
}

/// Saves what a watched list or dict holds before it changes.
pub(super) fn before_change(ident: u64, since: u64, content: impl FnOnce() -> Ref<Obj>) {
    if LIVING.load(SeqCst) > 0 {
        with_history(|history| history.save(ident, since, content()));
    }
}

/// Saves the fields of an object before one is written, if it is watched. To be
/// called while nobody else reads or writes fields.
pub(super) fn before_write(object: &Ref<Obj>) {
    WRITES.fetch_add(1, SeqCst);
    if LIVING.load(SeqCst) == 0 {
        return;
    }
    let ident = object.identity();
    with_history(|history| {
        if let Some(since) = history.unwatch(ident) {
            history.save(ident, since, copy_while_writing(object));
        }
    });
}
