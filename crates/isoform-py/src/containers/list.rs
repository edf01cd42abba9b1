//! The methods that change a `List`.

use isoform::values::{List, ValueRef};
use isoform::{Array, Value};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice};

use super::contents::{contents, foreign, none};
use super::sequence::{self, only_items, out_of_range, position, positions, raw_index, values_of};
use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::method::{Arguments, Methods};

type Object<'py> = Bound<'py, PyAny>;

pub(super) fn install(methods: Methods<'_>) -> PyResult<()> {
    methods.make(
        |arguments: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, _py: Python<'_>| {
            only_items("List", arguments, named)?;
            let items: Vec<Value> = match arguments.first() {
                Some(items) => values_of(items)?.values().to_vec(),
                None => Vec::new(),
            };
            sequence::fresh(List::from(items).into())
        },
    )?;
    methods.set_item(set_item)?;
    methods.binary("append", append)?;
    methods.binary("extend", |this, items| {
        extend(this, items)?;
        none(this)
    })?;
    methods.binary("__iadd__", |this, items| {
        extend(this, items)?;
        Ok(this.clone())
    })?;
    methods.variadic("insert", insert)?;
    methods.variadic("pop", pop)?;
    methods.binary("remove", remove)?;
    methods.unary("reverse", |this| {
        let list = own(this)?;
        let mut items = list.snapshot().values().to_vec();
        items.reverse();
        drop(list.replace(Array::from(items)).into_py()?);
        none(this)
    })?;
    methods.unary("clear", |this| {
        own(this)?.clear();
        none(this)
    })?;
    for name in ["copy", "__copy__"] {
        methods.unary(name, |this| {
            let items = own(this)?.snapshot();
            to_python(this.py(), &List::from(items.values().to_vec()).into())
        })?;
    }
    methods.binary("_sort", sort)?;
    sequence::install(methods)
}

fn own<'a>(this: &'a Object<'_>) -> PyResult<&'a List> {
    match contents(this)? {
        ValueRef::List(list) => Ok(list),
        _ => Err(foreign(this)),
    }
}

fn append<'py>(this: &Object<'py>, item: &Object<'py>) -> PyResult<Object<'py>> {
    let item = untyped(item)?;
    own(this)?.push(item).into_py()?;
    none(this)
}

fn extend(this: &Object<'_>, items: &Object<'_>) -> PyResult<()> {
    // All items are converted before the first is added.
    let items = values_of(items)?.values().to_vec();
    let list = own(this)?;
    let end = list.len();
    list.splice(end..end, items).into_py()?;
    Ok(())
}

fn insert<'py>(this: &Object<'py>, given: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    given.expect("insert", 2, 2)?;
    let (Some(key), Some(item)) = (given.get(0), given.get(1)) else {
        return Err(foreign(this));
    };
    let item = untyped(&item)?;
    let index = raw_index(&key)?;
    let list = own(this)?;
    let len = list.len();
    let position = match index {
        Some(index) if index < 0 => len.saturating_sub(index.unsigned_abs()),
        Some(index) => len.min(index as usize),
        // A number too large in either direction.
        None if key.lt(0)? => 0,
        None => len,
    };
    list.insert(position, item).into_py()?;
    none(this)
}

fn pop<'py>(this: &Object<'py>, given: Arguments<'_, 'py>) -> PyResult<Object<'py>> {
    given.expect("pop", 0, 1)?;
    let index = match given.get(0) {
        Some(key) => raw_index(&key)?,
        None => Some(-1),
    };
    let list = own(this)?;
    let len = list.len();
    if len == 0 {
        return Err(PyIndexError::new_err("pop from an empty List"));
    }
    let taken = match position(index, len) {
        Some(position) => list.remove(position).into_py()?,
        None => match given.get(0) {
            Some(key) => return Err(out_of_range(this, &key)),
            None => return Err(PyIndexError::new_err("pop from an empty List")),
        },
    };
    to_python(this.py(), &taken)
}

fn remove<'py>(this: &Object<'py>, item: &Object<'py>) -> PyResult<Object<'py>> {
    match sequence::find(this, item, 0, usize::MAX)? {
        Some(position) => {
            let removed = own(this)?.remove(position).into_py()?;
            drop(removed);
            none(this)
        }
        None => Err(sequence::not_there(this, item)),
    }
}

fn set_item<'py>(
    this: &Object<'py>,
    key: &Object<'py>,
    value: Option<&Object<'py>>,
) -> PyResult<()> {
    if let Ok(slice) = key.cast::<PySlice>() {
        return set_slice(this, slice, value);
    }
    let item = value.map(untyped).transpose()?;
    let index = raw_index(key)?;
    let list = own(this)?;
    let position = position(index, list.len()).ok_or_else(|| out_of_range(this, key))?;
    // Removed elements are dropped here, after the change.
    match item {
        Some(item) => drop(list.set(position, item).into_py()?),
        None => drop(list.remove(position).into_py()?),
    }
    Ok(())
}

fn set_slice<'py>(
    this: &Object<'py>,
    slice: &Bound<'py, PySlice>,
    value: Option<&Object<'py>>,
) -> PyResult<()> {
    // Conversion may run Python code, which may change the list.
    let new = match value {
        Some(items) => Some(values_of(items)?.values().to_vec()),
        None => None,
    };
    let list = own(this)?;
    let len = list.len();
    let range = slice.indices(len as isize)?;
    if range.step == 1 {
        let start = range.start as usize;
        let end = start.max(range.stop as usize);
        let old = list.splice(start..end, new.unwrap_or_default()).into_py()?;
        drop(old);
        return Ok(());
    }
    let mut items = list.snapshot().values().to_vec();
    match new {
        Some(new) if new.len() == range.slicelength => {
            for (position, item) in positions(range.start, range.step, new.len()).zip(new) {
                items[position] = item;
            }
        }
        Some(new) => {
            return Err(PyValueError::new_err(format!(
                "attempt to assign a sequence of {} elements to an extended slice of {}",
                new.len(),
                range.slicelength
            )));
        }
        None => {
            let mut gone = vec![false; len];
            for position in positions(range.start, range.step, range.slicelength) {
                gone[position] = true;
            }
            let mut keep = gone.iter().map(|gone| !gone);
            items.retain(|_| keep.next().unwrap_or(true));
        }
    }
    drop(list.replace(Array::from(items)).into_py()?);
    Ok(())
}

/// Reorders the elements as the method `sort` of a Python list would.
fn sort<'py>(this: &Object<'py>, options: &Object<'py>) -> PyResult<Object<'py>> {
    let py = this.py();
    let list = own(this)?;
    let before = list.version();
    let sorted = PyList::empty(py);
    for value in list.snapshot().values() {
        sorted.append(to_python(py, value)?)?;
    }
    let options = options
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("the options of sort are a dict"))?;
    sorted.call_method(intern!(py, "sort"), (), Some(options))?;
    if list.version() != before {
        return Err(PyValueError::new_err("List changed while it was sorted"));
    }
    drop(list.replace(values_of(sorted.as_any())?).into_py()?);
    none(this)
}
