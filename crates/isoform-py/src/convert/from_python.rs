//! Python objects as values of the core, with and without a schema.

use isoform::{
    Array, Bytes, Device, Dict, DynConvert, ErrorKind, Hook, List, Map, Schema, Shape, Value,
};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
};
use smallvec::SmallVec;

use super::arrays::from_protocol;
use super::failure::{Failure, class_of};
use super::protocol::{self, Integer, Number, number_like, numpy_dtype};
use super::python_types::{dtype_of_instance, parse_dtype};
use super::{HostObject, device_class, dtype_class, host_object, shape_class};
use crate::error::{IntoPyResult, to_python as raise};
use crate::object::wrapper;

#[cold]
fn mismatch(schema: &Schema, value: &Bound<'_, PyAny>) -> Failure {
    let got = match wrapper::core_of(value) {
        Some(core) if !core.type_info().is_builtin() => core.type_info().key().to_owned(),
        _ if value.is_none() => "None".to_owned(),
        _ => class_of(value),
    };
    let note = match takes_int(schema) && value.is_instance_of::<PyInt>() {
        true => " out of the int64 range",
        false => "",
    };
    if matches!(schema, Schema::Literal(_))
        && let Ok(shown) = value.repr()
    {
        return Failure::Mismatch(format!("expected {schema}, got {shown}"));
    }
    Failure::Mismatch(format!("expected {schema}, got {got}{note}"))
}

/// Whether an int fits unless it is too large.
fn takes_int(schema: &Schema) -> bool {
    match schema {
        Schema::Int => true,
        Schema::Optional(inner) => takes_int(inner),
        Schema::Union(options) => options.iter().any(takes_int),
        _ => false,
    }
}

/// The value for a field: through its converter, then by its schema.
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

/// A Python object as a value that fits the schema.
///
/// # Errors
///
/// A mismatch that says what was expected and what came, with the position of
/// an offending element; what Python code raises.
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
            Ok(text) => Ok(Value::from(text.to_str()?)),
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
                // What the hook of the inner type said is worth more.
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

/// The value that a protocol of an object answers with, as one of the schema;
/// None for an object without protocol.
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

/// Everything without a rule of its own: converted without schema, then to it.
fn through_protocol(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    if let Some(converted) = answered(value, schema)? {
        return Ok(converted);
    }
    let converted = untyped_part(value)?;
    schema.convert(converted).map_err(|error| {
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

fn bytes_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Some(Bytes::from(bytes.as_bytes().to_vec()).into());
    }
    let bytes = value.cast::<PyByteArray>().ok()?;
    Some(Bytes::from(bytes.to_vec()).into())
}

fn dtype_of(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    let Ok(name) = value.cast::<PyString>() else {
        return through_protocol(value, schema);
    };
    let dtype = match dtype_class(value.py()) {
        Some(class) if value.is_instance(class)? => dtype_of_instance(value)?,
        // Text that names no data type does not fit the field, as any other
        // value that does not.
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

fn as_device(value: &Bound<'_, PyAny>) -> PyResult<Option<Device>> {
    let py = value.py();
    match device_class(py) {
        Some(class) if value.is_instance(class)? => {
            let kind: u32 = value.getattr(intern!(py, "device_type"))?.extract()?;
            let ordinal: u32 = value.getattr(intern!(py, "index"))?.extract()?;
            Ok(Some(Device::new(kind, ordinal)))
        }
        _ => Ok(None),
    }
}

fn shape_of(value: &Bound<'_, PyAny>, schema: &Schema) -> Result<Value, Failure> {
    let Some(items) = items_of(value) else {
        return through_protocol(value, schema);
    };
    let numbers = elements(items, |_| &Schema::Int)?;
    let numbers: Vec<i64> = numbers.iter().filter_map(Value::as_int).collect();
    Ok(Shape::from(numbers).into())
}

fn union_of(
    value: &Bound<'_, PyAny>,
    schema: &Schema,
    options: &[Schema],
) -> Result<Value, Failure> {
    // What fits without a conversion goes first, whatever the order.
    let exact = |option: &&Schema| match option {
        Schema::None => value.is_none(),
        Schema::Bool => value.is_exact_instance_of::<PyBool>(),
        Schema::Int => value.is_exact_instance_of::<PyInt>(),
        Schema::Float => value.is_exact_instance_of::<PyFloat>(),
        Schema::Str => value.is_exact_instance_of::<PyString>(),
        Schema::Bytes => value.is_exact_instance_of::<PyBytes>(),
        Schema::Literal(_) => true,
        // Of another type, it may be converted; what fits goes before that.
        Schema::Object(_) => {
            wrapper::core_of(value).is_some_and(|core| option.check(&core.into()).is_ok())
        }
        _ => false,
    };
    // What raises here raises again below, where it is reported.
    let number = match options.iter().any(is_number) {
        true => number_like(value).ok().flatten(),
        false => None,
    };
    let has_int = options.iter().any(|option| matches!(option, Schema::Int));
    // Then what a number comes nearest to, and last types, the hooks of which
    // can make an object of nearly anything.
    let distance = |option: &&Schema| match (option, &number) {
        _ if exact(option) => 0,
        (Schema::Bool, Some(Number::Bool(_)))
        | (Schema::Int, Some(Number::Int(_)))
        | (Schema::Float, Some(Number::Float(_))) => 1,
        (Schema::Int, Some(Number::Bool(_))) | (Schema::Float, Some(Number::Int(_))) => 2,
        (Schema::Float, Some(Number::Bool(_))) | (Schema::Bool, Some(Number::Int(_))) => 3,
        (Schema::Object(_), _) => 4,
        _ => 1,
    };
    let mut nearest: SmallVec<[&Schema; 8]> = options.iter().collect();
    nearest.sort_by_key(distance);
    let mut raised = None;
    for option in nearest {
        // An int that is too large for the ints of the union is no float.
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
    matches!(schema, Schema::Bool | Schema::Int | Schema::Float)
}

/// The elements of a list or tuple, as they are now.
fn items_of<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Some(tuple.clone());
    }
    // A copy: converting an element may run code that changes the list.
    value.cast::<PyList>().ok().map(|list| list.to_tuple())
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

/// A key as messages show it.
fn shown(key: &Bound<'_, PyAny>) -> String {
    let text = key.repr();
    text.map_or_else(|_| "?".to_owned(), |text| text.to_string())
}

/// A container that is being converted.
struct Frame<'py> {
    source: Bound<'py, PyAny>,
    /// The elements, or keys and values in turn.
    parts: Parts<'py>,
    done: Vec<Value>,
    /// How many answers of value protocols led here.
    protocol_depth: usize,
}

enum Parts<'py> {
    Items(Bound<'py, PyTuple>),
    Entries(Vec<Bound<'py, PyAny>>),
}

impl<'py> Frame<'py> {
    fn next(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        let position = self.done.len();
        match &self.parts {
            Parts::Items(items) if position < items.len() => items.get_item(position).map(Some),
            Parts::Entries(entries) => Ok(entries.get(position).cloned()),
            Parts::Items(_) => Ok(None),
        }
    }

    /// Where the part is that comes next.
    fn place(&self) -> String {
        let position = self.done.len();
        match &self.parts {
            Parts::Items(_) => format!("element [{position}]"),
            Parts::Entries(entries) if position.is_multiple_of(2) => {
                format!("key {}", shown(&entries[position]))
            }
            Parts::Entries(entries) => {
                format!("value for key {}", shown(&entries[position - 1]))
            }
        }
    }

    fn finish(self) -> PyResult<Value> {
        Ok(match self.parts {
            Parts::Items(_) => Array::from(self.done).into(),
            Parts::Entries(_) => {
                let mut values = self.done.into_iter();
                let mut map = Map::new();
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    drop(map.try_insert(key, value).into_py()?);
                }
                map.into()
            }
        })
    }
}

enum Step<'py> {
    Done(Value),
    Open(Frame<'py>),
}

/// What became of the containers inside the outermost one, by address; they
/// are kept alive, so that no address is used twice. None while it is open.
type Met<'py> = hashbrown::HashMap<usize, (Bound<'py, PyAny>, Option<Value>)>;

/// A Python object as a value, without a schema. Lists and tuples become
/// arrays, dicts become maps; containers may be nested to any depth, and one
/// that occurs several times is converted once. Linear in the number of
/// distinct containers and their elements.
///
/// # Errors
///
/// `ValueError` for a list or dict that contains itself; what the protocol
/// methods of the object raise.
#[inline]
pub(crate) fn untyped(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    match wrapper::core_of(value) {
        Some(core) => Ok(core.into()),
        None => untyped_slowly(value).map_err(Failure::without_schema),
    }
}

/// [`untyped`] for a part of what a schema describes, so that a failure says
/// where it was.
#[inline]
fn untyped_part(value: &Bound<'_, PyAny>) -> Result<Value, Failure> {
    match wrapper::core_of(value) {
        Some(core) => Ok(core.into()),
        None => untyped_slowly(value),
    }
}

fn untyped_slowly(value: &Bound<'_, PyAny>) -> Result<Value, Failure> {
    let mut stack = match start(value, 0)? {
        Step::Done(value) => return Ok(value),
        Step::Open(frame) => vec![frame],
    };
    let mut met = Met::new();
    loop {
        let Some(frame) = stack.last_mut() else {
            return Ok(Value::NONE);
        };
        let Some(part) = frame.next()? else {
            let Some(frame) = stack.pop() else {
                return Ok(Value::NONE);
            };
            let address = frame.source.as_ptr() as usize;
            let value = frame.finish()?;
            let Some(outer) = stack.last_mut() else {
                return Ok(value);
            };
            if let Some((_, result)) = met.get_mut(&address) {
                *result = Some(value.clone());
            }
            outer.done.push(value);
            continue;
        };
        let started = match start(&part, frame.protocol_depth) {
            Ok(started) => started,
            Err(failure) => {
                let inwards = stack.iter().rev();
                return Err(inwards.fold(failure, |failure, frame| failure.at(|| frame.place())));
            }
        };
        match started {
            Step::Done(value) => frame.done.push(value),
            Step::Open(inner) => {
                if met.is_empty() {
                    let outermost = frame.source.clone();
                    met.insert(outermost.as_ptr() as usize, (outermost, None));
                }
                match met.get(&(inner.source.as_ptr() as usize)) {
                    Some((_, Some(value))) => frame.done.push(value.clone()),
                    Some((source, None)) => {
                        return Err(Failure::Raised(PyValueError::new_err(format!(
                            "cyclic {}: it contains itself",
                            class_of(source)
                        ))));
                    }
                    None => {
                        let source = inner.source.clone();
                        met.insert(source.as_ptr() as usize, (source, None));
                        stack.push(inner);
                    }
                }
            }
        }
    }
}

fn start<'py>(value: &Bound<'py, PyAny>, protocol_depth: usize) -> Result<Step<'py>, Failure> {
    let py = value.py();
    if let Some(core) = wrapper::unwrap(value)? {
        return Ok(Step::Done(core.into()));
    }
    if value.is_none() {
        return Ok(Step::Done(Value::NONE));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Step::Done(Value::from(flag.is_true())));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Step::Done(Integer(value.clone()).value()?));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Step::Done(Value::from(number.value())));
    }
    if let Ok(text) = value.cast::<PyString>() {
        if let Some(class) = dtype_class(py)
            && value.is_instance(class)?
        {
            return Ok(Step::Done(Value::from(dtype_of_instance(value)?)));
        }
        return Ok(Step::Done(Value::from(text.to_str()?)));
    }
    if let Some(class) = shape_class(py)
        && value.is_instance(class)?
    {
        let numbers: Vec<i64> = value.extract()?;
        return Ok(Step::Done(Shape::from(numbers).into()));
    }
    if let Some(items) = items_of(value) {
        return Ok(Step::Open(Frame {
            source: value.clone(),
            done: Vec::with_capacity(items.len()),
            parts: Parts::Items(items),
            protocol_depth,
        }));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let entries: Vec<_> = dict.iter().flat_map(|(key, value)| [key, value]).collect();
        return Ok(Step::Open(Frame {
            source: value.clone(),
            done: Vec::with_capacity(entries.len()),
            parts: Parts::Entries(entries),
            protocol_depth,
        }));
    }
    if let Some(bytes) = bytes_of(value) {
        return Ok(Step::Done(bytes));
    }
    if let Some(device) = as_device(value)? {
        return Ok(Step::Done(Value::from(device)));
    }
    if value.is_instance_of::<pyo3::types::PyType>() {
        // A class is called like a function; its protocol methods are those
        // of its instances.
        return Ok(Step::Done(host_object::function(value).into()));
    }
    by_protocol(value, protocol_depth)
}

fn by_protocol<'py>(value: &Bound<'py, PyAny>, depth: usize) -> Result<Step<'py>, Failure> {
    if let Some(function) = crate::callbacks::function_of(value) {
        return Ok(Step::Done(function.into()));
    }
    if let Some((answer, _)) = protocol::answer_of(value, depth)? {
        return start(&answer, depth + 1);
    }
    if let Some(dtype) = numpy_dtype(value)? {
        return Ok(Step::Done(dtype));
    }
    if let Some(number) = number_like(value)? {
        return Ok(Step::Done(match number {
            Number::Bool(flag) => Value::from(flag),
            Number::Int(number) => number.value()?,
            Number::Float(number) => Value::from(number),
        }));
    }
    if let Some(tensor) = from_protocol(value)? {
        return Ok(Step::Done(tensor));
    }
    if value.is_callable() {
        return Ok(Step::Done(host_object::function(value).into()));
    }
    Ok(Step::Done(HostObject::wrap(value)))
}
