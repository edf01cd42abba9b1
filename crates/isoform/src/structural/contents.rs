//! A few plain values in an array or map, the usual contents of lists and dicts in
//! fields of nodes. Such contents need no frame and no memo.

use super::leaf;
use crate::kernel::container::{Entries, is_plain_key};
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::view::ObjRef;
use crate::kernel::value::Value;

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
