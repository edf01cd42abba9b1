//! Conversion of Python objects to values of a schema.

use isoform::errors::ErrorKind;
use isoform::hooks::{DynConvert, Hook};
use isoform::types::Schema;
use isoform::values::{Device, Dict, List, Shape};
use isoform::{Array, Map, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};
use smallvec::SmallVec;

use super::arrays::dtype_of_array;
use super::dtype_class;
use super::failure::{Failure, class_of};
use super::foreign::{foreign_part, is_structured};
use super::protocol::{self, Number, number_like};
use super::python_types::{dtype_of_instance, parse_dtype};
use super::untyped::{as_device, bytes_of, items_of, shown, untyped_part};
use super::value_class;
use crate::error::{IntoPyResult, to_python as raise};
use crate::object::wrapper;

#[cold]
fn mismatch(schema: &Schema, value: &Bound<'_, PyAny>) -> Failure {
    let got = match wrapper::core_of(value) {
        Some(core) if !core.type_info().is_builtin() => core.type_info().key().to_owned(),
        _ if value.is_none() => "None".to_owned(),
        _ => match dtype_of_array(value) {
            Some(dtype) => format!("{} of dtype {dtype}", class_of(value)),
            None => class_of(value),
        },
    };
    let note = if takes_int(schema) && value.is_instance_of::<PyInt>() {
        " out of the int64 range (isoform.BigInt takes any int)".to_owned()
    } else {
        wrapper::core_of(value).map_or_else(String::new, |core| {
            isoform::host::replaced_note(core.type_info())
        })
    };
    if matches!(schema, Schema::Literal(_))
        && let Ok(shown) = value.repr()
    {
        return Failure::Mismatch(format!("expected {schema}, got {shown}"));
    }
    Failure::Mismatch(format!("expected {schema}, got {got}{note}"))
}

/// True if an int fits unless it is too large.
fn takes_int(schema: &Schema) -> bool {
    match schema {
        Schema::Int => true,
        Schema::Optional(inner) => takes_int(inner),
        Schema::Union(options) => options.iter().any(takes_int),
        _ => false,
    }
}

/// Converts a value for a field: through the converter, then by the schema.
#[inline]
pub(crate) fn field(
    value: &Bound<'_, PyAny>,
    schema: &Schema,
    converter: Option<&Py<PyAny>>,
) -> Result<Value, Failure> {
    match converter {
        None => typed(value, schema),
        Some(converter) => typed(&converter.bind(value.py()).call1((value,))?, schema),
    }
}

/// Converts a Python object to a value that fits the schema.
///
/// # Errors
///
/// A mismatch with the expected and the actual type, and the position of an offending
/// element; exceptions from Python code.
#[inline]
pub(crate) fn typed(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    match schema {
        Schema::Object(ty) => {
            if let Some(core) = wrapper::core_of(value)
                && let Some(index) = ty.index()
                && isoform::host::extends(isoform::host::type_index_of(core), index)
            {
                return Ok(core.into());
            }
        }
        Schema::Int if value.is_exact_instance_of::<PyInt>() => {
            return match value.extract::<i64>() {
                Ok(number) => Ok(Value::from(number)),
                Err(_) => Err(mismatch(schema, value)),
            };
        }
        Schema::Any => return untyped_part(value),
        _ => {}
    }
    typed_slowly(value, schema)
}

fn typed_slowly(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    let otherwise = || match answered(value, schema)? {
        Some(converted) => Ok(converted),
        None => Err(mismatch(schema, value)),
    };
    match schema {
        Schema::Any => untyped_part(value),
        Schema::None if value.is_none() => Ok(Value::NONE),
        Schema::Bool => match number_like(value)? {
            Some(Number::Bool(flag)) => Ok(Value::from(flag)),
            Some(Number::Int(number)) => Ok(Value::from(number.truth_value())),
            _ => otherwise(),
        },
        Schema::BigInt => match number_like(value)? {
            Some(Number::Bool(flag)) => Ok(Value::from(i64::from(flag))),
            Some(Number::Int(number)) => Ok(number.value()?),
            _ => otherwise(),
        },
        Schema::Int => match number_like(value)? {
            Some(Number::Bool(flag)) => Ok(Value::from(i64::from(flag))),
            Some(Number::Int(number)) => match number.small() {
                Some(number) => Ok(Value::from(number)),
                None => Err(mismatch(schema, value)),
            },
            _ => otherwise(),
        },
        Schema::Float => match number_like(value)? {
            Some(Number::Bool(flag)) => Ok(Value::from(f64::from(u8::from(flag)))),
            Some(Number::Int(number)) => Ok(Value::from(number.float()?)),
            Some(Number::Float(number)) => Ok(Value::from(number)),
            None => otherwise(),
        },
        Schema::Str => match value.cast::<PyString>() {
            Ok(text) => Ok(Value::from(text.to_str().map_err(Failure::of_text)?)),
            Err(_) => through_protocol(value, schema),
        },
        Schema::Bytes => match bytes_of(value) {
            Some(bytes) => Ok(bytes),
            None => through_protocol(value, schema),
        },
        Schema::DType => dtype_of(value, schema),
        Schema::Device => device_of(value, schema),
        Schema::Shape => shape_of(value, schema),
        Schema::Optional(_) if value.is_none() => Ok(Value::NONE),
        Schema::Optional(inner) => match answered(value, schema)? {
            Some(converted) => Ok(converted),
            None => typed(value, inner).map_err(|error| match error {
                // The message of the inner type's hook is more useful.
                Failure::Mismatch(message)
                    if message.starts_with("expected") && !message.contains(DynConvert::NAME) =>
                {
                    mismatch(schema, value)
                }
                other => other,
            }),
        },
        Schema::Union(options) => match answered(value, schema)? {
            Some(converted) => Ok(converted),
            None => union_of(value, schema, options),
        },
        Schema::Array(inner) => match items_of(value) {
            Some(items) => Ok(Array::from(elements(items, |_| inner)?).into()),
            None => through_protocol(value, schema),
        },
        Schema::List(inner) => match items_of(value) {
            Some(items) => Ok(List::from(elements(items, |_| inner)?).into()),
            None => through_protocol(value, schema),
        },
        Schema::Tuple(inner) => match items_of(value) {
            Some(items) if items.len() == inner.len() => {
                Ok(Array::from(elements(items, |position| &inner[position])?).into())
            }
            Some(items) => Err(Failure::Mismatch(format!(
                "expected {schema} of length {}, got length {}",
                inner.len(),
                items.len()
            ))),
            None => through_protocol(value, schema),
        },
        Schema::Map(pair) => match value.cast::<PyDict>() {
            Ok(entries) => Ok(Map::try_from_entries(entries_of(entries, pair)?)
                .into_py()?
                .into()),
            Err(_) => through_protocol(value, schema),
        },
        Schema::Dict(pair) => match value.cast::<PyDict>() {
            Ok(entries) => Ok(Dict::try_from_entries(entries_of(entries, pair)?)
                .into_py()?
                .into()),
            Err(_) => through_protocol(value, schema),
        },
        _ => through_protocol(value, schema),
    }
}

/// The result of an object's protocol, converted to the schema; None for an object
/// without protocol.
fn answered(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Option<Value>, Failure> {
    let Some((answer, protocol)) = protocol::value_of(value)? else {
        return Ok(None);
    };
    let from = || format!("{}.{protocol}()", class_of(value));
    match typed(&answer, schema) {
        Ok(converted) => Ok(Some(converted)),
        Err(failure) => Err(failure.restated(|message| format!("{message} from {}", from()))),
    }
}

/// Converts a value without a conversion rule: first without schema, then to the
/// schema.
fn through_protocol(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    if let Some(converted) = answered(value, schema)? {
        return Ok(converted);
    }
    let converted = untyped_part(value)?;
    if matches!(schema, Schema::Object(_))
        && let Some(object) = value_class::value_of(value)?
        && schema.check(&object).is_ok()
    {
        // A member of an enum that is also an int or a str.
        return Ok(object);
    }
    let foreign = match schema {
        Schema::Host(_) if is_structured(schema) => foreign_part(&converted),
        _ => None,
    };
    schema.convert(converted).map_err(|error| {
        if let Some(foreign) = foreign {
            return Failure::Mismatch(foreign);
        }
        let message = error.message();
        if !matches!(error.kind(), ErrorKind::Type | ErrorKind::Value) {
            Failure::Raised(raise(error))
        } else if message.starts_with("expected") && !message.contains(DynConvert::NAME) {
            mismatch(schema, value)
        } else {
            Failure::Mismatch(message.to_owned())
        }
    })
}

fn dtype_of(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    let Ok(name) = value.cast::<PyString>() else {
        return through_protocol(value, schema);
    };
    let dtype = match dtype_class(value.py()) {
        Some(class) if value.is_instance(class)? => dtype_of_instance(value)?,
        // Text that does not name a data type does not fit the field, like any other
        // unsuitable value.
        _ => parse_dtype(name.to_str()?)
            .map_err(|error| Failure::Mismatch(error.value(value.py()).to_string()))?,
    };
    Ok(Value::from(dtype))
}

fn device_of(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    if let Some(device) = as_device(value)? {
        return Ok(Value::from(device));
    }
    match value.cast::<PyString>() {
        Ok(name) => match name.to_str()?.parse::<Device>() {
            Ok(device) => Ok(Value::from(device)),
            Err(error) => Err(Failure::Mismatch(error.message().to_owned())),
        },
        Err(_) => match answered(value, schema)? {
            Some(converted) => Ok(converted),
            None => Err(mismatch(schema, value)),
        },
    }
}

fn shape_of(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    let Some(items) = items_of(value) else {
        return through_protocol(value, schema);
    };
    let numbers: Vec<i64> = elements(items, |_| &Schema::Int)?
        .iter()
        .filter_map(Value::as_int)
        .collect();
    Ok(Shape::from(numbers).into())
}

fn union_of(
    value: &Bound<'_, PyAny>,
    schema: &Schema,
    options: &[Schema],
) -> Result<Value, Failure> {
    // An option that fits without conversion takes precedence, in any order.
    let exact = |option: &&Schema| match option {
        Schema::None => value.is_none(),
        Schema::Bool => value.is_exact_instance_of::<PyBool>(),
        Schema::Int | Schema::BigInt => value.is_exact_instance_of::<PyInt>(),
        Schema::Float => value.is_exact_instance_of::<PyFloat>(),
        Schema::Str => value.is_exact_instance_of::<PyString>(),
        Schema::Bytes => value.is_exact_instance_of::<PyBytes>(),
        Schema::Literal(_) => true,
        // Another type may be convertible, but fitting options take precedence.
        Schema::Object(_) => {
            let object = match wrapper::core_of(value) {
                Some(core) => Some(core.into()),
                // An exception is raised again below.
                None => value_class::value_of(value).ok().flatten(),
            };
            object.is_some_and(|object| option.check(&object).is_ok())
        }
        _ => false,
    };
    // An exception here is raised again, and reported, below.
    let number = if options.iter().any(is_number) {
        number_like(value).ok().flatten()
    } else {
        None
    };
    let has_int = options
        .iter()
        .any(|option| matches!(option, Schema::Int | Schema::BigInt));
    // Next come the kinds nearest to a number, and last types, since their hooks can
    // accept nearly any value.
    let distance = |option: &&Schema| match (option, &number) {
        _ if exact(option) => 0,
        (Schema::Bool, Some(Number::Bool(_)))
        | (Schema::Int | Schema::BigInt, Some(Number::Int(_)))
        | (Schema::Float, Some(Number::Float(_))) => 1,
        (Schema::Int | Schema::BigInt, Some(Number::Bool(_)))
        | (Schema::Float, Some(Number::Int(_))) => 2,
        (Schema::Float, Some(Number::Bool(_))) | (Schema::Bool, Some(Number::Int(_))) => 3,
        (Schema::Object(_), _) => 4,
        _ => 1,
    };
    let mut nearest: SmallVec<[&Schema; 8]> = options.iter().collect();
    nearest.sort_by_key(distance);
    let mut raised = None;
    for option in nearest {
        // An int that is too large for the union's ints does not become a float.
        if has_int
            && matches!(
                (option, &number),
                (Schema::Float | Schema::Bool, Some(Number::Int(_)))
            )
        {
            continue;
        }
        match typed(value, option) {
            Ok(converted) => return Ok(converted),
            Err(Failure::Mismatch(_)) => {}
            Err(failure) => raised = raised.or(Some(failure)),
        }
    }
    Err(raised.unwrap_or_else(|| mismatch(schema, value)))
}

fn is_number(schema: &Schema) -> bool {
    matches!(
        schema,
        Schema::Bool | Schema::Int | Schema::BigInt | Schema::Float
    )
}

fn elements<'s>(
    items: Bound<'_, PyTuple>,
    schema: impl Fn(usize) -> &'s Schema,
) -> Result<Vec<Value>, Failure> {
    items
        .iter_borrowed()
        .enumerate()
        .map(|(position, item)| {
            typed(&item, schema(position))
                .map_err(|error| error.at(|| format!("element [{position}]")))
        })
        .collect()
}

fn entries_of(
    entries: &Bound<'_, PyDict>,
    pair: &(Schema, Schema),
) -> Result<Vec<(Value, Value)>, Failure> {
    let entries: Vec<_> = entries.iter().collect();
    entries
        .iter()
        .map(|(key, value)| {
            let new_key =
                typed(key, &pair.0).map_err(|error| error.at(|| format!("key {}", shown(key))))?;
            let new_value = typed(value, &pair.1)
                .map_err(|error| error.at(|| format!("value for key {}", shown(key))))?;
            Ok((new_key, new_value))
        })
        .collect()
}
