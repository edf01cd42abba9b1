//! Realistic edits, and the requirements on every change of a difference.

use std::collections::{HashMap, HashSet};

use isoform::compare::{Change, ChangeKind, Difference};
use isoform::paths::AccessStep;
use isoform::types::Kind;
use isoform::values::ValueRef;
use isoform::{Array, Map, Obj, Ref, Value};

use super::generate::children;
use super::pair::Pair;
use super::source::Source;
use super::transform::replace_child;

/// The value after one edit of its structure: a part taken elsewhere, repeated, or put into
/// another node, or an entry under another key. The value itself if no edit applies.
pub(super) fn restructured(value: &Value, source: &mut Source<'_>) -> Value {
    let all = objects(value);
    let replace = |value: &Value, old: &Value, new: Value| {
        replace_everywhere(value, old, &new, &mut HashMap::new())
    };
    let lists: Vec<Value> = (all.iter().map(Value::from))
        .filter(
            |value| matches!(value.view(), ValueRef::Array(array) if !array.values().is_empty()),
        )
        .collect();
    let choice = source.below(4);
    match choice {
        0 | 1 if !lists.is_empty() => {
            let (from, to) = (source.pick(&lists).clone(), source.pick(&lists).clone());
            let mut items = children(&from);
            let index = source.below(items.len());
            let item = items[index].clone();
            let is_same = same(&from, &to);
            let mut value = value.clone();
            if choice == 0 {
                items.remove(index);
                if !is_same {
                    value = replace(&value, &from, items.clone().into());
                }
            }
            let mut others = if is_same { items } else { children(&to) };
            others.insert(source.below(others.len() + 1), item);
            replace(&value, &to, others.into())
        }
        2 => {
            let nodes: Vec<&Ref<Obj>> = (all.iter())
                .filter(|object| !object.type_info().is_builtin())
                .collect();
            if nodes.is_empty() {
                return value.clone();
            }
            let (inner, outer) = (
                Value::from(*source.pick(&nodes)),
                Value::from(*source.pick(&nodes)),
            );
            let count = children(&outer).len();
            if count == 0 {
                return value.clone();
            }
            let around = replace_child(&outer, source.below(count), inner.clone());
            replace(value, &inner, around)
        }
        _ => {
            let values: Vec<Value> = all.iter().map(Value::from).collect();
            let maps: Vec<&Map> = (values.iter())
                .filter_map(|value| match value.view() {
                    ValueRef::Map(map) => Some(map),
                    _ => None,
                })
                .filter(|map| map.keys().any(|key| key.as_str().is_some()))
                .collect();
            if maps.is_empty() {
                return value.clone();
            }
            let map = *source.pick(&maps);
            let index = source.below(map.len());
            let renamed = |(position, (key, part)): (usize, (&Value, &Value))| match key.as_str() {
                Some(name) if position == index => {
                    (Value::from(format!("{name}_new")), part.clone())
                }
                _ => (key.clone(), part.clone()),
            };
            let entries: Map = map.iter().enumerate().map(renamed).collect();
            replace(value, &Value::from(map.clone()), entries.into())
        }
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_object(), other.as_object()) {
        (Some(one), Some(other)) => one.same_as(other),
        _ => false,
    }
}

/// Checks each change of a difference separately, with independent counts.
///
/// # Errors
///
/// An account of what does not hold.
pub(super) fn check_changes(pair: &Pair, difference: &Difference) -> Result<(), String> {
    let has_moves = difference
        .changes()
        .iter()
        .any(|change| change.kind() == ChangeKind::Moved);
    for change in difference.changes() {
        let sides = (change.left().is_some(), change.right().is_some());
        let expected = match change.kind() {
            ChangeKind::Inserted => (false, true),
            ChangeKind::Deleted => (true, false),
            _ => (true, true),
        };
        if sides != expected {
            return Err(format!("{change:?} has the sides {sides:?}"));
        }
        if change.paths().len() as u64 > change.count() {
            return Err(format!("{change:?} has more places than occurrences"));
        }
        for (value, size) in [
            (change.left(), change.left_size()),
            (change.right(), change.right_size()),
        ] {
            check_size(change, value, size, has_moves)?;
        }
        check_places(pair, change)?;
    }
    Ok(())
}

/// The size of a part on only one side, or of a replaced part, is its number of nodes.
fn check_size(
    change: &Change,
    value: Option<&Value>,
    size: u64,
    has_moves: bool,
) -> Result<(), String> {
    let Some(value) = value else {
        return match size {
            0 => Ok(()),
            _ => Err(format!("{change:?}: {size} nodes of nothing")),
        };
    };
    let is_counted = matches!(
        change.kind(),
        ChangeKind::Inserted | ChangeKind::Deleted | ChangeKind::Moved
    );
    if !is_counted {
        return Ok(());
    }
    // The operands of a dag node stay; or the node was there before, and is used once
    // more.
    let counts = if is_dag(value) {
        vec![count(value, true), 1]
    } else {
        vec![count(value, false)]
    };
    let is_right = counts.contains(&size) || (has_moves && counts.iter().any(|&all| size < all));
    if is_right || counts.iter().any(|&all| all >= LARGE) {
        Ok(())
    } else {
        Err(format!("{change:?}: {size} nodes, counted {counts:?}"))
    }
}

/// Values with more nodes than this are not counted.
const LARGE: u64 = 10_000;

fn is_dag(value: &Value) -> bool {
    let info = value.as_object().map(|object| object.type_info());
    info.is_some_and(|info| info.kind() == Kind::Dag && !info.is_builtin())
}

/// The number of nodes in a value at all of their places, at least one.
fn count(value: &Value, without_dags: bool) -> u64 {
    let mut sum = 0;
    let mut stack = vec![compared(value)];
    let is_node = |value: &Value| {
        value
            .as_object()
            .is_some_and(|object| !object.type_info().is_builtin())
    };
    sum += u64::from(is_node(value));
    while let Some(parts) = stack.pop() {
        for part in parts {
            if without_dags && is_dag(&part) || sum > LARGE {
                continue;
            }
            sum += u64::from(is_node(&part));
            stack.push(compared(&part));
        }
    }
    sum.max(1)
}

/// The parts of a value examined by comparison, keys included.
pub(super) fn compared(value: &Value) -> Vec<Value> {
    use isoform::types::FieldFlag;
    match value.view() {
        // The fields of a variable belong to its definition.
        ValueRef::Object(object) if object.type_info().kind() == Kind::Var => Vec::new(),
        ValueRef::Object(object) => {
            let fields = object.type_info().fields().iter().zip(children(value));
            let kept = fields.filter(|(field, _)| field.field_flag() != FieldFlag::Ignore);
            kept.map(|(_, part)| part).collect()
        }
        ValueRef::Map(map) => map.keys().cloned().chain(children(value)).collect(),
        ValueRef::Dict(dict) => {
            let keys: Vec<Value> = dict.snapshot().keys().cloned().collect();
            keys.into_iter().chain(children(value)).collect()
        }
        _ => children(value),
    }
}

/// Paths lead to the values of a change.
fn check_places(pair: &Pair, change: &Change) -> Result<(), String> {
    let sides = [
        (change.left_path(), change.left(), &pair.left),
        (change.right_path(), change.right(), &pair.right),
    ];
    for (path, value, root) in sides {
        let Some(value) = value else { continue };
        // Some object keys cannot be looked up.
        let is_object = |step: &AccessStep| matches!(step, AccessStep::MapItem(key) if key.as_object().is_some() && key.as_str().is_none());
        if change.kind() == ChangeKind::KeyRenamed || path.steps().iter().any(is_object) {
            continue;
        }
        let part = path.get(root);
        let is_there = part.is_ok_and(|part| {
            let pair = |value: &Value| Array::from(vec![value.clone()]);
            format!("{:?}", pair(&part)) == format!("{:?}", pair(value))
        });
        if !is_there {
            return Err(format!(
                "{change:?}: there is nothing like {value:?} at {path}"
            ));
        }
    }
    Ok(())
}

/// The distinct objects in a value.
pub(super) fn objects(value: &Value) -> Vec<Ref<Obj>> {
    reachable(value, |value| {
        let keys: Vec<Value> = match value.view() {
            ValueRef::Map(map) => map.keys().cloned().collect(),
            ValueRef::Dict(dict) => dict.snapshot().keys().cloned().collect(),
            _ => Vec::new(),
        };
        children(value).into_iter().chain(keys).collect()
    })
}

/// The distinct objects in a value, with the objects among their parts.
pub(super) fn reachable(value: &Value, parts: impl Fn(&Value) -> Vec<Value>) -> Vec<Ref<Obj>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut stack = vec![value.clone()];
    while let Some(value) = stack.pop() {
        let object = value.as_object();
        if let Some(object) = object.filter(|object| seen.insert(object.identity())) {
            found.push(object.clone());
            stack.extend(parts(&value));
        }
    }
    found
}

/// Replaces one object at all places in the value.
pub(super) fn replace_everywhere(
    value: &Value,
    target: &Value,
    new: &Value,
    done: &mut HashMap<u64, Value>,
) -> Value {
    let Some(object) = value.as_object() else {
        return value.clone();
    };
    if target
        .as_object()
        .is_some_and(|target| target.same_as(object))
    {
        return new.clone();
    }
    if let Some(copy) = done.get(&object.identity()) {
        return copy.clone();
    }
    let mut copy = value.clone();
    for (position, child) in children(value).iter().enumerate() {
        let replaced = replace_everywhere(child, target, new, done);
        let is_same = match (replaced.as_object(), child.as_object()) {
            (Some(replaced), Some(child)) => replaced.same_as(child),
            (replaced, child) => replaced.is_none() && child.is_none(),
        };
        if !is_same {
            copy = replace_child(&copy, position, replaced);
        }
    }
    done.insert(object.identity(), copy.clone());
    copy
}
