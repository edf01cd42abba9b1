//! Dropping objects without recursion.
//!
//! Objects without owners are linked through their headers into a list, drained by one
//! loop. A chain of any length is therefore freed in constant stack space and without
//! extra memory.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

use super::collect;
use super::field::DropSlot;
use super::header::Header;
use super::raw_value::Value;
use super::table;

thread_local! {
    // While ordinary Rust code drops a native payload, objects released by the payload
    // are parked here instead of being destroyed on a deeper frame; likewise in a
    // section of the access rule, where no destructor may run.
    static PARKING: Cell<bool> = const { Cell::new(false) };
    static PARKED: Cell<*mut Header> = const { Cell::new(ptr::null_mut()) };
}

/// Releases one reference to the object.
///
/// # Safety
///
/// The caller must own a reference to a live object and not use it afterwards.
#[inline]
pub(super) unsafe fn release(object: NonNull<Header>) {
    // SAFETY: the caller owns a reference, so the header is alive.
    if unsafe { object.as_ref() }.release() {
        // SAFETY: the last reference has just been released.
        unsafe { destroy(object) };
    }
}

fn link(object: NonNull<Header>, next: *mut Header) {
    // SAFETY: the object has no owner left but this list; its block is still allocated,
    // and nobody else reads its identity number any more.
    unsafe { object.as_ref() }.ident.set(next as u64);
}

/// # Safety
///
/// Nobody owns the object any more.
#[cold]
#[inline(never)]
unsafe fn destroy(object: NonNull<Header>) {
    if PARKING.get() {
        link(object, PARKED.get());
        PARKED.set(object.as_ptr());
        return;
    }
    link(object, ptr::null_mut());
    let mut head = object.as_ptr();
    while let Some(object) = NonNull::new(head) {
        // SAFETY: every object on the list is dead but still allocated.
        let header = unsafe { object.as_ref() };
        head = header.ident.get() as *mut Header;
        let info = table::info(header.type_index);
        if info.tracked.load(Ordering::Acquire) {
            collect::untrack(object);
        }
        let slots = &info.drop_slots;
        // The last linked child is freed first. Memory is traversed in one direction by
        // freeing the last child first where parts lie before the object, as most
        // builders leave them, and the first child first where parts follow the object,
        // as in copies.
        // SAFETY: the slot belongs to the object's own type.
        let first = slots
            .first()
            .and_then(|&slot| unsafe { child_in(object, slot) });
        let follows = first.is_some_and(|first| first > object);
        for position in 0..slots.len() {
            let slot = if follows {
                slots[slots.len() - 1 - position]
            } else {
                slots[position]
            };
            // SAFETY: as above.
            let Some(child) = (unsafe { child_in(object, slot) }) else {
                continue;
            };
            // SAFETY: the field owned one reference to the child, released exactly
            // once, here.
            if unsafe { child.as_ref() }.release() {
                link(child, head);
                head = child.as_ptr();
            }
        }
        if let Some(drop_payload) = info.native_drop {
            // SAFETY: the payload is alive and never used again.
            head = unsafe { drop_native(object, drop_payload, head) };
        }
        // SAFETY: the block was allocated with this layout for this type.
        unsafe { std::alloc::dealloc(object.as_ptr().cast(), info.layout) };
    }
}

/// The object that a field points to.
///
/// # Safety
///
/// The slot must belong to the type of the object, which must still be
/// allocated.
#[inline(always)]
pub(super) unsafe fn child_in(object: NonNull<Header>, slot: DropSlot) -> Option<NonNull<Header>> {
    // SAFETY: promised by the caller.
    let child = unsafe {
        match slot {
            DropSlot::Pointer(offset) => object
                .byte_add(offset as usize)
                .cast::<*mut Header>()
                .read(),
            DropSlot::Value(offset) => object
                .byte_add(offset as usize)
                .cast::<Value>()
                .as_ref()
                .object_pointer(),
        }
    };
    NonNull::new(child)
}

/// Makes objects dying on this thread wait; returns the argument for [`resume`].
pub(super) fn park() -> bool {
    PARKING.replace(true)
}

/// Undoes [`park`], and destroys the objects parked meanwhile.
pub(super) fn resume(parked_before: bool) {
    if parked_before {
        return;
    }
    PARKING.set(false);
    while let Some(object) = NonNull::new(PARKED.get()) {
        // SAFETY: parked objects are dead but still allocated.
        PARKED.set(unsafe { object.as_ref() }.ident.get() as *mut Header);
        // SAFETY: the object has no owner, and is off the list now.
        unsafe { destroy(object) };
    }
}

/// Runs the payload's own destructor; objects released by the destructor join the list.
///
/// # Safety
///
/// The contract of [`destroy`]; `drop_payload` must be the destructor of this type.
unsafe fn drop_native(
    object: NonNull<Header>,
    drop_payload: unsafe fn(NonNull<Header>),
    head: *mut Header,
) -> *mut Header {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            PARKING.set(false);
        }
    }
    PARKING.set(true);
    let reset = Reset;
    // SAFETY: promised by the caller.
    unsafe { drop_payload(object) };
    drop(reset);
    let mut head = head;
    let mut parked = PARKED.replace(ptr::null_mut());
    while let Some(object) = NonNull::new(parked) {
        // SAFETY: parked objects are dead but still allocated.
        parked = unsafe { object.as_ref() }.ident.get() as *mut Header;
        link(object, head);
        head = object.as_ptr();
    }
    head
}
