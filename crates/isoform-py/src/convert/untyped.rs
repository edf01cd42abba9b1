//! Conversion of Python objects to core values, without a schema.

use isoform::functions::Function;
use isoform::values::{Bytes, Device, Shape};
use isoform::{Array, Map, Value};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
};

use super::arrays::from_protocol;
use super::failure::{Failure, class_of};
use super::protocol::{self, Integer, Number, number_like, numpy_dtype};
use super::python_types::dtype_of_instance;
use super::value_class;
use super::{HostObject, device_class, dtype_class, shape_class, to_python};
use crate::error::{IntoPyResult, from_python};
use crate::object::{gil, wrapper};

/// Converts a Python object to a value, without a schema. Lists and tuples become
/// arrays, dicts become maps; containers may be nested to any depth, and one that
/// occurs several times is converted once. Linear in the number of distinct containers
/// and their elements.
///
/// # Errors
///
/// `ValueError` for a list or dict that contains itself; exceptions from the object's
/// protocol methods.
#[inline]
pub(crate) fn untyped(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    match wrapper::core_of(value) {
        Some(core) => Ok(core.into()),
        None => untyped_slowly(value).map_err(Failure::without_schema),
    }
}

/// Like [`untyped`], for a part of a value with a schema. The error names the place of the
/// part.
#[inline]
pub(super) fn untyped_part(value: &Bound<'_, PyAny>) -> Result<Value, Failure> {
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
    let mut met = ContainerCache::new();
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
        return Ok(Step::Done(Value::from(
            text.to_str().map_err(Failure::of_text)?,
        )));
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
        // A class is called like a function; protocol methods belong to instances of
        // the class.
        return Ok(Step::Done(function(value).into()));
    }
    by_protocol(value, protocol_depth)
}

fn by_protocol<'py>(value: &Bound<'py, PyAny>, depth: usize) -> Result<Step<'py>, Failure> {
    if let Some(object) = value_class::value_of(value)? {
        return Ok(Step::Done(object));
    }
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
        return Ok(Step::Done(function(value).into()));
    }
    Ok(Step::Done(HostObject::wrap(value)))
}

/// Makes a function of the core from a Python callable. Exceptions return to Python
/// unchanged.
pub(crate) fn function(callable: &Bound<'_, PyAny>) -> Function {
    Function::with_content(HostObject::of_callable(callable), |callable, arguments| {
        Python::attach(|py| {
            let call = || -> PyResult<Value> {
                let converted = arguments
                    .iter()
                    .map(|value| to_python(py, value))
                    .collect::<PyResult<Vec<_>>>()?;
                let converted: Vec<_> = converted.iter().collect();
                untyped(&gil::call_with_all(&callable.get(py), &converted)?)
            };
            call().map_err(from_python)
        })
    })
}

/// A container that is being converted.
struct Frame<'py> {
    source: Bound<'py, PyAny>,
    /// The elements, or keys and values alternately.
    parts: Parts<'py>,
    done: Vec<Value>,
    /// The number of value protocols on the path to this object.
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

    /// The place of the next part.
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

/// The results for the containers inside the outermost one, by address; kept alive, so
/// no address is reused. None while a container is open.
type ContainerCache<'py> = hashbrown::HashMap<usize, (Bound<'py, PyAny>, Option<Value>)>;

pub(super) fn bytes_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Some(Bytes::from(bytes.as_bytes().to_vec()).into());
    }
    let bytes = value.cast::<PyByteArray>().ok()?;
    Some(Bytes::from(bytes.to_vec()).into())
}

pub(super) fn as_device(value: &Bound<'_, PyAny>) -> PyResult<Option<Device>> {
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

/// The current elements of a list or tuple.
pub(super) fn items_of<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return Some(tuple.clone());
    }
    // A copy: converting an element may run code that changes the list.
    value.cast::<PyList>().ok().map(|list| list.to_tuple())
}

/// The text of a key for messages.
pub(super) fn shown(key: &Bound<'_, PyAny>) -> String {
    let text = key.repr();
    text.map_or_else(|_| "?".to_owned(), |text| text.to_string())
}
