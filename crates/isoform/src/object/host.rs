//! The lock of a host language, and how sections of the access rule use it.
//!
//! A host such as Python has a lock of its own that its code holds nearly all
//! the time. Whoever holds it may read fields of types declared at run time
//! without the library's own lock, because writers hold both.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

use super::access;
use crate::error::{Error, Result};

/// How the library deals with the lock of a host language.
#[derive(Clone, Copy)]
pub struct HostHooks {
    /// Whether this thread holds the host's lock.
    pub is_held: fn() -> bool,
    /// Runs a closure once while this thread holds the host's lock; the thread
    /// may hold it already. Does not run it when the lock cannot be had any
    /// more, as when the host is being shut down.
    pub hold: fn(&mut dyn FnMut()),
    /// Runs a closure once while this thread, which holds the host's lock,
    /// does not hold it, and takes it again.
    pub release_while: fn(&mut dyn FnMut()),
}

impl fmt::Debug for HostHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHooks").finish_non_exhaustive()
    }
}

static HOOKS: OnceLock<HostHooks> = OnceLock::new();

thread_local! {
    static ASSUMED: Cell<bool> = const { Cell::new(false) };
}

/// Registers the host's lock; once per process.
///
/// Waits until no traversal runs that uses the library's own lock, so the
/// caller must not be a hook or callback of one.
///
/// # Errors
///
/// `ValueError` when a host's lock is registered already.
///
/// # Safety
///
/// The lock must be exclusive: at most one thread of the process holds it at a
/// time, and `is_held` answers true in that thread only. `hold` and
/// `release_while` must do what [`HostHooks`] says of them, call the closure at
/// most once and return with the lock as they found it. None of the three may
/// panic, or use this library other than through the closure.
///
/// ```
/// use isoform::host::{HostHooks, install};
/// # mod host {
/// #     use std::{cell::Cell, sync::{Mutex, MutexGuard}};
/// #     static LOCK: Mutex<()> = Mutex::new(());
/// #     thread_local!(static GUARD: Cell<Option<MutexGuard<'static, ()>>> = const { Cell::new(None) });
/// #     pub fn swap(guard: Option<MutexGuard<'static, ()>>) -> Option<MutexGuard<'static, ()>> {
/// #         GUARD.with(|cell| cell.replace(guard))
/// #     }
/// #     pub fn is_locked() -> bool {
/// #         let guard = swap(None);
/// #         let held = guard.is_some();
/// #         drop(swap(guard));
/// #         held
/// #     }
/// #     pub fn lock() { drop(swap(LOCK.lock().ok())) }
/// #     pub fn unlock() { drop(swap(None)) }
/// # }
/// let hooks = HostHooks {
///     is_held: host::is_locked,
///     hold: |body| {
///         if host::is_locked() {
///             return body();
///         }
///         host::lock();
///         body();
///         host::unlock();
///     },
///     release_while: |body| {
///         host::unlock();
///         body();
///         host::lock();
///     },
/// };
/// // SAFETY: the lock of this host is a mutex, and the functions do no more
/// // than their names say.
/// unsafe { install(hooks) }?;
/// assert!(unsafe { install(hooks) }.is_err());
/// # Ok::<(), isoform::Error>(())
/// ```
pub unsafe fn install(hooks: HostHooks) -> Result<()> {
    // A writer that did not know of the host has ended when this is ours.
    let guard = access::write_lock();
    let installed = HOOKS.set(hooks);
    drop(guard);
    installed.map_err(|_| Error::value_error("the lock of a host language is registered already"))
}

/// Runs `body` with the promise that this thread holds the host's lock, which
/// spares reads of fields the question. Hooks and callbacks that run inside
/// `body` are not covered: they may give the lock up, as long as they hold it
/// again when they return.
///
/// # Safety
///
/// A host's lock must be registered ([`install`]), and this thread must hold it
/// whenever it runs code of this library inside `body`, hooks and callbacks
/// excepted.
///
/// ```no_run
/// # let (left, right) = (isoform::Value::from(1), isoform::Value::from(2));
/// // SAFETY: called by the host, with its lock held.
/// let equal = unsafe { isoform::host::assume_held(|| isoform::structural_equal(left, right)) };
/// ```
pub unsafe fn assume_held<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASSUMED.set(self.0);
        }
    }
    let _restore = Restore(ASSUMED.replace(true));
    body()
}

/// Whether this thread holds a registered host's lock.
pub(super) fn is_held() -> bool {
    ASSUMED.get() || hooks().is_some_and(|hooks| (hooks.is_held)())
}

pub(super) fn hooks() -> Option<&'static HostHooks> {
    HOOKS.get()
}

/// Makes or takes back the promise of [`assume_held`]; what was before.
#[inline(always)]
pub(super) fn replace_assumed(assumed: bool) -> bool {
    ASSUMED.replace(assumed)
}
