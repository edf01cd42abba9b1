//! Reservations of keys: one computation of a key at a time, in all threads and processes.

use std::time::Duration;

use crate::engine::LockGuard;
use crate::flights::{Caller, Flight, Start};
use crate::key::EntryKey;
use crate::name::Name;
use crate::store::Store;

/// A key that nobody else reserves until the reservation is dropped or its process ends.
///
/// Places without locks, such as servers, reserve keys within a process only.
#[derive(Debug)]
pub struct Reservation {
    // Fields are dropped in this order: other processes first, because a thread that waits
    // for the flight takes the lock next.
    _guard: Option<LockGuard>,
    _flight: Flight,
}

/// The answer to [`Store::reserve_for`].
pub(crate) enum Reserved {
    Free(Reservation),
    /// Somebody else computes, and the patience is over.
    Busy,
    /// The caller computes the key itself.
    Own,
}

impl Store {
    /// Reserves a key for the computation of its result, and waits up to `patience` for
    /// another caller who has reserved the key; None after this time. [`Cache`] does so by
    /// itself; look up the entry again before you compute.
    ///
    /// ```
    /// use std::time::Duration;
    /// use isoform_store::{EntryKey, NewEntry, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// let key = EntryKey::builder("compile").build();
    /// let reservation = store.reserve(&key, Duration::ZERO);
    /// assert!(reservation.is_some());
    /// assert!(store.reserve(&key, Duration::ZERO).is_none());
    /// drop(reservation);
    /// assert!(store.reserve(&key, Duration::ZERO).is_some());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    ///
    /// [`Cache`]: crate::Cache
    #[must_use]
    pub fn reserve(&self, key: &EntryKey, patience: Duration) -> Option<Reservation> {
        match self.reserve_for(key.digest(), None, patience) {
            Reserved::Free(reservation) => Some(reservation),
            Reserved::Busy | Reserved::Own => None,
        }
    }

    pub(crate) fn reserve_for(
        &self,
        name: Name,
        caller: Option<Caller>,
        patience: Duration,
    ) -> Reserved {
        let inner = &self.inner;
        // A thread waits for the threads of its process first, and then the winner alone
        // waits for other processes.
        let flights = inner.flights.get(Default::default);
        let flight = match flights.start(name, caller, patience) {
            Start::Flight(flight) => flight,
            Start::Late => return Reserved::Busy,
            Start::Own => return Reserved::Own,
        };
        let mut guard = None;
        if !inner.options.is_read_only() {
            match inner.engine.lock(&name.to_string(), patience) {
                Ok(None) => return Reserved::Busy,
                Ok(held) => guard = held,
                // Without locks, two processes may compute the same result.
                Err(_) => {}
            }
        }
        Reserved::Free(Reservation {
            _guard: guard,
            _flight: flight,
        })
    }
}
