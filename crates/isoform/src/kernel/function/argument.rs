//! The Rust types that may be arguments and results of functions, and the conversion
//! from and to values.

use crate::kernel::container::{Array, Bytes, Shape, Str, Tensor, containers};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::types::Schema;
use crate::kernel::value::{DType, Device, Value};

/// A Rust type for arguments of a [typed](Function::typed) function.
///
/// Arguments are converted like the value of a field of this type: by
/// [`Schema::convert`].
///
/// ```
/// use isoform::Value;
/// use isoform::functions::Argument;
/// assert_eq!(f64::from_value(Value::from(2))?, 2.0);
/// assert_eq!(Vec::<i64>::from_value(vec![1, 2].into())?, [1, 2]);
/// let error = i64::from_value("two".into()).expect_err("a string is no integer");
/// assert_eq!(error.to_string(), "TypeError: expected int, got str");
/// # Ok::<(), isoform::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of an Isoform function",
    note = "arguments are Value, bool, integers, floats, String, Str, DType, Device, Ref<T>, Bytes, \
            Array, List, Map, Dict, Shape, Tensor, Function, and Option, Vec and tuples of these; \
            `#[isoform::export]` also takes references to them, and &str"
)]
pub trait Argument: Sized {
    /// The values that the argument accepts.
    fn schema() -> Schema;

    /// Converts a value to the argument.
    ///
    /// # Errors
    ///
    /// `TypeError` for a value that does not convert; `ValueError` for an
    /// integer outside the range of `Self`.
    fn from_value(value: Value) -> Result<Self>;

    /// The default of an argument omitted after all others; None for a required
    /// argument.
    fn when_missing() -> Option<Value> {
        None
    }
}

/// A Rust type for the result of a [typed](Function::typed) function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of an Isoform function",
    note = "results are what may be an argument, (), &str, &Ref<T>, and Result of these with an \
            error that converts to isoform::Error"
)]
pub trait Returned {
    /// The schema of the result.
    fn schema() -> Schema;

    /// The result as a value.
    ///
    /// # Errors
    ///
    /// The error itself, for a [`Result`].
    fn into_value(self) -> Result<Value>;
}

impl Argument for Value {
    fn schema() -> Schema {
        Schema::Any
    }
    fn from_value(value: Value) -> Result<Self> {
        Ok(value)
    }
}

/// Converts a value to an element.
fn convert<T: ElementType>(value: Value) -> Result<T> {
    if let Some(found) = T::peek(&value) {
        return Ok(found.clone());
    }
    T::element_schema().convert(value)?.extract()
}

macro_rules! element_arguments {
    ($([$($param:ident),*] $ty:ty $(, $untyped:ty, $payload:ty, $schema:ident)?;)*) => {$(
        impl<$($param: ElementType),*> Argument for $ty {
            fn schema() -> Schema {
                <$ty as ElementType>::element_schema()
            }
            fn from_value(value: Value) -> Result<Self> {
                convert(value)
            }
        }
    )*};
}

element_arguments! {
    [] i64;
    [] f64;
    [] Str;
    [] Bytes;
    [] Shape;
    [] Tensor;
    [] Function;
}
containers!(element_arguments);

impl<T: Node> Argument for Ref<T> {
    fn schema() -> Schema {
        Schema::object::<T>()
    }
    fn from_value(value: Value) -> Result<Self> {
        convert(value)
    }
}

macro_rules! plain_arguments {
    ($($ty:ty, $schema:ident, $read:ident;)*) => {$(
        impl Argument for $ty {
            fn schema() -> Schema {
                Schema::$schema
            }
            fn from_value(value: Value) -> Result<Self> {
                if let Some(found) = value.$read() {
                    return Ok(found.into());
                }
                let value = Schema::$schema.convert(value)?;
                value.$read().map(Into::into).ok_or_else(|| {
                    Error::type_error(format!(
                        "expected {}, got {}",
                        Schema::$schema,
                        value.type_name()
                    ))
                })
            }
        }
    )*};
}

plain_arguments! {
    bool, Bool, as_bool;
    String, Str, as_str;
    DType, DType, as_dtype;
    Device, Device, as_device;
}

macro_rules! integer_arguments {
    ($($ty:ty),*) => {$(
        impl Argument for $ty {
            fn schema() -> Schema {
                Schema::Int
            }
            fn from_value(value: Value) -> Result<Self> {
                let number = i64::from_value(value)?;
                <$ty>::try_from(number).map_err(|_| {
                    Error::value_error(format!(
                        "expected an int from {} to {}, got {number}",
                        <$ty>::MIN,
                        <$ty>::MAX
                    ))
                })
            }
        }
        impl Returned for $ty {
            fn schema() -> Schema {
                Schema::Int
            }
            fn into_value(self) -> Result<Value> {
                Ok(Value::from_bigint(self.into()))
            }
        }
    )*};
}

integer_arguments!(i8, i16, i32, u8, u16, u32, u64, usize);

impl Argument for f32 {
    fn schema() -> Schema {
        Schema::Float
    }
    fn from_value(value: Value) -> Result<Self> {
        Ok(f64::from_value(value)? as f32)
    }
}

impl Argument for () {
    fn schema() -> Schema {
        Schema::None
    }
    fn from_value(value: Value) -> Result<Self> {
        Schema::None.check(&value)
    }
}

impl<T: Argument> Argument for Option<T> {
    fn schema() -> Schema {
        Schema::Optional(Box::new(T::schema()))
    }
    fn from_value(value: Value) -> Result<Self> {
        if value.is_none() {
            return Ok(None);
        }
        // Converts through the whole schema if the inner schema does not fit: the
        // message then mentions None as possible.
        match T::from_value(value.clone()) {
            Ok(found) => Ok(Some(found)),
            Err(error) => Err(Self::schema().convert(value).err().unwrap_or(error)),
        }
    }
    fn when_missing() -> Option<Value> {
        Some(Value::NONE)
    }
}

/// The elements of an array or list, checked against a schema.
fn parts(schema: &Schema, value: Value) -> Result<Vec<Value>> {
    let converted = schema.convert(value)?;
    Ok(converted.extract::<Array>()?.values().to_vec())
}

impl<T: Argument> Argument for Vec<T> {
    fn schema() -> Schema {
        Schema::Array(Box::new(T::schema()))
    }
    fn from_value(value: Value) -> Result<Self> {
        let read = |(position, part)| {
            T::from_value(part).map_err(|error| {
                Error::new(
                    error.kind(),
                    format!("element [{position}]: {}", error.message()),
                )
            })
        };
        let parts = parts(&Self::schema(), value)?;
        parts.into_iter().enumerate().map(read).collect()
    }
}

macro_rules! tuples {
    ($(($($param:ident),+))*) => {$(
        impl<$($param: Argument),+> Argument for ($($param,)+) {
            fn schema() -> Schema {
                Schema::Tuple(Box::new([$($param::schema()),+]))
            }
            fn from_value(value: Value) -> Result<Self> {
                let mut parts = parts(&Self::schema(), value)?.into_iter();
                // The schema has checked the number of elements.
                let mut next = || parts.next().unwrap_or(Value::NONE);
                Ok(($($param::from_value(next())?,)+))
            }
        }
        impl<$($param: Returned),+> Returned for ($($param,)+) {
            fn schema() -> Schema {
                Schema::Tuple(Box::new([$($param::schema()),+]))
            }
            fn into_value(self) -> Result<Value> {
                #[allow(non_snake_case)]
                let ($($param,)+) = self;
                Ok(Array::from(vec![$($param.into_value()?),+]).into())
            }
        }
    )*};
}

tuples! {
    (A, B)
    (A, B, C)
    (A, B, C, D)
}

/// Results with a conversion by `Into` and the schema of the argument.
macro_rules! returned {
    ($([$($param:ident: $bound:ident),*] $ty:ty, $same:ty;)*) => {$(
        impl<$($param: $bound),*> Returned for $ty {
            fn schema() -> Schema {
                <$same as Argument>::schema()
            }
            fn into_value(self) -> Result<Value> {
                Ok(self.into())
            }
        }
    )*};
}

returned! {
    [] Value, Value;
    [] (), ();
    [] bool, bool;
    [] i64, i64;
    [] f64, f64;
    [] &str, String;
    [] String, String;
    [] Str, Str;
    [] DType, DType;
    [] Device, Device;
    [] Bytes, Bytes;
    [] Shape, Shape;
    [] Tensor, Tensor;
    [] Function, Function;
    [T: Node] Ref<T>, Ref<T>;
    [T: Node] &Ref<T>, Ref<T>;
}

macro_rules! returned_containers {
    ($([$($param:ident),+] $ty:ty, $untyped:ty, $payload:ty, $schema:ident;)*) => {
        returned! { $([$($param: ElementType),+] $ty, $ty;)* }
    };
}

containers!(returned_containers);

impl Returned for f32 {
    fn schema() -> Schema {
        Schema::Float
    }
    fn into_value(self) -> Result<Value> {
        Ok(Value::from(f64::from(self)))
    }
}

impl<T: Returned> Returned for Option<T> {
    fn schema() -> Schema {
        Schema::Optional(Box::new(T::schema()))
    }
    fn into_value(self) -> Result<Value> {
        self.map_or(Ok(Value::NONE), T::into_value)
    }
}

impl<T: Returned> Returned for Vec<T> {
    fn schema() -> Schema {
        Schema::Array(Box::new(T::schema()))
    }
    fn into_value(self) -> Result<Value> {
        let values: Result<Vec<Value>> = self.into_iter().map(T::into_value).collect();
        Ok(Array::from(values?).into())
    }
}

impl<T: Returned, E: Into<Error>> Returned for Result<T, E> {
    fn schema() -> Schema {
        T::schema()
    }
    fn into_value(self) -> Result<Value> {
        match self {
            Ok(result) => result.into_value(),
            // An error of another type becomes an error of the library on this line, a
            // place of no interest.
            Err(error) => Err(error.into().unless_made_in(file!())),
        }
    }
}

/// The owner of an argument written as `&T` during the call; for `#[isoform::export]`.
pub trait Borrowed {
    /// The owned argument.
    type Owner: Argument;
    /// Borrows the reference that the function receives.
    fn borrow(held: &Self::Owner) -> &Self;
}

impl<T: Argument> Borrowed for T {
    type Owner = T;
    fn borrow(held: &T) -> &T {
        held
    }
}

impl Borrowed for str {
    type Owner = Str;
    fn borrow(held: &Str) -> &str {
        held
    }
}

impl Borrowed for [Value] {
    type Owner = Array;
    fn borrow(held: &Array) -> &[Value] {
        held.values()
    }
}
