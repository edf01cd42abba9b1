//! Container handles: typed views of references to built-in objects.

use super::reference::Ref;
use crate::kernel::container::{Shape, ShapeObj, Str, Tensor, TensorObj, containers};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::{Function, FunctionObj};
use crate::kernel::object::field::ElementType;
use crate::kernel::value::Value;

macro_rules! handles {
    ($($handle:ty, $payload:ty;)*) => {$(
        impl $handle {
            /// The handle over a borrowed reference.
            pub(crate) fn from_payload_ref(reference: &Ref<$payload>) -> &Self {
                // SAFETY: the handle is repr(transparent) over `Ref<payload>`,
                // and accepts any element.
                unsafe { &*(&raw const *reference).cast::<$handle>() }
            }
        }
    )*};
}

handles! {
    Shape, ShapeObj;
    Tensor, TensorObj;
    Function, FunctionObj;
}

macro_rules! container_handles {
    ($([$($param:ident),+] $handle:ty, $untyped:ty, $payload:ty, $schema:ident;)*) => {
        handles! { $($untyped, $payload;)* }
        $(impl<$($param: ElementType),+> $handle {
            /// The same container without its element types. Free.
            pub fn as_untyped(&self) -> &$untyped {
                // SAFETY: both are repr(transparent) over the same reference,
                // and an untyped container accepts any element.
                unsafe { &*(&raw const *self).cast::<$untyped>() }
            }
        })*
    };
}

containers!(container_handles);

impl TryFrom<Value> for Str {
    type Error = Error;

    fn try_from(value: Value) -> Result<Str> {
        if value.is_str() {
            return Ok(Str(value));
        }
        Err(Error::type_error(format!(
            "expected str, got {}",
            value.type_name()
        )))
    }
}
