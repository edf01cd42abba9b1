//! The methods that change a `Dict`.

use isoform::Map;
use isoform::values::{Dict, ValueRef};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::contents::{check_key, contents, foreign, none};
use super::mapping::{self, dict_of, gather, look_up, pair};
use super::sequence::fresh;
use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::method::{Arguments, Methods};

type Object<'py> = Bound<'py, PyAny>;

pub(super) fn install(methods: Methods<'_>) -> PyResult<()> {
    methods.make(
        |arguments: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, py: Python<'_>| {
            fresh(dict_of(&gather(py, "Dict", arguments, named)?)?.into())
        },
    )?;
    methods.set_item(set_item)?;
    methods.variadic("pop", pop)?;
    methods.unary("popitem", popitem)?;
    methods.variadic("setdefault", set_default)?;
    methods.unary("clear", |this| {
        own(this)?.clear();
        none(this)
    })?;
    methods.variadic("_update", |this, arguments| {
        let named = arguments.get(1);
        let named = named
            .as_deref()
            .and_then(|named| named.cast::<PyDict>().ok());
        let source: Vec<Object<'_>> = arguments
            .iter()
            .take(1)
            .map(|argument| argument.to_owned())
            .collect();
        update(this, &source, named)?;
        none(this)
    })?;
    methods.binary("__ior__", |this, other| {
        update(this, std::slice::from_ref(other), None)?;
        Ok(this.clone())
    })?;
    for name in ["copy", "__copy__"] {
        methods.unary(name, |this| {
            to_python(this.py(), &dict_of(&own(this)?.snapshot())?.into())
        })?;
    }
    mapping::install(methods)
}

fn own<'a>(this: &'a Object<'_>) -> PyResult<&'a Dict> {
    match contents(this)? {
        ValueRef::Dict(dict) => Ok(dict),
        _ => Err(foreign(this)),
    }
}

#[cold]
fn missing(key: &Object<'_>) -> PyErr {
    PyKeyError::new_err(key.clone().unbind())
}

fn set_item<'py>(
    this: &Object<'py>,
    key: &Object<'py>,
    value: Option<&Object<'py>>,
) -> PyResult<()> {
    check_key(key)?;
    let converted = untyped(key)?;
    match value {
        Some(value) => {
            let value = untyped(value)?;
            let old = own(this)?.insert(converted, value).into_py()?;
            drop(old);
        }
        None => {
            let removed = own(this)?.try_remove_entry(&converted).into_py()?;
            drop(removed.ok_or_else(|| missing(key))?);
        }
    }
    Ok(())
}

fn pop<'py>(this: &Object<'py>, given: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    given.expect("pop", 1, 2)?;
    let Some(key) = given.get(0) else {
        return Err(foreign(this));
    };
    check_key(&key)?;
    let removed = own(this)?.try_remove_entry(&untyped(&key)?).into_py()?;
    match (removed, given.get(1)) {
        (Some((_, value)), _) => to_python(this.py(), &value),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(missing(&key)),
    }
}

fn popitem<'py>(this: &Object<'py>) -> PyResult<Object<'py>> {
    match own(this)?.pop() {
        Some((key, value)) => pair(this.py(), &key, &value),
        None => Err(PyKeyError::new_err("popitem(): the Dict is empty")),
    }
}

fn set_default<'py>(this: &Object<'py>, given: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    given.expect("setdefault", 1, 2)?;
    let Some(key) = given.get(0) else {
        return Err(foreign(this));
    };
    if let Some(value) = look_up(this, &key)? {
        return to_python(this.py(), &value);
    }
    let value = match given.get(1) {
        Some(default) => untyped(&default)?,
        None => isoform::Value::NONE,
    };
    let key = untyped(&key)?;
    // Requirements of a field on the dict may convert both.
    let entry = own(this)?.admit(Map::from_iter([(key, value)])).into_py()?;
    let Some((key, value)) = entry.iter().next() else {
        return Err(foreign(this));
    };
    drop(own(this)?.insert(key.clone(), value.clone()).into_py()?);
    to_python(this.py(), value)
}

fn update(
    this: &Object<'_>,
    given: &[Object<'_>],
    named: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    // All entries are converted before the first is stored.
    let entries = gather(this.py(), "update", given, named)?;
    let dict = own(this)?;
    let entries = dict.admit(entries).into_py()?;
    for (key, value) in entries.iter() {
        drop(dict.insert(key.clone(), value.clone()).into_py()?);
    }
    Ok(())
}
