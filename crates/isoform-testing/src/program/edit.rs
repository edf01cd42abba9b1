//! One change of a compared field.

use std::collections::{HashMap, HashSet};

use super::super::generate::children;
use isoform::attrs::{self, Lookup};
use isoform::objects::{field_value, field_value_at};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema};
use isoform::values::{DType, Dict, Tensor, ValueRef};
use isoform::{Array, Map, Obj, Ref, Result, Value};

/// A different value for a field of the object with this number, counted in order of
/// construction.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) number: usize,
    pub(crate) field: usize,
    pub(crate) value: Value,
}

/// The values below a value visited by comparison; the value itself first, each object
/// once.
pub(super) fn compared(root: &Value) -> Vec<Value> {
    let mut seen = HashSet::new();
    let mut stack = vec![root.clone()];
    let mut values = Vec::new();
    while let Some(value) = stack.pop() {
        if let Some(object) = value.as_object()
            && !seen.insert(object.identity())
        {
            continue;
        }
        match value.view() {
            ValueRef::Object(object) if !object.type_info().is_builtin() => {
                stack.extend(compared_fields(object).map(|(_, _, value)| value));
            }
            ValueRef::Map(map) => stack.extend(map.keys().cloned()),
            ValueRef::Dict(dict) => stack.extend(dict.snapshot().keys().cloned()),
            _ => {}
        }
        if !matches!(value.view(), ValueRef::Object(_)) {
            stack.extend(children(&value));
        }
        values.push(value);
    }
    values
}

/// The compared fields of an object: position, definition, value.
fn compared_fields(object: &Ref<Obj>) -> impl Iterator<Item = (usize, &'static FieldDef, Value)> {
    let info = object.type_info();
    let fields = match info.kind() {
        // Compared by identity.
        Kind::None | Kind::Singleton => &[],
        _ => info.fields(),
    };
    let fields = fields.iter().enumerate();
    let object = object.clone();
    fields
        .filter(|(_, field)| field.field_flag() != FieldFlag::Ignore)
        .filter_map(move |(position, field)| {
            Some((position, field, field_value_at(&object, position)?))
        })
}

/// All edits of a value that was drawn by making these objects.
pub(crate) fn edits(root: &Value, objects: &[Ref<Obj>]) -> Result<Vec<Edit>> {
    let numbers: HashMap<u64, usize> = objects
        .iter()
        .enumerate()
        .map(|(number, object)| (object.identity(), number))
        .collect();
    let mut edits = Vec::new();
    for value in compared(root) {
        let Some(object) = value.as_object() else {
            continue;
        };
        let Some(number) = numbers.get(&object.identity()) else {
            continue;
        };
        for (field, definition, value) in compared_fields(object) {
            let edit = |value| Edit {
                number: *number,
                field,
                value,
            };
            edits.extend(changed(&value, definition.schema())?.map(edit));
        }
    }
    Ok(edits)
}

/// A value that differs from the given value and fits the same place.
fn changed(value: &Value, schema: &Schema) -> Result<Option<Value>> {
    Ok(Some(match value.view() {
        ValueRef::Bool(flag) => Value::from(!flag),
        ValueRef::Int(number) => Value::from(number.wrapping_add(1)),
        ValueRef::Float(1.0) => Value::from(2.0),
        ValueRef::Float(_) => Value::from(1.0),
        ValueRef::Str(text) => Value::from(format!("{text}x")),
        ValueRef::DType(dtype) if dtype == DType::INT32 => Value::from(DType::INT64),
        ValueRef::DType(_) => Value::from(DType::INT32),
        ValueRef::Tensor(tensor) => {
            let mut shape = tensor.shape().to_vec();
            shape.push(1);
            Tensor::new(tensor.dtype(), shape, tensor.data().clone())?.into()
        }
        ValueRef::Array(items) if !items.is_empty() => {
            let kept = items.len() - 1;
            items.values()[..kept]
                .iter()
                .cloned()
                .collect::<Array>()
                .into()
        }
        ValueRef::Map(map) if !map.is_empty() => map
            .iter()
            .skip(1)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Map>()
            .into(),
        // The keys of a module bind, so removing a key may move the first mismatch to
        // any use of the key.
        ValueRef::Dict(dict) if !dict.is_empty() && has_plain_keys(&dict.snapshot()) => dict
            .snapshot()
            .iter()
            .skip(1)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Dict>()
            .into(),
        ValueRef::Object(_) if matches!(schema, Schema::Optional(_)) => Value::NONE,
        ValueRef::Object(object) => return other_member(object, schema),
        _ => return Ok(None),
    }))
}

/// Another member of the enum that an object is a member of.
fn other_member(object: &Ref<Obj>, schema: &Schema) -> Result<Option<Value>> {
    let Some(names) = attrs::get(object.type_info().index(), "enum.members", Lookup::Exact) else {
        return Ok(None);
    };
    let names = names.extract::<Array>()?;
    let own = field_value(object, "name")?;
    let other = names.values().iter().find(|name| **name != own);
    other.map(|name| schema.convert(name.clone())).transpose()
}

/// The changes of a program that put another, earlier variable of the same class into a
/// field other than a definition.
pub(super) fn swaps(root: &Value, objects: &[Ref<Obj>]) -> Vec<Edit> {
    let numbers: HashMap<u64, usize> = objects
        .iter()
        .enumerate()
        .map(|(number, object)| (object.identity(), number))
        .collect();
    let number_of = |object: &Ref<Obj>| numbers.get(&object.identity()).copied();
    let mut swaps = Vec::new();
    for value in compared(root) {
        let Some((object, number)) = value
            .as_object()
            .and_then(|object| Some((object, number_of(object)?)))
        else {
            continue;
        };
        for (field, definition, value) in compared_fields(object) {
            let flag = definition.field_flag();
            let is_use = !matches!(flag, FieldFlag::Def | FieldFlag::DefSimple);
            let Some(var) = value.as_object().filter(|var| {
                is_use && var.type_info().kind() == Kind::Var && number_of(var).is_some()
            }) else {
                continue;
            };
            let others = objects[..number].iter().filter(|other| {
                other.type_info().index() == var.type_info().index() && !other.same_as(var)
            });
            swaps.extend(others.map(|other| Edit {
                number,
                field,
                value: other.into(),
            }));
        }
    }
    swaps
}

fn has_plain_keys(map: &Map) -> bool {
    map.keys().all(|key| key.as_str().is_some())
}

/// True if comparison of the value visits the object.
pub(crate) fn is_below(value: &Value, object: &Ref<Obj>) -> bool {
    compared(value).iter().any(|part| {
        let part = part.as_object().map(Ref::identity);
        part == Some(object.identity())
    })
}
