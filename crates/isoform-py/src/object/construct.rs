//! Making objects: calls of classes, generated constructors, staged objects.

use std::ffi::c_int;
use std::ptr;

use isoform::types::{Schema, TypeInfo};
use isoform::{Value, host};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};
use smallvec::SmallVec;

use super::class::{self, ClassData, Default};
use super::roots;
use super::slot::guarded;
use super::wrapper::{self, Staging};
use crate::convert;
use crate::error::IntoPyResult;

/// The maximal number of fields that are converted in an array on the stack.
pub(super) const SIMPLE_FIELDS: usize = 8;

/// One value per field while an object is made; usually on the stack.
pub(super) type Slots = SmallVec<[Option<Value>; 8]>;

/// The call of a registered class with the generated constructor.
///
/// # Safety
///
/// `tp_vectorcall` of a class, called by CPython.
pub(super) unsafe extern "C" fn class_vectorcall(
    class: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live class, live arguments, and as many as the
    // count and the tuple of names say, and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let positional = ffi::PyVectorcall_NARGS(nargsf) as usize;
        let class = class.cast::<ffi::PyTypeObject>();
        guarded(py, ptr::null_mut(), || {
            let Some(data) = class::of_class(py, class) else {
                return Err(PyTypeError::new_err("the class is not registered"));
            };
            if roots::flags(class) & ffi::Py_TPFLAGS_IS_ABSTRACT != 0 {
                return refuse_abstract(py, class);
            }
            let arguments = Arguments {
                py,
                args,
                positional,
                names,
            };
            if let Some(maker) = &data.maker {
                let object = maker.make(py, arguments.positional(), arguments.named()?)?;
                return Ok(wrapper::wrap(py, object)?.into_ptr());
            }
            if data.simple && positional == data.fields.len() && names.is_null() {
                return arguments.make_at_once(data, class);
            }
            let mut slots: Slots = SmallVec::from_elem(None, data.fields.len());
            arguments.fill(data, &mut slots)?;
            make(py, data, class, slots)
        })
    }
}

/// Raises CPython's exception for an abstract class.
///
/// # Safety
///
/// `class` must be a live class that is abstract, and the GIL held.
unsafe fn refuse_abstract(
    py: Python<'_>,
    class: *mut ffi::PyTypeObject,
) -> PyResult<*mut ffi::PyObject> {
    // With arguments, CPython would complain about the arguments instead.
    let nothing = PyTuple::empty(py);
    // SAFETY: `tp_new` of `object` raises for an abstract class.
    unsafe {
        let Some(new) = ffi::PyBaseObject_Type.tp_new else {
            return Err(PyTypeError::new_err("object cannot be made"));
        };
        let made = new(class, nothing.as_ptr(), ptr::null_mut());
        Ok(Bound::from_owned_ptr_or_err(py, made)?.into_ptr())
    }
}

/// Arguments as a vectorcall passes them.
struct Arguments<'py> {
    py: Python<'py>,
    args: *const *mut ffi::PyObject,
    positional: usize,
    names: *mut ffi::PyObject,
}

impl<'py> Arguments<'py> {
    fn argument(&self, position: usize) -> Borrowed<'_, 'py, PyAny> {
        // SAFETY: the caller of `fill` asks for positions below the number of
        // arguments, and the arguments live as long as the call.
        unsafe { Borrowed::from_ptr(self.py, *self.args.add(position)) }
    }

    fn positional(&self) -> impl ExactSizeIterator<Item = Borrowed<'_, 'py, PyAny>> {
        (0..self.positional).map(|position| self.argument(position))
    }

    /// The arguments with names.
    fn named(
        &self,
    ) -> PyResult<impl Iterator<Item = (Bound<'py, PyAny>, Borrowed<'_, 'py, PyAny>)>> {
        let names = if self.names.is_null() {
            PyTuple::empty(self.py)
        } else {
            // SAFETY: the names are a live tuple.
            unsafe { Bound::from_borrowed_ptr(self.py, self.names) }.cast_into()?
        };
        let places = self.positional..;
        let named = names.iter().collect::<Vec<_>>().into_iter().zip(places);
        Ok(named.map(|(name, place)| (name, self.argument(place))))
    }

    /// Makes the object if every field, at most [`SIMPLE_FIELDS`], has one positional
    /// argument and no further work is needed, the case of most calls.
    ///
    /// # Safety
    ///
    /// As [`make`]; `data.simple` must hold, and every field must have an argument.
    #[inline(always)]
    unsafe fn make_at_once(
        &self,
        data: &'static ClassData,
        class: *mut ffi::PyTypeObject,
    ) -> PyResult<*mut ffi::PyObject> {
        let mut values = [const { Value::NONE }; SIMPLE_FIELDS];
        for (position, &field) in data.params.iter().enumerate() {
            let value = self.argument(position);
            values[field] = convert::typed(&value, data.schema(field))
                .map_err(|error| error.into_python(|message| misfit(data, field, message)))?;
        }
        let object = host::construct_from(data.info, &mut values[..data.fields.len()]).into_py()?;
        // SAFETY: promised by the caller; the object is new.
        unsafe {
            let made = wrapper::wrap_fresh(class, object);
            if made.is_null() {
                return Err(PyErr::fetch(self.py));
            }
            Ok(made)
        }
    }

    /// Stores the arguments in the slots of their fields.
    fn fill(&self, data: &'static ClassData, slots: &mut Slots) -> PyResult<()> {
        if self.positional > data.positional {
            return Err(too_many(data, self.positional));
        }
        for (position, &field) in data.params[..self.positional].iter().enumerate() {
            slots[field] = Some(convert_field(data, field, &self.argument(position))?);
        }
        if self.names.is_null() {
            return Ok(());
        }
        // SAFETY: the names are a live tuple.
        let names = unsafe { Borrowed::from_ptr(self.py, self.names) };
        let names = names.cast::<PyTuple>()?;
        for (position, name) in names.iter_borrowed().enumerate() {
            let field = parameter(data, &name)?;
            if slots[field].is_some() {
                return Err(given_twice(data, field));
            }
            let value = self.argument(self.positional + position);
            slots[field] = Some(convert_field(data, field, &value)?);
        }
        Ok(())
    }
}

/// The field that a keyword argument names.
pub(super) fn parameter(data: &'static ClassData, name: &Bound<'_, PyAny>) -> PyResult<usize> {
    // Keywords in source code are interned, so comparing addresses nearly always
    // suffices.
    let mut param = data
        .params
        .iter()
        .find(|&&field| data.fields[field].name.as_ptr() == name.as_ptr());
    if param.is_none() {
        for field in &data.params {
            if name.eq(&data.fields[*field].name)? {
                param = Some(field);
                break;
            }
        }
    }
    param.copied().ok_or_else(|| {
        let hint = host::field_hint(data.info, &name.to_string());
        PyTypeError::new_err(format!(
            "{}.__init__() got an unexpected keyword argument '{name}'{hint}",
            data.info.key()
        ))
    })
}

#[inline]
pub(super) fn convert_field(
    data: &'static ClassData,
    field: usize,
    value: &Bound<'_, PyAny>,
) -> PyResult<Value> {
    let converter = data.fields[field].converter.as_ref();
    convert::field(value, data.schema(field), converter)
        .map_err(|error| error.into_python(|message| misfit(data, field, message)))
}

#[cold]
fn misfit(data: &'static ClassData, field: usize, message: &str) -> String {
    let name = data.info.fields()[field].name();
    format!("{}.__init__() field '{name}': {message}", data.info.key())
}

#[cold]
pub(super) fn too_many(data: &'static ClassData, given: usize) -> PyErr {
    let required = data.params[..data.positional]
        .iter()
        .filter(|&&field| data.fields[field].default.is_none())
        .count();
    let takes = if required == data.positional {
        format!("{required}")
    } else {
        format!("from {required} to {}", data.positional)
    };
    PyTypeError::new_err(format!(
        "{}.__init__() takes {takes} positional arguments but {given} were given",
        data.info.key()
    ))
}

#[cold]
pub(super) fn given_twice(data: &'static ClassData, field: usize) -> PyErr {
    PyTypeError::new_err(format!(
        "{}.__init__() got multiple values for argument '{}'",
        data.info.key(),
        data.info.fields()[field].name()
    ))
}

/// Sets omitted parameters to their defaults.
///
/// # Errors
///
/// `TypeError` that names all missing arguments; exceptions from a factory or
/// converter.
pub(super) fn fill_defaults(
    py: Python<'_>,
    data: &'static ClassData,
    slots: &mut Slots,
) -> PyResult<()> {
    let mut missing = MissingArguments::default();
    for (position, &field) in data.params.iter().enumerate() {
        if slots[field].is_some() {
            continue;
        }
        match default_of(py, data, field)? {
            Some(value) => slots[field] = Some(value),
            None => {
                let name = data.info.fields()[field].name();
                missing.add(name, position >= data.positional);
            }
        }
    }
    missing.check(data.info.key())
}

/// Missing required arguments of a constructor.
#[derive(std::default::Default)]
pub(super) struct MissingArguments {
    positional: Vec<String>,
    keyword_only: Vec<String>,
}

impl MissingArguments {
    pub(super) fn add(&mut self, name: impl std::fmt::Display, keyword_only: bool) {
        let names = if keyword_only {
            &mut self.keyword_only
        } else {
            &mut self.positional
        };
        names.push(format!("'{name}'"));
    }

    /// Raises `TypeError` with all the names, if any.
    pub(super) fn check(self, key: &str) -> PyResult<()> {
        let kinds = [(self.positional, ""), (self.keyword_only, "keyword-only ")];
        let said: Vec<_> = kinds
            .into_iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, kind)| {
                let plural = if names.len() == 1 { "" } else { "s" };
                let (count, names) = (names.len(), names.join(", "));
                format!("{count} required {kind}argument{plural}: {names}")
            })
            .collect();
        if said.is_empty() {
            Ok(())
        } else {
            Err(PyTypeError::new_err(format!(
                "{key}.__init__() missing {}",
                said.join(" and ")
            )))
        }
    }
}

/// The default value of a field; None for a field without a default.
pub(super) fn default_of(
    py: Python<'_>,
    data: &'static ClassData,
    field: usize,
) -> PyResult<Option<Value>> {
    match &data.fields[field].default {
        None => Ok(None),
        Some(Default::Value(value)) => Ok(Some(value.clone())),
        Some(Default::Convert(value)) => convert_field(data, field, value.bind(py)).map(Some),
        Some(Default::Factory(make)) => {
            let made = make.bind(py).call0()?;
            convert_field(data, field, &made).map(Some)
        }
        Some(Default::Made(definition)) => Ok(definition.make_default()),
    }
}

/// Makes the object and its wrapper from the arguments.
///
/// # Safety
///
/// `class` must be a live class whose nearest registered ancestor `data`
/// describes, and the GIL held.
unsafe fn make(
    py: Python<'_>,
    data: &'static ClassData,
    class: *mut ffi::PyTypeObject,
    mut slots: Slots,
) -> PyResult<*mut ffi::PyObject> {
    if slots.iter().any(Option::is_none) {
        fill_defaults(py, data, &mut slots)?;
        fill_other_defaults(py, data, &mut slots)?;
    }
    let complete = slots.iter().all(Option::is_some);
    // SAFETY: promised by the caller; the object made is fresh.
    let this = unsafe {
        let instance = if complete {
            let mut values: SmallVec<[Value; 8]> = slots.into_iter().flatten().collect();
            let object = host::construct_from(data.info, &mut values).into_py()?;
            wrapper::wrap_fresh(class, object)
        } else {
            let instance = wrapper::allocate(class);
            if !instance.is_null() {
                wrapper::layout(instance).set_staging(Staging {
                    data,
                    values: slots.into_vec(),
                    finishing: false,
                });
            }
            instance
        };
        if !data.post_init && complete && !instance.is_null() {
            return Ok(instance);
        }
        Bound::from_owned_ptr_or_err(py, instance)?
    };
    if data.post_init {
        this.call_method0(intern!(py, "__post_init__"))?;
    }
    finish(&this)?;
    Ok(this.into_ptr())
}

/// Sets the defaults of the fields that the constructor does not take.
fn fill_other_defaults(
    py: Python<'_>,
    data: &'static ClassData,
    slots: &mut Slots,
) -> PyResult<()> {
    for field in 0..slots.len() {
        if slots[field].is_none() {
            slots[field] = default_of(py, data, field)?;
        }
    }
    Ok(())
}

/// Completes a staged object: unset fields take their default, or None if the field
/// accepts None. Does nothing for a complete object.
///
/// # Errors
///
/// `TypeError` with the name of an unset field without default.
pub(crate) fn finish(this: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = this.py();
    // SAFETY: callers pass instances of `Object`; the GIL is held.
    let wrapper = unsafe { wrapper::layout(this.as_ptr()) };
    if wrapper.core().is_some() {
        return Ok(());
    }
    let begun = wrapper.with_staging(|staging| {
        let is_first = !std::mem::replace(&mut staging.finishing, true);
        is_first.then(|| (staging.data, staging.values.clone()))
    });
    let (data, values) = match begun {
        Some(Some(begun)) => begun,
        Some(None) => return Ok(()),
        // Another thread was faster.
        None if wrapper.core().is_some() => return Ok(()),
        None => {
            return Err(PyTypeError::new_err(format!(
                "{}: the object was never initialised",
                this.get_type().name()?
            )));
        }
    };
    let result = complete(py, data, values.into());
    match result {
        Ok(object) => {
            // SAFETY: this is the wrapper itself, and the object is new.
            unsafe { wrapper::tie(this.as_ptr(), object) };
            Ok(())
        }
        Err(error) => {
            wrapper.with_staging(|staging| staging.finishing = false);
            Err(error)
        }
    }
}

fn complete(
    py: Python<'_>,
    data: &'static ClassData,
    mut slots: Slots,
) -> PyResult<isoform::Ref<isoform::Obj>> {
    let mut values: SmallVec<[Value; 8]> = SmallVec::with_capacity(slots.len());
    for field in 0..slots.len() {
        let value = match slots[field].take() {
            Some(value) => value,
            None => match default_of(py, data, field)? {
                Some(value) => value,
                None if accepts_none(data.schema(field)) => Value::NONE,
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "{}: field '{}' was not set by __init__",
                        data.info.key(),
                        data.info.fields()[field].name()
                    )));
                }
            },
        };
        values.push(value);
    }
    host::construct_from(data.info, &mut values).into_py()
}

fn accepts_none(schema: &Schema) -> bool {
    schema.check(&Value::NONE).is_ok()
}

/// Reads or writes the fields of a staged object of a type; None if the Python object
/// is not staged or has another type.
pub(super) fn staged<R>(
    object: &Bound<'_, PyAny>,
    info: &'static TypeInfo,
    access: impl FnOnce(&mut Vec<Option<Value>>) -> R,
) -> Option<R> {
    // SAFETY: the object is alive, and a wrapper, as checked.
    let wrapper = unsafe {
        if !roots::is_wrapper(object.as_ptr()) {
            return None;
        }
        wrapper::layout(object.as_ptr())
    };
    // `access` is one of the closures of this island, which run no Python code.
    let result = wrapper.with_staging(|staging| {
        let fits = host::extends(staging.data.info.index(), info.index());
        fits.then(|| access(&mut staging.values))
    });
    result.flatten()
}

/// `tp_new` of `Object`: makes an instance whose fields are not set yet.
///
/// # Safety
///
/// Called by CPython.
pub(super) unsafe extern "C" fn object_new(
    class: *mut ffi::PyTypeObject,
    _args: *mut ffi::PyObject,
    _kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live class, and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let Some(data) = class::nearest(py, class) else {
                let class = Bound::from_borrowed_ptr(py, class.cast()).cast_into::<PyType>()?;
                return Err(PyTypeError::new_err(format!(
                    "{} cannot be instantiated: it stands for no registered type; \
                     declare it with py_class",
                    class.name()?
                )));
            };
            if roots::flags(class) & ffi::Py_TPFLAGS_IS_ABSTRACT != 0 {
                return refuse_abstract(py, class);
            }
            if data.info.is_builtin() {
                return Err(PyTypeError::new_err(format!(
                    "{} has no fields to set",
                    data.info.key()
                )));
            }
            let instance = wrapper::allocate(class);
            if !instance.is_null() {
                wrapper::layout(instance).set_staging(Staging {
                    data,
                    values: vec![None; data.fields.len()],
                    finishing: false,
                });
            }
            Ok(Bound::from_owned_ptr_or_err(py, instance)?.into_ptr())
        })
    }
}

/// `tp_init` of `Object`: does nothing; the generated constructors are attributes of
/// their classes.
///
/// # Safety
///
/// Called by CPython.
pub(super) unsafe extern "C" fn object_init(
    _this: *mut ffi::PyObject,
    _args: *mut ffi::PyObject,
    _kwargs: *mut ffi::PyObject,
) -> c_int {
    0
}

/// Registers a class that waits for names defined after the class; does nothing for any
/// other class.
///
/// # Errors
///
/// Exceptions from the class's `__isoform_resolve__`.
pub(crate) fn resolve(class: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = class.py();
    if class::of_class(py, class.as_ptr().cast()).is_some() {
        return Ok(());
    }
    let body = class.getattr(intern!(py, "__dict__"))?;
    match body.get_item(intern!(py, "__isoform_resolve__")) {
        Ok(resolve) => {
            let function = resolve
                .getattr_opt(intern!(py, "__func__"))?
                .unwrap_or(resolve);
            function.call0().map(drop)
        }
        Err(_no_such_entry) => Ok(()),
    }
}

/// The name of a keyword as an interned string.
pub(crate) fn interned(py: Python<'_>, name: &str) -> Py<PyString> {
    PyString::intern(py, name).unbind()
}
