//! The contents of a list or dict: an immutable container that changes under the access
//! rule, like fields declared at run time ([`access`]).
//!
//! A traversal can therefore read the container without a lock and without becoming an
//! owner. A container borrowed by a running traversal is never changed in place: the
//! first write makes a copy, and the old container waits in `deferred_drop`. Each loan
//! costs at most one copy, and no copy if no traversal has been left for foreign code
//! since the loan: then the borrower has ended, because nobody writes while the
//! borrower is in its section.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::access::{self, Section};
use super::deferred_drop;
use super::header::Header;
use super::moment;
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::view::ObjRef;
use crate::kernel::container::{Array, Map, Mutable};
use crate::kernel::error::Result;

/// An immutable container with copy-on-write: a change copies a container with several
/// owners.
pub(crate) trait Content: Clone + Into<Value> {
    /// The container's object.
    fn raw(&self) -> NonNull<Header>;

    /// Adds an owner to the object.
    fn to_object(&self) -> Ref<Obj>;
}

impl Content for Array {
    fn raw(&self) -> NonNull<Header> {
        self.reference().raw()
    }

    fn to_object(&self) -> Ref<Obj> {
        self.reference().clone().into_object()
    }
}

impl Content for Map {
    fn raw(&self) -> NonNull<Header> {
        self.reference().raw()
    }

    fn to_object(&self) -> Ref<Obj> {
        self.reference().clone().into_object()
    }
}

/// A container read in sections, and written while nobody reads.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    held: UnsafeCell<T>,
    /// The count of left traversals, plus one, at the first loan of the current
    /// contents; zero without a loan.
    lent: AtomicU64,
}

// SAFETY: the contents are read in sections only, and written while no other thread is
// in a section.
unsafe impl<T: Send + Sync> Sync for Guarded<T> {}

impl<T: Content> Guarded<T> {
    pub(crate) fn new(held: T) -> Self {
        // From here on sections keep writers out.
        access::note_run_time_fields();
        Guarded {
            held: UnsafeCell::new(held),
            lent: AtomicU64::new(0),
        }
    }

    /// Lends the contents to a traversal until the traversal's end.
    #[inline(always)]
    pub(crate) fn lend<'a>(&'a self, section: &Section) -> ObjRef<'a> {
        // Of several borrowers, the first is remembered: later borrowers have been left
        // less often.
        if self.lent.load(Relaxed) == 0 {
            self.lent.store(access::times_left() + 1, Relaxed);
        }
        // SAFETY: this thread is in a section, so nobody writes. A later write keeps
        // the container, unchanged, until the traversal has ended.
        unsafe { ObjRef::new(self.get(section).raw()) }
    }

    /// The contents, until the next write.
    #[inline(always)]
    pub(crate) fn get<'l>(&'l self, _: &'l Section) -> &'l T {
        access::assert_inside();
        // SAFETY: this thread is in a section, so nobody writes.
        unsafe { &*self.held.get() }
    }

    /// Runs `body`, which must not run foreign code, while nobody writes.
    #[inline]
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> R {
        access::reading(|section| body(self.get(section)))
    }

    /// Adds an owner to the current contents.
    #[inline]
    pub(crate) fn snapshot(&self) -> T {
        self.read(T::clone)
    }

    /// Runs `body`, which must not run foreign code or drop any of the contents, while
    /// nobody else reads or writes. Waits until running traversals of other threads
    /// reach a hook, a callback or their end. `ident` is the identity number of the
    /// list or dict.
    ///
    /// # Errors
    ///
    /// `RuntimeError` if the host's lock is no longer available; on an error, the
    /// contents are unchanged.
    pub(crate) fn write<R>(&self, ident: u64, body: impl FnOnce(&mut T) -> R) -> Result<R> {
        let (result, borrowed) = access::writing(|idle| {
            // SAFETY: nobody else reads or writes the contents now, and sections keep
            // no reference to them across `outside`.
            let held = unsafe { &mut *self.held.get() };
            // Saved or borrowed contents have a second owner, which makes the write
            // copy the contents.
            moment::before_write(ident, || held.to_object());
            // If `body` panics, the container is kept, because the borrowers continue.
            let lent = self.lent.load(Relaxed);
            let has_ended = lent == 0 || lent == access::times_left() + 1 || idle;
            let borrowed = (!has_ended).then(|| ManuallyDrop::new(held.clone()));
            let result = body(held);
            self.lent.store(0, Relaxed);
            (result, borrowed)
        })?;
        if let Some(borrowed) = borrowed {
            deferred_drop::keep(ManuallyDrop::into_inner(borrowed).into());
        }
        Ok(result)
    }

    /// Sets the contents of a container not yet visible to anybody else.
    ///
    /// # Safety
    ///
    /// No other reference to the container may be in use.
    pub(super) unsafe fn fill(&self, held: T) {
        // SAFETY: promised by the caller. The old contents were never borrowed.
        let empty = unsafe { std::mem::replace(&mut *self.held.get(), held) };
        drop(empty);
    }

    /// The contents, for the collector of cycles.
    ///
    /// # Safety
    ///
    /// For as long as the reference is used, nobody else may write: the lock of the
    /// writer or of the host is held.
    pub(super) unsafe fn peek(&self) -> &T {
        // SAFETY: promised by the caller.
        unsafe { &*self.held.get() }
    }

    /// Moves the contents out of garbage.
    ///
    /// # Safety
    ///
    /// The writer's lock must be held, and nobody but the collector may reach
    /// this.
    pub(super) unsafe fn take(&self) -> T
    where
        T: Default,
    {
        // SAFETY: promised by the caller.
        unsafe { std::mem::take(&mut *self.held.get()) }
    }
}

impl<T: Content> Mutable<T> {
    /// Fills a copy of another list or dict, with the same demands.
    ///
    /// # Safety
    ///
    /// Nobody else may have seen the copy yet.
    pub(super) unsafe fn fill_copy(
        &self,
        source: &Mutable<T>,
        section: &Section,
        copy: impl FnOnce(&T) -> T,
    ) {
        // The children of the source are read from the borrowed contents.
        source.held.lend(section);
        let held = copy(source.held.get(section));
        // SAFETY: promised by the caller.
        unsafe { self.held.fill(held) };
        self.obey(source);
    }
}
