//! Keeps what a traversal borrows alive for the length of the traversal:
//! snapshots of mutable containers, and values that hooks pass in.

use std::cell::RefCell;

use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::view::ObjRef;

/// An append-only owner of values; what it hands out lives as long as it.
#[derive(Default)]
pub(crate) struct Arena {
    // Boxed, so that growing the vector does not move a value.
    #[allow(clippy::vec_box, reason = "the values' addresses must not change")]
    values: RefCell<Vec<Box<Value>>>,
}

impl Arena {
    /// Takes ownership and lends the object for the arena's lifetime.
    pub(crate) fn keep(&self, object: Ref<Obj>) -> ObjRef<'_> {
        let pointer = object.raw();
        self.values
            .borrow_mut()
            .push(Box::new(Value::from_object(object)));
        // SAFETY: the arena owns a reference from here on, and nothing leaves
        // it before it is dropped.
        unsafe { ObjRef::new(pointer) }
    }

    /// Lends a copy of the value for the arena's lifetime.
    pub(crate) fn keep_value(&self, value: &Value) -> &Value {
        let kept = Box::new(value.clone());
        let address: *const Value = &raw const *kept;
        self.values.borrow_mut().push(kept);
        // SAFETY: the box keeps its address when it moves into the vector,
        // and is neither changed nor dropped before the arena is.
        unsafe { &*address }
    }
}
