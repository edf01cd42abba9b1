//! Preserved wrappers whose object has no other owner any more: they die soon, in the main
//! thread of Python or at the end of a collection of cycles.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use isoform::host::{self, PRESERVED};
use isoform::{Obj, Ref};
use pyo3::ffi;
use pyo3::prelude::*;

use super::link;

/// Wrappers to be released under the GIL, each with a reference that belongs to the list.
static WAITING: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// True if CPython has not been asked yet to release what waits.
static IS_UNTOLD: AtomicBool = AtomicBool::new(false);

fn waiting() -> MutexGuard<'static, Vec<usize>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called by the core when a preserved wrapper becomes the only owner: in any thread, and
/// perhaps while the thread holds the core's lock.
pub(super) fn abandon(word: usize) {
    let is_first = {
        let mut waiting = waiting();
        waiting.push(link::wrapper_in(word) as usize);
        waiting.len() == 1
    };
    if !is_first {
        return;
    }
    IS_UNTOLD.store(true, Ordering::Release);
    // Without a GIL, asking may make an attached thread wait until the world goes on, and
    // others may wait for the core's lock meanwhile.
    // SAFETY: may be called in any thread.
    if cfg!(not(Py_GIL_DISABLED)) || unsafe { ffi::PyGILState_Check() } == 0 {
        tell();
    }
}

/// Asks CPython to release what waits. If CPython's queue is full, the next object or
/// `drain` does it.
#[cold]
fn tell() {
    if IS_UNTOLD.swap(false, Ordering::AcqRel) {
        // SAFETY: may be called in any thread, with or without the GIL.
        unsafe { ffi::Py_AddPendingCall(Some(drain_later), ptr::null_mut()) };
    }
}

/// Called where an attached thread holds no lock.
#[inline(always)]
pub(super) fn settle() {
    if cfg!(Py_GIL_DISABLED) && IS_UNTOLD.load(Ordering::Relaxed) {
        tell();
    }
}

/// Called by the cycle collector: abandons a preserved wrapper that is the only owner of
/// its object, and returns whether it did.
///
/// The core tells this itself, unless the last other owner went in another thread just when
/// the wrapper was preserved. The collector cannot do it: it calls no finaliser twice.
pub(super) fn abandon_unnoticed(object: &Ref<Obj>) -> bool {
    let word = host::host_word(object);
    if word.load(Ordering::Relaxed) & PRESERVED == 0 || object.owners() > 1 {
        return false;
    }
    let before = word.fetch_and(!PRESERVED, Ordering::AcqRel);
    if before & PRESERVED == 0 {
        return false;
    }
    // The collection drains at its end.
    waiting().push(link::wrapper_in(before) as usize);
    true
}

extern "C" fn drain_later(_nothing: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: CPython runs pending calls under the GIL.
    let py = unsafe { Python::assume_attached() };
    drain(py);
    0
}

/// Releases the wrappers kept alive by their own object alone.
pub(crate) fn drain(py: Python<'_>) {
    let waiting = std::mem::take(&mut *waiting());
    for wrapper in waiting {
        let this = wrapper as *mut ffi::PyObject;
        // SAFETY: the queue owns one reference to the wrapper; if its object got new
        // owners meanwhile, the finaliser preserves the wrapper again.
        unsafe {
            link::clear_finalized(this);
            drop(Bound::from_owned_ptr(py, this));
        }
    }
}
