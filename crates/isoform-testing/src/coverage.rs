//! Which classes of nodes a generator draws.

use std::collections::{BTreeMap, BTreeSet};

use isoform::Value;
use isoform::objects::field_value_at;
use isoform::values::ValueRef;

/// Counts the nodes of a value by class, each once, and those that occur in
/// more than one place.
pub fn count_nodes(root: &Value, classes: &mut BTreeMap<&'static str, usize>) -> usize {
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    let mut stack = vec![root.clone()];
    while let Some(value) = stack.pop() {
        match value.view() {
            ValueRef::Array(items) => stack.extend(items.values().iter().cloned()),
            ValueRef::List(items) => stack.extend(items.snapshot().values().iter().cloned()),
            ValueRef::Map(map) => {
                stack.extend(map.iter().flat_map(|(k, v)| [k.clone(), v.clone()]));
            }
            ValueRef::Dict(dict) => {
                let map = dict.snapshot();
                stack.extend(map.iter().flat_map(|(k, v)| [k.clone(), v.clone()]));
            }
            ValueRef::Object(object) => {
                if !seen.insert(object.identity()) {
                    shared.insert(object.identity());
                    continue;
                }
                let info = object.type_info();
                *classes.entry(info.key()).or_default() += 1;
                stack.extend(
                    (0..info.fields().len()).filter_map(|index| field_value_at(object, index)),
                );
            }
            _ => {}
        }
    }
    shared.len()
}
