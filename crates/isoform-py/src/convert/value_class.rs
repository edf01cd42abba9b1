//! Classes of Python other than `Object` whose instances are objects of the core:
//! `complex`, and enums of the standard library.
//!
//! Such a class has a type, whose objects the core compares, hashes and stores like any
//! others, and which Python never sees: a field that holds one reads as the instance.
//! The type of `complex` is one of the core, and classes of enums come with functions.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use isoform::types::Kind;
use isoform::values::Complex;
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyComplexMethods, PyType};

use super::protocol::numpy_scalar;
use crate::object::{class, wrapper};

/// By the address of a class: the class, kept alive, and the function that makes the
/// object of an instance.
type Classes = HashMap<usize, (Py<PyType>, Py<PyAny>)>;

/// By the address of a member of an enum: the member, kept alive, and its object. A
/// singleton is equal to itself only, so each member has one object.
type Pool = HashMap<usize, (Py<PyAny>, Value)>;

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

static CLASSES: Mutex<Option<Classes>> = Mutex::new(None);

/// Makes a class of Python a value class.
///
/// `node` is the class of the type, `to_node` makes an object of it from an instance of
/// `class`, and `from_node` the instance from an object. Raises TypeError if `node` is
/// not registered.
#[pyfunction]
#[pyo3(name = "_set_value_class")]
pub(crate) fn set_value_class(
    node: &Bound<'_, PyType>,
    class: &Bound<'_, PyType>,
    to_node: Py<PyAny>,
    from_node: Py<PyAny>,
) -> PyResult<()> {
    let py = node.py();
    let data = class::of_class(py, node.as_type_ptr())
        .ok_or_else(|| PyTypeError::new_err(format!("{node} is not registered")))?;
    data.set_instance_of(py, from_node);
    let entry = (class.clone().unbind(), to_node);
    let mut classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let old = classes
        .get_or_insert_default()
        .insert(class.as_ptr() as usize, entry);
    // Dropping the old function may run code.
    drop(classes);
    drop(old);
    Ok(())
}

/// The object of an instance of a value class as an instance of `Object`, for hooks of
/// its type; None for all other objects.
#[pyfunction]
#[pyo3(name = "_value_object")]
pub(crate) fn value_object<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match value_of(value)?.as_ref().and_then(Value::as_object) {
        Some(object) => wrapper::wrap(value.py(), object.clone()).map(Some),
        None => Ok(None),
    }
}

/// The object of an instance of a value class; None for all other objects.
///
/// # Errors
///
/// Exceptions from making the object.
pub(crate) fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    let py = value.py();
    if let Some(object) = pooled(value) {
        return Ok(Some(object));
    }
    let complex = |value: &Bound<'_, PyAny>| {
        let number = value.cast::<PyComplex>().ok()?;
        Some(Value::from(Complex::new(number.real(), number.imag())))
    };
    if let Some(number) = complex(value) {
        return Ok(Some(number));
    }
    let class = value.get_type();
    let to_node = match function_of(py, &class) {
        Some(to_node) => to_node,
        None if declares(value)? => match function_of(py, &class) {
            Some(to_node) => to_node,
            None => return Ok(None),
        },
        // `complex64` of NumPy does not extend `complex`, as `complex128` does.
        None => return Ok(numpy_scalar(value)?.as_ref().and_then(complex)),
    };
    let made = to_node.bind(py).call1((value,))?;
    let Some(object) = wrapper::unwrap(&made)?.map(Value::from) else {
        return Ok(None);
    };
    let is_singleton = object
        .as_object()
        .is_some_and(|object| object.type_info().kind() == Kind::Singleton);
    if is_singleton {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let key = value.as_ptr() as usize;
        let kept = || (value.clone().unbind(), object);
        // Another thread may have been faster.
        let (_, first) = pool.get_or_insert_default().entry(key).or_insert_with(kept);
        return Ok(Some(first.clone()));
    }
    Ok(Some(object))
}

/// The instance of `complex` to which an object belongs.
pub(crate) fn complex_of<'py>(py: Python<'py>, object: &Ref<Obj>) -> Option<Bound<'py, PyAny>> {
    let number = object.downcast_ref::<Complex>()?;
    Some(PyComplex::from_doubles(py, number.real, number.imag).into_any())
}

/// The object of a member of an enum that has been a value before.
fn pooled(value: &Bound<'_, PyAny>) -> Option<Value> {
    let pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, object) = pool.as_ref()?.get(&(value.as_ptr() as usize))?;
    Some(object.clone())
}

/// The function that makes the object of an instance of exactly this class.
fn function_of(py: Python<'_>, class: &Bound<'_, PyType>) -> Option<Py<PyAny>> {
    let classes = CLASSES.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, to_node) = classes.as_ref()?.get(&(class.as_ptr() as usize))?;
    Some(to_node.clone_ref(py))
}

/// Declares the class of a member of an enum, so it is a value wherever it is put in,
/// whether or not a field names the enum. False for other objects, and for members that
/// are also an int or a str, which stay one without such a field.
fn declares(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static ENUM: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = value.py();
    if !value.is_instance(ENUM.import(py, "enum", "Enum")?)? {
        return Ok(false);
    }
    let module = py.import(intern!(py, "isoform._value_classes"))?;
    module
        .call_method1(intern!(py, "declare_for"), (value,))?
        .extract()
}
