//! The JSON graph: values as JSON text with sharing.
//!
//! ```text
//! {"root_index":2,"nodes":[
//!   {"type":"int","data":1},
//!   {"type":"demo.Neg","data":{"operand":0}},
//!   {"type":"ffi.Array","data":[1,1]}]}
//! ```
//!
//! The format is tvm-ffi's: each library reads the files of the other, as far as it has
//! their types. Nodes follow their parts, and the root is last; reading accepts any
//! order. Fields of type int, float, bool and dtype are inline in the object's node,
//! all other fields refer to a node by its number.
//!
//! | value | node |
//! |---|---|
//! | None, bool, int, float | `None` (no data), `bool`, `int`, `float` |
//! | int outside 64 bits | `ffi.BigInt`, decimal digits as a string |
//! | str, bytes | `ffi.String`, `ffi.Bytes` (base64) |
//! | dtype, device | `DataType` (its name), `Device` (kind and ordinal) |
//! | Array, List | `ffi.Array`, `ffi.List`: numbers of nodes |
//! | Map, Dict | `ffi.Map`, `ffi.Dict`: numbers of key and value in turn |
//! | Shape | `ffi.Shape`: the dimensions |
//! | Tensor | `ffi.Tensor`: `dtype`, `shape` and `data` (base64) |
//! | object | its type key: fields by name, or the output of its hook |
//!
//! Floats have the shortest digits that read back as the same float; NaN and the
//! infinities are written as `NaN`, `Infinity` and `-Infinity`, an extension of JSON.
//! All NaNs are read as one NaN.
//!
//! Absent: functions and opaque objects, which could not be read back, and cycles.

mod data;
mod lexer;
mod options;
mod reader;
mod scalars;
mod writer;

use std::io;

use crate::files::linearize::linearize;
use crate::kernel::error::Result;
use crate::kernel::value::Value;

pub use options::{JsonOptions, JsonReadOptions};

pub use data::read_data;
pub(crate) use data::read_data_at;
pub(crate) use data::write_data;

/// Writes a value as a JSON graph. The same value results in the same text every time.
///
/// Linear in the number of distinct objects; depth takes heap, not stack.
///
/// # Errors
///
/// `TypeError` for functions, opaque objects and metadata that is not JSON data;
/// `ValueError` for a value that contains itself, for a type key with another meaning
/// in the format, and for a singleton that reading would mistake for a registered
/// singleton. The error has the path.
///
/// ```
/// use isoform::Value;
/// use isoform::files::{from_json_graph, to_json_graph};
/// use isoform::values::List;
/// let shared = List::<Value>::from(vec![1.into()]);
/// let value = Value::from([shared.clone(), shared]);
/// let text = to_json_graph(&value)?;
/// assert_eq!(
///     text,
///     r#"{"root_index":2,"nodes":[{"type":"int","data":1},"#.to_owned()
///         + r#"{"type":"ffi.List","data":[0]},{"type":"ffi.Array","data":[1,1]}]}"#
/// );
/// let read = from_json_graph(&text)?;
/// let items = read.extract::<isoform::Array<List>>()?;
/// assert!(items.get(0).unwrap().same_as(items.get(1).unwrap()));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn to_json_graph(value: impl Into<Value>) -> Result<String> {
    JsonOptions::default().to_json_graph(value)
}

/// Reads the value of a JSON graph.
///
/// Takes time and memory proportional to the text, even for malicious input.
///
/// # Errors
///
/// `ValueError` for text that is not a JSON graph (with the node and the position in
/// the text), a node that is part of itself, unknown fields, and contents impossible in
/// a node; `TypeError` for unknown types, missing fields without a default, and values
/// that do not fit their field. Errors of hooks are passed on.
///
/// ```
/// use isoform::files::from_json_graph;
/// let text = r#"{"root_index":0,"nodes":[{"type":"ffi.Array","data":[1]},{"type":"None"}]}"#;
/// let read = from_json_graph(text)?;
/// assert_eq!(format!("{read:?}"), "[None]");
/// let error = from_json_graph(&text.replace("[1]", "[0]")).unwrap_err();
/// assert_eq!(error.message(), "JSON graph: node 0 (ffi.Array): the node is part of itself");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn from_json_graph(text: &str) -> Result<Value> {
    JsonReadOptions::default().read(text)
}

impl JsonOptions {
    /// [`to_json_graph`] with these options.
    ///
    /// # Errors
    ///
    /// As [`to_json_graph`].
    pub fn to_json_graph(&self, value: impl Into<Value>) -> Result<String> {
        let mut writer = writer::Writer::new();
        let count = linearize(&value.into(), &mut writer)?;
        writer.finish(count, self.metadata.as_ref())
    }

    /// Writes the value as a JSON graph; see [`to_json_graph`].
    ///
    /// Nothing is written of a value that cannot be written completely.
    ///
    /// # Errors
    ///
    /// The errors of [`to_json_graph`], and `OSError` if `output` fails.
    ///
    /// ```
    /// use isoform::files::JsonOptions;
    /// let mut output = Vec::new();
    /// JsonOptions::default().write(true, &mut output)?;
    /// assert_eq!(output, br#"{"root_index":0,"nodes":[{"type":"bool","data":true}]}"#);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn write(&self, value: impl Into<Value>, output: &mut dyn io::Write) -> Result<()> {
        Ok(output.write_all(self.to_json_graph(value)?.as_bytes())?)
    }
}

impl JsonReadOptions {
    /// [`from_json_graph`] with these options.
    ///
    /// # Errors
    ///
    /// As [`from_json_graph`].
    pub fn read(self, text: &str) -> Result<Value> {
        Ok(self.read_with_metadata(text)?.0)
    }

    /// Reads the value of a JSON graph, and the metadata, if any.
    ///
    /// # Errors
    ///
    /// As [`from_json_graph`].
    ///
    /// ```
    /// use isoform::files::{JsonOptions, JsonReadOptions};
    /// let text = JsonOptions::default().metadata("made by hand").to_json_graph(1)?;
    /// let (value, metadata) = JsonReadOptions::default().read_with_metadata(&text)?;
    /// assert_eq!((value, metadata), (1.into(), Some("made by hand".into())));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn read_with_metadata(self, text: &str) -> Result<(Value, Option<Value>)> {
        reader::Reader::new(text, self).document()
    }
}
