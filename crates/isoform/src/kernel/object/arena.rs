//! Keeps objects borrowed by a traversal alive until its end: snapshots of mutable
//! containers, and values passed in by hooks.

use std::cell::RefCell;

use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::view::ObjRef;

/// An append-only owner of values; its loans live as long as the arena.
#[derive(Default)]
pub struct Arena {
    // Boxed: growing the vector does not move a value.
    #[allow(clippy::vec_box, reason = "the values' addresses must not change")]
    values: RefCell<Vec<Box<Value>>>,
}

impl Arena {
    /// Takes ownership of an object and lends the object for the arena's lifetime.
    pub(crate) fn keep(&self, object: Ref<Obj>) -> ObjRef<'_> {
        let pointer = object.raw();
        self.values
            .borrow_mut()
            .push(Box::new(Value::from_object(object)));
        // SAFETY: the arena owns a reference from this line on, and keeps all its
        // references until the arena is dropped.
        unsafe { ObjRef::new(pointer) }
    }

    /// Lends a copy of a value for the arena's lifetime.
    pub(crate) fn keep_value(&self, value: &Value) -> &Value {
        let kept = Box::new(value.clone());
        let address: *const Value = &raw const *kept;
        self.values.borrow_mut().push(kept);
        // SAFETY: the box keeps its address when moved into the vector, and is neither
        // changed nor dropped before the arena.
        unsafe { &*address }
    }
}
