//! Conversion of Python objects of any class: value protocols, and numbers of other
//! libraries.

use isoform::Value;
use num_bigint::BigInt;
use pyo3::exceptions::PyRecursionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    IntoPyDict, PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
    PyType,
};

use super::failure::{Failure, class_of};
use super::python_types::parse_dtype;
use crate::object::wrapper;

/// The maximal number of value protocols in a chain of objects.
const MAX_DEPTH: usize = 64;

/// The result of an object's value protocol, and the protocol's name.
type Answer<'py> = (Bound<'py, PyAny>, &'static str);

/// The final result of an object's value protocol, following further protocols; None
/// for an object without a value protocol.
///
/// # Errors
///
/// Exceptions from a protocol; `RecursionError` if the chain does not end.
pub(super) fn value_of<'py>(value: &Bound<'py, PyAny>) -> Result<Option<Answer<'py>>, Failure> {
    let mut found: Option<Answer<'py>> = None;
    for depth in 0.. {
        let asked = found.as_ref().map_or(value, |(answer, _)| answer);
        if has_rule(asked) {
            break;
        }
        let Some((answer, name)) = answer_of(asked, depth)? else {
            break;
        };
        let first = found.map_or(name, |(_, first)| first);
        found = Some((answer, first));
    }
    Ok(found)
}

/// The result of an object's value protocol; None for an object without a value
/// protocol. `depth` counts the results on the path to this object.
///
/// # Errors
///
/// As [`value_of`].
pub(super) fn answer_of<'py>(
    value: &Bound<'py, PyAny>,
    depth: usize,
) -> Result<Option<Answer<'py>>, Failure> {
    let py = value.py();
    for (name, text) in [
        (intern!(py, "__isoform_object__"), "__isoform_object__"),
        (intern!(py, "__isoform_value__"), "__isoform_value__"),
        (intern!(py, "asobject"), "asobject"),
    ] {
        if let Some(answer) = ask(value, name)? {
            if depth >= MAX_DEPTH {
                return Err(Failure::Raised(PyRecursionError::new_err(
                    "value protocols answer with one another without end",
                )));
            }
            return Ok(Some((answer, text)));
        }
    }
    Ok(None)
}

/// The result of a method without arguments; None for an object without the method.
fn ask<'py>(
    value: &Bound<'py, PyAny>,
    method: &Bound<'py, PyString>,
) -> Result<Option<Bound<'py, PyAny>>, Failure> {
    let Some(found) = value.getattr_opt(method)? else {
        return Ok(None);
    };
    if !found.is_callable() {
        return Ok(None);
    }
    let failure = |raised| Failure::of_protocol(value, &method.to_string(), raised);
    found.call0().map(Some).map_err(failure)
}

/// True if values of this kind have a separate conversion rule, and protocols are
/// ignored. A class is a function; protocol methods belong to instances of the class.
fn has_rule(value: &Bound<'_, PyAny>) -> bool {
    wrapper::core_of(value).is_some()
        || value.is_none()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyDict>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PyType>()
}

/// A bool, an int or a float.
pub(super) enum Number<'py> {
    Bool(bool),
    Int(Integer<'py>),
    Float(f64),
}

/// An int, small or large.
pub(super) struct Integer<'py>(pub(super) Bound<'py, PyAny>);

impl Integer<'_> {
    pub(super) fn small(&self) -> Option<i64> {
        self.0.extract().ok()
    }

    pub(super) fn float(&self) -> PyResult<f64> {
        self.0.extract()
    }

    pub(super) fn truth_value(&self) -> bool {
        self.0.is_truthy().unwrap_or(true)
    }

    pub(super) fn value(&self) -> PyResult<Value> {
        match self.small() {
            Some(number) => Ok(Value::from(number)),
            None => Ok(Value::from_bigint(large_int(&self.0)?)),
        }
    }
}

fn large_int(number: &Bound<'_, PyAny>) -> PyResult<BigInt> {
    let py = number.py();
    let bits: usize = number.call_method0(intern!(py, "bit_length"))?.extract()?;
    let options = [("signed", true)].into_py_dict(py)?;
    // One more bit for the sign.
    let bytes = number.call_method("to_bytes", (bits / 8 + 1, "little"), Some(&options))?;
    Ok(BigInt::from_signed_bytes_le(bytes.extract::<&[u8]>()?))
}

/// Bools, ints and floats, including those of NumPy and objects with `__isoform_int__`,
/// `__isoform_float__` or `__index__`.
pub(super) fn number_like<'py>(value: &Bound<'py, PyAny>) -> Result<Option<Number<'py>>, Failure> {
    let py = value.py();
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Some(Number::Bool(flag.is_true())));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Some(Number::Int(Integer(value.clone()))));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Some(Number::Float(number.value())));
    }
    if value.is_instance_of::<PyString>() || wrapper::core_of(value).is_some() {
        return Ok(None);
    }
    if let Some(item) = numpy_scalar(value)? {
        if let Ok(flag) = item.cast::<PyBool>() {
            return Ok(Some(Number::Bool(flag.is_true())));
        }
        if item.is_instance_of::<PyInt>() {
            return Ok(Some(Number::Int(Integer(item))));
        }
        return Ok(item
            .cast::<PyFloat>()
            .ok()
            .map(|number| Number::Float(number.value())));
    }
    if let Some(answer) = ask(value, intern!(py, "__isoform_int__"))? {
        return integer(value, "__isoform_int__", answer).map(Some);
    }
    if let Some(answer) = ask(value, intern!(py, "__isoform_float__"))? {
        return match answer.extract() {
            Ok(number) => Ok(Some(Number::Float(number))),
            Err(_) => Err(wrong_answer(value, "__isoform_float__", "float", &answer)),
        };
    }
    if value.getattr_opt(intern!(py, "__len__"))?.is_none()
        && let Some(answer) = ask(value, intern!(py, "__index__"))?
    {
        return integer(value, "__index__", answer).map(Some);
    }
    Ok(None)
}

fn integer<'py>(
    value: &Bound<'py, PyAny>,
    method: &str,
    answer: Bound<'py, PyAny>,
) -> Result<Number<'py>, Failure> {
    if answer.is_instance_of::<PyInt>() {
        Ok(Number::Int(Integer(answer)))
    } else {
        Err(wrong_answer(value, method, "int", &answer))
    }
}

#[cold]
fn wrong_answer(
    value: &Bound<'_, PyAny>,
    method: &str,
    expected: &str,
    answer: &Bound<'_, PyAny>,
) -> Failure {
    let (class, got) = (class_of(value), class_of(answer));
    Failure::Mismatch(format!(
        "expected {expected} from {class}.{method}(), got {got}"
    ))
}

/// The content of a NumPy scalar (not an array), as a plain Python value.
pub(super) fn numpy_scalar<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = value.py();
    let ty = value.get_type();
    let module = ty.getattr(intern!(py, "__module__"))?;
    let from_numpy = module
        .cast::<PyString>()
        .is_ok_and(|module| module.to_str().is_ok_and(|name| name == "numpy"));
    if !from_numpy
        || ty.getattr_opt(intern!(py, "__len__"))?.is_some()
        || ty.getattr_opt(intern!(py, "item"))?.is_none()
    {
        return Ok(None);
    }
    value.call_method0(intern!(py, "item")).map(Some)
}

/// The value of a NumPy data type; None for other objects.
pub(super) fn numpy_dtype(value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let py = value.py();
    let modules = py
        .import(intern!(py, "sys"))?
        .getattr(intern!(py, "modules"))?;
    // Before an import of NumPy, no NumPy dtypes exist, and importing NumPy here is
    // unnecessary.
    let Some(numpy) = modules.cast::<PyDict>()?.get_item(intern!(py, "numpy"))? else {
        return Ok(None);
    };
    match numpy.getattr_opt(intern!(py, "dtype"))? {
        Some(class) if value.is_instance(&class)? => {
            let name: String = value.getattr(intern!(py, "name"))?.extract()?;
            Ok(parse_dtype(&name).ok().map(Value::from))
        }
        _ => Ok(None),
    }
}
