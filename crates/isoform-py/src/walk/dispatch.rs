//! Which callback a value goes to, decided by its type alone.

use std::sync::atomic::{AtomicU8, Ordering};

use isoform::host;
use isoform::{Array, Dict, List, Obj, Ref, RegionKind, TypeIndex, Value, ValueRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTuple, PyType,
};

use super::enums;
use crate::convert::{device_class, dtype_class, shape_class, to_python};
use crate::object::{class, gil, roots, wrapper};

/// What an entry accepts.
#[derive(Clone, Copy)]
enum Accepts {
    Anything,
    /// Plain values of one type, by their number.
    Plain(u32),
    /// Objects of a type and of those that extend it.
    Objects(TypeIndex),
    AnyObject,
}

/// A callback with the types it was given for.
struct Entry {
    accepts: Accepts,
    call: Py<PyAny>,
    /// Whether it is called with the kind of region as well.
    with_region: bool,
}

/// The callbacks of a walk. The first entry that accepts a value is called.
pub(super) struct Callbacks {
    entries: Vec<Entry>,
    /// For the number of a type the position of the entry that accepts it, plus
    /// [`FIRST`]; [`NOBODY`] if none does, zero for a type not met so far.
    table: Box<[AtomicU8; TABLE_SIZE]>,
    any_plain: bool,
}

/// Types with higher numbers are looked up each time, and so are all types
/// when there are more callbacks than a byte can number.
const TABLE_SIZE: usize = 1024;
const NOBODY: u8 = 1;
const FIRST: usize = 2;

const NONE: u32 = 0;
const BOOL: u32 = 1;
const INT: u32 = 2;
const FLOAT: u32 = 3;
const STR: u32 = 4;
const BYTES: u32 = 5;
const DTYPE: u32 = 6;
const DEVICE: u32 = 7;
const SHAPE: u32 = 8;
/// Type indices of objects follow the numbers of plain types.
const FIRST_OBJECT: u32 = 9;

/// What is looked up of a value: the number of its type, and the type itself
/// unless it is plain. Whether a string is long enough to be an object must
/// not show.
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
    /// Reads the callbacks that a user gave to a function of this name, and
    /// those that are called with the kind of region.
    pub(super) fn parse(
        name: &str,
        callbacks: Option<&Bound<'_, PyAny>>,
        with_region: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut entries = Vec::new();
        for (given, with_region) in [(callbacks, false), (with_region, true)] {
            if let Some(given) = given {
                read_entries(name, given, with_region, &mut entries)?;
            }
        }
        let any_plain = entries
            .iter()
            .any(|entry| matches!(entry.accepts, Accepts::Anything | Accepts::Plain(_)));
        Ok(Callbacks {
            entries,
            table: Box::new([const { AtomicU8::new(0) }; TABLE_SIZE]),
            any_plain,
        })
    }

    /// Whether a callback is told the kind of region.
    pub(super) fn with_region(&self) -> bool {
        self.entries.iter().any(|entry| entry.with_region)
    }

    /// Whether a value may be accepted, by the type of the object or None for
    /// a value kept inline.
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
    pub(super) fn find_for(&self, value: &Value) -> Option<Chosen<'_>> {
        let (number, ty) = type_of(value);
        self.entry(number, ty).map(Entry::chosen)
    }

    /// The callback for an object.
    #[inline]
    pub(super) fn find_for_object(&self, object: &Ref<Obj>) -> Option<Chosen<'_>> {
        let ty = host::type_index_of(object);
        if host::is_plain(ty) {
            return self.find_for(&object.into());
        }
        self.entry(FIRST_OBJECT + ty.get(), Some(ty))
            .map(Entry::chosen)
    }
}

/// The object behind a value that is not plain.
#[inline]
pub(super) fn node_of(value: &Value) -> Option<&Ref<Obj>> {
    value
        .as_object()
        .filter(|object| !host::is_plain(host::type_index_of(object)))
}

impl Entry {
    #[inline]
    fn chosen(&self) -> Chosen<'_> {
        Chosen {
            call: &self.call,
            with_region: self.with_region,
        }
    }
}

/// A callback that was chosen.
#[derive(Clone, Copy)]
pub(super) struct Chosen<'a> {
    call: &'a Py<PyAny>,
    with_region: bool,
}

impl Chosen<'_> {
    /// Whether the callback is told the kind of region.
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

    /// Calls it with a value and the engine that called.
    pub(super) fn call_with<'py>(
        self,
        value: &Bound<'py, PyAny>,
        engine: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.bind(value.py());
        gil::call(call, &[value, engine])
    }
}

/// The object as Python sees it.
#[inline]
pub(super) fn object_to_python<'py>(
    py: Python<'py>,
    object: &Ref<Obj>,
) -> PyResult<Bound<'py, PyAny>> {
    if host::type_index_of(object).get() < crate::convert::FIRST_DECLARED {
        return to_python(py, &object.into());
    }
    wrapper::wrap_borrowed(py, object)
}

fn read_entries(
    name: &str,
    given: &Bound<'_, PyAny>,
    with_region: bool,
    entries: &mut Vec<Entry>,
) -> PyResult<()> {
    if given.is_none() {
        return Ok(());
    }
    if given.is_callable() {
        entries.push(Entry {
            accepts: Accepts::Anything,
            call: given.clone().unbind(),
            with_region,
        });
        return Ok(());
    }
    let is_pair = |given: &Bound<'_, PyAny>| -> PyResult<bool> {
        match given.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => Ok(pair.get_item(1)?.is_callable()),
            _ => Ok(false),
        }
    };
    if is_pair(given)? {
        return read_pair(name, given, with_region, entries);
    }
    let fail = || {
        PyTypeError::new_err(format!(
            "{name}: callbacks are a function, a pair (type, function), a pair ((type, ...), \
             function) or a sequence of pairs"
        ))
    };
    if !given.is_instance_of::<PyTuple>() && !given.is_instance_of::<PyList>() {
        return Err(fail());
    }
    for pair in given.try_iter()? {
        let pair = pair?;
        if !is_pair(&pair)? {
            return Err(fail());
        }
        read_pair(name, &pair, with_region, entries)?;
    }
    Ok(())
}

fn read_pair(
    name: &str,
    pair: &Bound<'_, PyAny>,
    with_region: bool,
    entries: &mut Vec<Entry>,
) -> PyResult<()> {
    let (types, call) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    let types = match types.cast::<PyTuple>() {
        Ok(types) => types.iter().collect(),
        Err(_) => vec![types],
    };
    for ty in types {
        let accepts = accepted(&ty)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{name}: the type of a callback is Any, object, a class of nodes, a container or \
                 a plain type, got {ty}"
            ))
        })?;
        entries.push(Entry {
            accepts,
            call: call.clone().unbind(),
            with_region,
        });
    }
    Ok(())
}

/// What a type given for a callback stands for; None for a type whose values
/// no walk meets.
fn accepted(ty: &Bound<'_, PyAny>) -> PyResult<Option<Accepts>> {
    let py = ty.py();
    if ty.is_none() {
        return Ok(Some(Accepts::Plain(NONE)));
    }
    if ty.is(py.import("typing")?.getattr(intern!(py, "Any"))?) {
        return Ok(Some(Accepts::Anything));
    }
    let Ok(class) = ty.cast::<PyType>() else {
        // `Array[int]` and its like match by their origin.
        return match ty.getattr_opt(intern!(py, "__origin__"))? {
            Some(origin) if origin.is_instance_of::<PyType>() => accepted(&origin),
            _ => Ok(None),
        };
    };
    let plain = [
        (py.get_type::<PyNone>(), NONE),
        (py.get_type::<PyBool>(), BOOL),
        (py.get_type::<PyInt>(), INT),
        (py.get_type::<PyFloat>(), FLOAT),
        (py.get_type::<PyString>(), STR),
        (py.get_type::<PyBytes>(), BYTES),
    ];
    if let Some((_, number)) = plain.iter().find(|(known, _)| known.is(class)) {
        return Ok(Some(Accepts::Plain(*number)));
    }
    let special = [
        (dtype_class(py), DTYPE),
        (device_class(py), DEVICE),
        (shape_class(py), SHAPE),
    ];
    for (known, number) in special {
        if known.is_some_and(|known| known.is(class)) {
            return Ok(Some(Accepts::Plain(number)));
        }
    }
    let index_of = |value: Value| value.as_object().map(host::type_index_of);
    let native = [
        (
            py.get_type::<PyList>(),
            index_of(List::<Value>::new().into()),
        ),
        (
            py.get_type::<PyTuple>(),
            index_of(Array::<Value>::new().into()),
        ),
        (
            py.get_type::<PyDict>(),
            index_of(Dict::<Value, Value>::new().into()),
        ),
    ];
    if let Some((_, index)) = native.iter().find(|(known, _)| known.is(class)) {
        return Ok(index.map(Accepts::Objects));
    }
    let object = py.get_type::<PyAny>();
    if class.is(&object) {
        return Ok(Some(Accepts::Anything));
    }
    if roots::is_base(class) {
        return Ok(Some(Accepts::AnyObject));
    }
    Ok(class::of_class(py, class.as_type_ptr()).map(|data| Accepts::Objects(data.info.index())))
}

/// Whether callbacks come before the children.
pub(super) fn order(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<isoform::WalkOrder> {
    use isoform::WalkOrder::{Post, Pre};
    let Some(given) = given else {
        return Ok(Post);
    };
    if let Ok(text) = given.cast::<PyString>() {
        match text.to_str()? {
            "pre" => return Ok(Pre),
            "post" => return Ok(Post),
            _ => {}
        }
    } else if let Ok(number) = given.extract::<u8>() {
        match number {
            0 => return Ok(Pre),
            1 => return Ok(Post),
            _ => {}
        }
    }
    Err(PyValueError::new_err(format!(
        "{name}: expected the order 'pre' or 'post', got {}",
        given.repr()?
    )))
}
