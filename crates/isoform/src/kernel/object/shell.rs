//! Blocks allocated before their contents exist.
//!
//! The address of an object is fixed when its block is allocated, and a file lists
//! parts first. A reader with advance knowledge of the nodes allocates their blocks in
//! the order of visit, and fills the blocks in the order of the file. Nobody can see a
//! block before the block is filled.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::header::{HEADER_SIZE, Header, TypeIndex, allocate};
use super::reference::Ref;
use super::table::{self, TypeInfo};
use crate::kernel::container::ArrayObj;
use crate::kernel::value::Value;

/// The block of a future object, owning nothing but memory.
pub(crate) struct UninitObject {
    // The header is written; the fields are not, except that an array's payload holds
    // its reserved items as a vector.
    block: NonNull<Header>,
}

// An array's shell keeps a vector in the place of the payload.
const _: () = assert!(
    size_of::<Vec<Value>>() <= size_of::<ArrayObj>()
        && align_of::<Vec<Value>>() <= align_of::<ArrayObj>()
);

impl UninitObject {
    /// Allocates a block for an object of a declared type.
    #[inline]
    pub(crate) fn object(info: &'static TypeInfo) -> Self {
        debug_assert!(!info.is_builtin());
        // SAFETY: the layout is the type's own. Only this shell can reach the fields,
        // and its block is only ever filled or freed.
        let block = unsafe { allocate(info.layout, info.index) };
        UninitObject { block }
    }

    /// True if [`items`](Self::items) makes the shells of this type.
    #[inline]
    pub(crate) fn is_of_items(index: TypeIndex) -> bool {
        index == ArrayObj::INDEX
    }

    /// Allocates a block for an array, and memory for its items.
    pub(crate) fn items(length: usize) -> Self {
        let info = table::info(ArrayObj::INDEX);
        // SAFETY: as in `object`; the vector fits into the space for the payload.
        unsafe {
            let block = allocate(info.layout, info.index);
            let items = block.byte_add(HEADER_SIZE).cast::<Vec<Value>>();
            items.write(Vec::with_capacity(length));
            UninitObject { block }
        }
    }

    /// True if the block is for an object of this type.
    #[inline(always)]
    pub(super) fn is_for(&self, info: &TypeInfo) -> bool {
        // SAFETY: the block is allocated and its header written.
        unsafe { self.block.as_ref() }.type_index == info.index
    }

    #[inline]
    fn info(&self) -> &'static TypeInfo {
        // SAFETY: the block is allocated and its header written.
        table::info(unsafe { self.block.as_ref() }.type_index)
    }

    /// The block; the caller has to write its fields, or free the block.
    #[inline]
    pub(super) fn into_raw(self) -> NonNull<Header> {
        ManuallyDrop::new(self).block
    }

    /// Makes an array of these items; None if the array or the block is of another type.
    pub(crate) fn fill_items(self, index: TypeIndex, parts: &mut Vec<Value>) -> Option<Value> {
        if !Self::is_of_items(index) || !Self::is_of_items(self.info().index) {
            return None;
        }
        let block = self.into_raw();
        // SAFETY: the payload of an array's shell is a vector, which moves out
        // before the payload is written.
        unsafe {
            let payload = block.byte_add(HEADER_SIZE);
            let mut items = payload.cast::<Vec<Value>>().read();
            items.append(parts);
            payload
                .cast::<ArrayObj>()
                .write(ArrayObj::from_items(items));
            Some(Value::from_object(Ref::from_raw(block)))
        }
    }
}

impl Drop for UninitObject {
    fn drop(&mut self) {
        let info = self.info();
        // SAFETY: only this shell can reach the block, and the block was allocated with
        // the type's layout. The block's fields own nothing, except that an array's
        // payload is a vector.
        unsafe {
            if Self::is_of_items(info.index) {
                let items = self.block.byte_add(HEADER_SIZE).cast::<Vec<Value>>();
                items.drop_in_place();
            }
            std::alloc::dealloc(self.block.as_ptr().cast(), info.layout);
        }
    }
}
