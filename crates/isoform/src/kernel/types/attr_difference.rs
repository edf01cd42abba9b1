//! Comparison of the attributes set by two definitions of a type.

use crate::kernel::value::{Value, ValueRef};

/// The name of an attribute missing in one definition, or with different values in the
/// two.
///
/// A definition is rebuilt whenever its Rust type is registered, together with the
/// values: constants are compared by content, through nested arrays and maps. Functions
/// and nodes have no content to compare without running user code: two of the same type
/// count as equal.
pub(super) fn attr_difference<'a>(
    own: &'a [(Box<str>, Value)],
    other: &'a [(Box<str>, Value)],
) -> Option<&'a str> {
    let find = |list: &'a [(Box<str>, Value)], name: &str| {
        let mut found = list.iter().filter(|(known, _)| **known == *name);
        found.next().map(|(_, value)| value)
    };
    let differs = |(name, value): &&'a (Box<str>, Value)| {
        find(other, name).is_none_or(|known| !is_same(known, value))
    };
    let mut differing = own.iter().filter(differs);
    let missing = || other.iter().find(|(name, _)| find(own, name).is_none());
    let (name, _) = differing.next().or_else(missing)?;
    Some(name)
}

fn is_same(left: &Value, right: &Value) -> bool {
    let mut open = vec![(left.clone(), right.clone())];
    while let Some((left, right)) = open.pop() {
        match (left.view(), right.view()) {
            _ if left == right => {}
            _ if let (Some(left), Some(right)) = (left.as_array(), right.as_array())
                && left.len() == right.len() =>
            {
                open.extend(left.iter().cloned().zip(right.iter().cloned()));
            }
            _ if let (Some(left), Some(right)) = (left.as_map(), right.as_map())
                && left.len() == right.len() =>
            {
                for (key, value) in left.iter() {
                    let Some(partner) = right.get(key) else {
                        return false;
                    };
                    open.push((value.clone(), partner.clone()));
                }
            }
            (ValueRef::Shape(left), ValueRef::Shape(right)) if left[..] == right[..] => {}
            (ValueRef::Function(_), ValueRef::Function(_)) => {}
            (ValueRef::Object(left), ValueRef::Object(right))
                if left.type_index() == right.type_index() => {}
            _ => return false,
        }
    }
    true
}
