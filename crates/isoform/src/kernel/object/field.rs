//! Field types: the Rust types that may be fields, and their storage.

use super::raw_value::{Tag, Value};
use super::reference::{Node, Obj, Ref};
use crate::kernel::container::{Bytes, Shape, Str, Tensor, containers};
use crate::kernel::function::Function;
use crate::kernel::types::Schema;
use crate::kernel::value::{DType, ValueRef};

/// The storage of a field inside an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// A 16-byte dynamic value.
    Value,
    /// A pointer to an object, never null.
    Object,
    /// A pointer to an object, or null for None.
    NullableObject,
    /// A 64-bit signed integer.
    Int,
    /// A 64-bit float.
    Float,
    /// One byte, zero or one.
    Bool,
    /// A string, stored as a 16-byte value that always holds a string.
    Str,
    /// A data type, four bytes.
    DType,
}

impl Storage {
    /// The storage of a field with this schema.
    pub(crate) fn of(schema: &Schema) -> Storage {
        match schema {
            // A value accepted by a host need not be an object.
            Schema::Any
            | Schema::None
            | Schema::BigInt
            | Schema::Device
            | Schema::Union(_)
            | Schema::Literal(_)
            | Schema::Host(_) => Storage::Value,
            Schema::Int => Storage::Int,
            Schema::Float => Storage::Float,
            Schema::Bool => Storage::Bool,
            Schema::Str => Storage::Str,
            Schema::DType => Storage::DType,
            Schema::Optional(inner) => match Storage::of(inner) {
                Storage::Object | Storage::NullableObject => Storage::NullableObject,
                _ => Storage::Value,
            },
            Schema::Bytes
            | Schema::Object(_)
            | Schema::Tuple(_)
            | Schema::Shape
            | Schema::Tensor
            | Schema::Function => Storage::Object,
            typed_container => {
                debug_assert!(typed_container.parts().is_some());
                Storage::Object
            }
        }
    }

    /// Size in bytes inside the object.
    pub fn size(self) -> usize {
        match self {
            Storage::Value | Storage::Str => 16,
            Storage::Object | Storage::NullableObject => size_of::<Ref<Obj>>(),
            Storage::Int | Storage::Float => 8,
            Storage::DType => size_of::<DType>(),
            Storage::Bool => 1,
        }
    }

    /// Alignment in bytes inside the object.
    pub fn align(self) -> usize {
        match self {
            Storage::Object | Storage::NullableObject => align_of::<Ref<Obj>>(),
            Storage::DType => align_of::<DType>(),
            Storage::Bool => 1,
            _ => 8,
        }
    }

    /// The kind of plain value stored inline in the field, if any.
    #[inline(always)]
    pub(crate) fn inline(self) -> Option<Inline> {
        match self {
            Storage::Int => Some(Inline::Int),
            Storage::Float => Some(Inline::Float),
            Storage::Bool => Some(Inline::Bool),
            Storage::DType => Some(Inline::DType),
            Storage::Value | Storage::Object | Storage::NullableObject | Storage::Str => None,
        }
    }

    /// True if a variable may be in the field.
    pub(crate) const fn holds_variables(self) -> bool {
        matches!(
            self,
            Storage::Value | Storage::Object | Storage::NullableObject
        )
    }

    /// True if the field always contains an object.
    pub(super) fn holds_object(self) -> bool {
        self == Storage::Object
    }

    pub(crate) fn drop_slot(self, offset: u32) -> Option<DropSlot> {
        match self {
            Storage::Value | Storage::Str => Some(DropSlot::Value(offset)),
            Storage::Object | Storage::NullableObject => Some(DropSlot::Pointer(offset)),
            _ => None,
        }
    }
}

/// A plain value that a field stores in the object itself, and a file in the object's
/// own node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inline {
    Int,
    Float,
    Bool,
    DType,
}

/// The values accepted by a field after a quick check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Accept {
    Anything,
    Plain(Tag),
    /// An object of the type named by the schema, possibly registered later.
    Object,
    /// Nothing: the schema must be checked.
    Other,
}

impl Accept {
    pub(super) fn of(schema: &Schema, storage: Storage) -> Accept {
        match (schema, storage) {
            (Schema::Any, Storage::Value) => Accept::Anything,
            (Schema::Int, Storage::Int) => Accept::Plain(Tag::Int),
            (Schema::Float, Storage::Float) => Accept::Plain(Tag::Float),
            (Schema::Bool, Storage::Bool) => Accept::Plain(Tag::Bool),
            (Schema::DType, Storage::DType) => Accept::Plain(Tag::DType),
            (Schema::Str, Storage::Str) => Accept::Plain(Tag::InlineStr),
            (Schema::Object(_), Storage::Object) => Accept::Object,
            _ => Accept::Other,
        }
    }
}

/// A field owning references, as seen by drop. Offsets count from the start of the
/// header.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DropSlot {
    Pointer(u32),
    Value(u32),
}

/// A Rust type for node fields.
///
/// # Safety
///
/// `Self` must have exactly the representation that `STORAGE` describes:
/// a `Value` for `Value`, a `Value` that holds a string for `Str`, a non-null
/// owned object pointer for `Object`, the same or null for `NullableObject`,
/// `i64`, `f64`, `bool` or [`DType`]. Every stored value must satisfy
/// `schema()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of an Isoform node",
    note = "field types are Value, Ref<T>, Option<Ref<T>>, i64, f64, bool, Str, DType, Bytes, \
            Array, List, Map, Dict, Shape, Tensor, Function and Option of a container",
    note = "write Ref<T> for a node or Box<T>, Enumerator<E> for an enum of `node_enum!`, i64 for \
            u32 or usize, f64 for f32, Str for String, Array<T> for Vec<T>, Map<K, V> for HashMap<K, V>",
    note = "the base of a node, its first field, has the attribute `#[node(base)]`"
)]
pub unsafe trait FieldType: Clone + Send + Sync + 'static {
    /// The storage of the field.
    const STORAGE: Storage;
    /// The values that the field accepts.
    fn schema() -> Schema;
}

/// True if a field of the type may hold a variable; used by the derive at compile time.
#[doc(hidden)]
pub const fn may_bind<F: FieldType>() -> bool {
    F::STORAGE.holds_variables()
}

macro_rules! field_types {
    ($($(#[$why:meta])* $ty:ty => $storage:ident, $schema:expr;)*) => {$(
        // SAFETY: the representation is the one named by the storage kind.
        unsafe impl FieldType for $ty {
            const STORAGE: Storage = Storage::$storage;
            fn schema() -> Schema {
                $schema
            }
        }
    )*};
}

field_types! {
    Value => Value, Schema::Any;
    i64 => Int, Schema::Int;
    f64 => Float, Schema::Float;
    bool => Bool, Schema::Bool;
    Str => Str, Schema::Str;
    DType => DType, Schema::DType;
    Bytes => Object, Schema::Bytes;
    Shape => Object, Schema::Shape;
    Tensor => Object, Schema::Tensor;
    Function => Object, Schema::Function;
}

// SAFETY: `Ref` is repr(transparent) over a non-null object pointer.
unsafe impl<T: Node> FieldType for Ref<T> {
    const STORAGE: Storage = Storage::Object;
    fn schema() -> Schema {
        Schema::object::<T>()
    }
}

macro_rules! container_field_types {
    ($([$($param:ident),+] $ty:ty, $untyped:ty, $payload:ty, $schema:ident;)*) => {$(
        // SAFETY: containers are repr(transparent) over an object pointer.
        unsafe impl<$($param: ElementType),+> FieldType for $ty {
            const STORAGE: Storage = Storage::Object;
            fn schema() -> Schema {
                // In parentheses, one parameter is a schema and two are a pair.
                Schema::$schema(Box::new(($($param::element_schema()),+)))
            }
        }

        // SAFETY: repr(transparent) over a `Ref`.
        unsafe impl<$($param: ElementType),+> PointerField for $ty {}
    )*};
}

containers!(container_field_types);

/// A field type stored as one non-null object pointer.
///
/// # Safety
///
/// `Self` must be `repr(transparent)` over `Ref<Obj>` or `NonNull`.
#[diagnostic::on_unimplemented(
    message = "`Option<{Self}>` cannot be a field of an Isoform node",
    label = "fields are None only in place of an object",
    note = "write Value for a number, a bool or a string that may be None, and Option<Ref<T>> for \
            Box<T> or a node"
)]
pub unsafe trait PointerField: FieldType {}

// SAFETY: repr(transparent) over a non-null pointer.
unsafe impl<T: Node> PointerField for Ref<T> {}
// SAFETY: repr(transparent) over a `Ref`.
unsafe impl PointerField for Bytes {}
// SAFETY: repr(transparent) over a `Ref`.
unsafe impl PointerField for Shape {}
// SAFETY: repr(transparent) over a `Ref`.
unsafe impl PointerField for Tensor {}
// SAFETY: repr(transparent) over a `Ref`.
unsafe impl PointerField for Function {}

// SAFETY: `Option` of a repr(transparent) non-null pointer is the pointer or
// null, as the standard library guarantees.
unsafe impl<T: PointerField> FieldType for Option<T> {
    const STORAGE: Storage = Storage::NullableObject;
    fn schema() -> Schema {
        Schema::Optional(Box::new(T::schema()))
    }
}

/// A Rust type for elements of a typed container.
///
/// Elements are stored as [`Value`]s; this trait gives typed access to the elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of an Isoform container",
    label = "in an Array, List, Map or Dict",
    note = "element types are Value, Ref<T>, i64, f64, bool, Str, Bytes, Shape, Tensor, Function and \
            containers",
    note = "write Ref<{Self}> if `{Self}` is a node, Enumerator<{Self}> if it is an enum of \
            `node_enum!`, i64 for u32 or usize, f64 for f32, Str for String"
)]
pub trait ElementType: Sized + Clone + Send + Sync + 'static {
    /// The values that an element accepts.
    fn element_schema() -> Schema;
    /// The element, borrowed; None for a value of another type.
    fn peek(value: &Value) -> Option<&Self>;
    /// The element as a value.
    fn into_value(self) -> Value;
}

impl ElementType for Value {
    fn element_schema() -> Schema {
        Schema::Any
    }
    fn peek(value: &Value) -> Option<&Self> {
        Some(value)
    }
    fn into_value(self) -> Value {
        self
    }
}

macro_rules! payload_elements {
    ($($ty:ty, $tag:ident, $make:path;)*) => {$(
        impl ElementType for $ty {
            fn element_schema() -> Schema {
                <$ty as FieldType>::schema()
            }
            fn peek(value: &Value) -> Option<&Self> {
                // SAFETY: the payload of this tag holds the number's bits,
                // which are valid for the type.
                (value.tag() == Tag::$tag).then(|| unsafe { value.payload_as::<$ty>() })
            }
            fn into_value(self) -> Value {
                $make(self)
            }
        }
    )*};
}

payload_elements! {
    i64, Int, Value::from_int;
    f64, Float, Value::from_float;
}

impl ElementType for bool {
    fn element_schema() -> Schema {
        Schema::Bool
    }
    fn peek(value: &Value) -> Option<&Self> {
        // There are only two Booleans, both with a static.
        value
            .as_bool()
            .map(|flag| if flag { &true } else { &false })
    }
    fn into_value(self) -> Value {
        self.into()
    }
}

impl ElementType for Str {
    fn element_schema() -> Schema {
        Schema::Str
    }
    fn peek(value: &Value) -> Option<&Self> {
        // SAFETY: `Str` is repr(transparent) over a value that holds a string.
        value
            .is_str()
            .then(|| unsafe { &*(value as *const Value).cast::<Str>() })
    }
    fn into_value(self) -> Value {
        self.into()
    }
}

impl<T: Node> ElementType for Ref<T> {
    fn element_schema() -> Schema {
        Schema::object::<T>()
    }
    fn peek(value: &Value) -> Option<&Self> {
        value.as_object()?.downcast_ref()
    }
    fn into_value(self) -> Value {
        Value::from_object(self.into_object())
    }
}

macro_rules! pointer_elements {
    ($([$($param:ident),*] $ty:ty $(, $untyped:ty, $payload:ty, $schema:ident)?;)*) => {$(
        impl<$($param: ElementType),*> ElementType for $ty {
            fn element_schema() -> Schema {
                <$ty as FieldType>::schema()
            }
            fn peek(value: &Value) -> Option<&Self> {
                if Self::element_schema().check(value).is_err() {
                    return None;
                }
                let object: *const Ref<Obj> = value.as_object()?;
                // SAFETY: the schema says that the object is this container
                // with elements of these types, and the handle is
                // repr(transparent) over the reference.
                Some(unsafe { &*object.cast::<$ty>() })
            }
            fn into_value(self) -> Value {
                self.into()
            }
        }
    )*};
}

containers!(pointer_elements);

macro_rules! viewed_elements {
    ($($ty:ident;)*) => {$(
        impl ElementType for $ty {
            fn element_schema() -> Schema {
                <$ty as FieldType>::schema()
            }
            fn peek(value: &Value) -> Option<&Self> {
                match value.view() {
                    ValueRef::$ty(found) => Some(found),
                    _ => None,
                }
            }
            fn into_value(self) -> Value {
                self.into()
            }
        }
    )*};
}

viewed_elements! {
    Shape;
    Tensor;
    Function;
}
pointer_elements! {
    [] Bytes;
}
