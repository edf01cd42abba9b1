//! The link from an object to its wrapper, the spare word of the object, without a GIL.
//!
//! A bit of the word is its lock. Whoever holds the lock calls nothing that waits, and:
//!
//! * A wrapper in a locked word is allocated: a dying wrapper ends its link under the lock
//!   before its memory is freed. It may have no reference left, so a reference is taken by
//!   `PyUnstable_TryIncRef`, which fails for a dying wrapper.
//! * A dying wrapper without state is replaced. One with state, or with `__del__`, may be
//!   preserved by its finaliser, and whoever asks for it waits for that. The wait ends
//!   after a while: then the wrapper is replaced, and its finaliser finds another wrapper
//!   in the word and preserves nothing.
//! * A collection of cycles finalises what it found, with all threads running, and then
//!   clears what is still referenced by garbage only. A wrapper that its object preserves
//!   at that time may be revived and given up again in between, so the collection itself
//!   keeps one more reference until its end ([`end_collection`]).
//! * The bit [`PRESERVED`] is set, and cleared to revive a wrapper, while nobody writes:
//!   the core's collector of cycles never sees a wrapper that is neither preserved nor
//!   referenced. The core may clear the bit without the lock.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use isoform::host::{self, PRESERVED};
use isoform::{Obj, Ref};
use pyo3::ffi;
use pyo3::prelude::*;

use super::gil::give_way;
use super::wrapper;

/// The bit of the spare word that locks the word.
const LOCKED: usize = 2;

/// The bit by which CPython marks a finalised object, from 3.13 on.
const FINALIZED: u8 = 1 << 1;

/// The longest wait for the finaliser of a dying wrapper: nothing runs before it unless
/// the native stack of the thread is nearly full.
const PATIENCE: Duration = Duration::from_secs(1);

/// A locked spare word.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn of(object: &'a Ref<Obj>) -> Self {
        let word = host::host_word(object);
        let mut turns = 0u32;
        loop {
            let now = word.load(Ordering::Relaxed);
            if now & LOCKED == 0
                && word
                    .compare_exchange_weak(now, now | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Held(word);
            }
            // The owner needs a few instructions, unless the system took its processor.
            turns += 1;
            if turns.is_multiple_of(64) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Replaces the wrapper, which is null, dying or about to be cleared.
    fn set(&self, this: *mut ffi::PyObject) {
        self.0.store(this as usize | LOCKED, Ordering::Relaxed);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_and(!LOCKED, Ordering::Release);
    }
}

/// What a word holds.
enum Found<'py> {
    /// The wrapper, with a new reference.
    Wrapper(Bound<'py, PyAny>),
    /// No wrapper, or a dying one: the word has the new wrapper.
    Nothing,
    /// A preserved wrapper.
    Preserved,
    /// A wrapper whose finaliser has not run yet, or still runs.
    Unsettled,
}

/// Looks into a word; puts a wrapper into it that replaces nothing or a dying wrapper.
///
/// # Safety
///
/// `new` must be null, or a live wrapper without object.
unsafe fn look<'py>(
    py: Python<'py>,
    object: &Ref<Obj>,
    new: *mut ffi::PyObject,
    gives_up: bool,
) -> Found<'py> {
    let held = Held::of(object);
    let word = held.get();
    let this = wrapper_in(word);
    if word & PRESERVED != 0 {
        return Found::Preserved;
    }
    // SAFETY: the wrapper is allocated while the word is locked. The new wrapper gets its
    // object before the word shows it to other threads.
    unsafe {
        if !this.is_null() {
            if ffi::PyUnstable_TryIncRef(this) != 0 {
                return Found::Wrapper(Bound::from_owned_ptr(py, this));
            }
            if !gives_up && may_be_preserved(this) {
                return Found::Unsettled;
            }
        }
        if !new.is_null() {
            ffi::PyUnstable_EnableTryIncRef(new);
            wrapper::layout(new).set_core(object.clone());
            held.set(new);
        }
    }
    Found::Nothing
}

/// Takes over the reference of an object to its preserved wrapper.
fn revive<'py>(py: Python<'py>, object: &Ref<Obj>, gives_up: bool) -> Found<'py> {
    host::while_nobody_writes(|| {
        let held = Held::of(object);
        let word = held.get();
        let this = wrapper_in(word);
        // SAFETY: a preserved wrapper is alive, and stays alive while the word is locked.
        unsafe {
            // The thread that preserves the wrapper marks it as finalised right after,
            // unless a program called the finaliser itself.
            if word & PRESERVED == 0 || !is_finalized(this) && !gives_up {
                return Found::Unsettled;
            }
            if held.0.fetch_and(!PRESERVED, Ordering::AcqRel) & PRESERVED == 0 {
                // The core was faster, and the wrapper is queued for its release.
                return Found::Unsettled;
            }
            gc_bits(this).fetch_and(!FINALIZED, Ordering::Relaxed);
            Found::Wrapper(Bound::from_owned_ptr(py, this))
        }
    })
}

/// The wrapper of an object, if it has one; else `new` becomes the wrapper.
///
/// # Safety
///
/// As [`look`].
unsafe fn find<'py>(
    py: Python<'py>,
    object: &Ref<Obj>,
    new: *mut ffi::PyObject,
) -> Option<Bound<'py, PyAny>> {
    let mut start = None;
    loop {
        let gives_up = start.is_some_and(|start: Instant| start.elapsed() > PATIENCE);
        // SAFETY: promised by the caller.
        let found = match unsafe { look(py, object, new, gives_up) } {
            Found::Preserved => revive(py, object, gives_up),
            found => found,
        };
        match found {
            Found::Wrapper(wrapper) => return Some(wrapper),
            Found::Nothing => return None,
            Found::Preserved | Found::Unsettled => {
                start.get_or_insert_with(Instant::now);
                give_way(py);
                thread::yield_now();
            }
        }
    }
}

/// The existing wrapper of an object.
#[inline]
pub(super) fn existing<'py>(py: Python<'py>, object: &Ref<Obj>) -> Option<Bound<'py, PyAny>> {
    if host::host_word(object).load(Ordering::Relaxed) == 0 {
        return None;
    }
    // SAFETY: there is no new wrapper.
    unsafe { find(py, object, std::ptr::null_mut()) }
}

/// Makes `this` the wrapper of an object that nobody else can reach.
///
/// # Safety
///
/// `this` must be a live wrapper without object, and the thread attached.
#[inline]
pub(super) unsafe fn connect_new(this: *mut ffi::PyObject, object: &Ref<Obj>) {
    // SAFETY: promised by the caller.
    unsafe { ffi::PyUnstable_EnableTryIncRef(this) };
    host::host_word(object).store(this as usize, Ordering::Release);
}

/// Makes `this` the wrapper of an object, and an owner of the object. If the object has
/// a wrapper already, returns that wrapper, and leaves `this` without object.
///
/// # Safety
///
/// As [`connect_new`].
pub(super) unsafe fn connect<'py>(
    py: Python<'py>,
    this: *mut ffi::PyObject,
    object: Ref<Obj>,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: promised by the caller.
    unsafe { find(py, &object, this) }
}

/// Ends the link of an object to its wrapper `this`, unless the object has another one.
pub(super) fn disconnect(this: *mut ffi::PyObject, object: &Ref<Obj>) {
    let held = Held::of(object);
    if wrapper_in(held.get()) == this {
        held.set(std::ptr::null_mut());
    }
}

/// Lets the object own its wrapper while the object has another owner; otherwise
/// returns false.
///
/// # Safety
///
/// `this` must be a wrapper of the object, called by CPython to be finalised.
pub(super) unsafe fn preserve(this: *mut ffi::PyObject, object: &Ref<Obj>) -> bool {
    // SAFETY: `this` is alive while it is being finalised.
    unsafe {
        // CPython forgets this when it revives an object for its finaliser; without it,
        // other threads could not use the wrapper while `__del__` runs.
        ffi::PyUnstable_EnableTryIncRef(this);
        if object.owners() < 2 {
            return false;
        }
        // A dying object is marked after its finaliser ran, garbage before.
        let is_garbage = is_finalized(this);
        let is_preserved = host::while_nobody_writes(|| {
            let held = Held::of(object);
            if wrapper_in(held.get()) != this {
                return false;
            }
            // The object's reference to the wrapper. The core hands it over as soon as
            // the bit is set.
            ffi::Py_INCREF(this);
            held.0.fetch_or(PRESERVED, Ordering::AcqRel);
            if object.owners() < 2
                && held.0.fetch_and(!PRESERVED, Ordering::AcqRel) & PRESERVED != 0
            {
                // Not the last one: the finaliser runs with a reference of its own.
                ffi::Py_DECREF(this);
                return false;
            }
            true
        });
        if is_preserved && is_garbage {
            ffi::Py_INCREF(this);
            kept().push(this as usize);
        }
        is_preserved
    }
}

/// Wrappers that the running collection keeps.
static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<usize>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called at the end of a collection by CPython.
pub(super) fn end_collection(py: Python<'_>) {
    let kept = std::mem::take(&mut *kept());
    for wrapper in kept {
        // SAFETY: the list owned one reference.
        drop(unsafe { Bound::from_owned_ptr(py, wrapper as *mut ffi::PyObject) });
    }
}

/// The wrapper in a spare word, or null.
pub(super) fn wrapper_in(word: usize) -> *mut ffi::PyObject {
    (word & !(PRESERVED | LOCKED)) as *mut ffi::PyObject
}

/// True if the finaliser of a dying wrapper may revive the wrapper.
///
/// # Safety
///
/// `this` must be an allocated wrapper.
unsafe fn may_be_preserved(this: *mut ffi::PyObject) -> bool {
    // SAFETY: an allocated instance keeps its class alive.
    unsafe {
        let class = ffi::Py_TYPE(this);
        let has_finalizer = wrapper::has_own_state(class)
            || (*class)
                .tp_finalize
                .is_some_and(wrapper::is_foreign_finalizer);
        has_finalizer && !is_finalized(this)
    }
}

/// CPython's marks of the cycle collector.
///
/// # Safety
///
/// `this` must be an allocated Python object for as long as the result is used.
unsafe fn gc_bits<'a>(this: *mut ffi::PyObject) -> &'a AtomicU8 {
    // SAFETY: promised by the caller; CPython accesses the byte atomically.
    unsafe { AtomicU8::from_ptr(&raw mut (*this).ob_gc_bits) }
}

/// True if CPython will not finalise an object again.
///
/// # Safety
///
/// `this` must be an allocated Python object.
unsafe fn is_finalized(this: *mut ffi::PyObject) -> bool {
    // SAFETY: promised by the caller.
    unsafe { gc_bits(this).load(Ordering::Relaxed) & FINALIZED != 0 }
}

/// Makes CPython call the finaliser of a preserved wrapper again the next time.
///
/// # Safety
///
/// `this` must be a live wrapper that was preserved, and the thread attached.
pub(super) unsafe fn clear_finalized(this: *mut ffi::PyObject) {
    // SAFETY: promised by the caller.
    let bits = unsafe { gc_bits(this) };
    let start = Instant::now();
    // As in `revive`.
    while bits.fetch_and(!FINALIZED, Ordering::Relaxed) & FINALIZED == 0 {
        if start.elapsed() > PATIENCE {
            break;
        }
        thread::yield_now();
    }
}
