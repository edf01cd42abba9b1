//! Schemas as described by Python: nested tuples, and the compiled handle.

use isoform::Value;
use isoform::types::{HostSchema, Schema};
use isoform::values::OpaqueObj;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::foreign::STRUCTURED;
use super::{Failure, HostObject, to_python, typed, untyped};

/// None, or a pointer of `ctypes`.
const POINTER: HostSchema = HostSchema::new("ctypes.c_void_p", |value| {
    let opaque = value
        .as_object()
        .and_then(|object| object.downcast_ref::<OpaqueObj>());
    let host = opaque.and_then(|opaque| opaque.content::<HostObject>());
    value.is_none() || host.is_some_and(HostObject::is_pointer)
});

/// Deeper descriptions are rejected; no annotation comes near this depth.
const MAX_DEPTH: usize = 64;

/// Parses descriptions such as `("Array", ("int",))`.
///
/// # Errors
///
/// `TypeError` or `ValueError` for a specification that does not describe a schema.
fn parse(spec: &Bound<'_, PyAny>) -> PyResult<Schema> {
    parse_at(spec, 0)
}

fn parse_at(spec: &Bound<'_, PyAny>, depth: usize) -> PyResult<Schema> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err("a schema is nested too deeply"));
    }
    if let Ok(handle) = spec.cast::<SchemaHandle>() {
        return Ok(handle.get().schema.clone());
    }
    let parts = spec.cast::<PyTuple>().map_err(|_| {
        PyTypeError::new_err(format!("a schema is described by a tuple, got {spec}"))
    })?;
    let origin: String = parts.get_item(0)?.extract()?;
    let inner = || -> PyResult<Vec<Schema>> {
        parts
            .iter()
            .skip(1)
            .map(|part| parse_at(&part, depth + 1))
            .collect()
    };
    let exactly = |count: usize| -> PyResult<Vec<Schema>> {
        let inner = inner()?;
        if inner.len() != count {
            return Err(PyValueError::new_err(format!(
                "a schema of {origin} has {count} parts, got {}",
                inner.len()
            )));
        }
        Ok(inner)
    };
    let pair = || -> PyResult<Box<(Schema, Schema)>> {
        let mut parts = exactly(2)?.into_iter();
        let missing = || PyValueError::new_err("a mapping has keys and values");
        Ok(Box::new((
            parts.next().ok_or_else(missing)?,
            parts.next().ok_or_else(missing)?,
        )))
    };
    let element = || -> PyResult<Box<Schema>> {
        let part = exactly(1)?.pop();
        part.map(Box::new)
            .ok_or_else(|| PyValueError::new_err("a container has elements"))
    };
    Ok(match origin.as_str() {
        "Any" => Schema::Any,
        "Pointer" => Schema::Host(POINTER),
        "Value" => Schema::Host(STRUCTURED),
        "None" => Schema::None,
        "bool" => Schema::Bool,
        "int" => Schema::Int,
        "BigInt" => Schema::BigInt,
        "float" => Schema::Float,
        "str" => Schema::Str,
        "bytes" => Schema::Bytes,
        "dtype" => Schema::DType,
        "Device" => Schema::Device,
        "Shape" => Schema::Shape,
        "Tensor" => Schema::Tensor,
        "Callable" => Schema::Function,
        "Object" => {
            let key: String = parts.get_item(1)?.extract()?;
            Schema::named(&key)
        }
        "Array" => Schema::Array(element()?),
        "List" => Schema::List(element()?),
        "Map" => Schema::Map(pair()?),
        "Dict" => Schema::Dict(pair()?),
        "Tuple" => Schema::Tuple(inner()?.into()),
        "Optional" => Schema::Optional(element()?),
        "Union" => Schema::Union(inner()?.into()),
        "Literal" => {
            let values: Vec<Value> = parts
                .iter()
                .skip(1)
                .map(|value| untyped(&value))
                .collect::<PyResult<_>>()?;
            let plain = |value: &Value| value.as_object().is_none() || value.is_str();
            if !values.iter().all(plain) {
                return Err(PyTypeError::new_err(
                    "Literal holds None, bools, ints and strings only",
                ));
            }
            Schema::Literal(values.into())
        }
        other => {
            return Err(PyValueError::new_err(format!("unknown schema '{other}'")));
        }
    })
}

/// A compiled schema: the values that a field or an element accepts.
#[pyclass(frozen, name = "Schema", module = "isoform._core")]
pub(crate) struct SchemaHandle {
    schema: Schema,
}

impl SchemaHandle {
    pub(crate) fn from_schema(schema: Schema) -> Self {
        SchemaHandle { schema }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }
}

#[pymethods]
impl SchemaHandle {
    #[new]
    fn new(spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        let schema = parse(spec)?;
        Ok(SchemaHandle { schema })
    }

    /// Raises TypeError unless the value converts.
    fn check(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        typed(value, &self.schema)
            .map(drop)
            .map_err(|error: Failure| error.into_python(str::to_owned))
    }

    /// Converts the value as a field of this schema does.
    fn convert<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let converted =
            typed(value, &self.schema).map_err(|error| error.into_python(str::to_owned))?;
        to_python(value.py(), &converted)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<SchemaHandle>()
            .is_ok_and(|other| other.get().schema == self.schema)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.schema.to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        self.schema.to_string()
    }
}
