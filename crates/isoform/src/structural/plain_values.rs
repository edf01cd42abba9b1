//! Values without parts: inline values, strings, numbers, shapes and tensors, which need
//! no frame and no memo. The file has their contributions to hashes, and the comparison of
//! a few of them in an array or map, the usual contents of lists and dicts in fields of nodes.

use super::leaf;
use super::sink::{Part, Sink};
use crate::kernel::container::{BytesObj, Entries, ShapeObj, StrObj, TensorObj, is_plain_key};
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::raw_value::Tag;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::value::{BigIntObj, Value, canonical_float_bits};

/// Up to this many values are compared again wherever the walk meets them. Larger
/// contents are remembered if they are shared, which keeps traversals linear.
const FEW: usize = 16;

/// The elements, if there are few and none is an object.
#[inline]
pub(super) fn few_plain_items(content: ObjRef<'_>) -> Option<&[Value]> {
    let items = content.items()?;
    (items.len() <= FEW && items.iter().all(is_inline)).then_some(items)
}

/// The map, if it has few entries and no value is an object.
#[inline]
pub(super) fn few_plain_entries(content: ObjRef<'_>) -> Option<&Entries> {
    let map = content.entries()?;
    let is_plain = |(key, value)| is_plain_key(key) && is_inline(value);
    let mut entries = (0..map.len()).map(|position| map.entry(position));
    (map.len() <= FEW && entries.all(|entry| entry.is_some_and(is_plain))).then_some(map)
}

/// True if two arrays contain the same few plain values, or two maps the same
/// few entries in the same order. Otherwise they may be equal or different.
#[inline]
pub(super) fn few_plain_equal(left: ObjRef<'_>, right: ObjRef<'_>) -> bool {
    if let (Some(l), Some(r)) = (left.items(), right.items()) {
        return l.len() == r.len()
            && l.len() <= FEW
            && l.iter().zip(r).all(|(l, r)| inline_equal(l, r));
    }
    let (Some(l), Some(r)) = (left.entries(), right.entries()) else {
        return false;
    };
    let same = |position| match (l.entry(position), r.entry(position)) {
        (Some((left_key, left)), Some((right_key, right))) => {
            inline_equal(left_key, right_key) && inline_equal(left, right)
        }
        _ => false,
    };
    l.len() == r.len() && l.len() <= FEW && (0..l.len()).all(same)
}

/// As [`few_plain_equal`], also for two lists or dicts; false for any other two objects
/// of one class. Requests the memory further on, where the next containers are.
#[inline(always)]
pub(super) fn few_plain_held_equal(
    section: &Section,
    left: ObjRef<'_>,
    right: ObjRef<'_>,
    class: Payload,
) -> bool {
    match class {
        Payload::Mutable => {
            prefetch_ahead(left);
            prefetch_ahead(right);
            let (Some(left), Some(right)) = (left.held(section), right.held(section)) else {
                return false;
            };
            prefetch_ahead(left);
            prefetch_ahead(right);
            few_plain_equal(left, right)
        }
        Payload::Sequence | Payload::Mapping => few_plain_equal(left, right),
        _ => false,
    }
}

#[inline]
fn is_inline(value: &Value) -> bool {
    value.object_ref().is_none()
}

/// True if two values are equal and neither is an object.
#[inline]
fn inline_equal(left: &Value, right: &Value) -> bool {
    is_inline(left) && is_inline(right) && leaf::plain_equal(left, right)
}

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
