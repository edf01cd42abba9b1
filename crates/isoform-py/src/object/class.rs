//! The Python classes of types and the data of their constructors, which `bind.rs`
//! creates and the rest of the binding reads.

#[cfg(not(Py_GIL_DISABLED))]
use std::cell::UnsafeCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(Py_GIL_DISABLED)]
use std::sync::{LazyLock, PoisonError, RwLock};

use hashbrown::HashMap;
use isoform::Value;
use isoform::functions::Function;
use isoform::host::{self, FieldPlace};
use isoform::types::{FieldDef, Schema, TypeIndex, TypeInfo};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

/// The default of a field.
pub(crate) enum Default {
    /// Always the same immutable value.
    Value(Value),
    /// A Python value converted at every use: it is mutable, or the field has a
    /// converter.
    Convert(Py<PyAny>),
    /// The result of a call without arguments.
    Factory(Py<PyAny>),
    /// Created by the definition; it may be mutable and is not shared.
    Made(&'static FieldDef),
}

/// The binding's data about a field, in addition to the core's.
pub(crate) struct FieldData {
    pub(crate) place: FieldPlace,
    pub(crate) name: Py<PyString>,
    pub(crate) converter: Option<Py<PyAny>>,
    pub(crate) default: Option<Default>,
    pub(crate) frozen: bool,
    pub(crate) kw_only: bool,
    pub(crate) init: bool,
    pub(crate) repr: bool,
    pub(crate) compare: bool,
    pub(crate) hash: bool,
}

impl FieldData {
    pub(super) fn share(&self, py: Python<'_>) -> FieldData {
        FieldData {
            place: self.place,
            name: self.name.clone_ref(py),
            converter: self.converter.as_ref().map(|found| found.clone_ref(py)),
            default: self.default.as_ref().map(|default| match default {
                Default::Value(value) => Default::Value(value.clone()),
                Default::Convert(value) => Default::Convert(value.clone_ref(py)),
                Default::Factory(make) => Default::Factory(make.clone_ref(py)),
                Default::Made(definition) => Default::Made(definition),
            }),
            frozen: self.frozen,
            kw_only: self.kw_only,
            init: self.init,
            repr: self.repr,
            compare: self.compare,
            hash: self.hash,
        }
    }
}

/// The function that makes the objects of a type, with the names of the parameters.
pub(crate) struct Maker {
    pub(super) info: &'static TypeInfo,
    pub(super) function: Function,
    pub(super) names: Box<[Py<PyString>]>,
}

/// A registered class, kept until the end of the process, like the type.
pub(crate) struct ClassData {
    pub(crate) info: &'static TypeInfo,
    pub(super) class: Py<PyType>,
    /// True if the type was declared before the class, and the class was made for the
    /// type.
    pub(crate) native: bool,
    /// All fields, parents' first.
    pub(crate) fields: Box<[FieldData]>,
    /// The fields taken by the constructor, positional fields first.
    pub(crate) params: Box<[usize]>,
    pub(crate) positional: usize,
    /// The function that makes objects instead of the fields, if any.
    pub(crate) maker: Option<Maker>,
    /// True if the class has the generated constructor.
    pub(crate) init: bool,
    pub(crate) post_init: bool,
    /// True if the fields are few, all of them positional parameters without converter,
    /// and no code has to run afterwards.
    pub(crate) simple: bool,
    /// The function that makes what Python sees instead of an object of the class.
    pub(super) instance_of: PyOnceLock<Py<PyAny>>,
}

impl ClassData {
    /// The Python class.
    pub(crate) fn class<'py>(&self, py: Python<'py>) -> Bound<'py, PyType> {
        self.class.bind(py).clone()
    }

    /// Sets, once, the function that makes what Python sees instead of an object.
    pub(crate) fn set_instance_of(&self, py: Python<'_>, function: Py<PyAny>) {
        // A second declaration of the class has the same function.
        let _ = self.instance_of.set(py, function);
        HAS_VALUE_CLASSES.store(true, Ordering::Release);
    }

    fn raw(&self) -> *mut ffi::PyTypeObject {
        self.class.as_ptr().cast()
    }

    /// The schema of a field.
    #[inline(always)]
    pub(crate) fn schema(&self, field: usize) -> &'static Schema {
        self.info.fields()[field].schema()
    }
}

/// True once there is a function that makes instances from objects.
static HAS_VALUE_CLASSES: AtomicBool = AtomicBool::new(false);

/// True if Python may see instances of value classes in place of objects.
#[inline(always)]
pub(super) fn has_value_classes() -> bool {
    HAS_VALUE_CLASSES.load(Ordering::Relaxed)
}

#[derive(Default)]
struct Classes {
    by_index: Vec<Option<&'static ClassData>>,
    by_class: HashMap<usize, &'static ClassData>,
}

/// The table of classes; read and written only under the GIL.
#[cfg(not(Py_GIL_DISABLED))]
struct Table(UnsafeCell<Option<Classes>>);

// SAFETY: every access takes a `Python` token, so the GIL orders the accesses, and no
// reference into the table outlives the function that took the reference.
#[cfg(not(Py_GIL_DISABLED))]
unsafe impl Sync for Table {}

#[cfg(not(Py_GIL_DISABLED))]
static TABLE: Table = Table(UnsafeCell::new(None));

#[cfg(not(Py_GIL_DISABLED))]
fn with_table<R>(_py: Python<'_>, f: impl FnOnce(&Classes) -> R) -> R {
    change_table(_py, |classes| f(classes))
}

#[cfg(not(Py_GIL_DISABLED))]
fn change_table<R>(_py: Python<'_>, f: impl FnOnce(&mut Classes) -> R) -> R {
    // SAFETY: the GIL is held, and `f`, one of the few closures of this file, neither
    // releases the GIL nor calls this function again.
    let classes = unsafe { &mut *TABLE.0.get() };
    f(classes.get_or_insert_default())
}

/// The table of classes.
#[cfg(Py_GIL_DISABLED)]
static TABLE: RwLock<Option<Classes>> = RwLock::new(None);

/// `f`, one of the few closures of this file, calls nothing that waits.
#[cfg(Py_GIL_DISABLED)]
fn with_table<R>(_py: Python<'_>, f: impl FnOnce(&Classes) -> R) -> R {
    static EMPTY: LazyLock<Classes> = LazyLock::new(Classes::default);
    let classes = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    f(classes.as_ref().unwrap_or(&EMPTY))
}

/// As [`with_table`].
#[cfg(Py_GIL_DISABLED)]
fn change_table<R>(_py: Python<'_>, f: impl FnOnce(&mut Classes) -> R) -> R {
    let mut classes = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    f(classes.get_or_insert_default())
}

/// The class data of a type, if the type has a class.
#[inline]
pub(crate) fn of_index(py: Python<'_>, index: TypeIndex) -> Option<&'static ClassData> {
    with_table(py, |classes| {
        classes
            .by_index
            .get(index.get() as usize)
            .copied()
            .flatten()
    })
}

/// The class data of exactly this class.
#[inline]
pub(crate) fn of_class(
    py: Python<'_>,
    class: *mut ffi::PyTypeObject,
) -> Option<&'static ClassData> {
    with_table(py, |classes| {
        classes.by_class.get(&(class as usize)).copied()
    })
}

/// The class data of the class or its nearest registered ancestor.
pub(crate) fn nearest(
    py: Python<'_>,
    mut class: *mut ffi::PyTypeObject,
) -> Option<&'static ClassData> {
    while !class.is_null() {
        if let Some(data) = of_class(py, class) {
            return Some(data);
        }
        // SAFETY: a live type's base is null or a live type.
        class = unsafe { (*class).tp_base };
    }
    None
}

/// Adds a class to the table.
pub(super) fn enter(py: Python<'_>, data: &'static ClassData) {
    change_table(py, |classes| {
        let index = data.info.index().get() as usize;
        if classes.by_index.len() <= index {
            classes.by_index.resize(index + 1, None);
        }
        classes.by_index[index] = Some(data);
        classes.by_class.insert(data.raw() as usize, data);
    });
}

/// Makes the class of a type declared natively.
type MakeNative = fn(Python<'_>, &'static TypeInfo) -> PyResult<&'static ClassData>;

/// Set at start-up, because making a class needs everything built on this table.
static MAKE_NATIVE: OnceLock<MakeNative> = OnceLock::new();

/// Sets, once, the function that makes classes of types declared natively.
pub(super) fn set_make_native(make: MakeNative) {
    // The core rejects a second module in the process later.
    let _ = MAKE_NATIVE.set(make);
}

/// The Python class of a type; a type declared natively gets one on first use.
///
/// # Errors
///
/// Exceptions from making a class.
#[inline]
pub(super) fn class_of(py: Python<'_>, index: TypeIndex) -> PyResult<*mut ffi::PyTypeObject> {
    match of_index(py, index) {
        Some(data) => Ok(data.raw()),
        None => make_native(py, index),
    }
}

#[cold]
fn make_native(py: Python<'_>, index: TypeIndex) -> PyResult<*mut ffi::PyTypeObject> {
    match MAKE_NATIVE.get() {
        Some(make) => Ok(make(py, host::type_info(index))?.raw()),
        None => Err(PyRuntimeError::new_err(
            "the module isoform._core is not initialised",
        )),
    }
}
