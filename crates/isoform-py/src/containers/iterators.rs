//! Iterators over containers.
//!
//! Iterators hold the container's contents instead of its wrapper. Over a list or dict,
//! every step checks for changes of length, order or keys; replacing a value is
//! allowed, as in Python.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use isoform::values::{Dict, List};
use isoform::{Array, Map, Value};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::to_python;

/// The position after the end.
const ENDED: usize = usize::MAX;

pub(super) enum Items {
    Fixed(Array),
    Changing(List, u64),
}

/// An iterator over an array or a list.
#[pyclass(frozen, module = "isoform._core")]
pub(crate) struct SequenceIterator {
    items: Items,
    /// The number of elements returned so far.
    done: AtomicUsize,
    reversed: bool,
}

impl SequenceIterator {
    pub(super) fn new(items: Items, reversed: bool) -> Self {
        SequenceIterator {
            items,
            done: AtomicUsize::new(0),
            reversed,
        }
    }

    fn len(&self) -> usize {
        match &self.items {
            Items::Fixed(items) => items.len(),
            Items::Changing(items, _) => items.len(),
        }
    }

    /// The position of the next element; None at the end.
    #[inline(always)]
    fn next_position(&self, len: usize) -> Option<usize> {
        let done = self.done.load(Relaxed);
        if done >= len {
            self.done.store(ENDED, Relaxed);
            return None;
        }
        self.done.store(done + 1, Relaxed);
        Some(if self.reversed { len - 1 - done } else { done })
    }
}

#[pymethods]
impl SequenceIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.items {
            Items::Fixed(items) => {
                let items = items.values();
                match self.next_position(items.len()) {
                    Some(position) => to_python(py, &items[position]).map(Some),
                    None => Ok(None),
                }
            }
            Items::Changing(items, version) => {
                if self.done.load(Relaxed) == ENDED {
                    return Ok(None);
                }
                if items.version() != *version {
                    return Err(changed("List"));
                }
                let value = self
                    .next_position(items.len())
                    .and_then(|position| items.get(position));
                value.map(|value| to_python(py, &value)).transpose()
            }
        }
    }

    fn __length_hint__(&self) -> usize {
        self.len().saturating_sub(self.done.load(Relaxed))
    }
}

#[cold]
fn changed(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what} changed during iteration"))
}

pub(super) enum Entries {
    Fixed(Map),
    Changing(Dict, u64),
}

/// The kind of items returned by an iterator over a mapping.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Keys,
    Values,
    Items,
}

/// An iterator over the keys, values or items of a map or a dict.
#[pyclass(frozen, module = "isoform._core")]
pub(crate) struct MapIterator {
    entries: Entries,
    part: Part,
    done: AtomicUsize,
    reversed: bool,
}

impl MapIterator {
    pub(super) fn new(entries: Entries, part: Part, reversed: bool) -> Self {
        MapIterator {
            entries,
            part,
            done: AtomicUsize::new(0),
            reversed,
        }
    }

    fn len(&self) -> usize {
        match &self.entries {
            Entries::Fixed(entries) => entries.len(),
            Entries::Changing(entries, _) => entries.len(),
        }
    }

    fn give<'py>(
        &self,
        py: Python<'py>,
        key: &Value,
        value: &Value,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.part {
            Part::Keys => to_python(py, key),
            Part::Values => to_python(py, value),
            Part::Items => {
                let pair = [to_python(py, key)?, to_python(py, value)?];
                Ok(PyTuple::new(py, pair)?.into_any())
            }
        }
    }
}

#[pymethods]
impl MapIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let done = self.done.load(Relaxed);
        if done == ENDED {
            return Ok(None);
        }
        if let Entries::Changing(entries, version) = &self.entries
            && entries.version() != *version
        {
            return Err(changed("Dict"));
        }
        let len = self.len();
        if done >= len {
            self.done.store(ENDED, Relaxed);
            return Ok(None);
        }
        self.done.store(done + 1, Relaxed);
        let position = if self.reversed { len - 1 - done } else { done };
        match &self.entries {
            Entries::Fixed(entries) => match entries.get_index(position) {
                Some((key, value)) => self.give(py, key, value).map(Some),
                None => Ok(None),
            },
            Entries::Changing(entries, _) => match entries.get_index(position) {
                Some((key, value)) => self.give(py, &key, &value).map(Some),
                None => Ok(None),
            },
        }
    }

    fn __length_hint__(&self) -> usize {
        self.len().saturating_sub(self.done.load(Relaxed))
    }
}
