//! Requests memory before it is needed.
//!
//! A walk follows pointers, known only after loading the previous object: every cache
//! miss costs a full trip to memory. The processor's own prefetcher hides the misses
//! when addresses steadily rise or fall. But most programs are built children first,
//! without steady addresses: a parent lies after all its descendants, and the walk
//! jumps back to the start of the parent's region, moves forward through the region,
//! and jumps again. Overall, the walk still moves upwards, and soon needs the memory a
//! little further on, whichever object lies there.

use super::view::ObjRef;

/// The distance in bytes. Visits of about forty objects take as long as one trip to
/// memory; a shorter distance hides only part of the trip.
const AHEAD: usize = 2048;
const LINE: usize = 64;

/// Loads the memory at a fixed distance after an object into the cache, on processors
/// with a stable intrinsic for it.
///
/// For objects with children: leaves lie between them, so two lines for each object
/// with children cover all objects, at a cost for only half of the visits.
#[inline(always)]
pub(crate) fn prefetch_ahead(object: ObjRef<'_>) {
    let ahead = object.address().wrapping_byte_add(AHEAD);
    prefetch(ahead);
    prefetch(ahead.wrapping_byte_add(LINE));
}

/// Loads the memory at the same distance after an item of a table listing the objects
/// of a program children first: a walk from the root down moves through the table as
/// through the objects. A line for each visited item covers the table if no item is
/// longer.
#[inline(always)]
pub(crate) fn prefetch_after<T>(items: &[T], position: usize) {
    let item = items.as_ptr().wrapping_add(position);
    prefetch(item.cast::<u8>().wrapping_byte_add(AHEAD));
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint. A prefetch reads no data into the program and never
    // faults, hence the address may lie outside of every block.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn prefetch(_address: *const u8) {}
