//! The header at the start of every object, its reference count and identity.
//!
//! Identity numbers come from a counter per thread, reserving numbers in blocks. The
//! numbers are dense, never reused, and the same in every run of a single-threaded
//! program. Side tables (`kernel/pages.rs`) use identity numbers as an index.

use std::alloc::{Layout, handle_alloc_error};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Index of a type in the process-wide type table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TypeIndex(pub(crate) u32);

impl TypeIndex {
    /// The index as a plain number, dense from zero.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for TypeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeIndex({})", self.0)
    }
}

/// A count at or above this value is never changed again: the object lives until the
/// process ends. Two billion owners of one object are a leak, but cause neither an
/// overflow nor an abort.
const SATURATED: u32 = 1 << 31;

/// The highest identity number with remembered facts about an object possibly without
/// other owners.
static REMEMBERED: AtomicU64 = AtomicU64::new(0);

/// Records that facts about the contents of an object are remembered by the object's
/// number.
#[inline]
pub fn note_remembered(ident: u64) {
    if ident > REMEMBERED.load(Ordering::Relaxed) {
        REMEMBERED.fetch_max(ident, Ordering::Relaxed);
    }
}

/// The header before every object's fields.
#[repr(C)]
pub(crate) struct Header {
    refs: AtomicU32,
    pub(crate) type_index: TypeIndex,
    /// Identity number; after the last owner is gone, links the objects waiting to be
    /// freed.
    pub(super) ident: Cell<u64>,
    /// Word for a host language (a cached wrapper); zero when unused.
    pub(crate) host: AtomicUsize,
}

pub(crate) const HEADER_SIZE: usize = size_of::<Header>();
const _: () = assert!(HEADER_SIZE == 24 && align_of::<Header>() == 8);

impl Header {
    /// Adds one owner.
    #[inline]
    pub(super) fn retain(&self) {
        // Relaxed suffices: a new owner is made from an existing owner, whose thread
        // can already see the object.
        let before = self.refs.fetch_add(1, Ordering::Relaxed);
        if before >= SATURATED {
            self.refs
                .store(SATURATED | (SATURATED >> 1), Ordering::Relaxed);
        }
    }

    /// Removes one owner; true if no owner is left and the object must be freed.
    #[inline]
    pub(super) fn release(&self) -> bool {
        let now = self.refs.load(Ordering::Relaxed);
        if now == 1 {
            // The caller is the only owner: nobody can add an owner meanwhile, and the
            // atomic decrement is not needed.
            self.count_after_releases();
            return true;
        }
        if now >= SATURATED {
            return false;
        }
        if now == 2 && self.host.load(Ordering::Relaxed) & super::ffi::PRESERVED != 0 {
            // Done before the decrement: afterwards the other owner, the host's
            // wrapper, may free the object at any time.
            super::ffi::about_to_lose_last_other_owner(self);
        }
        if self.refs.fetch_sub(1, Ordering::Release) == 1 {
            self.count_after_releases();
            return true;
        }
        false
    }

    /// The current number of owners. The caller sees the accesses of all former owners, whose
    /// decrements are one release sequence; a load, and no fence, because checkers of races
    /// do not follow fences.
    #[inline]
    pub(super) fn count_after_releases(&self) -> u32 {
        self.refs.load(Ordering::Acquire)
    }

    /// The current number of owners.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.refs.load(Ordering::Relaxed)
    }

    /// True if the caller, who owns one reference, is the only owner.
    #[inline]
    pub(super) fn is_unique(&self) -> bool {
        self.refs.load(Ordering::Acquire) == 1
    }

    #[inline]
    pub(crate) fn ident(&self) -> u64 {
        self.ident.get()
    }

    /// Gives the object another number, if facts may be remembered by its number. The
    /// caller must be the only owner, about to write.
    #[inline]
    pub(super) fn renew_ident(&self) {
        if self.ident.get() <= REMEMBERED.load(Ordering::Relaxed) {
            self.ident.set(next_ident());
        }
    }

    #[cfg(test)]
    pub(crate) fn set_count_for_test(&self, count: u32) {
        self.refs.store(count, Ordering::Relaxed);
    }
}

/// The size of the blocks of identity numbers handed to threads: within a block,
/// construction touches no shared cache line.
const IDENT_BLOCK: u64 = 1 << 16;

static NEXT_BLOCK: AtomicU64 = AtomicU64::new(0);

thread_local! {
    // (next number, end of this thread's block)
    static IDENTS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// The next identity number: unique in the process, dense within a thread,
/// and the same in every run of a single-threaded program.
#[inline]
pub(crate) fn next_ident() -> u64 {
    IDENTS.with(|cell| {
        let (next, end) = cell.get();
        if next < end {
            cell.set((next + 1, end));
            return next;
        }
        let first = NEXT_BLOCK.fetch_add(1, Ordering::Relaxed) * IDENT_BLOCK;
        cell.set((first + 1, first + IDENT_BLOCK));
        first
    })
}

/// Allocates a block for `layout` (header included) and writes the header with one
/// owner. The fields are uninitialised.
///
/// # Safety
///
/// `layout` must be at least as large and aligned as [`Header`], and the caller must
/// initialise the fields according to `type_index` before the object becomes visible to
/// other code.
#[inline]
pub(super) unsafe fn allocate(layout: Layout, type_index: TypeIndex) -> NonNull<Header> {
    // SAFETY: the layout is not zero-sized because it contains a header.
    let raw = unsafe { std::alloc::alloc(layout) }.cast::<Header>();
    let Some(ptr) = NonNull::new(raw) else {
        handle_alloc_error(layout)
    };
    // SAFETY: the block is fresh, large enough and aligned for a header.
    unsafe {
        ptr.write(Header {
            refs: AtomicU32::new(1),
            type_index,
            ident: Cell::new(next_ident()),
            host: AtomicUsize::new(0),
        });
    }
    ptr
}
