//! Computations in progress in this process, so that a second thread waits for the
//! first.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::name::Name;

/// The keys that threads of this process compute now.
#[derive(Default, Debug)]
pub(crate) struct Flights {
    running: Mutex<HashSet<Name>>,
    landed: Condvar,
}

/// A computation in progress, until dropped.
#[derive(Debug)]
pub(crate) struct Flight {
    flights: Arc<Flights>,
    key: Name,
}

impl Flights {
    /// Waits until no other thread computes the key; None if the deadline passes.
    pub(crate) fn start(self: &Arc<Self>, key: Name, deadline: Duration) -> Option<Flight> {
        let start = Instant::now();
        let mut running = self.running();
        while running.contains(&key) {
            let left = deadline.checked_sub(start.elapsed())?;
            let waited = self.landed.wait_timeout(running, left);
            running = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        running.insert(key);
        let flights = Arc::clone(self);
        Some(Flight { flights, key })
    }

    fn running(&self) -> MutexGuard<'_, HashSet<Name>> {
        // Every change of the set is a single call, so a panic leaves it whole.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.running().remove(&self.key);
        self.flights.landed.notify_all();
    }
}
