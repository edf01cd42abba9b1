//! The gate before everything that a fork must not interrupt.
//!
//! A fork copies the locks that other threads hold, and nobody frees the copies. SQLite has
//! such locks for the whole process, so a child could wait for them forever. A program that
//! forks closes the gate before, and opens the gate afterwards.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::per_process::PerProcess;

/// How long a fork waits for threads inside. Transactions take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// A child has a gate of its own, which is open.
static GATE: PerProcess<Gate> = PerProcess::new();

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    inside: usize,
    forks: usize,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread inside, until dropped. A thread passes once at a time.
pub(crate) struct Passage(());

/// Waits until the gate is open.
pub(crate) fn pass() -> Passage {
    let gate = GATE.get(Gate::default);
    let mut state = gate.state();
    while state.forks > 0 {
        let woken = gate.changed.wait(state);
        state = woken.unwrap_or_else(PoisonError::into_inner);
    }
    state.inside += 1;
    Passage(())
}

impl Drop for Passage {
    fn drop(&mut self) {
        let gate = GATE.get(Gate::default);
        let mut state = gate.state();
        state.inside = state.inside.saturating_sub(1);
        gate.changed.notify_all();
    }
}

/// Closes the gate, and waits until nobody is inside.
pub(crate) fn close() {
    let gate = GATE.get(Gate::default);
    let start = Instant::now();
    let mut state = gate.state();
    state.forks += 1;
    while state.inside > 0 {
        let Some(left) = PATIENCE.checked_sub(start.elapsed()) else {
            return;
        };
        let woken = gate.changed.wait_timeout(state, left);
        state = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Opens the gate in the process that closed it.
pub(crate) fn open() {
    let gate = GATE.get(Gate::default);
    let mut state = gate.state();
    state.forks = state.forks.saturating_sub(1);
    gate.changed.notify_all();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn a_fork_waits_for_threads_inside_and_keeps_others_out() {
        let (is_closed, is_inside) = (AtomicBool::new(false), AtomicBool::new(false));
        let passage = pass();
        thread::scope(|scope| {
            let fork = scope.spawn(|| {
                close();
                is_closed.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(50));
            assert!(!is_closed.load(Ordering::SeqCst));
            drop(passage);
            fork.join().unwrap();
            let other = scope.spawn(|| {
                let _passage = pass();
                is_inside.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(50));
            assert!(!is_inside.load(Ordering::SeqCst));
            open();
            other.join().unwrap();
            assert!(is_inside.load(Ordering::SeqCst));
        });
    }
}
