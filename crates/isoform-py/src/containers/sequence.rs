//! The common part of `Array` and `List`.

use isoform::values::{List, ValueRef};
use isoform::{Array, Obj, Ref, Value};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice, PyTuple};

use super::compare;
use super::contents::{contents, foreign};
use super::iterators::{Items, SequenceIterator};
use crate::convert::{to_python, untyped};
use crate::object::method::{Arguments, Methods};
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

pub(super) fn install_array(methods: Methods<'_>) -> PyResult<()> {
    methods.make(
        |given: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, py: Python<'_>| {
            only_items("Array", given, named)?;
            let items = match given.first() {
                Some(items) => values_of(items)?,
                None => Array::new(),
            };
            let _ = py;
            fresh(items.into())
        },
    )?;
    methods.hash(hash)?;
    methods.unary("__copy__", |this| Ok(this.clone()))?;
    install(methods)
}

/// The methods of both classes.
pub(super) fn install(methods: Methods<'_>) -> PyResult<()> {
    methods.len(len)?;
    methods.get_item(get_item)?;
    methods.contains(contains)?;
    methods.iter(|this| iterate(this, false))?;
    methods.unary("__reversed__", |this| iterate(this, true))?;
    methods.equality(is_equal)?;
    methods.binary("__add__", |this, other| concatenate(this, this, other))?;
    methods.binary("__radd__", |this, other| concatenate(this, other, this))?;
    methods.binary("__mul__", repeat)?;
    methods.binary("__rmul__", repeat)?;
    methods.binary("count", count)?;
    methods.variadic("index", index)?;
    methods.finish();
    Ok(())
}

/// Rejects arguments, except at most one positional argument.
pub(super) fn only_items(
    class: &str,
    given: &[Object<'_>],
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    if let Some(name) = named.and_then(|named| named.keys().iter().next()) {
        return Err(PyTypeError::new_err(format!(
            "{class}() got an unexpected keyword argument '{name}'"
        )));
    }
    if given.len() > 1 {
        return Err(PyTypeError::new_err(format!(
            "{class}() takes at most 1 argument but {} were given",
            given.len()
        )));
    }
    Ok(())
}

/// The object of a new container.
pub(super) fn fresh(value: Value) -> PyResult<Ref<Obj>> {
    match value.as_object() {
        Some(object) => Ok(object.clone()),
        None => Err(PyTypeError::new_err("a container is an object")),
    }
}

/// Makes an array with the elements of a container, or of any iterable.
pub(super) fn values_of(items: &Object<'_>) -> PyResult<Array> {
    if let Some(held) = held(items)? {
        return Ok(Array::from(held.values().to_vec()));
    }
    if items.is_exact_instance_of::<PyList>() || items.is_exact_instance_of::<PyTuple>() {
        return converted(items);
    }
    let list = PyList::empty(items.py());
    for item in items.try_iter()? {
        list.append(item?)?;
    }
    converted(list.as_any())
}

fn converted(items: &Object<'_>) -> PyResult<Array> {
    match untyped(items)?.view() {
        ValueRef::Array(items) => Ok(items.clone()),
        _ => Err(PyTypeError::new_err("a list converts to an array")),
    }
}

/// The current contents of an array or list; None for other objects.
fn held(items: &Object<'_>) -> PyResult<Option<Array>> {
    if wrapper::core_of(items).is_none() {
        return Ok(None);
    }
    Ok(match contents(items)? {
        ValueRef::Array(items) => Some(items.clone()),
        ValueRef::List(items) => Some(items.snapshot()),
        _ => None,
    })
}

fn own(this: &Object<'_>) -> PyResult<Array> {
    held(this)?.ok_or_else(|| foreign(this))
}

fn own_value(this: &Object<'_>) -> PyResult<Value> {
    match wrapper::core_of(this) {
        Some(core) => Ok(core.into()),
        None => Err(foreign(this)),
    }
}

pub(super) fn len(this: &Object<'_>) -> PyResult<usize> {
    match contents(this)? {
        ValueRef::Array(items) => Ok(items.len()),
        ValueRef::List(items) => Ok(items.len()),
        _ => Err(foreign(this)),
    }
}

#[cold]
pub(super) fn out_of_range(this: &Object<'_>, key: &Object<'_>) -> PyErr {
    let text = || -> PyResult<String> {
        let name = this.get_type().name()?;
        let len = len(this)?;
        Ok(format!(
            "{name} index {key} is out of range for {len} elements"
        ))
    };
    match text() {
        Ok(text) => PyIndexError::new_err(text),
        Err(error) => error,
    }
}

/// The index for a key, possibly negative; None if the index is too large for any
/// element.
pub(super) fn raw_index(key: &Object<'_>) -> PyResult<Option<isize>> {
    if key.is_instance_of::<PyInt>() {
        return Ok(key.extract().ok());
    }
    let Some(convert) = key.getattr_opt(intern!(key.py(), "__index__"))? else {
        return Err(PyTypeError::new_err(format!(
            "indices must be integers or slices, not {}",
            key.get_type().name()?
        )));
    };
    Ok(convert.call0()?.extract().ok())
}

/// The position of an element; None if it is out of range.
#[inline(always)]
pub(super) fn position(index: Option<isize>, len: usize) -> Option<usize> {
    let index = index?;
    let position = if index < 0 {
        len.checked_sub(index.unsigned_abs())?
    } else {
        index as usize
    };
    (position < len).then_some(position)
}

fn get_item<'py>(this: &Object<'py>, key: &Object<'py>) -> PyResult<Object<'py>> {
    let py = this.py();
    if let Ok(slice) = key.cast::<PySlice>() {
        let items = own(this)?;
        let range = slice.indices(items.len() as isize)?;
        let list = PyList::empty(py);
        for position in positions(range.start, range.step, range.slicelength) {
            list.append(to_python(py, &items.values()[position])?)?;
        }
        return Ok(list.into_any());
    }
    let index = raw_index(key)?;
    match contents(this)? {
        ValueRef::Array(items) => match position(index, items.len()) {
            Some(position) => to_python(py, &items.values()[position]),
            None => Err(out_of_range(this, key)),
        },
        ValueRef::List(items) => {
            match position(index, items.len()).and_then(|position| items.get(position)) {
                Some(value) => to_python(py, &value),
                None => Err(out_of_range(this, key)),
            }
        }
        _ => Err(foreign(this)),
    }
}

/// The positions of a slice.
pub(super) fn positions(start: isize, step: isize, count: usize) -> impl Iterator<Item = usize> {
    (0..count as isize).map(move |nth| (start + nth * step) as usize)
}

fn iterate<'py>(this: &Object<'py>, reversed: bool) -> PyResult<Object<'py>> {
    let items = match contents(this)? {
        ValueRef::Array(items) => Items::Fixed(items.clone()),
        ValueRef::List(items) => Items::Changing(items.clone(), items.version()),
        _ => return Err(foreign(this)),
    };
    let iterator = SequenceIterator::new(items, reversed);
    Ok(Bound::new(this.py(), iterator)?.into_any())
}

/// Converts a Python object for comparison with a sequence: to the core object of a
/// sequence, or a converted list or tuple.
fn comparable(other: &Object<'_>) -> PyResult<Option<Value>> {
    if let Some(core) = wrapper::core_of(other) {
        let value = Value::from(core);
        let sequence = matches!(value.view(), ValueRef::Array(_) | ValueRef::List(_));
        return Ok(sequence.then_some(value));
    }
    if other.is_instance_of::<PyList>() || other.is_instance_of::<PyTuple>() {
        return untyped(other).map(Some);
    }
    Ok(None)
}

fn is_equal<'py>(this: &Object<'py>, other: &Object<'py>) -> PyResult<Option<bool>> {
    if this.is(other) {
        return Ok(Some(true));
    }
    match comparable(other)? {
        Some(other) => compare::equal(this.py(), &own_value(this)?, &other).map(Some),
        None => Ok(None),
    }
}

fn hash(this: &Object<'_>) -> PyResult<isize> {
    compare::hash(this.py(), &own_value(this)?)
}

fn contains(this: &Object<'_>, item: &Object<'_>) -> PyResult<bool> {
    Ok(find(this, item, 0, usize::MAX)?.is_some())
}

/// Returns the position of the first element equal to an item.
pub(super) fn find(
    this: &Object<'_>,
    item: &Object<'_>,
    start: usize,
    stop: usize,
) -> PyResult<Option<usize>> {
    let items = own(this)?;
    let item = untyped(item)?;
    let stop = stop.min(items.len());
    for position in start..stop {
        if compare::equal(this.py(), &items.values()[position], &item)? {
            return Ok(Some(position));
        }
    }
    Ok(None)
}

fn count<'py>(this: &Object<'py>, item: &Object<'py>) -> PyResult<Object<'py>> {
    let items = own(this)?;
    let item = untyped(item)?;
    let mut count = 0usize;
    for value in items.values() {
        count += usize::from(compare::equal(this.py(), value, &item)?);
    }
    Ok(count.into_pyobject(this.py())?.into_any())
}

fn index<'py>(this: &Object<'py>, arguments: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    arguments.expect("index", 1, 3)?;
    let len = len(this)?;
    let bound = |place: usize, default: usize| -> PyResult<usize> {
        let Some(key) = arguments.get(place) else {
            return Ok(default);
        };
        Ok(match raw_index(&key)? {
            Some(index) if index < 0 => len.saturating_sub(index.unsigned_abs()),
            Some(index) => index as usize,
            None => default,
        })
    };
    let (start, stop) = (bound(1, 0)?, bound(2, usize::MAX)?);
    if let Some(item) = arguments.get(0) {
        if let Some(position) = find(this, &item, start, stop)? {
            return Ok(position.into_pyobject(this.py())?.into_any());
        }
        return Err(not_there(this, &item));
    }
    Err(foreign(this))
}

#[cold]
pub(super) fn not_there(this: &Object<'_>, item: &Object<'_>) -> PyErr {
    let text = || -> PyResult<String> {
        Ok(format!(
            "{} is not in {}",
            item.repr()?,
            this.get_type().name()?
        ))
    };
    match text() {
        Ok(text) => PyValueError::new_err(text),
        Err(error) => error,
    }
}

/// Makes a container of the class of `this`.
fn alike<'py>(this: &Object<'py>, items: Vec<Value>) -> PyResult<Object<'py>> {
    let value: Value = match contents(this)? {
        ValueRef::List(_) => List::from(items).into(),
        _ => Array::from(items).into(),
    };
    to_python(this.py(), &value)
}

fn concatenate<'py>(
    this: &Object<'py>,
    left: &Object<'py>,
    right: &Object<'py>,
) -> PyResult<Object<'py>> {
    let mut items: Vec<Value> = Vec::new();
    for part in [left, right] {
        match comparable(part)? {
            Some(_) => items.extend_from_slice(values_of(part)?.values()),
            None => return Ok(this.py().NotImplemented().into_bound(this.py())),
        }
    }
    alike(this, items)
}

fn repeat<'py>(this: &Object<'py>, times: &Object<'py>) -> PyResult<Object<'py>> {
    let py = this.py();
    if !times.is_instance_of::<PyInt>() && times.getattr_opt(intern!(py, "__index__"))?.is_none() {
        return Ok(py.NotImplemented().into_bound(py));
    }
    let items = own(this)?;
    let times = raw_index(times)?.map(|times| usize::try_from(times).unwrap_or(0));
    let len = times.and_then(|times| items.len().checked_mul(times));
    match len {
        Some(len) if len <= isize::MAX as usize / size_of::<Value>() => {
            let cycle = items.values().iter().cycle().take(len);
            alike(this, cycle.cloned().collect())
        }
        _ => Err(pyo3::exceptions::PyMemoryError::new_err(
            "the repeated sequence does not fit into memory",
        )),
    }
}
