//! Opaque host objects.

use std::any::Any;
use std::sync::Arc;

use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// A host object opaque to the core; never comparable.
#[derive(Clone)]
pub struct OpaqueObj {
    type_name: &'static str,
    content: Arc<dyn Any + Send + Sync>,
}

impl OpaqueObj {
    pub(crate) fn copy_payload(&self) -> Self {
        self.clone()
    }

    /// The name of the content's type, for messages.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// The content, if it is a `T`.
    pub fn content<T: Any>(&self) -> Option<&T> {
        self.content.downcast_ref()
    }

    /// The content, if the content is a `T` and no copy of the object shares it.
    pub fn exclusive_content<T: Any>(&self) -> Option<&T> {
        match Arc::strong_count(&self.content) {
            1 => self.content(),
            _ => None,
        }
    }
}

impl Value {
    /// Wraps any Rust value; see [`OpaqueObj`].
    pub fn opaque<T: Any + Send + Sync>(content: T) -> Value {
        Value::opaque_named(content, std::any::type_name::<T>())
    }

    /// [`opaque`](Self::opaque) with a name for the content in messages.
    pub fn opaque_named<T: Any + Send + Sync>(content: T, type_name: &'static str) -> Value {
        Ref::new(OpaqueObj {
            type_name,
            content: Arc::new(content),
        })
        .into()
    }
}
