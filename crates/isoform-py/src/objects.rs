//! What every object can do: copies, text, comparison by fields, verification,
//! pickling.

use std::cell::RefCell;
use std::cmp::Ordering;

use hashbrown::HashMap;
use isoform::host;
use isoform::{Obj, Ref, ReprHooks, ReprOptions, Value};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::convert::{self, to_python, untyped};
use crate::error::{IntoPyResult, from_python, to_python as raise};
use crate::object::gil::{enter_call, under_gil};
use crate::object::method::Methods;
use crate::object::{class, wrapper};
use crate::path::PathHandle;

/// Adds the functions of this module, and the methods of `Object`.
pub(crate) fn init(module: &Bound<'_, PyModule>, object: &Bound<'_, PyType>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recursive_eq, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_lt, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_le, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_gt, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_ge, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_hash, module)?)?;
    module.add_function(wrap_pyfunction!(deep_copy, module)?)?;
    module.add_function(wrap_pyfunction!(shallow_copy, module)?)?;
    module.add_function(wrap_pyfunction!(with_fields, module)?)?;
    module.add_function(wrap_pyfunction!(repr_print, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(_from_pickle, module)?)?;
    let methods = Methods::of(object);
    methods.binary("same_as", |this, other| {
        let same = same_as(this, other)?;
        Ok(pyo3::types::PyBool::new(this.py(), same)
            .to_owned()
            .into_any())
    })?;
    methods.unary("__copy__", shallow_copy)?;
    methods.binary("__deepcopy__", |this, _memo| deep_copy(this))?;
    methods.unary("__reduce__", reduce)?;
    methods.unary("__repr__", |this| {
        Ok(PyString::new(this.py(), &own_text(this)?).into_any())
    })?;
    methods.finish();
    let text = object.getattr(intern!(object.py(), "__repr__"))?;
    // A second module would find the first one's; both are the same function.
    let _ = OBJECT_REPR.set(object.py(), text.unbind());
    Ok(())
}

static OBJECT_REPR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Whether both stand for the same object.
fn same_as(this: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    if this.is(other) {
        return Ok(true);
    }
    Ok(match (wrapper::unwrap(this)?, wrapper::unwrap(other)?) {
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    })
}

fn core<'a>(this: &'a Bound<'_, PyAny>) -> PyResult<&'a Ref<Obj>> {
    wrapper::unwrap(this)?.ok_or_else(|| {
        let name = this.get_type().name();
        let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("expected an instance of Object, got {name}"))
    })
}

/// Whether two values are equal field by field, whatever their structural
/// kind.
#[pyfunction]
fn recursive_eq(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    under_gil(lhs.py(), || isoform::recursive_eq(&left, &right)).into_py()
}

fn compare(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<Ordering> {
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    under_gil(lhs.py(), || isoform::recursive_cmp(&left, &right)).into_py()
}

/// Whether the left value comes before the right one, field by field.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_lt(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_lt())
}

/// Whether the left value comes before the right one or is equal.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_le(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_le())
}

/// Whether the left value comes after the right one, field by field.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_gt(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_gt())
}

/// Whether the left value comes after the right one or is equal.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_ge(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_ge())
}

/// A hash that agrees with `recursive_eq`.
#[pyfunction]
fn recursive_hash(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let given = untyped(value)?;
    let hash = under_gil(value.py(), || isoform::recursive_hash(&given)).into_py()?;
    // `__hash__` may return it as it is.
    Ok((hash >> 1) as i64)
}

/// A copy of a value and of everything below it that can be copied.
///
/// Sharing and cycles are kept. Singletons, functions, tensors and Python
/// objects of which nothing is known are shared with the original. O(size).
#[pyfunction]
fn deep_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = untyped(value)?;
    let copy = under_gil(value.py(), || isoform::deep_copy(&given)).into_py()?;
    match copy.as_object() {
        Some(object) if wrapper::core_of(value).is_some() => like(value, object.clone()),
        _ => to_python(value.py(), &copy),
    }
}

/// A new object with the fields of another one.
#[pyfunction]
fn shallow_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = core(value)?;
    let copy = under_gil(value.py(), || isoform::shallow_copy(given));
    like(value, copy)
}

/// The Python object for a copy: of the class of the original, and with its
/// attributes.
fn like<'py>(original: &Bound<'py, PyAny>, copy: Ref<Obj>) -> PyResult<Bound<'py, PyAny>> {
    let made = wrapper::wrap_like(original, copy)?;
    if let Some(state) = attributes(original)?
        && !made.is(original)
    {
        made.getattr(intern!(original.py(), "__dict__"))?
            .call_method1(intern!(original.py(), "update"), (state,))?;
    }
    Ok(made)
}

/// The attributes that an instance has besides its fields, if any.
fn attributes<'py>(this: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if !wrapper::may_have_state(this) {
        return Ok(None);
    }
    match this.getattr_opt(intern!(this.py(), "__dict__"))? {
        Some(state) => Ok(state
            .cast_into::<PyDict>()
            .ok()
            .filter(|state| !state.is_empty())),
        None => Ok(None),
    }
}

/// A copy of an object with some of its fields replaced; the constructor is
/// not run.
///
/// Raises TypeError for an unknown field or a value that does not fit.
#[pyfunction]
fn with_fields<'py>(
    obj: &Bound<'py, PyAny>,
    changes: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, object) = (obj.py(), core(obj)?.clone());
    let info = object.type_info();
    if info.is_builtin() {
        return Err(PyTypeError::new_err(format!(
            "{} has no fields",
            info.key()
        )));
    }
    let mut given = Vec::with_capacity(changes.len());
    for (name, value) in changes {
        let name = name.cast_into::<PyString>()?;
        let name = name.to_str()?;
        let field = info
            .field_index(name)
            .ok_or_else(|| PyTypeError::new_err(format!("{} has no field '{name}'", info.key())))?;
        let converter = class::of_index(py, info.index())
            .and_then(|data| data.fields.get(field)?.converter.as_ref());
        let schema = info.fields()[field].schema();
        let value = convert::field(&value, schema, converter).map_err(|error| {
            error.into_python(|message| format!("{} field '{name}': {message}", info.key()))
        })?;
        given.push((field, value));
    }
    let mut values = under_gil(py, || host::field_values(&object));
    for (field, value) in given {
        values[field] = value;
    }
    let made = host::construct_from(info, &mut values).into_py()?;
    wrapper::wrap_like(obj, made)
}

/// Calls `__repr__` methods of users for objects inside others.
struct OwnText<'py> {
    py: Python<'py>,
    /// The object whose own method asks for its text, if one does.
    root: Option<u64>,
    /// Which classes have a method of their own.
    known: RefCell<HashMap<usize, bool>>,
}

impl OwnText<'_> {
    fn ask(&self, object: &Ref<Obj>) -> PyResult<Option<String>> {
        if self.root == Some(object.identity()) {
            return Ok(None);
        }
        let this = wrapper::wrap_borrowed(self.py, object)?;
        let ty = this.get_type();
        let known = self.known.borrow().get(&(ty.as_ptr() as usize)).copied();
        let own = match known {
            Some(own) => own,
            None => {
                let method = ty.getattr(intern!(self.py, "__repr__"))?;
                let own = OBJECT_REPR
                    .get(self.py)
                    .is_some_and(|base| !method.is(base));
                self.known.borrow_mut().insert(ty.as_ptr() as usize, own);
                own
            }
        };
        if !own {
            return Ok(None);
        }
        let _depth = enter_call(self.py)?;
        Ok(Some(this.repr()?.to_str()?.to_owned()))
    }
}

impl ReprHooks for OwnText<'_> {
    fn repr(&self, object: &Ref<Obj>) -> Option<isoform::Result<String>> {
        self.ask(object).map_err(from_python).transpose()
    }
}

fn text(py: Python<'_>, value: &Value, root: Option<u64>) -> PyResult<String> {
    let hooks = OwnText {
        py,
        root,
        known: RefCell::default(),
    };
    isoform::repr_with(value, ReprOptions::default(), &hooks).into_py()
}

/// What `Object.__repr__` answers.
fn own_text(this: &Bound<'_, PyAny>) -> PyResult<String> {
    let object = match wrapper::unwrap(this) {
        Ok(Some(object)) => object,
        // In the middle of a constructor.
        _ => return Ok(format!("<unfinished {}>", this.get_type().name()?)),
    };
    text(this.py(), &object.into(), Some(object.identity()))
}

/// The text of a value: `key(field=value, ...)` for nodes, as `repr` shows it.
///
/// Floats are exact, a value inside itself is shown as `...`. O(length).
#[pyfunction]
fn repr_print(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text(value.py(), &untyped(value)?, None)
}

/// Runs the `__verify__` methods of all nodes of a value, and lists all
/// failures as pairs of a path and an exception.
///
/// Raises what is no `Exception`, such as KeyboardInterrupt, at once.
#[pyfunction]
fn verify<'py>(root: &Bound<'py, PyAny>) -> PyResult<Vec<(PathHandle, Bound<'py, PyAny>)>> {
    let py = root.py();
    let given = untyped(root)?;
    let failures = under_gil(py, || isoform::verify(&given, &())).into_py()?;
    let mut found = Vec::with_capacity(failures.len());
    for (path, error) in failures {
        let error = raise(error);
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        found.push((path.into(), error.into_value(py).into_bound(py).into_any()));
    }
    Ok(found)
}

/// How `pickle` takes an object apart: its binary form, the class if it is not
/// the type's own, and attributes besides the fields.
fn reduce<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let object = core(this)?;
    let bytes = under_gil(py, || isoform::to_bytes(&object.into())).into_py()?;
    let bytes = PyBytes::new(py, &bytes);
    let restore = py
        .import(intern!(py, "isoform._core"))?
        .getattr(intern!(py, "_from_pickle"))?;
    let ty = this.get_type();
    let known = class::of_class(py, ty.as_type_ptr()).is_some();
    let arguments = match known {
        true => PyTuple::new(py, [bytes.into_any()])?,
        false => PyTuple::new(py, [bytes.into_any(), ty.into_any()])?,
    };
    match attributes(this)? {
        None => Ok((restore, arguments).into_pyobject(py)?.into_any()),
        Some(state) => Ok((restore, arguments, state).into_pyobject(py)?.into_any()),
    }
}

/// The inverse of `__reduce__`.
#[pyfunction]
#[pyo3(signature = (data, cls=None))]
fn _from_pickle<'py>(
    py: Python<'py>,
    data: &[u8],
    cls: Option<&Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyAny>> {
    let value = under_gil(py, || isoform::from_bytes(data)).into_py()?;
    match (cls, value.as_object()) {
        (None, _) => to_python(py, &value),
        (Some(cls), Some(object)) => wrapper::wrap_as(cls, object.clone()),
        (Some(cls), None) => Err(PyValueError::new_err(format!(
            "expected an object of {} in the data, got {}",
            cls.name()?,
            value.type_name()
        ))),
    }
}
