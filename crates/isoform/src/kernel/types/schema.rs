//! The values accepted by a field, and conversion to these values.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};

use smallvec::SmallVec;

use crate::kernel::container::{self, Array, ContainerType, Contents, Map};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::hooks::{self, DynConvert, Hook};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::raw_value::Tag;
use crate::kernel::object::reference::Node;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::value::{DType, Device, Value, ValueRef};

/// A node type named in a schema. The type is looked up when needed: types may refer to
/// themselves and to types registered later.
pub struct TypeRef {
    key: Cow<'static, str>,
    resolve: Option<fn() -> TypeIndex>,
    /// The index once found: one lookup by key is enough, since a type knows its successor.
    found: AtomicU32,
}

impl Clone for TypeRef {
    fn clone(&self) -> Self {
        TypeRef {
            key: self.key.clone(),
            resolve: self.resolve,
            found: AtomicU32::new(self.found.load(Ordering::Relaxed)),
        }
    }
}

/// No type has this index.
const NOT_FOUND: u32 = u32::MAX;

impl TypeRef {
    /// A type by its key.
    pub fn named(key: impl Into<String>) -> Self {
        TypeRef {
            key: Cow::Owned(key.into()),
            resolve: None,
            found: AtomicU32::new(NOT_FOUND),
        }
    }

    /// A Rust type.
    pub fn of<T: Node>() -> Self {
        TypeRef {
            key: Cow::Borrowed(T::TYPE_KEY),
            resolve: Some(T::type_index),
            found: AtomicU32::new(NOT_FOUND),
        }
    }

    /// The type's key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The type's index, if it is registered.
    #[inline]
    pub fn index(&self) -> Option<TypeIndex> {
        // Relaxed suffices: the index is only compared, or looked up in the table,
        // which publishes its own entries.
        match self.found.load(Ordering::Relaxed) {
            NOT_FOUND => self.look_up(),
            index => Some(table::latest(TypeIndex(index))),
        }
    }

    #[cold]
    fn look_up(&self) -> Option<TypeIndex> {
        let index = match self.resolve {
            Some(resolve) => resolve(),
            None => table::find(&self.key)?.index(),
        };
        self.found.store(index.get(), Ordering::Relaxed);
        Some(index)
    }
}

/// The values accepted by a field or an element.
#[derive(Clone)]
#[non_exhaustive]
pub enum Schema {
    /// Anything.
    Any,
    /// Only None.
    None,
    /// A bool.
    Bool,
    /// A 64-bit integer.
    Int,
    /// An integer of any size.
    BigInt,
    /// A float.
    Float,
    /// A string.
    Str,
    /// A byte string.
    Bytes,
    /// A data type.
    DType,
    /// A device.
    Device,
    /// An object of a type or of an extending type.
    Object(TypeRef),
    /// None or a value of the inner schema.
    Optional(Box<Schema>),
    /// A value of one of the schemas.
    Union(Box<[Schema]>),
    /// A value out of these plain values, distinguished by `==` of [`Value`].
    Literal(Box<[Value]>),
    /// An array of fixed length, with a schema for each position.
    Tuple(Box<[Schema]>),
    /// An array whose elements fit.
    Array(Box<Schema>),
    /// A list whose elements fit.
    List(Box<Schema>),
    /// A map whose keys and values fit.
    Map(Box<(Schema, Schema)>),
    /// A dict whose keys and values fit.
    Dict(Box<(Schema, Schema)>),
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// A callable.
    Function,
    /// A distinction among values of a host language, possible only for the host.
    Host(HostSchema),
}

/// A test for values of a kind known only to a host language, such as its pointers.
#[derive(Clone, Copy)]
pub struct HostSchema {
    name: &'static str,
    accepts: fn(&Value) -> bool,
}

impl HostSchema {
    /// Makes a test with the name shown by messages and signatures.
    ///
    /// `accepts` may be called in the middle of a traversal, on any thread: it must
    /// neither use this library beyond the value nor wait for a lock of the host.
    ///
    /// ```
    /// use isoform::Value;
    /// use isoform::types::{HostSchema, Schema};
    /// let even = |value: &Value| value.as_int().is_some_and(|number| number % 2 == 0);
    /// let schema = Schema::Host(HostSchema::new("host.Even", even));
    /// assert!(schema.check(&Value::from(2)).is_ok());
    /// let error = schema.check(&Value::from(3)).unwrap_err();
    /// assert_eq!(error.message(), "expected host.Even, got int");
    /// ```
    pub const fn new(name: &'static str, accepts: fn(&Value) -> bool) -> Self {
        HostSchema { name, accepts }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        // The text names every part of a schema: equal text is equal schema.
        self.to_string() == other.to_string()
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schema::Any => f.write_str("Any"),
            Schema::None => f.write_str("None"),
            Schema::Bool => f.write_str("bool"),
            Schema::Int => f.write_str("int"),
            Schema::BigInt => f.write_str("BigInt"),
            Schema::Float => f.write_str("float"),
            Schema::Str => f.write_str("str"),
            Schema::Bytes => f.write_str("bytes"),
            Schema::DType => f.write_str("dtype"),
            Schema::Device => f.write_str("Device"),
            Schema::Object(ty) => f.write_str(ty.key()),
            Schema::Optional(inner) => write!(f, "{inner} | None"),
            Schema::Union(options) => {
                for (position, option) in options.iter().enumerate() {
                    let separator = if position == 0 { "" } else { " | " };
                    write!(f, "{separator}{option}")?;
                }
                Ok(())
            }
            Schema::Literal(values) => {
                f.write_str("Literal[")?;
                for (position, value) in values.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    match value.as_str() {
                        // In Python's notation, since annotations are Python's.
                        Some(text) => write!(f, "{separator}'{}'", text.escape_debug())?,
                        None => write!(f, "{separator}{value:?}")?,
                    }
                }
                f.write_str("]")
            }
            Schema::Tuple(items) => {
                f.write_str("tuple[")?;
                for (position, item) in items.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    write!(f, "{separator}{item}")?;
                }
                f.write_str("]")
            }
            Schema::Shape => f.write_str("Shape"),
            Schema::Tensor => f.write_str("Tensor"),
            Schema::Function => f.write_str("Function"),
            Schema::Host(host) => f.write_str(host.name),
            typed_container => match typed_container.parts() {
                Some((container, Parts::Items(inner))) => write!(f, "{}[{inner}]", container.name),
                Some((container, Parts::Entries((keys, values)))) => {
                    write!(f, "{}[{keys}, {values}]", container.name)
                }
                None => Ok(()),
            },
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Schema {
    /// The schema of objects of a Rust type.
    pub fn object<T: Node>() -> Self {
        Schema::Object(TypeRef::of::<T>())
    }

    /// The schema of objects of the type with this key.
    pub fn named(key: &str) -> Self {
        Schema::Object(TypeRef::named(key))
    }

    /// Checks a value without converting it. O(1) for plain values and
    /// objects, O(elements) for typed containers.
    ///
    /// # Errors
    ///
    /// `TypeError` stating the expected and the given value, with the position of an
    /// offending element.
    pub fn check(&self, value: impl Into<Value>) -> Result<()> {
        self.check_value(&value.into())
    }

    fn check_value(&self, value: &Value) -> Result<()> {
        let fail = || Err(self.mismatch(value));
        let ok = match self {
            Schema::Any => true,
            Schema::None => value.is_none(),
            Schema::Literal(values) => values.contains(value),
            Schema::Tuple(items) => match value.as_array() {
                Some(array) if array.len() == items.len() => {
                    return items.iter().zip(array.values()).enumerate().try_for_each(
                        |(position, (item, value))| {
                            item.check_value(value)
                                .map_err(|error| at_element(&position, error))
                        },
                    );
                }
                _ => false,
            },
            Schema::Bool => value.tag() == Tag::Bool,
            Schema::Int => value.tag() == Tag::Int,
            Schema::BigInt => matches!(value.view(), ValueRef::Int(_) | ValueRef::BigInt(_)),
            Schema::Float => value.tag() == Tag::Float,
            Schema::Str => value.is_str(),
            Schema::DType => value.tag() == Tag::DType,
            Schema::Device => value.tag() == Tag::Device,
            Schema::Bytes => matches!(value.view(), ValueRef::Bytes(_)),
            Schema::Shape => matches!(value.view(), ValueRef::Shape(_)),
            Schema::Tensor => matches!(value.view(), ValueRef::Tensor(_)),
            Schema::Function => matches!(value.view(), ValueRef::Function(_)),
            Schema::Host(host) => (host.accepts)(value),
            Schema::Object(ty) => {
                let (Some(object), Some(index)) = (value.object_ref(), ty.index()) else {
                    return fail();
                };
                table::is_a(object.type_index(), index)
            }
            Schema::Optional(inner) => {
                if value.is_none() {
                    return Ok(());
                }
                return inner
                    .check_value(value)
                    .map_err(|error| self.restate(error, value));
            }
            Schema::Union(options) => options
                .iter()
                .any(|option| option.check_value(value).is_ok()),
            typed_container => match typed_container.parts() {
                Some((container, parts)) if value.container() == Some(container) => {
                    return parts.check(value);
                }
                _ => false,
            },
        };
        if ok { Ok(()) } else { fail() }
    }

    /// The type of container accepted by the schema, and the schemas of its parts; None
    /// for a schema without typed containers.
    pub(crate) fn parts(&self) -> Option<(&'static ContainerType, Parts<'_>)> {
        Some(match self {
            Schema::Array(inner) => (&container::ARRAY, Parts::Items(inner)),
            Schema::List(inner) => (&container::LIST, Parts::Items(inner)),
            Schema::Map(pair) => (&container::MAP, Parts::Entries(pair)),
            Schema::Dict(pair) => (&container::DICT, Parts::Entries(pair)),
            _ => return None,
        })
    }

    /// Converts a value to the stored form of the field: bool to int, int to float and
    /// bool, text to data type and device, arrays and lists, maps and dicts into one
    /// another, and anything to an object of a type with a conversion hook
    /// ([`DynConvert`](crate::hooks::DynConvert)). A fitting value is returned
    /// unchanged.
    ///
    /// # Errors
    ///
    /// The errors of [`check`](Self::check); errors from the hook of a type.
    pub fn convert(&self, value: Value) -> Result<Value> {
        if matches!(self, Schema::Any) || self.check_value(&value).is_ok() {
            return Ok(value);
        }
        match (self, value.view()) {
            (Schema::Int | Schema::BigInt, ValueRef::Bool(flag)) => {
                Ok(Value::from(i64::from(flag)))
            }
            (Schema::Float, ValueRef::Int(number)) => Ok(Value::from(number as f64)),
            (Schema::Float, ValueRef::Bool(flag)) => Ok(Value::from(f64::from(u8::from(flag)))),
            (Schema::Bool, ValueRef::Int(number)) => Ok(Value::from(number != 0)),
            (Schema::DType, ValueRef::Str(text)) => parsed::<DType>(text),
            (Schema::Device, ValueRef::Str(text)) => parsed::<Device>(text),
            (Schema::Optional(inner), _) => inner
                .convert(value.clone())
                .map_err(|error| self.restate(error, &value)),
            (Schema::Union(options), _) => {
                for option in nearest(options, &value) {
                    match option.convert(value.clone()) {
                        Err(error) if !is_refusal(&error) => return Err(error),
                        Err(_) => {}
                        converted => return converted,
                    }
                }
                Err(self.mismatch(&value))
            }
            (Schema::Object(ty), _) => match ty.index().map(table::info) {
                Some(info) if info.hooks.convert.get().is_some() => self.by_hook(info, value),
                _ => Err(self.mismatch(&value)),
            },
            (Schema::Tuple(items), _) => {
                let elements = value
                    .items()
                    .filter(|elements| elements.len() == items.len())
                    .ok_or_else(|| self.mismatch(&value))?;
                let convert = |(position, (item, value)): (usize, (&Schema, &Value))| {
                    item.convert(value.clone())
                        .map_err(|error| at_element(&position, error))
                };
                let converted: Vec<Value> = items
                    .iter()
                    .zip(elements.values())
                    .enumerate()
                    .map(convert)
                    .collect::<Result<_>>()?;
                Ok(Array::from(converted).into())
            }
            _ => {
                let (container, parts) = self.parts().ok_or_else(|| self.mismatch(&value))?;
                let converted = match (parts, value.contents()) {
                    (Parts::Items(inner), Some(Contents::Items(items))) => {
                        Contents::Items(convert_items(inner, &items)?)
                    }
                    (Parts::Entries(pair), Some(Contents::Entries(entries))) => {
                        Contents::Entries(convert_entries(pair, &entries)?)
                    }
                    _ => return Err(self.mismatch(&value)),
                };
                let result = container.holding(converted);
                result.ok_or_else(|| self.mismatch(&value))
            }
        }
    }

    /// The object made by a type's conversion hook from a value.
    #[cold]
    fn by_hook(&self, info: &'static TypeInfo, value: Value) -> Result<Value> {
        let Some(hook) = info.hooks.convert.get() else {
            return Err(self.mismatch(&value));
        };
        let refuse = |why: &str| {
            let (expected, key) = (self.mismatch(&value), info.key());
            let message = format!("{} ({key}.{}: {why})", expected.message(), DynConvert::NAME);
            Error::type_error(message)
        };
        match hooks::run_outside(DynConvert::NAME, info.key(), || hook.call(&value)) {
            Ok(made) if self.check_value(&made).is_ok() => Ok(made),
            Ok(made) => Err(refuse(&format!("the result is {}", made.type_name()))),
            Err(error) if is_refusal(&error) => Err(refuse(error.message())),
            Err(error) => Err(error),
        }
    }

    fn mismatch(&self, value: &Value) -> Error {
        if let Schema::Object(ty) = self
            && ty.index().is_none()
        {
            return Error::type_error(format!(
                "expected {self}, which is not a registered type, got {}",
                value.type_name()
            ));
        }
        let got = match (value.view(), value.object_ref()) {
            (ValueRef::BigInt(_), _) => Cow::Borrowed("int outside the 64-bit range"),
            (_, Some(object)) => {
                let note = super::replaced_note(table::info(object.type_index()));
                Cow::Owned(format!("{}{note}", value.type_name()))
            }
            _ => Cow::Borrowed(value.type_name()),
        };
        if let (Schema::Tuple(items), Some(elements)) = (self, value.items()) {
            return Error::type_error(format!(
                "expected {self} ({} elements), got {got} of {}",
                items.len(),
                elements.len()
            ));
        }
        if matches!(self, Schema::Literal(_)) {
            return Error::type_error(format!("expected {self}, got {value:?}"));
        }
        Error::type_error(format!("expected {self}, got {got}"))
    }

    /// Names the whole optional type if the error is about the inner type as a whole.
    fn restate(&self, inner: Error, value: &Value) -> Error {
        let message = inner.message();
        // The message of the inner type's hook is more useful.
        if message.starts_with("expected") && !message.contains(DynConvert::NAME) {
            self.mismatch(value)
        } else {
            inner
        }
    }
}

/// The options of a union in the order tried by conversion if no option accepts the
/// value unchanged: a number goes to the nearest kind of number, so both `float | int`
/// and `int | float` convert True to 1.
pub(crate) fn nearest<'s>(options: &'s [Schema], value: &Value) -> SmallVec<[&'s Schema; 8]> {
    let distance = |option: &&Schema| match (option, value.view()) {
        (Schema::Int | Schema::BigInt, ValueRef::Bool(_)) | (Schema::Float, ValueRef::Int(_)) => 1,
        (Schema::Float, ValueRef::Bool(_)) | (Schema::Bool, ValueRef::Int(_)) => 2,
        // A hook can accept almost any value, so objects go last.
        (Schema::Object(_), _) => 3,
        _ => 0,
    };
    let mut options: SmallVec<_> = options.iter().collect();
    options.sort_by_key(distance);
    options
}

/// True for an error about a value that does not convert, as opposed to a failure in
/// user code.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Type | ErrorKind::Value)
}

fn at_element(position: &dyn fmt::Display, error: Error) -> Error {
    at(format_args!("element [{position}]"), error)
}

/// Names the place of an unfitting value.
pub(crate) fn at(place: fmt::Arguments<'_>, error: Error) -> Error {
    if is_refusal(&error) {
        Error::type_error(format!("{place}: {}", error.message()))
    } else {
        error
    }
}

/// Parses a text; an invalid text does not fit, like any other unsuitable value.
fn parsed<T: FromStr<Err = Error> + Into<Value>>(text: &str) -> Result<Value> {
    let parsed = text.parse::<T>().map(Into::into);
    parsed.map_err(|error| Error::type_error(error.message()))
}

/// The schemas of the parts of a container.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Parts<'s> {
    Items(&'s Schema),
    /// Those of keys and values.
    Entries(&'s (Schema, Schema)),
}

impl Parts<'_> {
    pub(crate) fn address(self) -> usize {
        match self {
            Parts::Items(schema) => std::ptr::from_ref(schema).addr(),
            Parts::Entries(pair) => std::ptr::from_ref(pair).addr(),
        }
    }

    /// True if not everything is accepted.
    pub(crate) fn demand_anything(self) -> bool {
        match self {
            Parts::Items(inner) => !matches!(inner, Schema::Any),
            Parts::Entries(pair) => !matches!(pair, (Schema::Any, Schema::Any)),
        }
    }

    /// Checks the parts of a container.
    fn check(self, value: &Value) -> Result<()> {
        match self {
            _ if !self.demand_anything() => Ok(()),
            Parts::Items(inner) => match value.items() {
                Some(items) => check_items(inner, items.values()),
                None => Ok(()),
            },
            Parts::Entries(pair) => match value.entries() {
                Some(entries) => check_entries(pair, &entries),
                None => Ok(()),
            },
        }
    }
}

fn check_items(inner: &Schema, items: &[Value]) -> Result<()> {
    for (position, item) in items.iter().enumerate() {
        inner
            .check_value(item)
            .map_err(|error| at_element(&position, error))?;
    }
    Ok(())
}

fn check_entries(pair: &(Schema, Schema), map: &Map) -> Result<()> {
    for (key, value) in map.iter() {
        pair.0
            .check_value(key)
            .map_err(|error| at(format_args!("key {key:?}"), error))?;
        pair.1
            .check(value)
            .map_err(|error| at_element(&format_args!("{key:?}"), error))?;
    }
    Ok(())
}

fn convert_items(inner: &Schema, items: &Array) -> Result<Array> {
    let convert = |(position, item): (usize, &Value)| {
        inner
            .convert(item.clone())
            .map_err(|error| at_element(&position, error))
    };
    items.values().iter().enumerate().map(convert).collect()
}

fn convert_entries(pair: &(Schema, Schema), map: &Map) -> Result<Map> {
    let convert = |(key, value): (&Value, &Value)| {
        let new_key = pair
            .0
            .convert(key.clone())
            .map_err(|error| at(format_args!("key {key:?}"), error))?;
        let new_value = pair
            .1
            .convert(value.clone())
            .map_err(|error| at_element(&format_args!("{key:?}"), error))?;
        Ok((new_key, new_value))
    };
    let entries: Vec<_> = map.iter().map(convert).collect::<Result<_>>()?;
    Map::try_from_entries(entries)
}
