//! Keeps snapshots of mutable containers alive for the length of a traversal.

use std::cell::RefCell;

use super::reference::{Obj, Ref};
use super::view::ObjRef;

/// An append-only owner of objects; what it hands out lives as long as it.
#[derive(Default)]
pub(crate) struct Arena {
    objects: RefCell<Vec<Ref<Obj>>>,
}

impl Arena {
    /// Takes ownership and lends the object for the arena's lifetime.
    pub(crate) fn keep(&self, object: Ref<Obj>) -> ObjRef<'_> {
        let pointer = object.raw();
        self.objects.borrow_mut().push(object);
        // SAFETY: the object lies on the heap, so growing the vector does not
        // move it, and nothing leaves the vector before the arena is dropped.
        unsafe { ObjRef::new(pointer) }
    }
}
