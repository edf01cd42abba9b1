//! The link from an object to its wrapper, the spare word of the object, under the GIL.
//!
//! The GIL orders all accesses, except for the bit [`PRESERVED`], which the core may clear
//! in any thread.

use std::sync::atomic::Ordering;

use isoform::host::{self, PRESERVED};
use isoform::{Obj, Ref};
use pyo3::ffi;
use pyo3::prelude::*;

use super::wrapper;

/// The existing wrapper of an object.
#[inline(always)]
pub(super) fn existing<'py>(py: Python<'py>, object: &Ref<Obj>) -> Option<Bound<'py, PyAny>> {
    let word = host::host_word(object);
    let current = word.load(Ordering::Relaxed);
    if current == 0 {
        return None;
    }
    let this = (current & !PRESERVED) as *mut ffi::PyObject;
    // SAFETY: the spare word points to a live wrapper, which clears the word before it
    // dies; both happen under the GIL.
    unsafe {
        if current & PRESERVED != 0 {
            let taken =
                word.compare_exchange(current, this as usize, Ordering::AcqRel, Ordering::Relaxed);
            if taken.is_ok() {
                // The object's reference to the wrapper passes to the caller.
                clear_finalized(this);
                return Some(Bound::from_owned_ptr(py, this));
            }
        }
        Some(Bound::from_borrowed_ptr(py, this))
    }
}

/// Makes `this` the wrapper of an object that nobody else can reach.
///
/// # Safety
///
/// `this` must be a live wrapper without object, and the GIL held.
#[inline(always)]
pub(super) unsafe fn connect_new(this: *mut ffi::PyObject, object: &Ref<Obj>) {
    host::host_word(object).store(this as usize, Ordering::Release);
}

/// Makes `this` the wrapper of an object, and the owner of the object. If the object has
/// a wrapper already, returns that wrapper, and leaves `this` without object.
///
/// # Safety
///
/// As [`connect_new`].
#[inline]
pub(super) unsafe fn connect<'py>(
    py: Python<'py>,
    this: *mut ffi::PyObject,
    object: Ref<Obj>,
) -> Option<Bound<'py, PyAny>> {
    let faster = existing(py, &object);
    if faster.is_none() {
        // SAFETY: promised by the caller.
        unsafe {
            connect_new(this, &object);
            wrapper::layout(this).set_core(object);
        }
    }
    faster
}

/// Ends the link of an object to its wrapper `this`.
pub(super) fn disconnect(_this: *mut ffi::PyObject, object: &Ref<Obj>) {
    host::host_word(object).store(0, Ordering::Release);
}

/// Lets the object own its wrapper while the object has another owner; otherwise
/// returns false.
///
/// # Safety
///
/// `this` must be the wrapper of the object, called by CPython to be finalised.
pub(super) unsafe fn preserve(this: *mut ffi::PyObject, object: &Ref<Obj>) -> bool {
    if object.owners() < 2 {
        return false;
    }
    let word = host::host_word(object);
    word.fetch_or(PRESERVED, Ordering::AcqRel);
    if object.owners() < 2 {
        word.fetch_and(!PRESERVED, Ordering::AcqRel);
        return false;
    }
    // SAFETY: `this` is alive while it is being finalised; the object's reference to the
    // wrapper.
    unsafe { ffi::Py_INCREF(this) };
    true
}

/// Called at the end of a collection by CPython.
pub(super) fn end_collection(_py: Python<'_>) {}

/// The wrapper in a spare word, or null.
pub(super) fn wrapper_in(word: usize) -> *mut ffi::PyObject {
    (word & !PRESERVED) as *mut ffi::PyObject
}

/// Makes CPython call the finaliser again the next time.
///
/// # Safety
///
/// `this` must be a live object, and the GIL held.
pub(super) unsafe fn clear_finalized(this: *mut ffi::PyObject) {
    // SAFETY: promised by the caller. Without a collector header there is no mark, and
    // a finaliser is called at every death.
    if unsafe { ffi::PyType_IS_GC(ffi::Py_TYPE(this)) } == 0 {
        return;
    }
    // In builds with a GIL, from 3.9 on, the two words before an object are its
    // collector header, and the lowest bit of the second one marks a finalised object.
    // SAFETY: the object has a collector header, as checked above.
    unsafe {
        let previous = this.cast::<usize>().sub(1);
        *previous &= !1;
    }
}
