//! Versions of operators that mean the same.
//!
//! Most versions of an operator only allow more types, or add an attribute whose
//! default keeps the old behaviour. A call is converted to the newest version with the
//! same meaning, to compare calls of two operator sets. The table lists the versions
//! with equal meanings.

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Str, Value, structural_equal};

use super::table::{Schema, later};
use crate::ir::Call;

/// The newest version in which a call keeps its meaning, and the form of the call
/// there.
#[derive(Debug)]
pub(crate) struct Meaning {
    /// The schema of that version.
    pub(crate) schema: &'static Schema,
    /// The attributes that the call lacks there.
    pub(crate) left_out: Vec<Str>,
    /// The inputs there, if there are more.
    pub(crate) inputs: Option<Vec<Value>>,
}

/// Finds the newest version with the same meaning for a call with a schema. O(versions
/// × attributes).
pub(crate) fn meaning(call: &Call, schema: &'static Schema) -> Meaning {
    let mut meaning = Meaning {
        schema,
        left_out: Vec::new(),
        inputs: None,
    };
    for next in later(&call.domain, &call.op, schema.since) {
        let Some(continuation) = &next.continuation else {
            break;
        };
        let mut without = continuation.without.iter();
        if without.any(|name| gives(call, meaning.schema, name)) {
            break;
        }
        match moved(call, &meaning, &continuation.moved) {
            None => break,
            Some((_, names)) if names.is_empty() => {}
            Some((inputs, names)) => {
                meaning.inputs = Some(inputs);
                meaning.left_out.extend(names);
            }
        }
        meaning.schema = next;
    }
    // Both say into how many parts the input is split.
    let parts = Str::from("num_outputs");
    if call.is("Split")
        && attribute(call, parts.as_str()).and_then(Value::as_int) == Some(call.outputs)
    {
        meaning.left_out.push(parts);
    }
    meaning
}

fn attribute<'a>(call: &'a Call, name: &str) -> Option<&'a Value> {
    let mut attrs = call.attrs.iter();
    let found = attrs.find(|(key, _)| key.as_str() == name);
    found.map(|(_, value)| value)
}

/// True if a call gives an attribute another value than it has by default.
fn gives(call: &Call, schema: &Schema, name: &str) -> bool {
    let Some(value) = attribute(call, name) else {
        return false;
    };
    let default = schema.attribute(name).and_then(|it| it.default_value());
    !default.is_some_and(|default| structural_equal(value, default).unwrap_or(false))
}

/// The inputs with the attributes that became inputs, and the names of these
/// attributes. None if impossible: an attribute of a function has no value, and an
/// empty list differs from an omitted input.
fn moved(
    call: &Call,
    meaning: &Meaning,
    moves: &[(&'static str, usize)],
) -> Option<(Vec<Value>, Vec<Str>)> {
    let meaning_inputs = meaning.inputs.as_deref();
    let mut inputs = meaning_inputs.unwrap_or(call.inputs.values()).to_vec();
    let mut names = Vec::new();
    for (name, position) in moves {
        let Some(value) = attribute(call, name) else {
            continue;
        };
        let list = int_list(value)?;
        while inputs.len() <= *position {
            inputs.push(Value::NONE);
        }
        if !inputs[*position].is_none() {
            return None;
        }
        inputs[*position] = list;
        names.push(Str::from(*name));
    }
    Some((inputs, names))
}

/// An int or ints as a tensor of rank 1.
fn int_list(value: &Value) -> Option<Value> {
    let ints: Vec<i64> = match value.view() {
        ValueRef::Array(items) => {
            let items = items.values().iter().map(Value::as_int);
            items.collect::<Option<_>>()?
        }
        _ => vec![value.as_int()?],
    };
    if ints.is_empty() {
        return None;
    }
    let data: Vec<u8> = ints.iter().flat_map(|it| it.to_le_bytes()).collect();
    let tensor = Tensor::new(DType::INT64, vec![ints.len() as i64], data).ok()?;
    Some(tensor.into())
}
