//! A cell read without locks.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A cell for a value as long-lived as the process: readers never wait, and a value
/// once read stays valid when another value replaces it.
pub(crate) struct Published<T: 'static>(AtomicPtr<T>);

impl<T: Sync + 'static> Published<T> {
    /// An empty cell.
    pub(crate) const fn new() -> Self {
        Published(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value published last, if any. O(1), no lock.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&'static T> {
        let value = self.0.load(Ordering::Acquire);
        // SAFETY: the cell holds null or a former `&'static T`, valid for ever; `T` is
        // `Sync`, so any thread may read the value.
        unsafe { value.as_ref() }
    }

    /// Publishes a value to all readers from now on.
    pub(crate) fn publish(&self, value: &'static T) {
        self.0
            .store(ptr::from_ref(value).cast_mut(), Ordering::Release);
    }

    /// Empties the cell.
    pub(crate) fn withdraw(&self) {
        self.0.store(ptr::null_mut(), Ordering::Release);
    }
}

impl<T: Sync + 'static> Default for Published<T> {
    fn default() -> Self {
        Published::new()
    }
}
