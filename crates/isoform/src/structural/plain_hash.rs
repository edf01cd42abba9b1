//! The contributions of values without parts to a hash: inline values, strings,
//! numbers, shapes and tensors.

use super::leaf;
use super::sink::{Part, Sink};
use crate::kernel::container::{BytesObj, ShapeObj, StrObj, TensorObj};
use crate::kernel::object::raw_value::Tag;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::value::{BigIntObj, Value, canonical_float_bits};

/// Adds an inline value to its parent. Objects are left to the caller.
#[inline]
pub(super) fn add_inline<S: Sink>(sink: &mut S, acc: &mut S::Acc, value: &Value) {
    let bits = value.bits();
    match value.tag() {
        Tag::None => sink.word(acc, Part::None, 0),
        Tag::Bool => sink.word(acc, Part::Bool, bits),
        Tag::Int => sink.word(acc, Part::Int, bits),
        Tag::Float => sink.word(acc, Part::Float, canonical_float_bits(bits)),
        Tag::DType => sink.word(acc, Part::DType, bits),
        Tag::Device => sink.word(acc, Part::Device, bits),
        Tag::InlineStr => sink.bytes(acc, Part::Str, value.inline_text().as_bytes()),
        Tag::Object => {}
    }
}

/// Adds a field that holds no object; otherwise returns the object.
#[inline(always)]
pub(super) fn add_loaded<'a, S: Sink>(
    sink: &mut S,
    acc: &mut S::Acc,
    loaded: Loaded<'a, '_>,
) -> Option<ObjRef<'a>> {
    let (part, word) = match loaded {
        Loaded::Object(child) => return Some(child),
        Loaded::Value(value) => {
            let child = value.object_ref();
            if child.is_none() {
                add_inline(sink, acc, &value);
            }
            return child;
        }
        Loaded::None => (Part::None, 0),
        Loaded::Int(number) => (Part::Int, number as u64),
        Loaded::Float(number) => (Part::Float, canonical_float_bits(number.to_bits())),
        Loaded::Bool(flag) => (Part::Bool, u64::from(flag)),
        Loaded::DType(dtype) => (Part::DType, u64::from(dtype.to_bits())),
    };
    sink.word(acc, part, word);
    None
}

/// The hash of an object of a built-in type without parts.
pub(super) fn of_native<S: Sink>(
    sink: &mut S,
    object: ObjRef<'_>,
    info: &TypeInfo,
    skip_tensor_content: bool,
) -> S::Out {
    let mut acc = sink.open_type(info);
    if let Some(text) = object.downcast::<StrObj>() {
        sink.bytes(&mut acc, Part::Str, text.0.as_bytes());
    } else if let Some(bytes) = object.downcast::<BytesObj>() {
        sink.bytes(&mut acc, Part::Bytes, &bytes.0);
    } else if let Some(number) = object.downcast::<BigIntObj>() {
        sink.bytes(&mut acc, Part::BigInt, &number.0.to_signed_bytes_le());
    } else if let Some(shape) = object.downcast::<ShapeObj>() {
        add_dims(sink, &mut acc, &shape.dims);
    } else if let Some(tensor) = object.downcast::<TensorObj>() {
        sink.word(&mut acc, Part::DType, u64::from(tensor.dtype.to_bits()));
        add_dims(sink, &mut acc, &tensor.shape);
        if !skip_tensor_content {
            sink.content(&mut acc, &mut |take| leaf::canonical_chunks(tensor, take));
        }
    }
    sink.close(acc)
}

fn add_dims<S: Sink>(sink: &mut S, acc: &mut S::Acc, dims: &[i64]) {
    sink.word(acc, Part::Length, dims.len() as u64);
    for &dim in dims {
        sink.word(acc, Part::Dim, dim as u64);
    }
}
