//! Comparison of values without children: plain values, strings, tensors.

use crate::kernel::container::{BytesObj, ShapeObj, StrObj, TensorObj};
use crate::kernel::object::access::Section;
use crate::kernel::object::class::VisitShape;
use crate::kernel::object::pair::{FieldPair, ObjPair};
use crate::kernel::object::raw_value::Tag;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::value::{BigIntObj, Value};

/// Floats are equal by bits, and all NaNs are equal.
#[inline(always)]
pub(super) fn floats_equal(left: f64, right: f64) -> bool {
    left.to_bits() == right.to_bits() || (left.is_nan() && right.is_nan())
}

/// Equality of two values that are not both objects.
#[inline(always)]
pub(super) fn plain_equal(left: &Value, right: &Value) -> bool {
    if left.words() == right.words() {
        return true;
    }
    left.tag() == Tag::Float
        && right.tag() == Tag::Float
        && floats_equal(f64::from_bits(left.bits()), f64::from_bits(right.bits()))
}

/// Equality of the fields of nodes that have no children.
#[inline(always)]
pub(super) fn fields_equal(section: &Section, pair: ObjPair<'_>) -> bool {
    let mut position = 0;
    while let Some((_, both)) = pair.visited(section, position) {
        position += 1;
        let equal = match both {
            FieldPair::Same(same) => same,
            FieldPair::Floats(l, r) => floats_equal(l, r),
            FieldPair::Values(..) | FieldPair::Objects(..) => false,
        };
        if !equal {
            return false;
        }
    }
    true
}

/// Plain nodes with at most this many fields, all of them leaves, are not remembered: a
/// second visit costs no more than a look-up.
const FEW_FIELDS: usize = 4;

/// True if a plain node contains only a few leaves.
#[inline(never)]
pub(super) fn holds_few_leaves(
    section: &Section,
    object: ObjRef<'_>,
    info: &'static TypeInfo,
) -> bool {
    let fields = object.visited_with(info);
    let count = info.visited.len();
    count <= FEW_FIELDS
        && (0..count).all(|position| match fields.get(section, position) {
            Some((_, Loaded::Object(child))) => child.info().shape().is_leaf(),
            Some((_, Loaded::Value(value))) => value.object_ref().is_none(),
            _ => true,
        })
}

/// True if two plain nodes contain only a few leaves.
#[inline(never)]
pub(super) fn hold_few_leaves(section: &Section, pair: ObjPair<'_>) -> bool {
    let count = pair.info().visited.len();
    count <= FEW_FIELDS
        && (0..count).all(|position| match pair.visited(section, position) {
            Some((_, FieldPair::Objects(l, r))) => {
                l.info().shape().is_leaf() && r.info().shape().is_leaf()
            }
            Some((_, FieldPair::Values(l, r))) => {
                l.object_ref().is_none() && r.object_ref().is_none()
            }
            Some((_, FieldPair::Same(same))) => same,
            _ => true,
        })
}

/// Equality of two nodes of one type without children, for which no tables are needed;
/// None for any other pair.
#[inline]
pub(super) fn childless_equal(
    section: &Section,
    left: ObjRef<'_>,
    right: ObjRef<'_>,
) -> Option<bool> {
    let pair = ObjPair::new(left, right)?;
    (pair.info().shape() == VisitShape::Leaf).then(|| fields_equal(section, pair))
}

/// Equality of two strings, byte strings, large integers or shapes.
pub(super) fn native_equal(left: ObjRef<'_>, right: ObjRef<'_>) -> bool {
    macro_rules! same {
        ($payload:ty, $field:tt) => {
            if let (Some(left), Some(right)) =
                (left.downcast::<$payload>(), right.downcast::<$payload>())
            {
                return left.$field == right.$field;
            }
        };
    }
    same!(StrObj, 0);
    same!(BytesObj, 0);
    same!(BigIntObj, 0);
    same!(ShapeObj, dims);
    false
}

/// Equality of two tensors: dtype, shape and, unless skipped, elements.
pub(super) fn tensors_equal(left: ObjRef<'_>, right: ObjRef<'_>, skip_content: bool) -> bool {
    let (Some(left), Some(right)) = (left.downcast::<TensorObj>(), right.downcast::<TensorObj>())
    else {
        return false;
    };
    if left.dtype != right.dtype || left.shape != right.shape {
        return false;
    }
    skip_content || elements_equal(left, right)
}

/// Bytes compared at once; small enough to stay in the first-level cache.
const CHUNK: usize = 1 << 14;

fn elements_equal(left: &TensorObj, right: &TensorObj) -> bool {
    let (l, r) = (&left.data[..], &right.data[..]);
    if l.as_ptr() == r.as_ptr() && l.len() == r.len() {
        return true;
    }
    let Some(rule) = left.nan_rule() else {
        return l == r;
    };
    // A chunk that differs may still be equal if the difference is between two NaNs.
    // CHUNK is a multiple of every element width.
    l.len() == r.len()
        && l.chunks(CHUNK).zip(r.chunks(CHUNK)).all(|(l, r)| {
            l == r
                || l.chunks_exact(rule.width)
                    .zip(r.chunks_exact(rule.width))
                    .all(|(l, r)| {
                        l == r || (rule.is_nan(element_bits(l)) && rule.is_nan(element_bits(r)))
                    })
        })
}

/// The bits of an element of at most eight little-endian bytes.
#[inline(always)]
pub fn element_bits(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// Passes on the tensor's bytes in pieces, with every NaN made canonical: equal tensors
/// yield equal bytes. Only chunks that contain a NaN are copied.
pub(super) fn canonical_chunks(tensor: &TensorObj, mut take: impl FnMut(&[u8])) {
    let Some(rule) = tensor.nan_rule() else {
        take(&tensor.data);
        return;
    };
    // Runs of chunks without a NaN are passed on as one piece.
    let data = &tensor.data[..];
    let mut clean_from = 0;
    let mut position = 0;
    while position < data.len() {
        let end = (position + CHUNK).min(data.len());
        let chunk = &data[position..end];
        if rule.any(chunk) {
            if clean_from < position {
                take(&data[clean_from..position]);
            }
            take(&canonical(chunk, rule));
            clean_from = end;
        }
        position = end;
    }
    if clean_from < data.len() {
        take(&data[clean_from..]);
    }
}

#[cold]
fn canonical(chunk: &[u8], rule: crate::kernel::container::NanRule) -> Vec<u8> {
    let mut copy = chunk.to_vec();
    for element in copy.chunks_exact_mut(rule.width) {
        if rule.is_nan(element_bits(element)) {
            element.copy_from_slice(&rule.canonical.to_le_bytes()[..rule.width]);
        }
    }
    copy
}
