//! `Str` and `Bytes`.

use std::fmt;
use std::ops::Deref;

use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// The payload of a string too long to be inline.
#[derive(Debug)]
pub(crate) struct StrObj(pub(crate) Box<str>);

impl StrObj {
    pub(crate) fn copy_payload(&self) -> Self {
        StrObj(self.0.clone())
    }
}

/// An immutable string of 16 bytes: up to 14 bytes of text inline, longer
/// text shared.
///
/// ```
/// use isoform::Str;
/// let s = Str::from("matmul");
/// assert_eq!(&*s, "matmul");
/// assert_eq!(std::mem::size_of::<Str>(), 16);
/// ```
#[repr(transparent)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Str(pub(crate) Value);

impl Str {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str().unwrap_or_default()
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        // Equality relies on a single representation for each text.
        let long = || Value::from_object(Ref::new(StrObj(text.into())).into_object());
        Str(Value::inline_str(text).unwrap_or_else(long))
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<&String> for Str {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&Str> for Str {
    fn from(text: &Str) -> Self {
        text.clone()
    }
}

impl From<Str> for String {
    fn from(text: Str) -> Self {
        text.as_str().to_owned()
    }
}

impl Default for Str {
    fn default() -> Self {
        "".into()
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Str {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Str {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Str {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<Str> for String {
    fn eq(&self, other: &Str) -> bool {
        self == other.as_str()
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Str> for Value {
    fn from(text: Str) -> Self {
        text.0
    }
}

impl From<&Str> for Value {
    fn from(text: &Str) -> Self {
        text.0.clone()
    }
}

/// The payload of a byte string.
#[derive(Debug)]
pub(crate) struct BytesObj(pub(crate) bytes::Bytes);

impl BytesObj {
    pub(crate) fn copy_payload(&self) -> Self {
        BytesObj(self.0.clone())
    }
}

/// An immutable byte string; cloning shares it.
#[repr(transparent)]
#[derive(Clone)]
pub struct Bytes(Ref<BytesObj>);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        bytes::Bytes::from(bytes).into()
    }
}

impl From<bytes::Bytes> for Bytes {
    fn from(bytes: bytes::Bytes) -> Self {
        Bytes(Ref::new(BytesObj(bytes)))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&Bytes> for Value {
    fn from(bytes: &Bytes) -> Self {
        bytes.clone().into()
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Value::from_object(bytes.0.into_object())
    }
}
