//! The metaclass of `Object`, and `Object` itself.

use std::ffi::{CStr, c_int, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use isoform::host::{self, HostHooks};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::gil::{give_way, has_comparison_hooks};
use super::slot::{guarded, guarded_object};
use super::wrapper::{self, WEAKLIST_OFFSET, WRAPPER_SIZE};
use super::{abandoned, bind, class, construct, gc, roots};
use crate::error::{IntoPyResult, from_python};
use crate::type_attrs::attribute_of_class;

const META_DOC: &CStr = c"The metaclass of Object.\n\nIt gives every class empty `__slots__` unless the class has its own, and\nmakes calls of registered classes fast.";

const OBJECT_DOC: &CStr = c"The base of all classes of nodes, and of the containers.\n\nInstances stand for objects of the core: `==` and `hash` are identity unless\nthe class asks otherwise, and one object has one instance while it is in use.";

/// Sets a slot's error in CPython and returns the value for the slot to return.
fn raised<T>(py: Python<'_>, error: PyErr, value: T) -> T {
    error.restore(py);
    value
}

/// `__new__` of the metaclass. A Python function and not a slot: CPython lets
/// `type.__new__` make classes only for metaclasses with a `__new__` in Python.
#[pyfunction]
#[pyo3(signature = (meta, /, *args, **kwargs))]
fn new_class<'py>(
    meta: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = meta.py();
    let mut arguments: Vec<Bound<'py, PyAny>> = std::iter::once(meta.clone()).chain(args).collect();
    if let [_, _, _, body] = arguments.as_mut_slice() {
        let copy = body.cast::<PyDict>()?.copy()?;
        if !copy.contains(intern!(py, "__slots__"))? {
            copy.set_item(intern!(py, "__slots__"), PyTuple::empty(py))?;
        }
        *body = copy.into_any();
    }
    // SAFETY: the base of our metaclass is ABCMeta, a live type.
    let abc_meta = unsafe { Bound::from_borrowed_ptr(py, (*roots::meta()).tp_base.cast()) };
    let class = abc_meta
        .getattr(intern!(py, "__new__"))?
        .call(PyTuple::new(py, arguments)?, kwargs)?;
    let ty = class.as_ptr().cast::<ffi::PyTypeObject>();
    // SAFETY: `ty` is the live type just made.
    unsafe {
        if !roots::has_layout(ty) {
            return Err(PyTypeError::new_err(
                "a class of this metaclass must extend isoform.Object",
            ));
        }
        wrapper::adopt_finalizer(ty);
        if !wrapper::has_own_state(ty) {
            // CPython's own routine would do the same in more steps: search for slots,
            // a dict and weak references to clear.
            (*ty).tp_dealloc = Some(dealloc_class);
        }
    }
    Ok(class)
}

/// Deallocates an instance of a class without state; a class with `__del__` goes
/// through `finalize`.
///
/// # Safety
///
/// `tp_dealloc`, called by CPython.
unsafe extern "C" fn dealloc_class(this: *mut ffi::PyObject) {
    // SAFETY: `this` is a dying instance, alive until `dealloc`.
    unsafe {
        let finalize = (*ffi::Py_TYPE(this)).tp_finalize;
        if finalize.is_some_and(wrapper::is_foreign_finalizer)
            && ffi::PyObject_CallFinalizerFromDealloc(this) < 0
        {
            return;
        }
        wrapper::dealloc(this);
    }
}

/// # Safety
///
/// `tp_call` of the metaclass: a class is called.
unsafe extern "C" fn meta_call(
    class: *mut ffi::PyObject,
    args: *mut ffi::PyObject,
    kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live objects and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let class = Bound::from_borrowed_ptr(py, class);
        if let Err(error) = construct::resolve(&class) {
            return raised(py, error, ptr::null_mut());
        }
        let Some(call) = ffi::PyType_Type.tp_call else {
            return ptr::null_mut();
        };
        let instance = call(class.as_ptr(), args, kwargs);
        if instance.is_null() {
            if let Some(error) = PyErr::take(py) {
                // The exception matters even if nothing can be added.
                let _ = explain_undecorated(&class, &error);
                error.restore(py);
            }
            return instance;
        }
        if !roots::is_wrapper(instance) {
            return instance;
        }
        let instance = Bound::from_owned_ptr(py, instance);
        match construct::finish(&instance) {
            Ok(()) => instance.into_ptr(),
            Err(error) => raised(py, error, ptr::null_mut()),
        }
    }
}

/// Adds to an error about arguments that the annotations of a class are no fields, because the
/// class is not declared as a node type.
#[cold]
fn explain_undecorated(class: &Bound<'_, PyAny>, error: &PyErr) -> PyResult<()> {
    let py = class.py();
    let class = class.cast::<PyType>()?;
    let body = class.getattr("__dict__")?;
    let annotations = ["__annotations__", "__annotate__", "__annotate_func__"];
    let mut has = annotations.iter().map(|name| body.contains(name));
    let text = error.value(py).to_string();
    let is_declared = class::of_class(py, class.as_type_ptr()).is_some();
    if is_declared
        || !error.is_instance_of::<PyTypeError>(py)
        || !text.contains(".__init__() ")
        || !has.any(|has| has.unwrap_or(false))
    {
        return Ok(());
    }
    let name = class.name()?;
    let text = format!(
        "{text}; the annotations of {name} are no fields: decorate the class with py_class"
    );
    error.value(py).setattr("args", (text,))
}

/// # Safety
///
/// `tp_getattro` of the metaclass: a name missing in a class and its bases may be an
/// attribute of the type.
unsafe extern "C" fn meta_getattro(
    class: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a class and a name and holds the GIL.
    unsafe {
        let Some(plain) = ffi::PyType_Type.tp_getattro else {
            return ptr::null_mut();
        };
        let attribute = plain(class, name);
        if !attribute.is_null() || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return attribute;
        }
        let py = Python::assume_attached();
        let missing = PyErr::fetch(py);
        let class = Bound::from_borrowed_ptr(py, class);
        let name = Bound::from_borrowed_ptr(py, name);
        guarded_object(py, || {
            match attribute_of_class(class.cast::<PyType>()?, &name)? {
                Some(value) => Ok(value),
                None => Err(missing),
            }
        })
    }
}

/// # Safety
///
/// `tp_setattro` of `Object`: the error for a misspelt field name suggests the field.
/// Python itself suggests a field when printing the error of a failed read.
unsafe extern "C" fn object_setattro(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: CPython passes an object, a name and a value or null, and holds the GIL.
    unsafe {
        let done = ffi::PyObject_GenericSetAttr(object, name, value);
        if done == 0 || ffi::PyErr_ExceptionMatches(ffi::PyExc_AttributeError) == 0 {
            return done;
        }
        let py = Python::assume_attached();
        let error = PyErr::fetch(py);
        let class = (*object).ob_type;
        let name = Bound::from_borrowed_ptr(py, name);
        guarded(py, -1, || Err(suggesting_field(py, class, &name, error)?))
    }
}

/// The error of an attribute that cannot be set, with the probable field.
fn suggesting_field(
    py: Python<'_>,
    class: *mut ffi::PyTypeObject,
    name: &Bound<'_, PyAny>,
    error: PyErr,
) -> PyResult<PyErr> {
    let Some(data) = class::nearest(py, class) else {
        return Ok(error);
    };
    let name = name.str()?.to_string();
    // An error about an existing field already has the reason.
    if data.info.field_index(&name).is_some() {
        return Ok(error);
    }
    let hint = host::field_hint(data.info, &name);
    if !hint.is_empty() {
        let text = format!("{}{hint}", error.value(py));
        error.value(py).setattr("args", (text,))?;
    }
    Ok(error)
}

/// The negation of a result of `==`, which is consumed.
///
/// # Safety
///
/// `answer` must be null or own a reference, and the GIL be held.
unsafe fn negated(answer: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: promised by the caller; both constants get a reference.
    unsafe {
        if answer.is_null() || answer == ffi::Py_NotImplemented() {
            return answer;
        }
        let truth = ffi::PyObject_IsTrue(answer);
        ffi::Py_DECREF(answer);
        let opposite = match truth {
            0 => ffi::Py_True(),
            1 => ffi::Py_False(),
            _ => return ptr::null_mut(),
        };
        ffi::Py_INCREF(opposite);
        opposite
    }
}

/// # Safety
///
/// `tp_richcompare` of `Object`: identity of the core objects.
unsafe extern "C" fn richcompare(
    this: *mut ffi::PyObject,
    other: *mut ffi::PyObject,
    operation: c_int,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live objects and holds the GIL; the constants
    // returned are immortal or get a reference.
    unsafe {
        let own = (*ffi::Py_TYPE(this)).tp_richcompare;
        if operation == ffi::Py_NE
            && let Some(own) = own.filter(|own| *own as usize != richcompare as *const () as usize)
        {
            // For a class with a custom `__eq__`, `!=` negates the result.
            return negated(own(this, other, ffi::Py_EQ));
        }
        let same = this == other
            || (roots::is_wrapper(other)
                && match (wrapper::layout(this).core(), wrapper::layout(other).core()) {
                    (Some(left), Some(right)) => left.same_as(right),
                    _ => false,
                });
        let answer = match operation {
            ffi::Py_EQ if same => ffi::Py_True(),
            ffi::Py_NE if same => ffi::Py_False(),
            _ => ffi::Py_NotImplemented(),
        };
        ffi::Py_INCREF(answer);
        answer
    }
}

/// # Safety
///
/// `tp_hash` of `Object`: by identity number, the same in every run.
unsafe extern "C" fn hash(this: *mut ffi::PyObject) -> ffi::Py_hash_t {
    // SAFETY: CPython passes a live instance and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this);
        match wrapper::unwrap(&this) {
            Ok(Some(core)) => {
                // Identity numbers are dense, and a multiplication spreads them.
                let mixed = core.identity().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
                mixed as ffi::Py_hash_t
            }
            Ok(None) => 0,
            Err(error) => raised(py, error, -1),
        }
    }
}

/// # Safety
///
/// `tp_repr` of `Object`. A separate slot, by which classes with another repr can be
/// recognised.
unsafe extern "C" fn repr(this: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live instance and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this);
        guarded_object(py, || {
            let text = crate::objects::own_text(&this)?;
            Ok(PyString::new(py, &text).into_any())
        })
    }
}

/// # Safety
///
/// `tp_str` of `Object`: the text that `print` shows.
unsafe extern "C" fn str(this: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython passes a live instance and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this);
        guarded_object(py, || {
            let text = crate::objects::shown(&this)?;
            Ok(PyString::new(py, &text).into_any())
        })
    }
}

/// The core's interface to the GIL.
fn host_hooks() -> HostHooks {
    HostHooks {
        is_exclusive: cfg!(not(Py_GIL_DISABLED)),
        // SAFETY: may be called in any thread.
        is_held: || unsafe { ffi::PyGILState_Check() } == 1,
        hold: |body| {
            // Without an interpreter, or while it shuts down, no code is run.
            let _ended = Python::try_attach(|_py| body());
        },
        release_while: |body| {
            let mut body = Exclusive(body);
            Python::attach(|py| py.detach(move || body.run()));
        },
        poll: || Python::attach(poll).map_err(from_python),
        lost_error: |error| {
            if error.kind_name() == "KeyboardInterrupt" {
                // SAFETY: may be called in any thread. Python raises the exception again at its
                // next step in the main thread.
                unsafe { ffi::PyErr_SetInterrupt() }
            }
        },
    }
}

/// The time at which a long operation last released the GIL.
static RELEASED: Mutex<Option<Instant>> = Mutex::new(None);

/// Longer than the time for which a thread waits for the GIL before it demands the GIL
/// (five milliseconds by default). Releasing the GIL more often would restart that wait
/// each time, and the thread would never get the GIL.
const SHARE: Duration = Duration::from_millis(6);

/// Called by the core in the middle of long operations. Returns true if the operation
/// should release the GIL.
fn poll(py: Python<'_>) -> PyResult<bool> {
    // Signal handlers run here; Ctrl-C raises an exception.
    py.check_signals()?;
    if cfg!(Py_GIL_DISABLED) {
        // Another thread may wait until all threads stand still.
        give_way(py);
        return Ok(false);
    }
    let now = Instant::now();
    let due = {
        let mut released = RELEASED.lock().unwrap_or_else(PoisonError::into_inner);
        let due = released.is_none_or(|last| now.duration_since(last) >= SHARE);
        if due {
            *released = Some(now);
        }
        due
    };
    if due && has_comparison_hooks() {
        // Without the GIL, every hook would have to wait for the GIL again. Instead, a
        // thread that has demanded the GIL runs first.
        give_way(py);
        return Ok(false);
    }
    Ok(due)
}

/// Lets `detach` run a closure in this thread.
struct Exclusive<'a>(&'a mut dyn FnMut());

// SAFETY: `detach` calls its closure before it returns, in the same thread; nothing
// moves to another thread.
unsafe impl Send for Exclusive<'_> {}

impl Exclusive<'_> {
    fn run(&mut self) {
        (self.0)();
    }
}

/// Makes the metaclass and `Object`, and registers the wrappers with the core.
pub(crate) fn init(py: Python<'_>) -> PyResult<(Bound<'_, PyType>, Bound<'_, PyType>)> {
    let abc_meta = py
        .import("abc")?
        .getattr("ABCMeta")?
        .cast_into::<PyType>()?;
    let meta = make_type(
        py,
        c"isoform._core.ObjectMeta",
        0,
        ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE,
        &[
            slot(ffi::Py_tp_call, meta_call as *mut c_void),
            slot(ffi::Py_tp_getattro, meta_getattro as *mut c_void),
            slot(ffi::Py_tp_doc, META_DOC.as_ptr() as *mut c_void),
        ],
        Some(&abc_meta),
    )?;
    // SAFETY: the metaclass is fresh; its instances are type objects, which have room
    // for a vectorcall function at this offset.
    unsafe {
        let raw = meta.as_type_ptr();
        (*raw).tp_vectorcall_offset = offset_of!(ffi::PyTypeObject, tp_vectorcall) as isize;
        roots::set_flag(raw, ffi::Py_TPFLAGS_HAVE_VECTORCALL, true);
        ffi::PyType_Modified(raw);
        roots::set_meta(raw);
    }
    let new = pyo3::wrap_pyfunction!(new_class, py)?;
    let static_method = py.import("builtins")?.getattr("staticmethod")?;
    meta.setattr("__new__", static_method.call1((new,))?)?;
    // The checks of ABCMeta cost a call into Python, and virtual subclasses of node
    // types make no sense.
    let plain = py.get_type::<PyType>();
    for name in ["__instancecheck__", "__subclasscheck__"] {
        meta.setattr(name, plain.getattr(name)?)?;
    }
    let flags = ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_HAVE_GC;
    let object = make_type(
        py,
        c"isoform._core.Object",
        WRAPPER_SIZE as c_int,
        flags,
        &[
            slot(ffi::Py_tp_new, construct::object_new as *mut c_void),
            slot(ffi::Py_tp_init, construct::object_init as *mut c_void),
            slot(ffi::Py_tp_dealloc, wrapper::dealloc as *mut c_void),
            slot(ffi::Py_tp_finalize, wrapper::finalize as *mut c_void),
            slot(ffi::Py_tp_traverse, gc::traverse as *mut c_void),
            slot(ffi::Py_tp_clear, gc::clear as *mut c_void),
            slot(ffi::Py_tp_richcompare, richcompare as *mut c_void),
            slot(ffi::Py_tp_hash, hash as *mut c_void),
            slot(ffi::Py_tp_repr, repr as *mut c_void),
            slot(ffi::Py_tp_str, str as *mut c_void),
            slot(ffi::Py_tp_setattro, object_setattro as *mut c_void),
            slot(ffi::Py_tp_doc, OBJECT_DOC.as_ptr() as *mut c_void),
        ],
        None,
    )?;
    // SAFETY: both are fresh heap types. A type's type may be changed to a type of the
    // same layout, and the metaclass adds nothing to its base's.
    unsafe {
        let raw = object.as_type_ptr();
        (*raw).tp_weaklistoffset = WEAKLIST_OFFSET as isize;
        ffi::Py_INCREF(meta.as_ptr());
        (*raw.cast::<ffi::PyObject>()).ob_type = meta.as_type_ptr();
        ffi::PyType_Modified(raw);
        roots::set_base(raw);
    }
    py.import("_abc")?.getattr("_abc_init")?.call1((&object,))?;
    class::set_make_native(bind::make_native);
    wrapper::set_complete(construct::finish);
    host::set_preserved_hook(abandoned::abandon);
    // SAFETY: the GIL is exclusive where there is one; otherwise CPython waits for all
    // attached threads before it stops them. The functions fulfil their contracts. A second
    // module of this kind in one process shares neither types nor lock with the first;
    // an error here prevents loading the module.
    unsafe { host::install(host_hooks()) }.into_py()?;
    // Both live until the process ends: the statics above point to them.
    std::mem::forget((meta.clone(), object.clone()));
    Ok((meta, object))
}

fn slot(number: c_int, function: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot {
        slot: number,
        pfunc: function,
    }
}

fn make_type<'py>(
    py: Python<'py>,
    name: &'static CStr,
    size: c_int,
    flags: std::ffi::c_ulong,
    slots: &[ffi::PyType_Slot],
    base: Option<&Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyType>> {
    let mut slots = slots.to_vec();
    slots.push(slot(0, ptr::null_mut()));
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size,
        itemsize: 0,
        flags: flags as std::ffi::c_uint,
        slots: slots.as_mut_ptr(),
    };
    let bases = match base {
        Some(base) => PyTuple::new(py, [base])?.into_ptr(),
        None => ptr::null_mut(),
    };
    // SAFETY: the slots end with a zero entry and hold functions of the types that
    // their numbers ask for; CPython copies what it needs.
    unsafe {
        let class = ffi::PyType_FromSpecWithBases(&raw mut spec, bases);
        ffi::Py_XDECREF(bases);
        Ok(Bound::from_owned_ptr_or_err(py, class)?.cast_into::<PyType>()?)
    }
}
