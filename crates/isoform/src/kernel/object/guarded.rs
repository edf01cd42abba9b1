//! What a list or dict holds: an immutable container that changes under the
//! access rule, as fields declared at run time do ([`access`]).
//!
//! So a traversal reads it without a lock and without becoming an owner. What
//! a traversal has borrowed is never changed in place while it runs: the first
//! write to it makes a copy, and the old container waits in `deferred_drop`. Each
//! time it is borrowed costs at most one copy, and none if no traversal was
//! left for foreign code since: then the borrower has ended, because nobody
//! writes while it is in its section.

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

/// An immutable container that copies itself when it is changed while it has
/// several owners.
pub(crate) trait Content: Clone + Into<Value> {
    /// The object that it is.
    fn raw(&self) -> NonNull<Header>;

    /// One more owner of it.
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

/// A container that is read in sections and written when nobody reads.
#[derive(Debug)]
pub(crate) struct Guarded<T> {
    held: UnsafeCell<T>,
    /// How often traversals had been left when one first borrowed what is
    /// held, one higher; zero if none has.
    lent: AtomicU64,
}

// SAFETY: what is held is read in sections only, and written while no other
// thread is in one.
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

    /// Lends what is held to a traversal, for as long as it runs.
    #[inline(always)]
    pub(crate) fn lend<'a>(&'a self, section: &Section) -> ObjRef<'a> {
        // Of several borrowers the first one is remembered: a later one has not
        // been left as often.
        if self.lent.load(Relaxed) == 0 {
            self.lent.store(access::times_left() + 1, Relaxed);
        }
        // SAFETY: this thread is in a section, for which nobody writes. A
        // write that comes after it keeps the container, unchanged, until the
        // traversal has ended.
        unsafe { ObjRef::new(self.get(section).raw()) }
    }

    /// What is held, for as long as nobody writes.
    #[inline(always)]
    pub(crate) fn get<'l>(&'l self, _: &'l Section) -> &'l T {
        access::assert_inside();
        // SAFETY: this thread is in a section, for which nobody writes.
        unsafe { &*self.held.get() }
    }

    /// Runs `body`, which must be no foreign code, while nobody writes.
    #[inline]
    pub(crate) fn read<R>(&self, body: impl FnOnce(&T) -> R) -> R {
        access::reading(|section| body(self.get(section)))
    }

    /// One more owner of what is held now.
    #[inline]
    pub(crate) fn snapshot(&self) -> T {
        self.read(T::clone)
    }

    /// Runs `body`, which must be no foreign code and drop nothing that is
    /// held, while nobody else reads or writes. Waits for running traversals
    /// of other threads to come to a hook, a callback or their end. `ident` is
    /// the identity number of the list or dict.
    ///
    /// # Errors
    ///
    /// `RuntimeError` when the host's lock cannot be had any more; nothing was
    /// changed then.
    pub(crate) fn write<R>(&self, ident: u64, body: impl FnOnce(&mut T) -> R) -> Result<R> {
        let (result, borrowed) = access::writing(|idle| {
            // SAFETY: nobody else reads or writes what is held now, and
            // sections keep no reference to it across `outside`.
            let held = unsafe { &mut *self.held.get() };
            // Saved or borrowed, it has a second owner, so that the write
            // copies it.
            moment::before_write(ident, || held.to_object());
            // If `body` panics, it is not given up, because the borrowers go on.
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

    /// Fills what nobody else has seen yet.
    ///
    /// # Safety
    ///
    /// No other reference to this may be in use.
    pub(super) unsafe fn fill(&self, held: T) {
        // SAFETY: promised by the caller. Nothing was borrowed from it.
        let empty = unsafe { std::mem::replace(&mut *self.held.get(), held) };
        drop(empty);
    }

    /// What is held, for the collector of cycles.
    ///
    /// # Safety
    ///
    /// For as long as the reference is used, nobody else may write: the writer's
    /// lock or that of the host is held.
    pub(super) unsafe fn peek(&self) -> &T {
        // SAFETY: promised by the caller.
        unsafe { &*self.held.get() }
    }

    /// Takes out what is held by garbage.
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
    /// Fills a copy of another list or dict, which obeys the same demands.
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
        // What is borrowed from the source is what its children are read from.
        source.held.lend(section);
        let held = copy(source.held.get(section));
        // SAFETY: promised by the caller.
        unsafe { self.held.fill(held) };
        self.obey(source);
    }
}
