//! Small lists and dicts of plain values: most of those in fields of nodes.
//! They need no frames, no order of keys and no memo.

use super::leaf;
use crate::container::{ArrayObj, MapObj, is_plain_key};
use crate::object::table::Class;
use crate::object::view::ObjRef;
use crate::value::Value;

/// So many elements are looked at again wherever they are met. Longer ones are
/// remembered where they are shared, which keeps traversals linear.
const FEW: usize = 16;

/// The elements, if there are few, and none is an object.
#[inline]
pub(super) fn few_plain_items(content: ObjRef<'_>) -> Option<&[Value]> {
    let items = content.downcast::<ArrayObj>()?.items();
    let plain = |item: &Value| item.object_ref().is_none();
    (items.len() <= FEW && items.iter().all(plain)).then_some(items)
}

/// The map, if it has few entries, and no value is an object.
#[inline]
pub(super) fn few_plain_entries(content: ObjRef<'_>) -> Option<&MapObj> {
    let map = content.downcast::<MapObj>()?;
    let plain = |position| {
        map.entry(position)
            .is_some_and(|(key, value)| is_plain_key(key) && value.object_ref().is_none())
    };
    (map.len() <= FEW && (0..map.len()).all(plain)).then_some(map)
}

/// Whether two arrays, or two maps with their entries in the same order, hold
/// few plain values, and equal ones. Where not, they may be equal or not.
#[inline]
pub(super) fn few_plain_equal(left: ObjRef<'_>, right: ObjRef<'_>) -> bool {
    if let (Some(l), Some(r)) = (left.downcast::<ArrayObj>(), right.downcast::<ArrayObj>()) {
        let (l, r) = (l.items(), r.items());
        return l.len() == r.len()
            && l.len() <= FEW
            && l.iter().zip(r).all(|(l, r)| plain_equal(l, r));
    }
    let (Some(l), Some(r)) = (left.downcast::<MapObj>(), right.downcast::<MapObj>()) else {
        return false;
    };
    l.len() == r.len()
        && l.len() <= FEW
        && (0..l.len()).all(|position| match (l.entry(position), r.entry(position)) {
            (Some((left_key, left)), Some((right_key, right))) => {
                plain_equal(left_key, right_key) && plain_equal(left, right)
            }
            _ => false,
        })
}

/// Whether two values are equal and neither is an object other than a string.
#[inline]
fn plain_equal(left: &Value, right: &Value) -> bool {
    match (left.object_ref(), right.object_ref()) {
        (None, None) => leaf::plain_equal(left, right),
        (Some(l), Some(r)) => {
            let strings = [l, r].map(|side| side.info().class() == Class::Str);
            strings == [true; 2] && leaf::native_equal(l, r)
        }
        _ => false,
    }
}
