//! References held by functions for the duration of a call.
//!
//! The callback passed by an engine to a hook lives on the stack of the engine. A hook
//! of another language receives the callback inside an object and may keep the object;
//! after the hook has returned, the object no longer gives access to the callback.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::hooks::{EqualCallback, HashCallback, MutateCallback, VisitCallback};
use crate::kernel::value::Value;

/// A reference valid while one call of a hook runs.
///
/// A holder may keep the reference beyond the call; then [`with`](Self::with) fails.
pub struct ScopedRef<T: ?Sized> {
    state: Mutex<Option<NonNull<T>>>,
    /// The thread of the call; no other thread can use the reference.
    thread: ThreadId,
    hook: &'static str,
}

// SAFETY: the pointer is used only in the thread of the call, see `with`; other threads
// may hold and drop the cell, without touching the pointer.
unsafe impl<T: ?Sized> Send for ScopedRef<T> {}
// SAFETY: as above; a mutex protects the state.
unsafe impl<T: ?Sized> Sync for ScopedRef<T> {}

impl<T: ?Sized> fmt::Debug for ScopedRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScopedRef")
    }
}

impl<T: ?Sized> ScopedRef<T> {
    fn put(&self, pointer: Option<NonNull<T>>) -> Option<NonNull<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *state, pointer)
    }

    /// Uses the reference. O(1).
    ///
    /// # Errors
    ///
    /// `RuntimeError` after the call of the hook, in another thread, and while the
    /// reference is already in use; errors from `body`.
    pub fn with<R>(&self, body: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
        let pointer = if thread::current().id() == self.thread {
            self.put(None)
        } else {
            None
        };
        let pointer = pointer.ok_or_else(|| out_of_scope(self.hook))?;
        let _back = Defer(|| {
            self.put(Some(pointer));
        });
        // SAFETY: `with_scoped` of this thread has not returned: it is further
        // up on this stack. Taking the pointer out keeps the reference
        // exclusive.
        body(unsafe { &mut *pointer.as_ptr() })
    }
}

/// The error for a callback used while its hook is not running.
#[cold]
fn out_of_scope(hook: &str) -> Error {
    Error::new(
        ErrorKind::Runtime,
        format!("the callback of {hook} can be used only while {hook} runs, in the same thread"),
    )
}

/// Runs its closure on drop.
struct Defer<F: FnMut()>(F);

impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A type of reference accepted by [`with_scoped`].
///
/// # Safety
///
/// `Lasting` must be the type itself except for lifetimes.
pub unsafe trait Scoped {
    /// The type with the lifetimes of an object kept beyond the call.
    type Lasting: ?Sized + 'static;
}

macro_rules! scoped {
    ($($callback:ident),*) => {
        // SAFETY: only the lifetime of the trait object differs.
        $(unsafe impl<'a> Scoped for dyn $callback + 'a {
            type Lasting = dyn $callback;
        })*
    };
}
scoped!(EqualCallback, HashCallback, VisitCallback, MutateCallback);

// SAFETY: as above.
unsafe impl<'a> Scoped for dyn FnMut(&[Value]) -> Result<Value> + 'a {
    type Lasting = dyn FnMut(&[Value]) -> Result<Value>;
}

/// Runs `body` with an object that gives access to the reference until `body` returns;
/// `hook` names the hook of the call.
pub fn with_scoped<T: Scoped + ?Sized, R>(
    hook: &'static str,
    reference: &mut T,
    body: impl FnOnce(&Arc<ScopedRef<T::Lasting>>) -> R,
) -> R {
    let pointer = NonNull::from(reference);
    // SAFETY: the two types of pointers differ only in lifetimes, as the trait
    // promises.
    let pointer = unsafe { (&raw const pointer).cast::<NonNull<T::Lasting>>().read() };
    let scoped = Arc::new(ScopedRef {
        state: Mutex::new(Some(pointer)),
        thread: thread::current().id(),
        hook,
    });
    // Every `with` called meanwhile has returned, being a call of this thread further
    // down on this stack.
    let _end = Defer(|| {
        scoped.put(None);
    });
    body(&scoped)
}
