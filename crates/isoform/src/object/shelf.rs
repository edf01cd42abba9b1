//! What a list or dict holds, and how traversals borrow it.
//!
//! A content is an array or a map, which only its single owner changes in
//! place. A reader that takes the lock and an owner of its own is always safe,
//! but costs four atomic writes and a later fifth per container: far more than
//! the comparison of what is in it. So a traversal borrows:
//!
//! * It is counted once ([`access::lending`]), before it borrows anything.
//! * The content's address is *shown* in a word. A traversal reads the word and
//!   makes sure that the bit [`LENT`] is in it: the first one after a change
//!   sets it, for all others a load is enough.
//! * A change takes the word away, and asks then whether any traversal runs.
//!   If the content was lent and one does, the content gets an owner in
//!   [`limbo`] until all of them have ended. With a second owner it is copied
//!   before it is changed, by the rule that holds for all arrays and maps.
//!
//! Both sides write first and look then, in one order for all threads: either
//! the traversal finds the word taken away and waits for the lock, or the
//! change finds the traversal counted. A list that grows under a traversal is
//! copied once and not once per element, since the copy is not lent.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::access;
use super::arena::Arena;
use super::header::Header;
use super::limbo;
use super::moment;
use super::reference::{Node, Ref};
use super::view::ObjRef;
use crate::container::{DictObj, ListObj};

/// The bit of the shown address that says that a traversal may be reading.
const LENT: usize = 1;
/// The bit that says that the content is to be saved before it changes.
const WATCHED: usize = 2;
const BITS: usize = LENT | WATCHED;

/// An array or a map.
pub(crate) trait Content: Clone {
    type Payload: Node;
    fn reference(&self) -> &Ref<Self::Payload>;
}

/// The content of a list or dict.
pub(crate) struct Shelf<C: Content> {
    held: Mutex<C>,
    /// The address of the content, and the bits; null during a change.
    shown: AtomicPtr<Header>,
    /// The identity number of the list or dict, once it is watched.
    ident: AtomicU64,
    /// The first moment that the watch serves.
    since: AtomicU64,
}

/// The content while the lock is held.
pub(crate) struct Reading<'a, C: Content> {
    guard: MutexGuard<'a, C>,
    shelf: &'a Shelf<C>,
}

/// The content while it may be changed. What it kept alive for traversals that
/// have ended meanwhile dies at the end, after the lock was given back.
pub(crate) struct Changing<'a, C: Content> {
    // In this order they are dropped.
    reading: Reading<'a, C>,
    _sweep: Option<Sweep>,
}

struct Sweep;

impl Drop for Sweep {
    fn drop(&mut self) {
        limbo::sweep();
    }
}

impl<C: Content> Shelf<C> {
    pub(crate) fn new(content: C) -> Self {
        let shown = AtomicPtr::new(content.reference().raw().as_ptr());
        let held = Mutex::new(content);
        Shelf {
            held,
            shown,
            ident: AtomicU64::new(0),
            since: AtomicU64::new(u64::MAX),
        }
    }

    /// Waits for the lock.
    pub(crate) fn read(&self) -> Reading<'_, C> {
        // Every change keeps the content valid, so a panic elsewhere while the
        // lock was held leaves nothing half-done.
        let guard = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Reading { guard, shelf: self }
    }

    /// The lock, if no other thread holds it.
    pub(crate) fn try_read(&self) -> Option<Reading<'_, C>> {
        let guard = match self.held.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(Reading { guard, shelf: self })
    }

    /// Waits for the lock, to change the content.
    pub(crate) fn change(&self) -> Changing<'_, C> {
        self.read().change()
    }

    /// The content, for a traversal that is counted; None while it is changed.
    #[inline]
    fn lend(&self) -> Option<NonNull<Header>> {
        let shown = self.shown.load(Ordering::SeqCst);
        if shown.addr() & LENT != 0 {
            return NonNull::new(shown.map_addr(|address| address & !BITS));
        }
        self.lend_first(shown)
    }

    #[cold]
    fn lend_first(&self, shown: *mut Header) -> Option<NonNull<Header>> {
        let content = NonNull::new(shown.map_addr(|address| address & !BITS))?;
        let lent = shown.map_addr(|address| address | LENT);
        let exchanged =
            self.shown
                .compare_exchange(shown, lent, Ordering::SeqCst, Ordering::SeqCst);
        // Another traversal may have been first.
        match exchanged {
            Err(now) if now != lent => None,
            _ => Some(content),
        }
    }

    /// From now on the content is saved before it changes for the first time,
    /// for a moment that is not settled yet.
    fn watch(&self, ident: u64, at: u64) {
        let mut shown = self.shown.load(Ordering::SeqCst);
        while shown.addr() & WATCHED == 0 {
            if shown.is_null() {
                // The end of the change is the end of the lock.
                drop(self.read());
                shown = self.shown.load(Ordering::SeqCst);
                continue;
            }
            self.ident.store(ident, Ordering::Relaxed);
            let watched = shown.map_addr(|address| address | WATCHED);
            let order = Ordering::SeqCst;
            match self.shown.compare_exchange(shown, watched, order, order) {
                Ok(_) => break,
                Err(now) => shown = now,
            }
        }
        // What is saved before this is for all moments that are not settled.
        self.since.fetch_min(at, Ordering::SeqCst);
    }
}

impl<'a, C: Content> Reading<'a, C> {
    /// Takes the content out of a list or dict that nobody can reach, so that
    /// no traversal reads it either. Runs no destructor.
    pub(super) fn take_unreachable(mut self) -> C
    where
        C: Default,
    {
        let content = std::mem::take(&mut *self.guard);
        let shown = self.guard.reference().raw().as_ptr();
        self.shelf.shown.store(shown, Ordering::Release);
        content
    }

    pub(crate) fn change(self) -> Changing<'a, C> {
        let shown = self.shelf.shown.swap(ptr::null_mut(), Ordering::SeqCst);
        let content = || self.guard.reference().clone().into_object();
        if shown.addr() & WATCHED != 0 {
            let since = self.shelf.since.swap(u64::MAX, Ordering::SeqCst);
            moment::before_change(self.shelf.ident.load(Ordering::Relaxed), since, content);
        }
        let borrowed = shown.addr() & LENT != 0 && !limbo::is_idle();
        let sweep = borrowed.then(|| {
            limbo::keep_unswept(content().into());
            Sweep
        });
        Changing {
            reading: self,
            _sweep: sweep,
        }
    }
}

impl<C: Content> Deref for Reading<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.guard
    }
}

impl<C: Content> Deref for Changing<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.reading
    }
}

impl<C: Content> DerefMut for Changing<'_, C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.reading.guard
    }
}

impl<C: Content> Drop for Changing<'_, C> {
    fn drop(&mut self) {
        let content = self.reading.guard.reference().raw().as_ptr();
        self.reading.shelf.shown.store(content, Ordering::Release);
    }
}

impl<C: Content + fmt::Debug> fmt::Debug for Shelf<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.held.fmt(f)
    }
}

/// What a list or dict holds at this moment, for the length of the traversal
/// that `arena` belongs to; any other object itself.
#[inline]
pub(crate) fn content_now<'a>(object: ObjRef<'a>, arena: &'a Arena) -> ObjRef<'a> {
    if let Some(list) = object.downcast::<ListObj>() {
        return borrow(list.shelf(), arena);
    }
    match object.downcast::<DictObj>() {
        Some(dict) => borrow(dict.shelf(), arena),
        None => object,
    }
}

/// Watches a list or dict: what it holds is saved before it changes; false for
/// any other object.
pub(crate) fn watch_content(object: ObjRef<'_>, at: u64) -> bool {
    if let Some(list) = object.downcast::<ListObj>() {
        list.shelf().watch(object.ident(), at);
    } else if let Some(dict) = object.downcast::<DictObj>() {
        dict.shelf().watch(object.ident(), at);
    } else {
        return false;
    }
    true
}

#[inline]
fn borrow<'a, C: Content>(shelf: &'a Shelf<C>, arena: &'a Arena) -> ObjRef<'a> {
    let lent = if access::lending() {
        shelf.lend()
    } else {
        None
    };
    let content = match lent {
        // SAFETY: the traversal is counted and the word was marked before any
        // later change, so such a change keeps the content alive and as it is
        // until the traversal has ended; see the module documentation. While
        // nothing changes, the list or dict keeps it, which lives for `'a`.
        Some(content) => unsafe { ObjRef::new(content) },
        None => keep(shelf, arena),
    };
    // A traversal meets objects here that did not exist when it began.
    access::refresh();
    content
}

#[cold]
#[inline(never)]
fn keep<'a, C: Content>(shelf: &Shelf<C>, arena: &'a Arena) -> ObjRef<'a> {
    let content = shelf.read().reference().clone();
    arena.keep(content.into_object())
}
