//! The binary form: the nodes of a JSON graph in few bytes.
//!
//! For caches, and for passing values to another process, without human readers. Types
//! are stored by key and fields by name, as in JSON: a file stays readable when its
//! types gain fields with defaults.
//!
//! # Format, version 1
//!
//! ```text
//! file     magic (8 bytes), version (1 byte), record*, 0, checksum (8 bytes)
//! record   type | node; nodes are numbered from zero, the last is the root
//! type     1, key, hooked (1 byte), number of fields, (name, literal (1 byte))*
//! node     2 None | 3 false | 4 true | 5 int | 6 float (8 bytes)
//!          7 str | 8 bytes | 9 large int (bytes) | 10 dtype | 11 device
//!          12 array | 13 list | 14 map | 15 dict, with a count and references
//!          16 shape, with a count and ints | 17 tensor: dtype, shape, bytes
//!          18 + n: object of the n-th type: literals and references in the
//!          order of the type's fields, or JSON data as a string if hooked
//! ```
//!
//! Numbers are LEB128, seven bits per byte, low ones first; ints are zigzag-encoded
//! first. Strings and bytes are a length and contents. A reference is the number of
//! nodes to go back, so parts always come first and cycles cannot be expressed. Fixed
//! numbers are little-endian. A literal is 0 for a reference, 1 for an int, 2 for a
//! float, 3 for a bool (a byte), 4 for a dtype (code, bits, lanes). The checksum is the
//! start of the BLAKE3 hash of all preceding bytes.
//!
//! A pickle with buffers has version 0x81 and the elements of tensors beside the bytes: such
//! a tensor has dtype and shape only.
//!
//! Absent: forward references and metadata, both present in JSON.

mod format;
mod input;
mod reader;
mod sketch;
mod writer;

pub use format::BinaryReadOptions;
pub use sketch::type_sketches;

use crate::files::linearize::linearize;
use crate::kernel::container::Tensor;
use crate::kernel::error::Result;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::value::Value;

/// Encodes a value in the binary form. The same value results in the same bytes every
/// time, on every machine.
///
/// Linear in the number of distinct objects; depth takes heap, not stack.
///
/// # Errors
///
/// `TypeError` for functions and opaque objects; `ValueError` for a value that contains
/// itself, and for a singleton that reading would mistake for a registered singleton.
/// The error has the path.
///
/// ```
/// use isoform::Value;
/// use isoform::files::{from_bytes, to_bytes};
/// use isoform::values::List;
/// let shared = List::<Value>::from(vec![1.into(), "text".into()]);
/// let bytes = to_bytes([shared.clone(), shared])?;
/// assert!(bytes.len() < 40);
/// let read = from_bytes(&bytes)?.extract::<isoform::Array<List>>()?;
/// assert!(read.get(0).unwrap().same_as(read.get(1).unwrap()));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn to_bytes(value: impl Into<Value>) -> Result<Vec<u8>> {
    to_bytes_with_types(&value.into()).map(|(bytes, _)| bytes)
}

/// [`to_bytes`], also returning the declared types of the objects in the value, to be
/// registered by a reader.
///
/// # Errors
///
/// As [`to_bytes`].
pub fn to_bytes_with_types(value: &Value) -> Result<(Vec<u8>, Vec<&'static TypeInfo>)> {
    let mut writer = writer::Writer::new(false);
    linearize(value, &mut writer)?;
    let types = writer.types();
    Ok((writer.finish(), types))
}

/// A value in the binary form without the elements of its tensors.
pub struct TensorsApart {
    /// The bytes; the usual form if there are no tensors.
    pub bytes: Vec<u8>,
    /// The tensors, in the order in which reading needs their elements.
    pub tensors: Vec<Tensor>,
    /// The declared types of the objects.
    pub types: Vec<&'static TypeInfo>,
}

/// [`to_bytes`] with the tensors beside the bytes, so large ones need not be copied.
///
/// # Errors
///
/// As [`to_bytes`].
pub fn to_bytes_apart(value: &Value) -> Result<TensorsApart> {
    let mut writer = writer::Writer::new(true);
    linearize(value, &mut writer)?;
    let (tensors, types) = (writer.take_tensors(), writer.types());
    Ok(TensorsApart {
        bytes: writer.finish(),
        tensors,
        types,
    })
}

/// Decodes a value from [`to_bytes_apart`] and the elements of its tensors.
///
/// The checksum does not cover the elements.
///
/// # Errors
///
/// As [`from_bytes`], and `ValueError` for another number of tensors, or of bytes.
pub fn from_bytes_apart(
    bytes: &[u8],
    elements: Vec<bytes::Bytes>,
    options: BinaryReadOptions,
) -> Result<Value> {
    reader::Reader::new(bytes, options, Some(elements))?.value()
}

/// Decodes a value from the binary form.
///
/// Takes time and memory proportional to the bytes, even for malicious input.
///
/// # Errors
///
/// `ValueError` for bytes not in the binary form, in another version of the form, or
/// modified after writing, and for unknown fields; `TypeError` for unknown types,
/// missing fields without a default, and values that do not fit their field. Errors of
/// hooks are passed on.
///
/// ```
/// let mut bytes = isoform::files::to_bytes(7)?;
/// assert_eq!(isoform::files::from_bytes(&bytes)?, 7.into());
/// bytes[10] += 2;
/// let error = isoform::files::from_bytes(&bytes).unwrap_err();
/// assert_eq!(error.message(), "binary form: the checksum differs, the bytes were changed or cut");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn from_bytes(bytes: &[u8]) -> Result<Value> {
    BinaryReadOptions::default().read(bytes)
}

impl BinaryReadOptions {
    /// [`from_bytes`] with these options.
    ///
    /// # Errors
    ///
    /// As [`from_bytes`].
    ///
    /// ```
    /// use isoform::files::{BinaryReadOptions, to_bytes};
    /// let options = BinaryReadOptions::default().ignore_unknown_fields(true);
    /// assert_eq!(options.read(&to_bytes("a")?)?, "a".into());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn read(self, bytes: &[u8]) -> Result<Value> {
        reader::Reader::new(bytes, self, None)?.value()
    }
}
