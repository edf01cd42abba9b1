//! Functions of this crate as methods and slots of Python classes.
//!
//! A Python class keeps its documentation and its signatures in Python; descriptors replace
//! the bodies, called by CPython without a frame, and functions called without looking up
//! the descriptor replace the slots of the busiest special methods. Compared with the slot
//! that CPython makes for a descriptor, `len` of an array takes 0.6 of the time, `array[1]`
//! 0.7, `iter` and `function(1)` 0.86, `in`, assignment and `hash` 0.9.
//!
//! PyO3 generates method functions only for PyO3 classes, which have neither our
//! metaclass nor `Object` as their base.

use std::ffi::{CString, c_int};
use std::ptr::{self, NonNull};

use isoform::{Obj, Ref, host};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple, PyType};

use super::slot::{guarded, guarded_object};
use super::{bind, class, roots, wrapper};

type Object<'py> = Bound<'py, PyAny>;
type Answer<'py> = PyResult<Object<'py>>;

/// A function item or a closure without captures.
pub(crate) trait Stateless: Copy + 'static {}
impl<F: Copy + 'static> Stateless for F {}

/// The function of this type.
fn function<F: Stateless>() -> F {
    const { assert!(size_of::<F>() == 0, "the function must capture nothing") };
    // SAFETY: reading a zero-sized type touches no memory, and a value of it existed
    // when the function was registered; it may be copied any number of times.
    unsafe { NonNull::<F>::dangling().read() }
}

fn truth(py: Python<'_>, answer: bool) -> Object<'_> {
    PyBool::new(py, answer).to_owned().into_any()
}

unsafe extern "C" fn unary<F>(
    this: *mut ffi::PyObject,
    _nothing: *mut ffi::PyObject,
) -> *mut ffi::PyObject
where
    F: for<'py> Fn(&Object<'py>) -> Answer<'py> + Stateless,
{
    // SAFETY: CPython passes a live object and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        guarded_object(py, || function::<F>()(&this))
    }
}

unsafe extern "C" fn iterate<F>(this: *mut ffi::PyObject) -> *mut ffi::PyObject
where
    F: for<'py> Fn(&Object<'py>) -> Answer<'py> + Stateless,
{
    // SAFETY: as for the method without arguments.
    unsafe { unary::<F>(this, ptr::null_mut()) }
}

unsafe extern "C" fn binary<F>(
    this: *mut ffi::PyObject,
    argument: *mut ffi::PyObject,
) -> *mut ffi::PyObject
where
    F: for<'py> Fn(&Object<'py>, &Object<'py>) -> Answer<'py> + Stateless,
{
    // SAFETY: CPython passes live objects and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        let argument = Borrowed::from_ptr(py, argument);
        guarded_object(py, || function::<F>()(&this, &argument))
    }
}

/// Arguments of a call, borrowed from the caller.
pub(crate) struct Arguments<'a, 'py> {
    py: Python<'py>,
    given: &'a [*mut ffi::PyObject],
}

impl<'a, 'py> Arguments<'a, 'py> {
    /// The argument at a position, if given.
    pub(crate) fn get(&self, position: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        let argument = *self.given.get(position)?;
        // SAFETY: the caller's arguments are alive during the call.
        Some(unsafe { Borrowed::from_ptr(self.py, argument) })
    }

    /// The number of arguments.
    pub(crate) fn len(&self) -> usize {
        self.given.len()
    }

    /// All arguments.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Borrowed<'a, 'py, PyAny>> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Checks the number of arguments.
    ///
    /// # Errors
    ///
    /// `TypeError` with the name of the method and both numbers.
    pub(crate) fn expect(&self, name: &str, least: usize, most: usize) -> PyResult<()> {
        if (least..=most).contains(&self.len()) {
            return Ok(());
        }
        let takes = if least == most {
            format!("{least}")
        } else {
            format!("from {least} to {most}")
        };
        Err(PyTypeError::new_err(format!(
            "{name}() takes {takes} arguments but {} were given",
            self.len()
        )))
    }
}

unsafe extern "C" fn variadic<F>(
    this: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject
where
    F: for<'a, 'py> Fn(&Object<'py>, Arguments<'a, 'py>) -> Answer<'py> + Stateless,
{
    // SAFETY: CPython passes live objects, as many as the count says, and holds the
    // GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        let given = raw_arguments(arguments, count as usize);
        guarded_object(py, || function::<F>()(&this, Arguments { py, given }))
    }
}

/// # Safety
///
/// `arguments` must point to `count` live objects, or `count` be zero.
unsafe fn raw_arguments<'a>(
    arguments: *const *mut ffi::PyObject,
    count: usize,
) -> &'a [*mut ffi::PyObject] {
    if count == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(arguments, count) }
}

unsafe extern "C" fn length<F>(this: *mut ffi::PyObject) -> ffi::Py_ssize_t
where
    F: for<'py> Fn(&Object<'py>) -> PyResult<usize> + Stateless,
{
    // SAFETY: CPython passes a live object and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        guarded(py, -1, || Ok(function::<F>()(&this)? as ffi::Py_ssize_t))
    }
}

unsafe extern "C" fn contains<F>(this: *mut ffi::PyObject, item: *mut ffi::PyObject) -> c_int
where
    F: for<'py> Fn(&Object<'py>, &Object<'py>) -> PyResult<bool> + Stateless,
{
    // SAFETY: CPython passes live objects and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        let item = Borrowed::from_ptr(py, item);
        guarded(py, -1, || Ok(c_int::from(function::<F>()(&this, &item)?)))
    }
}

unsafe extern "C" fn assign<F>(
    this: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int
where
    F: for<'py> Fn(&Object<'py>, &Object<'py>, Option<&Object<'py>>) -> PyResult<()> + Stateless,
{
    // SAFETY: CPython passes live objects, null for a value to delete, and
    // holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        let key = Borrowed::from_ptr(py, key);
        let value = (!value.is_null()).then(|| Borrowed::from_ptr(py, value));
        guarded(py, -1, || {
            function::<F>()(&this, &key, value.as_deref())?;
            Ok(0)
        })
    }
}

unsafe extern "C" fn hash<F>(this: *mut ffi::PyObject) -> ffi::Py_hash_t
where
    F: for<'py> Fn(&Object<'py>) -> PyResult<isize> + Stateless,
{
    // SAFETY: CPython passes a live object and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        guarded(py, -1, || {
            let hash = function::<F>()(&this)?;
            // CPython reserves -1 for errors.
            Ok(if hash == -1 { -2 } else { hash })
        })
    }
}

unsafe extern "C" fn call<F>(
    this: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    named: *mut ffi::PyObject,
) -> *mut ffi::PyObject
where
    F: for<'py> Fn(&Object<'py>, &Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> Answer<'py>
        + Stateless,
{
    // SAFETY: CPython passes a live object, a tuple and a dict or null, and
    // holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Borrowed::from_ptr(py, this);
        let arguments = Bound::from_borrowed_ptr(py, arguments).cast_into_unchecked();
        let named = Bound::from_borrowed_ptr_or_opt(py, named)
            .map(|named| named.cast_into_unchecked::<PyDict>());
        guarded_object(py, || function::<F>()(&this, &arguments, named.as_ref()))
    }
}

/// A constructor: makes the object of the core from arguments and keywords.
pub(crate) trait Make:
    for<'py> Fn(&[Object<'py>], Option<&Bound<'py, PyDict>>, Python<'py>) -> PyResult<Ref<Obj>>
    + Stateless
{
}

impl<F> Make for F where
    F: for<'py> Fn(&[Object<'py>], Option<&Bound<'py, PyDict>>, Python<'py>) -> PyResult<Ref<Obj>>
        + Stateless
{
}

/// # Safety
///
/// `class` must be a live class, and the GIL held.
unsafe fn finish_new(
    py: Python<'_>,
    class: *mut ffi::PyTypeObject,
    object: Ref<Obj>,
) -> PyResult<Object<'_>> {
    let expected = class::class_of(py, host::type_index_of(&object))?;
    // The object may already exist, if the constructor returns an existing object.
    let fresh = host::host_word(&object).load(std::sync::atomic::Ordering::Relaxed) == 0;
    if !fresh && ptr::eq(class, expected) {
        return wrapper::wrap(py, object);
    }
    // SAFETY: both are live classes, and a new object has no wrapper, which is checked.
    unsafe {
        if !fresh || ffi::PyType_IsSubtype(class, expected) == 0 || !roots::has_layout(class) {
            return Err(PyTypeError::new_err(
                "the class does not stand for the type of the object",
            ));
        }
        Bound::from_owned_ptr_or_err(py, wrapper::wrap_fresh(class, object))
    }
}

/// `tp_vectorcall` of the class itself.
unsafe extern "C" fn make_fast<F: Make>(
    class: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live class and live arguments, as many as the
    // count and the tuple of names say, and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        guarded_object(py, || {
            let positional = ffi::PyVectorcall_NARGS(nargsf) as usize;
            let positional_args: smallvec::SmallVec<[Object<'_>; 2]> =
                raw_arguments(arguments, positional)
                    .iter()
                    .map(|&argument| Bound::from_borrowed_ptr(py, argument))
                    .collect();
            let mut named = None;
            if let Some(names) = Bound::from_borrowed_ptr_or_opt(py, names) {
                let dict = PyDict::new(py);
                for (offset, name) in names.cast::<PyTuple>()?.iter().enumerate() {
                    let value = Borrowed::from_ptr(py, *arguments.add(positional + offset));
                    dict.set_item(name, value)?;
                }
                named = Some(dict);
            }
            let object = function::<F>()(&positional_args, named.as_ref(), py)?;
            finish_new(py, class.cast(), object)
        })
    }
}

/// `tp_new`, for subclasses.
unsafe extern "C" fn make_slow<F: Make>(
    class: *mut ffi::PyTypeObject,
    arguments: *mut ffi::PyObject,
    named: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live class, a tuple and a dict or null, and
    // holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        guarded_object(py, || {
            let positional_args: Vec<Object<'_>> = Bound::from_borrowed_ptr(py, arguments)
                .cast_into::<PyTuple>()?
                .iter()
                .collect();
            let named = match Bound::from_borrowed_ptr_or_opt(py, named) {
                Some(named) => Some(named.cast_into::<PyDict>()?),
                None => None,
            };
            let object = function::<F>()(&positional_args, named.as_ref(), py)?;
            finish_new(py, class, object)
        })
    }
}

/// A class that receives native methods. The class must be a heap type that extends
/// `Object`, for example the result of any class statement.
pub(crate) struct Methods<'py> {
    class: Bound<'py, PyType>,
}

impl<'py> Methods<'py> {
    /// The methods of a class for the built-in type with this key.
    ///
    /// # Errors
    ///
    /// Exceptions from binding the class.
    pub(crate) fn bind(class: &Bound<'py, PyType>, type_key: &str) -> PyResult<Self> {
        bind::bind_key(class, type_key)?;
        // SAFETY: `class` is a live type.
        let heap = unsafe { roots::flags(class.as_type_ptr()) } & ffi::Py_TPFLAGS_HEAPTYPE != 0;
        if !heap {
            return Err(PyTypeError::new_err("the class is not made in Python"));
        }
        Ok(Methods::of(class))
    }

    /// The methods of a class made in this crate.
    pub(crate) fn of(class: &Bound<'py, PyType>) -> Self {
        Methods {
            class: class.clone(),
        }
    }

    fn raw(&self) -> *mut ffi::PyTypeObject {
        self.class.as_type_ptr()
    }

    /// Replaces an attribute by a descriptor with the same documentation.
    fn add(&self, name: &str, function: ffi::PyMethodDefPointer, flags: c_int) -> PyResult<()> {
        let doc = CString::new(self.documentation(name)?)?;
        let raw_name = CString::new(name)?;
        // Descriptors point to the definition, which therefore lives as long as the
        // process; the number of definitions is bounded by the methods of a few
        // classes.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: raw_name.into_raw(),
            ml_meth: function,
            ml_flags: flags,
            ml_doc: doc.into_raw(),
        }));
        // SAFETY: the class is alive, and the definition has the flags of its
        // function and is never freed.
        let descriptor = unsafe {
            let made = ffi::PyDescr_NewMethod(self.raw(), definition);
            Bound::from_owned_ptr_or_err(self.class.py(), made)?
        };
        self.class.setattr(name, descriptor)
    }

    /// Signature and documentation of the Python function replaced by a descriptor, in
    /// the format parsed by CPython.
    fn documentation(&self, name: &str) -> PyResult<String> {
        let py = self.class.py();
        let body = self.class.getattr(intern!(py, "__dict__"))?;
        let Ok(function) = body.get_item(name) else {
            return Ok(String::new());
        };
        let Some(code) = function.getattr_opt(intern!(py, "__code__"))? else {
            return Ok(String::new());
        };
        let count: usize = code.getattr(intern!(py, "co_argcount"))?.extract()?;
        let names: Vec<String> = code.getattr(intern!(py, "co_varnames"))?.extract()?;
        let defaults = function.getattr(intern!(py, "__defaults__"))?;
        let defaults: Vec<Object<'_>> = if defaults.is_none() {
            Vec::new()
        } else {
            defaults.extract()?
        };
        let mut parameters = Vec::with_capacity(count);
        for (position, name) in names.iter().take(count).enumerate() {
            let default = (position + defaults.len()).checked_sub(count);
            parameters.push(match default.and_then(|index| defaults.get(index)) {
                _ if position == 0 => "$self".to_owned(),
                Some(default) => format!("{name}={}", default.repr()?),
                None => name.clone(),
            });
        }
        let text = function.getattr(intern!(py, "__doc__"))?;
        let text = match text.cast::<PyString>() {
            Ok(text) => text.to_str()?.to_owned(),
            Err(_) => String::new(),
        };
        let parameters = parameters.join(", ");
        Ok(format!("{name}({parameters}, /)\n--\n\n{text}"))
    }

    /// A method without arguments.
    pub(crate) fn unary<F>(&self, name: &str, _function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>) -> Answer<'a> + Stateless,
    {
        let pointer = ffi::PyMethodDefPointer {
            PyCFunction: unary::<F>,
        };
        self.add(name, pointer, ffi::METH_NOARGS)
    }

    /// A method with one argument.
    pub(crate) fn binary<F>(&self, name: &str, _function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Object<'a>) -> Answer<'a> + Stateless,
    {
        let pointer = ffi::PyMethodDefPointer {
            PyCFunction: binary::<F>,
        };
        self.add(name, pointer, ffi::METH_O)
    }

    /// A method with any number of arguments by position.
    pub(crate) fn variadic<F>(&self, name: &str, _function: F) -> PyResult<()>
    where
        F: for<'a, 'b> Fn(&Object<'b>, Arguments<'a, 'b>) -> Answer<'b> + Stateless,
    {
        let pointer = ffi::PyMethodDefPointer {
            PyCFunctionFast: variadic::<F>,
        };
        self.add(name, pointer, ffi::METH_FASTCALL)
    }

    /// `iter(this)`.
    pub(crate) fn iter<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>) -> Answer<'a> + Stateless,
    {
        self.unary("__iter__", function)?;
        // SAFETY: the class is a live heap type, see `bind`; the slot has the signature
        // of the function. The same holds below.
        unsafe { (*self.raw()).tp_iter = Some(iterate::<F>) };
        Ok(())
    }

    /// `this[key]`.
    pub(crate) fn get_item<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Object<'a>) -> Answer<'a> + Stateless,
    {
        self.binary("__getitem__", function)?;
        // SAFETY: as in `iter`; heap types have all groups of slots.
        unsafe { (*(*self.raw()).tp_as_mapping).mp_subscript = Some(binary::<F>) };
        Ok(())
    }

    /// `this[key] = value` and `del this[key]`.
    pub(crate) fn set_item<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Object<'a>, Option<&Object<'a>>) -> PyResult<()> + Stateless,
    {
        self.variadic("__setitem__", move |this, given| {
            given.expect("__setitem__", 2, 2)?;
            if let (Some(key), Some(value)) = (given.get(0), given.get(1)) {
                function(this, &key, Some(&value))?;
            }
            Ok(this.py().None().into_bound(this.py()))
        })?;
        self.binary("__delitem__", move |this, key| {
            function(this, key, None)?;
            Ok(this.py().None().into_bound(this.py()))
        })?;
        // SAFETY: as in `get_item`.
        unsafe { (*(*self.raw()).tp_as_mapping).mp_ass_subscript = Some(assign::<F>) };
        Ok(())
    }

    /// `len(this)`.
    pub(crate) fn len<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>) -> PyResult<usize> + Stateless,
    {
        self.unary("__len__", move |this| {
            Ok(function(this)?.into_pyobject(this.py())?.into_any())
        })?;
        // SAFETY: as in `get_item`.
        unsafe {
            (*(*self.raw()).tp_as_mapping).mp_length = Some(length::<F>);
            (*(*self.raw()).tp_as_sequence).sq_length = Some(length::<F>);
        }
        Ok(())
    }

    /// `item in this`.
    pub(crate) fn contains<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Object<'a>) -> PyResult<bool> + Stateless,
    {
        self.binary("__contains__", move |this, item| {
            Ok(truth(this.py(), function(this, item)?))
        })?;
        // SAFETY: as in `get_item`.
        unsafe { (*(*self.raw()).tp_as_sequence).sq_contains = Some(contains::<F>) };
        Ok(())
    }

    /// `==` and `!=`; None lets the other operand decide. The comparison operators have
    /// no separate slot, which would save less than a thirtieth of comparing two short
    /// arrays.
    pub(crate) fn equality<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Object<'a>) -> PyResult<Option<bool>> + Stateless,
    {
        fn answer(py: Python<'_>, equal: Option<bool>, wanted: bool) -> Object<'_> {
            match equal {
                Some(equal) => truth(py, equal == wanted),
                None => py.NotImplemented().into_bound(py),
            }
        }
        self.binary("__eq__", move |this, other| {
            Ok(answer(this.py(), function(this, other)?, true))
        })?;
        self.binary("__ne__", move |this, other| {
            Ok(answer(this.py(), function(this, other)?, false))
        })?;
        Ok(())
    }

    /// `hash(this)`.
    pub(crate) fn hash<F>(&self, function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>) -> PyResult<isize> + Stateless,
    {
        self.unary("__hash__", move |this| {
            Ok(function(this)?.into_pyobject(this.py())?.into_any())
        })?;
        // SAFETY: as in `iter`.
        unsafe { (*self.raw()).tp_hash = Some(hash::<F>) };
        Ok(())
    }

    /// `this(*arguments, **named)`.
    pub(crate) fn call<F>(&self, _function: F) -> PyResult<()>
    where
        F: for<'a> Fn(&Object<'a>, &Bound<'a, PyTuple>, Option<&Bound<'a, PyDict>>) -> Answer<'a>
            + Stateless,
    {
        let pointer = ffi::PyMethodDefPointer {
            PyCFunctionWithKeywords: call::<F>,
        };
        self.add("__call__", pointer, ffi::METH_VARARGS | ffi::METH_KEYWORDS)?;
        // SAFETY: as in `iter`.
        unsafe { (*self.raw()).tp_call = Some(call::<F>) };
        Ok(())
    }

    /// The constructor of this class and its subclasses.
    pub(crate) fn make<F: Make>(&self, _function: F) -> PyResult<()> {
        // SAFETY: as in `iter`; calls of classes of our metaclass look at
        // `tp_vectorcall`.
        unsafe {
            (*self.raw()).tp_new = Some(make_slow::<F>);
            (*self.raw()).tp_vectorcall = Some(make_fast::<F>);
        }
        Ok(())
    }

    /// Ends the changes and invalidates cached lookups.
    pub(crate) fn finish(self) {
        // SAFETY: the class is alive.
        unsafe { ffi::PyType_Modified(self.raw()) };
    }
}
