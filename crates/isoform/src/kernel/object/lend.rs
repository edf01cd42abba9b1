//! Lending a mutable reference to an owned object for the time of a call.
//!
//! The callback that an engine hands to a hook lives on the stack of the
//! engine. A hook of another language gets it inside an object that it may
//! keep; the object finds nothing once the hook has returned.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::function::Function;
use crate::kernel::hooks::{MutateCallback, VisitCallback};
use crate::kernel::types::{EqualCallback, HashCallback};
use crate::kernel::value::Value;

/// A place for a reference that is lent for a while, and is empty before and
/// after.
///
/// Whoever holds the place may keep it beyond the loan: then
/// [`with`](Self::with) finds nothing.
pub struct Lent<T: ?Sized> {
    state: Mutex<Option<NonNull<T>>>,
    /// The thread in which the loan was made; no other gets at the reference.
    thread: ThreadId,
}

// SAFETY: the pointer is used in the thread that lent it only, see `with`;
// other threads may hold and drop the place, which does not touch it.
unsafe impl<T: ?Sized> Send for Lent<T> {}
// SAFETY: as above; the state is behind a mutex.
unsafe impl<T: ?Sized> Sync for Lent<T> {}

impl<T: ?Sized> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lent")
    }
}

impl<T: ?Sized> Lent<T> {
    /// A place with nothing in it, for a loan of this thread.
    fn empty() -> Self {
        Lent {
            state: Mutex::new(None),
            thread: thread::current().id(),
        }
    }

    fn put(&self, pointer: Option<NonNull<T>>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = pointer;
    }

    fn take(&self) -> Option<NonNull<T>> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Uses the reference; None when none is lent now, when it is in use
    /// already, or in another thread. O(1).
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        if thread::current().id() != self.thread {
            return None;
        }
        let pointer = self.take()?;
        let _back = Defer(|| self.put(Some(pointer)));
        // SAFETY: the loan goes on, because `during` of this thread has not
        // returned: it is further up on this stack. Taking the pointer out
        // keeps the reference exclusive.
        Some(body(unsafe { &mut *pointer.as_ptr() }))
    }
}

/// Runs its closure when it goes.
struct Defer<F: FnMut()>(F);

impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Lends a reference, without its lifetime, while `body` runs.
///
/// # Safety
///
/// `pointer` must come from a mutable reference that lives, and is not used
/// otherwise, until the function returns.
unsafe fn during<T: ?Sized, R>(pointer: NonNull<T>, body: impl FnOnce(&Arc<Lent<T>>) -> R) -> R {
    let place = Arc::new(Lent::empty());
    place.put(Some(pointer));
    // Every `with` that was called meanwhile has returned, since it is a call
    // of this thread further down on this stack.
    let _end = Defer(|| place.put(None));
    body(&place)
}

macro_rules! lend {
    ($visible:vis $name:ident, $callback:ty, $short:ty, $what:literal) => {
        #[doc = $what]
        ///
        /// `body` gets the place in which the reference is lent while it runs.
        $visible fn $name<R>(reference: $short, body: impl FnOnce(&Arc<Lent<$callback>>) -> R) -> R {
            let pointer = NonNull::from(reference);
            // SAFETY: only the lifetime in the type of the pointer changes.
            let pointer = unsafe { std::mem::transmute::<NonNull<_>, NonNull<$callback>>(pointer) };
            // SAFETY: the reference is borrowed until this function returns.
            unsafe { during(pointer, body) }
        }
    };
}

/// What is lent as a function.
type Calls = dyn FnMut(&[Value]) -> Result<Value>;

lend!(
    pub lend_equal,
    dyn EqualCallback,
    &mut (dyn EqualCallback + '_),
    "Lends the callback of a custom equality."
);
lend!(
    pub lend_hash,
    dyn HashCallback,
    &mut (dyn HashCallback + '_),
    "Lends the callback of a custom hash."
);
lend!(
    pub lend_visit,
    dyn VisitCallback,
    &mut (dyn VisitCallback + '_),
    "Lends the visitor of a custom traversal."
);
lend!(
    pub lend_mutate,
    dyn MutateCallback,
    &mut (dyn MutateCallback + '_),
    "Lends the mutator of a custom rewrite."
);
lend!(
    lend_calls,
    Calls,
    &mut (dyn FnMut(&[Value]) -> Result<Value> + '_),
    "Lends a closure."
);

/// Lends a closure as a function while `body` runs. Called later, or in
/// another thread, the function answers with an error that names the hook.
pub(crate) fn lend_function<R>(
    hook: &'static str,
    call: &mut dyn FnMut(&[Value]) -> Result<Value>,
    body: impl FnOnce(Value) -> R,
) -> R {
    lend_calls(call, |place| {
        let place = Arc::clone(place);
        let function = Function::new(move |arguments| {
            let called = place.with(|call| call(arguments));
            called.unwrap_or_else(|| Err(not_lent(hook)))
        });
        body(function.into())
    })
}

/// The error for a callback that is used when its hook does not run.
#[cold]
pub fn not_lent(hook: &str) -> Error {
    Error::new(
        ErrorKind::Runtime,
        format!("the callback of {hook} can be used only while {hook} runs, in the same thread"),
    )
}
