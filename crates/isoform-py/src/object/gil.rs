//! The core's use of the GIL, and what is in its place without one.
//!
//! # Other threads
//!
//! Python reads and writes fields under the GIL, and so do traversals started from
//! Python: they hold the GIL instead of the library's lock, as this file promises to the
//! core (`host::assume_held`). A Rust thread may traverse any object without the GIL,
//! because the core then takes its own lock and every writer holds both locks. Without
//! the GIL, this thread must not touch a wrapper; hooks and callbacks written in Python
//! acquire the GIL themselves.
//!
//! # Signals, and other threads of Python
//!
//! A long operation counts its steps (`Poll` in the core's `access.rs`). Every 16,384
//! steps it leaves its section, as for a callback, and checks with the host: signal
//! handlers run, and Ctrl-C raises KeyboardInterrupt; after six milliseconds the
//! operation releases the GIL to let a waiting thread run. Comparison, mismatch, hash
//! and digest then go on without the GIL until their end (`access::without_host`); all
//! other operations take the GIL again at once.
//!
//! The access rule alone makes both sound: at that point frames hold objects but no
//! references into fields, and values removed from a field in the meantime stay alive
//! until the traversal ends. For the access rule, the rest of a traversal without the GIL
//! is a hook that traverses: it runs outside of the section of the first part, in a
//! separate section, which takes the library's lock as in any Rust thread. No wrapper is
//! touched, values that die release their Python objects later, and hooks acquire the GIL
//! themselves. The rest of the traversal leaves its section at the same intervals, to
//! give a writer in Python a turn, and takes the GIL every tenth of a second to run
//! signal handlers.
//!
//! A traversal keeps the GIL if it may call Python anyway: with callbacks or guards, if
//! any comparison or hash is written in Python, and for keys and hashers that keep hashes
//! of parts, whose owner may hold a lock. Walks, maps and copies keep the GIL, too, since
//! their callbacks and the objects they make belong to Python. A deep copy can also be
//! interrupted: objects not yet filled have no children, so everything can be dropped,
//! and the cycle collector may look at the unfinished copy.
//!
//! # Without a GIL
//!
//! A free-threaded Python (3.14 or newer) runs any number of threads at once, and the
//! module declares that it needs no GIL. A thread that runs Python is *attached*; CPython
//! stops the world (to collect garbage, to fork) by waiting until each attached thread
//! reaches a point where it waits or detaches. The same code is then sound because:
//!
//! 1. The core treats every thread as a thread of Rust: fields, lists and dicts are read
//!    under the core's lock, shared, and written under it, exclusively
//!    (`HostHooks::is_exclusive` is false). The core's lock is never held while CPython
//!    is called, so whoever has it never waits for CPython, and nobody waits for it long.
//! 2. A writer is attached: while the world is stopped, no field changes, and the cycle
//!    collector reads fields without a lock (`gc.rs`).
//! 3. The spare word of an object, which leads to its wrapper, has a lock of its own, under
//!    which a reference to a wrapper that may be dying is taken or refused (`link_free.rs`).
//! 4. A wrapper's pointer to its object is set once. It is cleared when the wrapper dies,
//!    and by the cycle collector if the world stood still when the collector saw that
//!    nobody else can reach the object.
//! 5. Unfinished fields of an object (`Staging`) have a lock; so has the table of classes.
//!    One thread at a time declares or makes a class (`bind::one_at_a_time`), under a lock of
//!    Python, since code of Python runs meanwhile.
//! 6. No other lock of this crate is held while CPython is called. Everything outside of
//!    this folder is safe Rust, in which the compiler rules out data races.
//!
//! A fork stops the world, so a child has no locked lock of the core, unless a thread that
//! never ran Python had it. A long operation detaches for a moment at each poll.
//!
//! //! # Shutdown
//!
//! When the interpreter shuts down, CPython unwinds a daemon thread that returns from
//! Python code, and Rust frames do not survive the unwinding. Where the core calls user
//! code or releases the GIL, a daemon thread therefore waits until the process has
//! ended, as threads of later versions of CPython do by themselves.

use std::cell::RefCell;
use std::ffi::{c_long, c_ulong};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(not(Py_GIL_DISABLED))]
use isoform::host;
use isoform_onnx::eval::Control;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use smallvec::SmallVec;

/// Calls the core with the promise that the GIL is held, which avoids a check on reads
/// of fields.
///
/// `body` must not release the GIL around a call of the core; callbacks called by the
/// core may release the GIL.
#[inline]
#[cfg(not(Py_GIL_DISABLED))]
pub(crate) fn under_gil<R>(_held: Python<'_>, body: impl FnOnce() -> R) -> R {
    // SAFETY: the module registers the GIL with the core before any function is
    // exported, and the token proves that this thread holds the GIL. The closures
    // passed here, all from this crate, only call the core.
    unsafe { host::assume_held(body) }
}

/// Calls the core, which takes its own lock for reads of fields: there is no GIL.
///
/// `body` must not detach the thread around a call of the core; callbacks called by the
/// core may detach it.
#[inline]
#[cfg(Py_GIL_DISABLED)]
pub(crate) fn under_gil<R>(_attached: Python<'_>, body: impl FnOnce() -> R) -> R {
    let result = body();
    super::abandoned::settle();
    result
}

/// As [`under_gil`], for computations on tensors: Ctrl-C ends them with KeyboardInterrupt.
///
/// # Errors
///
/// Exceptions from signal handlers.
pub(crate) fn with_signals<R>(py: Python<'_>, body: impl FnOnce(&Control<'_>) -> R) -> PyResult<R> {
    let stopped = RefCell::new(None);
    let interrupted = || {
        let answer = py.check_signals();
        answer
            .map_err(|error| stopped.replace(Some(error)))
            .is_err()
    };
    let control = Control {
        interrupted: Some(&interrupted),
        ..Control::default()
    };
    let result = under_gil(py, || body(&control));
    stopped.take().map_or(Ok(result), Err)
}

/// Functions of CPython that handle the GIL may unwind the thread.
mod unwinding {
    use std::ffi::c_void;

    use pyo3::ffi::PyObject;

    // SAFETY: the signatures agree with CPython, for which thread states have no
    // layout.
    unsafe extern "C-unwind" {
        // CPython 3.10 has `PyObject_Vectorcall` in a header only.
        pub(super) fn PyObject_VectorcallDict(
            callable: *mut PyObject,
            arguments: *const *mut PyObject,
            count: usize,
            keywords: *mut PyObject,
        ) -> *mut PyObject;
        pub(super) fn PyEval_SaveThread() -> *mut c_void;
        pub(super) fn PyEval_RestoreThread(state: *mut c_void);
    }
}

/// Runs a function of CPython that may wait for the GIL.
///
/// When an interpreter shuts down, CPython unwinds threads that request its GIL, like
/// daemon threads at exit, and unwinding through Rust frames would abort the process.
/// The thread therefore stays here until the process has ended.
#[inline(always)]
fn staying<R>(function: impl FnOnce() -> R) -> R {
    struct ParkForever;
    impl Drop for ParkForever {
        #[cold]
        fn drop(&mut self) {
            loop {
                std::thread::park();
            }
        }
    }
    let stay = ParkForever;
    let result = function();
    std::mem::forget(stay);
    result
}

/// Calls a callable passed to the core by users.
///
/// # Errors
///
/// Exceptions from the callable.
#[inline]
pub(crate) fn call<'py, const COUNT: usize>(
    callable: &Bound<'py, PyAny>,
    arguments: &[&Bound<'py, PyAny>; COUNT],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the arguments are alive during the call.
    unsafe { call_raw(callable, &arguments.map(Bound::as_ptr)) }
}

/// As [`call`], with any number of arguments.
///
/// # Errors
///
/// Exceptions from the callable.
pub(crate) fn call_with_all<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let arguments: SmallVec<[_; 4]> = arguments.iter().map(|one| one.as_ptr()).collect();
    // SAFETY: the arguments are alive during the call.
    unsafe { call_raw(callable, &arguments) }
}

/// # Safety
///
/// The arguments must be alive during the call.
#[inline(always)]
unsafe fn call_raw<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: &[*mut ffi::PyObject],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the callable is alive during the call, and so are the arguments, as
    // promised by the caller; the GIL is held, and the result is a new reference,
    // or null with an exception set.
    unsafe {
        let callable_pointer = callable.as_ptr();
        let made = staying(|| {
            let (values, count) = (arguments.as_ptr(), arguments.len());
            let keywords = std::ptr::null_mut();
            unwinding::PyObject_VectorcallDict(callable_pointer, values, count, keywords)
        });
        Bound::from_owned_ptr_or_err(callable.py(), made)
    }
}

/// True once a comparison or hash was written in Python.
static HAS_COMPARISON_HOOKS: AtomicBool = AtomicBool::new(false);

/// Called before a type gets a comparison hook.
pub(crate) fn note_comparison_hook() {
    HAS_COMPARISON_HOOKS.store(true, Ordering::Relaxed);
}

/// True if comparisons and hashes may call Python.
pub(super) fn has_comparison_hooks() -> bool {
    HAS_COMPARISON_HOOKS.load(Ordering::Relaxed)
}

/// Lets another thread run if it waits for the GIL.
pub(super) fn give_way(_held: Python<'_>) {
    // SAFETY: the GIL is held, and is held again when this returns; nothing
    // runs in between.
    unsafe {
        let state = unwinding::PyEval_SaveThread();
        staying(|| unwinding::PyEval_RestoreThread(state));
    }
}

/// One level of CPython's own limit on nested calls; left by drop.
pub(crate) struct CallDepth<'py>(Python<'py>);

/// Counts a call that may re-enter this code through Python.
///
/// # Errors
///
/// `RecursionError` beyond the limit.
pub(crate) fn enter_call(py: Python<'_>) -> PyResult<CallDepth<'_>> {
    // SAFETY: the GIL is held, and the text ends with a zero.
    match unsafe { ffi::Py_EnterRecursiveCall(c" in a structural visit".as_ptr()) } {
        0 => Ok(CallDepth(py)),
        _ => Err(PyErr::fetch(py)),
    }
}

impl Drop for CallDepth<'_> {
    fn drop(&mut self) {
        let _held = self.0;
        // SAFETY: the GIL is held, and the level was entered.
        unsafe { ffi::Py_LeaveRecursiveCall() };
    }
}

/// The limit of Python on nested calls in a thread.
pub(crate) fn recursion_limit(_held: Python<'_>) -> usize {
    // SAFETY: the GIL is held.
    usize::try_from(unsafe { ffi::Py_GetRecursionLimit() }).unwrap_or_default()
}

/// A thread that runs code of Python.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ThreadId(c_ulong);

/// The calling thread.
pub(crate) fn this_thread(_held: Python<'_>) -> ThreadId {
    // SAFETY: the GIL is held.
    ThreadId(unsafe { ffi::PyThread_get_thread_ident() })
}

/// Lets a thread raise an exception of a class as soon as the thread runs code of Python.
/// Without a class, the thread no longer raises an exception that it has not raised so far.
pub(crate) fn raise_in(_held: Python<'_>, thread: ThreadId, class: Option<&Bound<'_, PyType>>) {
    let class = class.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: the GIL is held, and the class is alive; a thread that has ended is ignored.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread.0 as c_long, class) };
}

/// A Python object owned by the core, to be released in any thread, with or without the
/// GIL.
pub(crate) struct Owned(Option<Py<PyAny>>);

impl Owned {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Owned(Some(object.clone().unbind()))
    }

    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &self.0 {
            Some(object) => object.bind(py).clone(),
            None => py.None().into_bound(py),
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0.as_ref().map_or(std::ptr::null_mut(), Py::as_ptr)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else {
            return;
        };
        // Slots of types run under the GIL without informing pyo3, which would then
        // queue the object for later. An object dies when its last owner goes, and
        // CPython itself knows whether this thread holds the GIL. The order matters:
        // once an interpreter that shuts down has freed its key of thread states, the
        // check returns true in every thread, but before it frees the key, it is no
        // longer initialised.
        // SAFETY: both may be called in any thread; the token is made only if
        // this thread holds the GIL of a live interpreter.
        unsafe {
            if ffi::PyGILState_Check() == 1 && ffi::Py_IsInitialized() != 0 {
                drop(object.into_bound(Python::assume_attached()));
            }
        }
    }
}
