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

fn is_same(one: &Value, other: &Value) -> bool {
    let mut open = vec![(one.clone(), other.clone())];
    while let Some((one, other)) = open.pop() {
        match (one.view(), other.view()) {
            _ if one == other => {}
            _ if let (Some(one), Some(other)) = (one.as_array(), other.as_array())
                && one.len() == other.len() =>
            {
                open.extend(one.iter().cloned().zip(other.iter().cloned()));
            }
            _ if let (Some(one), Some(other)) = (one.as_map(), other.as_map())
                && one.len() == other.len() =>
            {
                for (key, value) in one.iter() {
                    let Some(known) = other.get(key) else {
                        return false;
                    };
                    open.push((value.clone(), known.clone()));
                }
            }
            (ValueRef::Shape(one), ValueRef::Shape(other)) if one[..] == other[..] => {}
            (ValueRef::Function(_), ValueRef::Function(_)) => {}
            (ValueRef::Object(one), ValueRef::Object(other))
                if one.type_index() == other.type_index() => {}
            _ => return false,
        }
    }
    true
}
