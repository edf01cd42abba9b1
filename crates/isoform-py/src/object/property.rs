//! The descriptor of a field.

use std::ffi::c_int;

use isoform::host::{self, FieldPlace, FieldRef};
use isoform::types::{FieldDef, Schema, TypeInfo};
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::class::FieldData;
use super::slot::{guarded, guarded_object};
use super::wrapper;
use crate::convert;
use crate::error::IntoPyResult;

/// A field as an attribute of its class.
///
/// `Class.field` is the descriptor itself; `Class.field.set(node, value)` writes the
/// field even if the class or the field is frozen.
// The dict contains the `__doc__` of each field, since the class's own text would hide
// a getter.
#[pyclass(frozen, dict, module = "isoform._core")]
pub(crate) struct Property {
    place: FieldPlace,
    info: &'static TypeInfo,
    schema: &'static Schema,
    /// True if lists and dicts in the field must stay typed.
    binds: bool,
    frozen: bool,
    converter: Option<Py<PyAny>>,
    owner: Py<PyType>,
}

impl Property {
    pub(super) fn new<'py>(
        py: Python<'py>,
        info: &'static TypeInfo,
        field: usize,
        data: &FieldData,
        definition: &'static FieldDef,
        owner: &Bound<'py, PyType>,
    ) -> PyResult<Bound<'py, Property>> {
        debug_assert_eq!(data.place.position(), field);
        let property = Property {
            place: data.place,
            info,
            schema: definition.schema(),
            binds: host::holds_typed_containers(definition),
            frozen: data.frozen,
            converter: data
                .converter
                .as_ref()
                .map(|converter| converter.clone_ref(py)),
            owner: owner.clone().unbind(),
        };
        let handle = Bound::new(py, property)?;
        let text = Some(definition.documentation()).filter(|text| !text.is_empty());
        handle.setattr(pyo3::intern!(py, "__doc__"), text)?;
        Ok(handle)
    }

    fn definition(&self) -> &'static FieldDef {
        &self.info.fields()[self.place.position()]
    }

    fn foreign(&self, object: &Bound<'_, PyAny>) -> PyErr {
        let name = object.get_type().name();
        PyTypeError::new_err(format!(
            "field '{}' belongs to {}, not to {}",
            self.definition().name(),
            self.info.key(),
            name.map_or_else(|_| "this object".to_owned(), |name| name.to_string()),
        ))
    }

    fn read<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = object.py();
        let Some(core) = wrapper::core_of(object) else {
            return self.read_staged(object);
        };
        // SAFETY: the GIL is held, and the value is copied, or gets an owner, before
        // any Python code can run. Allocating may run Python code: CPython's collector
        // calls finalisers, and a finaliser may write this field.
        #[cfg(not(Py_GIL_DISABLED))]
        let contents = unsafe { host::read_field(core, &self.place) };
        // The contents get an owner before another thread can write the field.
        #[cfg(Py_GIL_DISABLED)]
        let held = host::while_nobody_writes(|| {
            // SAFETY: nobody writes meanwhile.
            unsafe { host::read_field(core, &self.place) }.map(Held::of)
        });
        #[cfg(Py_GIL_DISABLED)]
        let contents = held.as_ref().map(Held::field);
        self.show(py, contents, object)
    }

    /// The contents of a field as Python sees them; None for an object without the field.
    #[inline(always)]
    fn show<'py>(
        &self,
        py: Python<'py>,
        contents: Option<FieldRef<'_>>,
        object: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match contents {
            Some(FieldRef::Object(child)) => {
                if host::type_index_of(child).get() < convert::FIRST_DECLARED {
                    return self.give(py, child.into());
                }
                wrapper::wrap_borrowed(py, child)
            }
            Some(FieldRef::Int(number)) => Ok(number.into_pyobject(py)?.into_any()),
            Some(FieldRef::Float(number)) => Ok(number.into_pyobject(py)?.into_any()),
            Some(FieldRef::Bool(flag)) => {
                Ok(pyo3::types::PyBool::new(py, flag).to_owned().into_any())
            }
            Some(FieldRef::None) => Ok(py.None().into_bound(py)),
            Some(FieldRef::DType(dtype)) => convert::dtype_to_python(py, dtype),
            Some(FieldRef::Value(value)) => self.give(py, value.clone()),
            None => Err(self.foreign(object)),
        }
    }

    fn give<'py>(&self, py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        if self.binds {
            host::note_reading(self.info, self.place.position(), &value);
        }
        convert::to_python(py, &value)
    }

    #[cold]
    fn read_staged<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let missing = || {
            PyAttributeError::new_err(format!(
                "{}: field '{}' is not set yet",
                self.info.key(),
                self.definition().name()
            ))
        };
        let value = super::construct::staged(object, self.info, |values| {
            values[self.place.position()].clone()
        });
        match value {
            Some(value) => convert::to_python(object.py(), &value.ok_or_else(missing)?),
            // Another thread completed the object meanwhile.
            None if wrapper::core_of(object).is_some() => self.read(object),
            None => Err(self.foreign(object)),
        }
    }

    fn write(&self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let field = self.definition();
        let value =
            convert::field(value, self.schema, self.converter.as_ref()).map_err(|error| {
                error.into_python(|message| {
                    format!("{} field '{}': {message}", self.info.key(), field.name())
                })
            })?;
        if let Some(core) = wrapper::core_of(object) {
            return self.overwrite(core, object, value);
        }
        // The old value is dropped after the closure, since that may run Python code.
        let mut new = Some(value);
        let before = super::construct::staged(object, self.info, |values| {
            std::mem::replace(&mut values[self.place.position()], new.take())
        });
        match (before, new, wrapper::core_of(object)) {
            (Some(_old), ..) => Ok(()),
            // Another thread completed the object meanwhile.
            (None, Some(value), Some(core)) => self.overwrite(core, object, value),
            _ => Err(self.foreign(object)),
        }
    }

    fn overwrite(&self, core: &Ref<Obj>, object: &Bound<'_, PyAny>, value: Value) -> PyResult<()> {
        if !host::extends(host::type_index_of(core), self.place.owner()) {
            return Err(self.foreign(object));
        }
        isoform::objects::overwrite_field_at(core, self.place.position(), value).into_py()
    }

    fn assign(&self, object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.frozen {
            return Err(self.refuse("cannot be assigned: it is frozen"));
        }
        self.write(object, value)
    }

    fn refuse(&self, what: &str) -> PyErr {
        PyAttributeError::new_err(format!(
            "{}: field '{}' {what}",
            self.info.key(),
            self.definition().name()
        ))
    }
}

/// The contents of a field, owned.
#[cfg(Py_GIL_DISABLED)]
enum Held {
    Value(Value),
    Object(Ref<Obj>),
    Plain(FieldRef<'static>),
}

#[cfg(Py_GIL_DISABLED)]
impl Held {
    fn of(contents: FieldRef<'_>) -> Held {
        match contents {
            FieldRef::Value(value) => Held::Value(value.clone()),
            FieldRef::Object(object) => Held::Object(object.clone()),
            FieldRef::None => Held::Plain(FieldRef::None),
            FieldRef::Int(number) => Held::Plain(FieldRef::Int(number)),
            FieldRef::Float(number) => Held::Plain(FieldRef::Float(number)),
            FieldRef::Bool(flag) => Held::Plain(FieldRef::Bool(flag)),
            FieldRef::DType(dtype) => Held::Plain(FieldRef::DType(dtype)),
        }
    }

    fn field(&self) -> FieldRef<'_> {
        match self {
            Held::Value(value) => FieldRef::Value(value),
            Held::Object(object) => FieldRef::Object(object),
            Held::Plain(plain) => *plain,
        }
    }
}

#[pymethods]
impl Property {
    /// The name of the field.
    #[getter(__name__)]
    fn dunder_name(&self) -> &'static str {
        self.definition().name()
    }

    /// The name of the field.
    #[getter]
    fn name(&self) -> &'static str {
        self.definition().name()
    }

    #[getter]
    fn __objclass__(&self, py: Python<'_>) -> Py<PyType> {
        self.owner.clone_ref(py)
    }

    /// True if assignment is rejected.
    #[getter]
    fn frozen(&self) -> bool {
        self.frozen
    }

    /// The function that reads the field of a node, as of a `property`.
    #[getter]
    fn fget<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.getattr(pyo3::intern!(this.py(), "get"))
    }

    /// The function that writes the field of a node; None for a frozen field.
    #[getter]
    fn fset<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if this.get().frozen {
            return Ok(None);
        }
        this.getattr(pyo3::intern!(this.py(), "set")).map(Some)
    }

    /// Reads the field of a node.
    fn get<'py>(&self, node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.read(node)
    }

    /// Writes the field of a node, even if it is frozen.
    ///
    /// Raises TypeError if the value does not fit.
    fn set(&self, node: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write(node, value)
    }

    fn __get__<'py>(
        this: &Bound<'py, Self>,
        node: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if node.is_none() {
            return Ok(this.clone().into_any());
        }
        this.get().read(node)
    }

    fn __set__(&self, node: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(node, value)
    }

    fn __delete__(&self, _node: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(self.refuse("cannot be deleted"))
    }

    fn __repr__(&self) -> String {
        format!(
            "<field {}: {} of {}>",
            self.definition().name(),
            self.schema,
            self.info.key()
        )
    }
}

/// Replaces the slot for reading made by pyo3 by a more direct one.
pub(crate) fn init(py: Python<'_>) {
    let ty = py.get_type::<Property>().as_type_ptr();
    // SAFETY: the type is alive and its instances are `Property` objects; both
    // functions check their arguments as the replaced slots do.
    unsafe {
        (*ty).tp_descr_get = Some(descr_get);
        (*ty).tp_descr_set = Some(descr_set);
        ffi::PyType_Modified(ty);
    }
}

/// # Safety
///
/// `tp_descr_get`, called by CPython.
unsafe extern "C" fn descr_get(
    this: *mut ffi::PyObject,
    node: *mut ffi::PyObject,
    _owner: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a `Property` and a live object or null, and holds
    // the GIL.
    unsafe {
        let py = Python::assume_attached();
        if node.is_null() {
            ffi::Py_INCREF(this);
            return this;
        }
        let this = Bound::from_borrowed_ptr(py, this).cast_into_unchecked::<Property>();
        let node = Bound::from_borrowed_ptr(py, node);
        guarded_object(py, || this.get().read(&node))
    }
}

/// # Safety
///
/// `tp_descr_set`, called by CPython.
unsafe extern "C" fn descr_set(
    this: *mut ffi::PyObject,
    node: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: CPython passes a `Property` and live objects, null for a value
    // to delete, and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this).cast_into_unchecked::<Property>();
        let node = Bound::from_borrowed_ptr(py, node);
        guarded(py, -1, || {
            match Bound::from_borrowed_ptr_or_opt(py, value) {
                Some(value) => this.get().assign(&node, &value)?,
                None => return Err(this.get().refuse("cannot be deleted")),
            }
            Ok(0)
        })
    }
}
