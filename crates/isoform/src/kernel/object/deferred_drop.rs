//! Keeps values removed from a field while a traversal may still use the values.
//!
//! A traversal borrows the objects read from fields, without owning the objects, until
//! its end. A value removed from a field by a write therefore stays alive until the end
//! of every traversal that could have read the value. Traversals are counted in two
//! alternating epochs (as in epoch-based reclamation: Fraser, "Practical lock-freedom",
//! 2004): the epoch advances after the end of all traversals of the previous epoch, and
//! a value dies when the epoch has advanced twice. The waiting memory is therefore
//! bounded by the writes during the longest traversal, even if some traversal is always
//! running.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

use super::raw_value::Value;

static EPOCH: AtomicUsize = AtomicUsize::new(0);
/// The number of running traversals, by the parity of their first epoch.
static RUNNING: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
/// The number of waiting values.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static BATCHES: Mutex<Batches> = Mutex::new(Batches {
    young: Vec::new(),
    old: Vec::new(),
});

struct Batches {
    /// Removed in the current epoch.
    young: Vec<Value>,
    /// Removed in the previous epoch.
    old: Vec<Value>,
}

/// A running traversal, by the parity of its epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct EpochGuard(usize);

/// Counts a traversal; must be called before the traversal's first read of a field.
pub(super) fn begin() -> EpochGuard {
    loop {
        let epoch = EPOCH.load(SeqCst);
        RUNNING[epoch % 2].fetch_add(1, SeqCst);
        // If the epoch has advanced meanwhile, the wrong count was incremented.
        if EPOCH.load(SeqCst) == epoch {
            return EpochGuard(epoch % 2);
        }
        end(EpochGuard(epoch % 2));
    }
}

/// Ends a traversal. May run destructors of values.
pub(super) fn end(ticket: EpochGuard) {
    RUNNING[ticket.0].fetch_sub(1, SeqCst);
    if WAITING.load(SeqCst) != 0 {
        sweep();
    }
}

/// True if no traversal runs. Later traversals read the new contents, provided that the
/// caller keeps readers out.
pub(super) fn is_idle() -> bool {
    RUNNING.iter().all(|count| count.load(SeqCst) == 0)
}

/// Keeps a value until all running traversals have ended.
pub(super) fn keep(value: Value) {
    let mut batches = BATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    batches.young.push(value);
    WAITING.fetch_add(1, SeqCst);
    drop(batches);
    // The last traversal may have ended without seeing the waiting value.
    sweep();
}

/// Drops the values beyond the reach of all traversals.
fn sweep() {
    loop {
        let mut batches = BATCHES.lock().unwrap_or_else(PoisonError::into_inner);
        let epoch = EPOCH.load(SeqCst);
        if WAITING.load(SeqCst) == 0 || RUNNING[(epoch + 1) % 2].load(SeqCst) != 0 {
            return;
        }
        // All traversals of earlier epochs have ended, so the old batch is dead; the
        // young batch dies after the end of this epoch's traversals.
        let young = std::mem::take(&mut batches.young);
        let dead = std::mem::replace(&mut batches.old, young);
        EPOCH.store(epoch + 1, SeqCst);
        WAITING.fetch_sub(dead.len(), SeqCst);
        // Destructors run outside the lock: they may write fields themselves.
        drop(batches);
        drop(dead);
    }
}
