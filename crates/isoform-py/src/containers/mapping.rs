//! The common part of `Map` and `Dict`.

use isoform::values::{Dict, ValueRef};
use isoform::{Map, Value};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::compare;
use super::contents::{check_key, contents, foreign};
use super::iterators::{Entries, MapIterator, Part};
use super::sequence::fresh;
use crate::convert::{to_python, untyped, value_of_class};
use crate::error::IntoPyResult;
use crate::object::method::{Arguments, Methods};
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

pub(super) fn install_map(methods: Methods<'_>) -> PyResult<()> {
    methods.make(
        |given: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, py: Python<'_>| {
            fresh(gather(py, "Map", given, named)?.into())
        },
    )?;
    methods.hash(|this| compare::hash(this.py(), &own_value(this)?))?;
    methods.unary("__copy__", |this| Ok(this.clone()))?;
    install(methods)
}

/// The methods of both classes.
pub(super) fn install(methods: Methods<'_>) -> PyResult<()> {
    methods.len(|this| match contents(this)? {
        ValueRef::Map(entries) => Ok(entries.len()),
        ValueRef::Dict(entries) => Ok(entries.len()),
        _ => Err(foreign(this)),
    })?;
    methods.get_item(|this, key| match look_up(this, key)? {
        Some(value) => to_python(this.py(), &value),
        None => Err(PyKeyError::new_err(key.clone().unbind())),
    })?;
    methods.contains(|this, key| Ok(look_up(this, key)?.is_some()))?;
    methods.iter(|this| iterate(this, Part::Keys, false))?;
    methods.unary("__reversed__", |this| iterate(this, Part::Keys, true))?;
    methods.unary("_iter_values", |this| iterate(this, Part::Values, false))?;
    methods.unary("_reversed_values", |this| iterate(this, Part::Values, true))?;
    methods.unary("_iter_items", |this| iterate(this, Part::Items, false))?;
    methods.unary("_reversed_items", |this| iterate(this, Part::Items, true))?;
    methods.equality(is_equal)?;
    methods.variadic("get", get)?;
    methods.binary("_has_value", |this, value| {
        let value = untyped(value)?;
        let mut has_value = false;
        for (_, held) in own(this)?.iter() {
            if compare::equal(this.py(), held, &value)? {
                has_value = true;
                break;
            }
        }
        Ok(has_value.into_pyobject(this.py())?.to_owned().into_any())
    })?;
    methods.variadic("_has_item", |this, arguments| {
        let (Some(key), Some(value)) = (arguments.get(0), arguments.get(1)) else {
            return Err(foreign(this));
        };
        let has_item = match look_up(this, &key)? {
            Some(held) => compare::equal(this.py(), &held, &untyped(&value)?)?,
            None => false,
        };
        Ok(has_item.into_pyobject(this.py())?.to_owned().into_any())
    })?;
    methods.binary("__or__", |this, other| unite(this, this, other))?;
    methods.binary("__ror__", |this, other| unite(this, other, this))?;
    methods.finish();
    Ok(())
}

/// The value of a key.
pub(super) fn look_up(this: &Object<'_>, key: &Object<'_>) -> PyResult<Option<Value>> {
    check_key(key)?;
    let contents = contents(this)?;
    let look_up = |key: &Value| match &contents {
        ValueRef::Map(entries) => Ok(entries.try_get(key).into_py()?.cloned()),
        ValueRef::Dict(entries) => entries.try_get(key).into_py(),
        _ => Err(foreign(this)),
    };
    if let Some(held) = look_up(&untyped(key)?)? {
        return Ok(Some(held));
    }
    // A member of an enum that is also an int or a str is a key of a map with such keys.
    match value_of_class(key)? {
        Some(key) => look_up(&key),
        None => Ok(None),
    }
}

fn get<'py>(this: &Object<'py>, given: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    given.expect("get", 1, 2)?;
    if let Some(key) = given.get(0)
        && let Some(value) = look_up(this, &key)?
    {
        return to_python(this.py(), &value);
    }
    Ok(match given.get(1) {
        Some(default) => default.to_owned(),
        None => this.py().None().into_bound(this.py()),
    })
}

/// The current contents of a map or dict; None for other objects.
pub(super) fn held(this: &Object<'_>) -> Option<Map> {
    let value = Value::from(wrapper::core_of(this)?);
    match value.view() {
        ValueRef::Map(entries) => Some(entries.clone()),
        ValueRef::Dict(entries) => Some(entries.snapshot()),
        _ => None,
    }
}

fn own(this: &Object<'_>) -> PyResult<Map> {
    held(this).ok_or_else(|| foreign(this))
}

fn own_value(this: &Object<'_>) -> PyResult<Value> {
    match wrapper::core_of(this) {
        Some(core) => Ok(core.into()),
        None => Err(foreign(this)),
    }
}

fn iterate<'py>(this: &Object<'py>, part: Part, reversed: bool) -> PyResult<Object<'py>> {
    let entries = match contents(this)? {
        ValueRef::Map(entries) => Entries::Fixed(entries.clone()),
        ValueRef::Dict(entries) => Entries::Changing(entries.clone(), entries.version()),
        _ => return Err(foreign(this)),
    };
    let iterator = MapIterator::new(entries, part, reversed);
    Ok(Bound::new(this.py(), iterator)?.into_any())
}

fn is_equal<'py>(this: &Object<'py>, other: &Object<'py>) -> PyResult<Option<bool>> {
    if this.is(other) {
        return Ok(Some(true));
    }
    let other: Value = if let Some(entries) = held(other) {
        entries.into()
    } else if other.is_instance_of::<PyDict>() {
        untyped(other)?
    } else {
        return Ok(None);
    };
    compare::equal(this.py(), &own_value(this)?, &other).map(Some)
}

/// The entries from the arguments of a constructor or of `update`: from a mapping or an
/// iterable of pairs, and named ones.
pub(super) fn gather(
    py: Python<'_>,
    name: &str,
    arguments: &[Object<'_>],
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<Map> {
    if arguments.len() > 1 {
        return Err(PyTypeError::new_err(format!(
            "{name}() takes at most 1 argument but {} were given",
            arguments.len()
        )));
    }
    let mut entries = match arguments.first() {
        Some(source) => entries_of(py, source)?,
        None => Map::new(),
    };
    for (key, value) in named.into_iter().flatten() {
        let old = entries.try_insert(untyped(&key)?, untyped(&value)?);
        drop(old.into_py()?);
    }
    Ok(entries)
}

fn entries_of(py: Python<'_>, source: &Object<'_>) -> PyResult<Map> {
    if let Some(held) = held(source) {
        let entries = held.iter().map(|(key, value)| (key.clone(), value.clone()));
        return Map::try_from_entries(entries).into_py();
    }
    if source.is_exact_instance_of::<PyDict>() {
        return match untyped(source)?.view() {
            ValueRef::Map(entries) => Ok(entries.clone()),
            _ => Err(PyTypeError::new_err("a dict converts to a map")),
        };
    }
    // One list of all keys and values, to keep shared parts shared.
    let flat = PyList::empty(py);
    if let Some(keys) = source.getattr_opt(intern!(py, "keys"))? {
        for key in keys.call0()?.try_iter()? {
            let key = key?;
            check_key(&key)?;
            let value = source.get_item(&key)?;
            flat.append(key)?;
            flat.append(value)?;
        }
    } else {
        for (position, pair) in source.try_iter()?.enumerate() {
            let pair: Vec<Object<'_>> = pair?.try_iter()?.collect::<PyResult<_>>()?;
            let [key, value] = pair.as_slice() else {
                return Err(PyValueError::new_err(format!(
                    "element [{position}] of a sequence of entries: expected 2 elements, got {}",
                    pair.len()
                )));
            };
            check_key(key)?;
            flat.append(key)?;
            flat.append(value)?;
        }
    }
    let converted = untyped(flat.as_any())?;
    let ValueRef::Array(flat) = converted.view() else {
        return Err(PyTypeError::new_err("a list converts to an array"));
    };
    let (pairs, _) = flat.values().as_chunks::<2>();
    let entries = pairs
        .iter()
        .map(|[key, value]| (key.clone(), value.clone()));
    Map::try_from_entries(entries).into_py()
}

/// Makes a mapping of the class of `this` with the entries of both.
fn unite<'py>(
    this: &Object<'py>,
    left: &Object<'py>,
    right: &Object<'py>,
) -> PyResult<Object<'py>> {
    let py = this.py();
    for operand in [left, right] {
        if held(operand).is_none() && !operand.is_instance_of::<PyDict>() {
            return Ok(py.NotImplemented().into_bound(py));
        }
    }
    let mut entries = entries_of(py, left)?;
    for (key, value) in entries_of(py, right)?.iter() {
        drop(entries.try_insert(key.clone(), value.clone()).into_py()?);
    }
    let value: Value = match contents(this)? {
        ValueRef::Dict(_) => dict_of(&entries)?.into(),
        _ => entries.into(),
    };
    to_python(py, &value)
}

/// Makes a dict with the entries of a map.
pub(super) fn dict_of(entries: &Map) -> PyResult<Dict> {
    let entries = entries
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    Dict::try_from_entries(entries).into_py()
}

/// Makes a pair of Python objects.
pub(super) fn pair<'py>(py: Python<'py>, key: &Value, value: &Value) -> PyResult<Object<'py>> {
    let parts = [to_python(py, key)?, to_python(py, value)?];
    Ok(PyTuple::new(py, parts)?.into_any())
}
