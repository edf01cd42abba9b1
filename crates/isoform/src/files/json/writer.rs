//! Nodes as JSON text.

use std::fmt::Write;

use base64::prelude::{BASE64_STANDARD, Engine};

use super::data::write_data;
use super::scalars::{push_big, push_float, push_string};
use crate::files::linearize::Sink;
use crate::kernel::container::ContainerType;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Section;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::value::{DType, DTypeCode, Value, ValueRef};

/// The text before the nodes has room for the largest number of nodes.
const HEAD: usize = r#"{"root_index":4294967295,"nodes":["#.len();

/// Names of types with another meaning in the format, besides containers.
const RESERVED: [&str; 13] = [
    "None",
    "bool",
    "int",
    "float",
    "DataType",
    "Device",
    "ffi.String",
    "ffi.SmallStr",
    "ffi.SmallBytes",
    "ffi.Bytes",
    "ffi.BigInt",
    "ffi.Shape",
    "ffi.Tensor",
];

/// The text written before; every node ends with a comma.
pub(super) struct Writer {
    out: String,
    // By type index; filled in only for types in use.
    plans: Vec<Option<Plan>>,
}

/// The text around the fields of one type.
struct Plan {
    /// The text before each field, for the first field including the node's head.
    pieces: Box<[Box<str>]>,
    /// The whole node, for a type without fields.
    empty: Box<str>,
}

impl Writer {
    pub(super) fn new() -> Self {
        Writer {
            out: " ".repeat(HEAD),
            plans: Vec::new(),
        }
    }

    /// The complete text.
    pub(super) fn finish(mut self, count: u32, metadata: Option<&Value>) -> Result<String> {
        self.out.pop();
        self.out.push(']');
        if let Some(metadata) = metadata {
            self.out.push_str(r#","metadata":"#);
            write_data(metadata, &mut self.out)?;
        }
        self.out.push('}');
        // The root is the last node: its number is unknown before this line.
        let head = format!(r#"{{"root_index":{},"nodes":["#, count.saturating_sub(1));
        self.out.replace_range(..HEAD, &head);
        Ok(self.out)
    }

    fn simple(&mut self, key: &str, data: impl FnOnce(&mut String) -> Result<()>) -> Result<()> {
        self.out.push_str(r#"{"type":""#);
        self.out.push_str(key);
        self.out.push_str(r#"","data":"#);
        data(&mut self.out)?;
        self.out.push_str("},");
        Ok(())
    }

    #[cold]
    fn make_plan(&mut self, info: &'static TypeInfo) -> Result<()> {
        let head = object_head(info)?;
        let mut pieces: Vec<Box<str>> = Vec::new();
        for (position, field) in info.fields().iter().enumerate() {
            let mut piece = if position == 0 {
                format!("{head}{{")
            } else {
                ",".to_owned()
            };
            push_string(field.name(), &mut piece);
            piece.push(':');
            pieces.push(piece.into());
        }
        let index = info.index().get() as usize;
        if self.plans.len() <= index {
            self.plans.resize_with(index + 1, || None);
        }
        self.plans[index] = Some(Plan {
            pieces: pieces.into(),
            empty: format!("{head}{{}}}},").into(),
        });
        Ok(())
    }
}

/// The start of a node, up to its data.
fn object_head(info: &TypeInfo) -> Result<String> {
    if info.is_builtin() {
        return Err(Error::type_error(format!(
            "expected a value that can be written to a file, got {}",
            info.key()
        )));
    }
    if RESERVED.contains(&info.key()) || ContainerType::of_json(info.key()).is_some() {
        return Err(Error::value_error(format!(
            "the type key {} means something else in a JSON graph",
            info.key()
        )));
    }
    let mut head = r#"{"type":"#.to_owned();
    push_string(info.key(), &mut head);
    head.push_str(r#","data":"#);
    Ok(head)
}

impl Sink for Writer {
    fn plain(&mut self, value: ValueRef<'_>) -> Result<()> {
        match value {
            ValueRef::None => {
                self.out.push_str(r#"{"type":"None"},"#);
                Ok(())
            }
            ValueRef::Bool(flag) => self.simple("bool", |out| {
                out.push_str(if flag { "true" } else { "false" });
                Ok(())
            }),
            ValueRef::Int(number) => self.simple("int", |out| {
                out.push_str(itoa::Buffer::new().format(number));
                Ok(())
            }),
            ValueRef::Float(number) => self.simple("float", |out| {
                push_float(number, out);
                Ok(())
            }),
            ValueRef::BigInt(number) => self.simple("ffi.BigInt", |out| {
                out.push('"');
                push_big(number, out)?;
                out.push('"');
                Ok(())
            }),
            ValueRef::DType(dtype) => self.simple("DataType", |out| push_dtype(dtype, out)),
            ValueRef::Device(device) => self.simple("Device", |out| {
                push_ints([device.kind(), device.ordinal()], out);
                Ok(())
            }),
            ValueRef::Str(text) => self.simple("ffi.String", |out| {
                push_string(text, out);
                Ok(())
            }),
            ValueRef::Bytes(bytes) => self.simple("ffi.Bytes", |out| {
                push_base64(bytes, out);
                Ok(())
            }),
            ValueRef::Shape(shape) => self.simple("ffi.Shape", |out| {
                push_ints(shape.iter().copied(), out);
                Ok(())
            }),
            ValueRef::Tensor(tensor) => self.simple("ffi.Tensor", |out| {
                out.push_str(r#"{"dtype":"#);
                push_dtype(tensor.dtype(), out)?;
                out.push_str(r#","shape":"#);
                push_ints(tensor.shape().iter().copied(), out);
                out.push_str(r#","data":"#);
                push_base64(tensor.data(), out);
                out.push('}');
                Ok(())
            }),
            _ => Err(Error::type_error("expected a value without parts")),
        }
    }

    fn container(&mut self, container: &ContainerType, parts: &[u32], _number: u32) {
        self.out.push_str(r#"{"type":""#);
        self.out.push_str(container.json);
        self.out.push_str(r#"","data":"#);
        push_ints(parts.iter().copied(), &mut self.out);
        self.out.push_str("},");
    }

    #[inline]
    fn object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        parts: &[u32],
        _number: u32,
    ) -> Result<()> {
        let info = object.info();
        let index = info.index().get() as usize;
        if !matches!(self.plans.get(index), Some(Some(_))) {
            self.make_plan(info)?;
        }
        let (Some(Some(plan)), out) = (self.plans.get(index), &mut self.out) else {
            return Ok(());
        };
        let fields = object.all_fields();
        if fields.len() == 0 {
            out.push_str(&plan.empty);
            return Ok(());
        }
        let mut parts = parts.iter();
        for (position, piece) in plan.pieces.iter().enumerate() {
            out.push_str(piece);
            let Some((_, loaded)) = fields.get(section, position) else {
                break;
            };
            match loaded {
                Loaded::Int(number) => out.push_str(itoa::Buffer::new().format(number)),
                Loaded::Float(number) => push_float(number, out),
                Loaded::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
                Loaded::DType(dtype) => push_dtype(dtype, out)?,
                Loaded::Value(_) | Loaded::Object(_) | Loaded::None => {
                    if let Some(&part) = parts.next() {
                        out.push_str(itoa::Buffer::new().format(part));
                    }
                }
            }
        }
        out.push_str("}},");
        Ok(())
    }

    fn hooked(&mut self, info: &'static TypeInfo, data: &Value) -> Result<()> {
        self.out.push_str(&object_head(info)?);
        write_data(data, &mut self.out)?;
        self.out.push_str("},");
        Ok(())
    }
}

fn push_ints<N: itoa::Integer>(numbers: impl IntoIterator<Item = N>, out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    out.push('[');
    for (position, number) in numbers.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(buffer.format(number));
    }
    out.push(']');
}

/// The data type `void`, with an empty name in files.
pub(super) const VOID: DType = DType::new(DTypeCode::Handle, 0).with_lanes(0);

fn push_dtype(dtype: DType, out: &mut String) -> Result<()> {
    if dtype == VOID {
        out.push_str("\"\"");
    } else if dtype.bits() == 0 || dtype.lanes() == 0 {
        return Err(Error::value_error(format!(
            "the dtype {dtype} has no bits and no name"
        )));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(out, "\"{dtype}\"");
    }
    Ok(())
}

fn push_base64(bytes: &[u8], out: &mut String) {
    out.push('"');
    BASE64_STANDARD.encode_string(bytes, out);
    out.push('"');
}
