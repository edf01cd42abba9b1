//! The choice of the callback for a value, by its type alone.

use std::sync::atomic::{AtomicU8, Ordering};

use isoform::traverse::Visit;
use isoform::types::{RegionKind, TypeIndex};
use isoform::values::ValueRef;
use isoform::{Error, Obj, Ref, Value, host};
use pyo3::intern;
use pyo3::prelude::*;

use super::enums;
use crate::convert::{FIRST_DECLARED, to_python};
use crate::error::{from_python, note};
use crate::object::{gil, wrapper};

/// The values that an entry accepts.
#[derive(Clone, Copy)]
pub(super) enum Accepts {
    Anything,
    /// Plain values of one type, by their number.
    Plain(u32),
    /// Objects of a type, or of a type that extends this type.
    Objects(TypeIndex),
    AnyObject,
}

/// A callback with its types.
pub(super) struct Entry {
    pub(super) accepts: Accepts,
    pub(super) call: Py<PyAny>,
    /// True if the callback also receives the kind of region.
    pub(super) with_region: bool,
}

/// The callbacks of a walk. The first entry that accepts a value is called.
pub(super) struct Callbacks {
    entries: Vec<Entry>,
    /// For the number of each type, the position of the accepting entry, plus
    /// [`FIRST`]; [`NOBODY`] if no entry accepts the type, zero for an unseen type.
    table: Box<[AtomicU8; TABLE_SIZE]>,
    any_plain: bool,
}

/// Types with higher numbers are looked up at every visit, and all types are if there
/// are more callbacks than a byte can number. A block of 1024 bytes or more would make
/// some allocators tidy up all small blocks first.
const TABLE_SIZE: usize = 960;
const NOBODY: u8 = 1;
const FIRST: usize = 2;

pub(super) const NONE: u32 = 0;
pub(super) const BOOL: u32 = 1;
pub(super) const INT: u32 = 2;
pub(super) const FLOAT: u32 = 3;
pub(super) const STR: u32 = 4;
pub(super) const BYTES: u32 = 5;
pub(super) const DTYPE: u32 = 6;
pub(super) const DEVICE: u32 = 7;
pub(super) const SHAPE: u32 = 8;
/// Type indices of objects follow the numbers of plain types.
const FIRST_OBJECT: u32 = 9;

/// The key of a value in the table: the number of its type, and the type itself unless
/// it is plain. Strings have one number, both inline strings and objects.
fn type_of(value: &Value) -> (u32, Option<TypeIndex>) {
    let plain = match value.view() {
        ValueRef::None => NONE,
        ValueRef::Bool(_) => BOOL,
        ValueRef::Int(_) | ValueRef::BigInt(_) => INT,
        ValueRef::Float(_) => FLOAT,
        ValueRef::Str(_) => STR,
        ValueRef::Bytes(_) => BYTES,
        ValueRef::DType(_) => DTYPE,
        ValueRef::Device(_) => DEVICE,
        ValueRef::Shape(_) => SHAPE,
        _ => match value.as_object().map(host::type_index_of) {
            Some(ty) => return (FIRST_OBJECT + ty.get(), Some(ty)),
            None => NONE,
        },
    };
    (plain, None)
}

impl Callbacks {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let any_plain = entries
            .iter()
            .any(|entry| matches!(entry.accepts, Accepts::Anything | Accepts::Plain(_)));
        Callbacks {
            entries,
            table: Box::new([const { AtomicU8::new(0) }; TABLE_SIZE]),
            any_plain,
        }
    }

    /// True if a callback receives the kind of region.
    pub(super) fn with_region(&self) -> bool {
        self.entries.iter().any(|entry| entry.with_region)
    }

    /// True if a value may be accepted, by the type of the object or None for an inline
    /// value.
    #[inline]
    pub(super) fn wants(&self, ty: Option<TypeIndex>) -> bool {
        match ty {
            None => self.any_plain,
            Some(ty) if host::is_plain(ty) => self.any_plain,
            Some(ty) => self.entry(FIRST_OBJECT + ty.get(), Some(ty)).is_some(),
        }
    }

    #[inline]
    fn entry(&self, number: u32, ty: Option<TypeIndex>) -> Option<&Entry> {
        let known = self.table.get(number as usize);
        match known.map_or(0, |known| known.load(Ordering::Relaxed)) {
            NOBODY => None,
            0 => self.find(number, ty),
            position => self.entries.get(usize::from(position) - FIRST),
        }
    }

    #[cold]
    fn find(&self, number: u32, ty: Option<TypeIndex>) -> Option<&Entry> {
        let accepts = |entry: &Entry| match (entry.accepts, ty) {
            (Accepts::Anything, _) | (Accepts::AnyObject, Some(_)) => true,
            (Accepts::Plain(accepted), None) => accepted == number,
            (Accepts::Objects(ancestor), Some(ty)) => host::extends(ty, ancestor),
            _ => false,
        };
        let found = self.entries.iter().position(accepts);
        let known = match found {
            None => Ok(NOBODY),
            Some(position) => u8::try_from(position + FIRST),
        };
        if let (Some(place), Ok(known)) = (self.table.get(number as usize), known) {
            place.store(known, Ordering::Relaxed);
        }
        found.map(|position| &self.entries[position])
    }

    /// The callback for a value.
    #[inline]
    pub(super) fn find_for(&self, value: &Value) -> Option<Callback<'_>> {
        let (number, ty) = type_of(value);
        self.entry(number, ty).map(Entry::chosen)
    }

    /// The callback for an object.
    #[inline]
    pub(super) fn find_for_object(&self, object: &Ref<Obj>) -> Option<Callback<'_>> {
        let ty = host::type_index_of(object);
        if host::is_plain(ty) {
            return self.find_for(&object.into());
        }
        self.entry(FIRST_OBJECT + ty.get(), Some(ty))
            .map(Entry::chosen)
    }
}

impl Callbacks {
    /// The callback for a traversed value, and the value to pass.
    #[inline(always)]
    pub(super) fn find_for_visit<'py>(
        &self,
        py: Python<'py>,
        visit: &Visit<'_>,
    ) -> PyResult<Option<(Callback<'_>, Bound<'py, PyAny>)>> {
        if let Some(object) = visit.object() {
            let Some(chosen) = self.find_for_object(object) else {
                return Ok(None);
            };
            return Ok(Some((chosen, object_to_python(py, object)?)));
        }
        let value = visit.value();
        let Some(chosen) = self.find_for(&value) else {
            return Ok(None);
        };
        Ok(Some((chosen, to_python(py, &value)?)))
    }
}

impl Callbacks {
    /// The error for an exception of the callback for a value, with a note of the place.
    #[cold]
    pub(super) fn failed(&self, py: Python<'_>, error: PyErr, visit: &Visit<'_>) -> Error {
        let name = self.find_for(&visit.value()).and_then(|chosen| {
            let name = chosen
                .call
                .bind(py)
                .getattr_opt(intern!(py, "__qualname__"));
            name.ok().flatten()
        });
        let name = name.map_or_else(|| "a callback".to_owned(), |name| name.to_string());
        note(py, &error, format!("in {name} at {}", visit.path()));
        from_python(error)
    }
}

/// The object in a value that is not plain.
#[inline]
pub(super) fn node_of(value: &Value) -> Option<&Ref<Obj>> {
    value
        .as_object()
        .filter(|object| !host::is_plain(host::type_index_of(object)))
}

impl Entry {
    #[inline]
    fn chosen(&self) -> Callback<'_> {
        Callback {
            call: &self.call,
            with_region: self.with_region,
        }
    }
}

/// A callback that was chosen.
#[derive(Clone, Copy)]
pub(super) struct Callback<'a> {
    call: &'a Py<PyAny>,
    with_region: bool,
}

impl Callback<'_> {
    /// True if the callback receives the kind of region.
    pub(super) fn with_region(self) -> bool {
        self.with_region
    }

    /// Calls it with a value.
    #[inline]
    pub(super) fn call<'py>(
        self,
        value: &Bound<'py, PyAny>,
        region: RegionKind,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.bind(value.py());
        if self.with_region {
            let region = enums::region_kind(value.py(), region)?;
            return gil::call(call, &[value, region]);
        }
        gil::call(call, &[value])
    }

    /// Calls it with a value and the calling engine.
    pub(super) fn call_with<'py>(
        self,
        value: &Bound<'py, PyAny>,
        engine: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.bind(value.py());
        gil::call(call, &[value, engine])
    }
}

/// The object for Python.
#[inline]
fn object_to_python<'py>(py: Python<'py>, object: &Ref<Obj>) -> PyResult<Bound<'py, PyAny>> {
    if host::type_index_of(object).get() < FIRST_DECLARED {
        return to_python(py, &object.into());
    }
    wrapper::wrap_borrowed(py, object)
}
