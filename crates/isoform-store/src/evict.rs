//! Eviction: keeps a store within limits, and removes the least recently used files
//! first.
//!
//! A value that an entry needs counts as used when the entry is used, and goes after the
//! entry. A reader of a removed file sees a miss, whatever other processes do.

use std::collections::HashMap;
use std::time::Duration;

use isoform::Result;

use crate::index::{FileTotals, Numbers, Row};
use crate::store::Store;

/// The lock of an eviction that starts by itself, so that one process at a time evicts.
const EVICTION: &str = "eviction";

/// The number of files that are removed under one lock of changes.
const BATCH: usize = 100;

/// How often a store with a limit on age looks for old files, in seconds.
const AGE_INTERVAL: u64 = 3600;

/// Limits for the files of a store; None for unlimited.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Limits {
    /// The size of all files in bytes.
    pub max_bytes: Option<u64>,
    /// The number of files.
    pub max_count: Option<u64>,
    /// The time since the last use of a file, which is known to an hour.
    pub max_age: Option<Duration>,
}

/// The files that an eviction removed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Eviction {
    /// The removed files.
    pub removed: FileTotals,
    /// The files that stay.
    pub kept: FileTotals,
}

impl Limits {
    /// True if there is no limit.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    fn are_passed_by(&self, total: FileTotals) -> bool {
        self.max_bytes.is_some_and(|limit| total.bytes > limit)
            || self.max_count.is_some_and(|limit| total.files > limit)
    }

    /// Limits with room for further puts, so that few puts evict.
    fn with_room(self) -> Self {
        let smaller = |limit: u64| limit - limit / 10;
        Limits {
            max_bytes: self.max_bytes.map(smaller),
            max_count: self.max_count.map(smaller),
            ..self
        }
    }
}

impl Store {
    /// Removes files until the store is within these limits, the least recently used
    /// first.
    ///
    /// O(files): lists all files, and reads the entries that the index does not have.
    ///
    /// # Errors
    ///
    /// An `OSError` in a read-only store, and if the files cannot be listed. A file that
    /// cannot be removed stays and is counted.
    pub fn evict(&self, limits: &Limits) -> Result<Eviction> {
        self.evict_others(limits, &[])
    }

    /// As [`evict`](Self::evict), but keeps the files at these paths.
    fn evict_others(&self, limits: &Limits, spared: &[&str]) -> Result<Eviction> {
        self.check_writable()?;
        let inner = &*self.inner;
        let now = inner.options.clock.now();
        inner.engine.sweep(now);
        self.reconcile_index()?;
        let mut rows = self.index().rows()?;
        order_by_use(&mut rows);
        let mut eviction = Eviction::default();
        for row in &rows {
            eviction.kept.add(row.size);
        }
        let mut needs: HashMap<&str, usize> = HashMap::new();
        for path in rows.iter().flat_map(|row| &row.values) {
            *needs.entry(path).or_default() += 1;
        }
        let mut rows = rows.iter().peekable();
        loop {
            let mut removed = Vec::new();
            let guard = self.lock_changes();
            while removed.len() < BATCH
                && let Some(row) = rows.next_if(|row| {
                    let age = now.saturating_sub(row.used);
                    limits.are_passed_by(eviction.kept)
                        || limits.max_age.is_some_and(|limit| age > limit.as_secs())
                })
            {
                let is_needed = needs.get(&*row.path).is_some_and(|&needs| needs > 0);
                let is_spared = spared.contains(&&*row.path);
                if is_needed || is_spared || inner.engine.remove(&row.path).is_err() {
                    continue;
                }
                for path in &row.values {
                    if let Some(needs) = needs.get_mut(&**path) {
                        *needs -= 1;
                    }
                }
                eviction.kept.subtract(row.size);
                eviction.removed.add(row.size);
                removed.push(row.path.clone());
            }
            drop(guard);
            // A failing index finds out at its next comparison with the files.
            let _ = self.index().remove(&removed);
            if removed.len() < BATCH {
                break;
            }
        }
        let _ = self.index().set_evicted(now);
        Ok(eviction)
    }

    /// Evicts files if the numbers of the index pass the limits of the store, but never the
    /// files that a put has just written. The caller, whose put succeeded, sees no failure.
    pub(crate) fn evict_if_needed(&self, numbers: Option<Numbers>, written: &[&str]) {
        let limits = self.inner.options.limits;
        let numbers = match numbers.filter(|numbers| numbers.is_complete) {
            Some(numbers) => numbers,
            // The first put of a handle pays for the numbers.
            None if self.index().may_try() => match self.complete_index() {
                Ok(()) => self.index().numbers().unwrap_or_default(),
                Err(_) => return self.index().rest(),
            },
            None => return,
        };
        let now = self.inner.options.clock.now();
        let is_old = limits.max_age.is_some() && now.abs_diff(numbers.evicted) > AGE_INTERVAL;
        let is_full = limits.are_passed_by(numbers.sizes.total());
        let is_due = is_old || (is_full && self.index().may_try());
        if !is_due {
            return;
        }
        // Another process that evicts makes room for this process, too.
        let Ok(Some(_guard)) = self.inner.engine.lock(EVICTION, Duration::ZERO) else {
            return;
        };
        let evicted = self.evict_others(&limits.with_room(), written);
        if !evicted.is_ok_and(|eviction| !limits.are_passed_by(eviction.kept)) {
            // Trying again at every put would cost more than the files.
            self.index().rest();
        }
    }
}

impl FileTotals {
    fn add(&mut self, size: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
    }

    fn subtract(&mut self, size: u64) {
        self.files -= 1;
        self.bytes = self.bytes.saturating_sub(size);
    }
}

/// Sorts the rows by their last use, entries before the values that they need.
fn order_by_use(rows: &mut [Row]) {
    let mut used: HashMap<String, u64> = HashMap::new();
    for row in &*rows {
        for path in &row.values {
            let latest = used.entry(path.clone()).or_default();
            *latest = row.used.max(*latest);
        }
    }
    for row in &mut *rows {
        row.used = row.used.max(used.get(&row.path).copied().unwrap_or(0));
    }
    // The paths of entries come before those of values.
    rows.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
}
