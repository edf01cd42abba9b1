//! Computations in progress in this process, so that a second thread waits for the
//! first.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::name::Name;

/// Whoever computes a result: a caller that waits for its own result would wait forever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Caller(Identity);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Identity {
    Thread(ThreadId),
    Task(u64),
}

impl Caller {
    /// The current thread.
    pub fn thread() -> Self {
        Caller(Identity::Thread(thread::current().id()))
    }

    /// A task with this number, for programs in which a thread runs many tasks in turn. The
    /// number belongs to one task at a time.
    pub const fn task(number: u64) -> Self {
        Caller(Identity::Task(number))
    }
}

/// The keys that threads of this process compute now, with the callers that are known.
#[derive(Default, Debug)]
pub(crate) struct Flights {
    running: Mutex<HashMap<Name, Option<Caller>>>,
    landed: Condvar,
}

/// A computation in progress, until dropped.
#[derive(Debug)]
pub(crate) struct Flight {
    flights: Arc<Flights>,
    key: Name,
}

/// The answer to [`Flights::start`].
pub(crate) enum Start {
    Flight(Flight),
    /// The deadline passed.
    Late,
    /// The caller computes the key itself.
    Own,
}

impl Flights {
    /// Waits until no other caller computes the key.
    pub(crate) fn start(
        self: &Arc<Self>,
        key: Name,
        caller: Option<Caller>,
        deadline: Duration,
    ) -> Start {
        let start = Instant::now();
        let mut running = self.running();
        while let Some(other) = running.get(&key) {
            if caller.is_some() && *other == caller {
                return Start::Own;
            }
            let Some(left) = deadline.checked_sub(start.elapsed()) else {
                return Start::Late;
            };
            let waited = self.landed.wait_timeout(running, left);
            running = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        running.insert(key, caller);
        let flights = Arc::clone(self);
        Start::Flight(Flight { flights, key })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Name, Option<Caller>>> {
        // Every change of the map is a single call, so a panic leaves it whole.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.flights.running().remove(&self.key);
        self.flights.landed.notify_all();
    }
}
