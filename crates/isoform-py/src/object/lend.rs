//! Lending a mutable reference to a Python object for the time of a call.

use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// A place for a reference that is lent for a while, and is empty before and
/// after.
///
/// A Python object may keep it beyond the loan: then [`with`](Self::with)
/// finds nothing.
pub(crate) struct Lent<T: ?Sized> {
    state: Mutex<Option<NonNull<T>>>,
    /// The thread in which the loan was made; no other gets at the reference.
    thread: ThreadId,
}

// SAFETY: the pointer is used in the thread that lent it only, see `with`;
// other threads may hold and drop the place, which does not touch it.
unsafe impl<T: ?Sized> Send for Lent<T> {}
// SAFETY: as above; the state is behind a mutex.
unsafe impl<T: ?Sized> Sync for Lent<T> {}

impl<T: ?Sized> Lent<T> {
    /// A place with nothing in it.
    pub(crate) fn empty() -> Self {
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
    /// already, or in another thread.
    pub(crate) fn with<R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
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
/// otherwise, until the function returns; `place` must be fresh, made by this
/// thread.
unsafe fn during<T: ?Sized, R>(
    place: &Lent<T>,
    pointer: NonNull<T>,
    body: impl FnOnce() -> R,
) -> R {
    place.put(Some(pointer));
    // Every `with` that was called meanwhile has returned, since it is a call
    // of this thread further down on this stack.
    let _end = Defer(|| place.put(None));
    body()
}

macro_rules! lend {
    ($name:ident, $callback:path, $what:literal) => {
        #[doc = $what]
        pub(crate) fn $name<R>(
            place: &Lent<dyn $callback>,
            reference: &mut (dyn $callback + '_),
            body: impl FnOnce() -> R,
        ) -> R {
            let pointer = NonNull::from(reference);
            // SAFETY: only the lifetime in the type of the pointer changes.
            let pointer = unsafe {
                std::mem::transmute::<
                    NonNull<dyn $callback + '_>,
                    NonNull<dyn $callback + 'static>,
                >(pointer)
            };
            // SAFETY: the reference is borrowed until this function returns.
            unsafe { during(place, pointer, body) }
        }
    };
}

lend!(
    lend_equal,
    isoform::EqualCallback,
    "Lends the callback of a custom equality while `body` runs. `place` must be fresh."
);
lend!(
    lend_hash,
    isoform::HashCallback,
    "Lends the callback of a custom hash while `body` runs. `place` must be fresh."
);
