//! Counts of what a handle did.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since a store was opened, for one handle and its clones.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Statistics {
    /// Lookups that returned a value or an entry.
    pub hits: u64,
    /// Lookups that returned nothing.
    pub misses: u64,
    /// Files that a lookup or a put found damaged. Such a lookup is a miss, too.
    pub torn: u64,
    /// Entries whose key or program turned out to be another one. Each is a miss, too.
    pub unconfirmed: u64,
    /// Puts of values and entries.
    pub puts: u64,
    /// Puts that found the same value, or an earlier entry, in the store.
    pub repeated_puts: u64,
    /// Errors of the store that a [`Cache`](crate::Cache) passed over.
    pub cache_errors: u64,
    /// Bytes in the values that lookups returned.
    pub bytes_read: u64,
    /// Bytes in the files that puts wrote.
    pub bytes_written: u64,
}

/// The counters of a handle, which all its clones share.
#[derive(Default, Debug)]
pub(crate) struct Counters {
    pub(crate) hits: Counter,
    pub(crate) misses: Counter,
    pub(crate) torn: Counter,
    pub(crate) unconfirmed: Counter,
    pub(crate) puts: Counter,
    pub(crate) repeated_puts: Counter,
    pub(crate) cache_errors: Counter,
    pub(crate) bytes_read: Counter,
    pub(crate) bytes_written: Counter,
}

#[derive(Default, Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, number: usize) {
        // The counts order nothing else.
        self.0.fetch_add(number as u64, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(crate) fn statistics(&self) -> Statistics {
        Statistics {
            hits: self.hits.get(),
            misses: self.misses.get(),
            torn: self.torn.get(),
            unconfirmed: self.unconfirmed.get(),
            puts: self.puts.get(),
            repeated_puts: self.repeated_puts.get(),
            cache_errors: self.cache_errors.get(),
            bytes_read: self.bytes_read.get(),
            bytes_written: self.bytes_written.get(),
        }
    }
}
