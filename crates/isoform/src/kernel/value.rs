//! Conversions and views of [`Value`], and the small plain value types.

use std::fmt;
use std::hash::{Hash, Hasher};

use num_bigint::BigInt;

use crate::kernel::container::{
    Array, ArrayObj, Bytes, BytesObj, ContainerType, Contents, Dict, DictObj, Entries, KeyObj,
    List, ListObj, Map, OpaqueObj, Shape, ShapeObj, Str, StrObj, Tensor, TensorObj,
};
use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::{Function, FunctionObj};
use crate::kernel::object::field::ElementType;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::native;
use crate::kernel::object::raw_value::Tag;
use crate::kernel::object::reference::{Node, Obj, Ref};

pub use crate::kernel::dtype::{DType, DTypeCode, Device};
pub use crate::kernel::object::raw_value::Value;

/// An integer outside the range of `i64`.
#[derive(Debug)]
pub(crate) struct BigIntObj(pub(crate) BigInt);

impl BigIntObj {
    pub(crate) fn copy_payload(&self) -> Self {
        BigIntObj(self.0.clone())
    }
}

/// The content of a [`Value`], borrowed, by type.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum ValueRef<'a> {
    /// None.
    None,
    /// A bool.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer.
    BigInt(&'a BigInt),
    /// A float.
    Float(f64),
    /// A data type.
    DType(DType),
    /// A device.
    Device(Device),
    /// A string.
    Str(&'a str),
    /// A byte string.
    Bytes(&'a [u8]),
    /// An array.
    Array(&'a Array),
    /// A list.
    List(&'a List),
    /// A map.
    Map(&'a Map),
    /// A dict.
    Dict(&'a Dict),
    /// A shape.
    Shape(&'a Shape),
    /// A tensor.
    Tensor(&'a Tensor),
    /// A callable.
    Function(&'a Function),
    /// An object of a declared type, or an opaque object.
    Object(&'a Ref<Obj>),
}

impl Value {
    /// The type of the value; large integers have the same type as small integers.
    /// O(1).
    pub fn type_index(&self) -> TypeIndex {
        native::type_of(self)
    }

    /// An integer of any size.
    pub fn from_bigint(number: BigInt) -> Self {
        match i64::try_from(&number) {
            Ok(small) => Value::from_int(small),
            Err(_) => Value::from_object(Ref::new(BigIntObj(number)).into_object()),
        }
    }

    /// True if this is None.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.tag() == Tag::None
    }

    /// True if this is a string.
    #[inline]
    pub fn is_str(&self) -> bool {
        match self.tag() {
            Tag::InlineStr => true,
            Tag::Object => self
                .object_ref()
                .is_some_and(|object| object.type_index() == StrObj::type_index()),
            _ => false,
        }
    }

    /// The bool, if the value is one.
    pub fn as_bool(&self) -> Option<bool> {
        (self.tag() == Tag::Bool).then(|| self.bits() != 0)
    }

    /// The integer, if the value is an integer and fits in 64 bits.
    pub fn as_int(&self) -> Option<i64> {
        (self.tag() == Tag::Int).then(|| self.bits() as i64)
    }

    /// The float, if the value is one.
    pub fn as_float(&self) -> Option<f64> {
        (self.tag() == Tag::Float).then(|| f64::from_bits(self.bits()))
    }

    /// The string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        match self.tag() {
            Tag::InlineStr => Some(self.inline_text()),
            Tag::Object => Some(&self.object_ref()?.downcast::<StrObj>()?.0),
            _ => None,
        }
    }

    /// The data type, if the value is a data type.
    pub fn as_dtype(&self) -> Option<DType> {
        (self.tag() == Tag::DType).then(|| DType::from_bits(self.bits() as u32))
    }

    /// The device, if the value is one.
    pub fn as_device(&self) -> Option<Device> {
        (self.tag() == Tag::Device).then(|| Device::from_bits(self.bits()))
    }

    /// The value as a borrowed `T`, or None for another type.
    pub fn peek<T: ElementType>(&self) -> Option<&T> {
        T::peek(self)
    }

    /// The value as an owned `T`.
    ///
    /// # Errors
    ///
    /// `TypeError` if the value is of another type.
    #[track_caller]
    pub fn extract<T: ElementType>(&self) -> Result<T> {
        // No closure: the error names the caller's location.
        if let Some(found) = T::peek(self) {
            return Ok(found.clone());
        }
        Err(Error::type_error(format!(
            "expected {}, got {}",
            T::element_schema(),
            self.type_name()
        )))
    }

    /// The content of the value, by type.
    pub fn view(&self) -> ValueRef<'_> {
        match self.tag() {
            Tag::None => ValueRef::None,
            Tag::Bool => ValueRef::Bool(self.bits() != 0),
            Tag::Int => ValueRef::Int(self.bits() as i64),
            Tag::Float => ValueRef::Float(f64::from_bits(self.bits())),
            Tag::DType => ValueRef::DType(DType::from_bits(self.bits() as u32)),
            Tag::Device => ValueRef::Device(Device::from_bits(self.bits())),
            Tag::InlineStr => ValueRef::Str(self.inline_text()),
            Tag::Object => self.as_object().map_or(ValueRef::None, view_object),
        }
    }

    /// The array, if the value is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self.view() {
            ValueRef::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The map, if the value is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self.view() {
            ValueRef::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The type of the container, if the value is a container. O(1).
    pub(crate) fn container(&self) -> Option<&'static ContainerType> {
        self.object_ref()?.info().container()
    }

    /// The contents of a container; for a list or dict, the current contents. O(1).
    #[doc(hidden)]
    pub fn contents(&self) -> Option<Contents> {
        Some(match self.view() {
            ValueRef::Array(array) => Contents::Items(array.clone()),
            ValueRef::List(list) => Contents::Items(list.snapshot()),
            ValueRef::Map(map) => Contents::Entries(map.clone()),
            ValueRef::Dict(dict) => Contents::Entries(dict.snapshot()),
            // No wildcard: a new kind of container must be added to this match.
            ValueRef::None
            | ValueRef::Bool(_)
            | ValueRef::Int(_)
            | ValueRef::BigInt(_)
            | ValueRef::Float(_)
            | ValueRef::DType(_)
            | ValueRef::Device(_)
            | ValueRef::Str(_)
            | ValueRef::Bytes(_)
            | ValueRef::Shape(_)
            | ValueRef::Tensor(_)
            | ValueRef::Function(_)
            | ValueRef::Object(_) => return None,
        })
    }

    /// The items of an array, or the current items of a list. O(1).
    #[doc(hidden)]
    pub fn items(&self) -> Option<Array> {
        match self.contents()? {
            Contents::Items(items) => Some(items),
            Contents::Entries(_) => None,
        }
    }

    /// The entries of a map, or the current entries of a dict. O(1).
    #[doc(hidden)]
    pub fn entries(&self) -> Option<Map> {
        match self.contents()? {
            Contents::Entries(entries) => Some(entries),
            Contents::Items(_) => None,
        }
    }

    /// The name of the value's type in messages.
    pub fn type_name(&self) -> &'static str {
        match self.view() {
            ValueRef::None => "None",
            ValueRef::Bool(_) => "bool",
            ValueRef::Int(_) | ValueRef::BigInt(_) => "int",
            ValueRef::Float(_) => "float",
            ValueRef::DType(_) => "dtype",
            ValueRef::Device(_) => "Device",
            ValueRef::Str(_) => "str",
            ValueRef::Bytes(_) => "bytes",
            ValueRef::Shape(_) => "Shape",
            ValueRef::Tensor(_) => "Tensor",
            ValueRef::Function(_) => "Function",
            ValueRef::Object(object) => match object.downcast_ref::<OpaqueObj>() {
                Some(opaque) => opaque.type_name(),
                None => object.type_info().key(),
            },
            _container => self
                .container()
                .map_or("Object", |container| container.name),
        }
    }
}

pub(crate) fn view_object(object: &Ref<Obj>) -> ValueRef<'_> {
    // By exact index: built-in types are not extended, and in a chain of casts, each
    // failing cast would read the type table.
    let index = crate::kernel::object::ffi::type_index_of(object);
    macro_rules! try_payload {
        ($payload:ty, $payload_ref:ident => $view:expr) => {
            if index == <$payload>::type_index()
                && let Some($payload_ref) = object.downcast_ref::<$payload>()
            {
                return $view;
            }
        };
    }
    if index.get() >= crate::kernel::object::native::FIRST_USER_TYPE {
        return ValueRef::Object(object);
    }
    try_payload!(StrObj, text => ValueRef::Str(&text.0));
    try_payload!(BytesObj, bytes => ValueRef::Bytes(&bytes.0));
    try_payload!(BigIntObj, number => ValueRef::BigInt(&number.0));
    try_payload!(ArrayObj, items => ValueRef::Array(Array::from_payload_ref(items)));
    try_payload!(ListObj, items => ValueRef::List(List::from_payload_ref(items)));
    try_payload!(Entries, entries => ValueRef::Map(Map::from_payload_ref(entries)));
    try_payload!(DictObj, entries => ValueRef::Dict(Dict::from_payload_ref(entries)));
    try_payload!(ShapeObj, dims => ValueRef::Shape(Shape::from_payload_ref(dims)));
    try_payload!(TensorObj, tensor => ValueRef::Tensor(Tensor::from_payload_ref(tensor)));
    try_payload!(FunctionObj, function => {
        ValueRef::Function(Function::from_payload_ref(function))
    });
    ValueRef::Object(object)
}

/// The bits of a float, the same for all NaNs.
#[inline]
pub(crate) fn canonical_float_bits(bits: u64) -> u64 {
    if f64::from_bits(bits).is_nan() {
        f64::NAN.to_bits()
    } else {
        bits
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        if self.words() == other.words() {
            return true;
        }
        if self.tag() != other.tag() {
            return false;
        }
        match (self.view(), other.view()) {
            (ValueRef::Float(left), ValueRef::Float(right)) => left.is_nan() && right.is_nan(),
            (ValueRef::Str(left), ValueRef::Str(right)) => left == right,
            (ValueRef::Bytes(left), ValueRef::Bytes(right)) => left == right,
            (ValueRef::BigInt(left), ValueRef::BigInt(right)) => left == right,
            (ValueRef::Object(_), ValueRef::Object(_)) => {
                match (self.as_structural_key(), other.as_structural_key()) {
                    (Some(left), Some(right)) => left == right,
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.tag() as u8);
        match self.view() {
            ValueRef::Float(number) => state.write_u64(canonical_float_bits(number.to_bits())),
            ValueRef::Str(text) => state.write(text.as_bytes()),
            ValueRef::Bytes(bytes) => state.write(bytes),
            ValueRef::BigInt(number) => number.hash(state),
            _ => match self.object_ref() {
                Some(object) => match object.downcast::<KeyObj>() {
                    Some(key) => state.write_u64(key.key().table_hash()),
                    None => state.write_u64(object.ident()),
                },
                None => state.write_u64(self.bits()),
            },
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display::debug(self))
    }
}

macro_rules! from_plain {
    ($($ty:ty => $make:expr;)*) => {$(
        impl From<$ty> for Value {
            fn from(value: $ty) -> Self {
                $make(value)
            }
        }
    )*};
}

from_plain! {
    bool => Value::from_bool;
    i64 => Value::from_int;
    i32 => |value| Value::from_int(i64::from(value));
    i16 => |value| Value::from_int(i64::from(value));
    i8 => |value| Value::from_int(i64::from(value));
    u32 => |value| Value::from_int(i64::from(value));
    u16 => |value| Value::from_int(i64::from(value));
    u8 => |value| Value::from_int(i64::from(value));
    u64 => |value| Value::from_bigint(BigInt::from(value));
    usize => |value| Value::from_bigint(BigInt::from(value));
    i128 => |value| Value::from_bigint(BigInt::from(value));
    BigInt => Value::from_bigint;
    f64 => Value::from_float;
    f32 => |value| Value::from_float(f64::from(value));
    DType => Value::from_dtype;
    Device => Value::from_device;
    &str => |value| Str::from(value).into();
    String => |value: String| Str::from(value.as_str()).into();
    &String => |value: &String| Str::from(value.as_str()).into();
    &[u8] => |value: &[u8]| Bytes::from(value.to_vec()).into();
    () => |()| Value::NONE;
}

impl<T: Node> From<Ref<T>> for Value {
    fn from(object: Ref<T>) -> Self {
        Value::from_object(object.into_object())
    }
}

impl<T: Node> From<&Ref<T>> for Value {
    fn from(object: &Ref<T>) -> Self {
        object.clone().into()
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::NONE, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        items.into_iter().map(Into::into).collect::<Array>().into()
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(items: [T; N]) -> Self {
        items.into_iter().map(Into::into).collect::<Array>().into()
    }
}
