//! Asking for memory before it is needed.
//!
//! A walk follows pointers, each of which is known only when the object before
//! it is there, so what is not in the cache costs a full trip to memory every
//! time. The processor's own prefetcher hides that where addresses go steadily
//! up or down. Programs are mostly built children first, and then they do not:
//! a parent lies behind all that is below it, so the walk jumps back to the
//! start of the parent's region, goes forth through it, and jumps again. But
//! on the whole it moves upwards, and the memory a little further on is needed
//! soon, whichever object lies there.

use super::view::ObjRef;

/// How far ahead, in bytes. Some forty objects take about as long to visit as
/// one trip to memory; less hides only a part of it.
const AHEAD: usize = 2048;
const LINE: usize = 64;

/// Loads what lies a fixed distance behind an object into the cache, on
/// processors for which there is a stable intrinsic.
///
/// For objects with children: leaves lie between them, so two lines for each
/// of these cover all, and a walk pays for half of its visits only.
#[inline(always)]
pub(crate) fn prefetch_ahead(object: ObjRef<'_>) {
    let ahead = object.address().wrapping_byte_add(AHEAD);
    prefetch(ahead);
    prefetch(ahead.wrapping_byte_add(LINE));
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint. It reads nothing into the program and
    // never faults, so the address may lie outside of every block.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn prefetch(_address: *const u8) {}
