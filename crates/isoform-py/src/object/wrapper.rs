//! The instance layout of `Object`, and the life of a wrapper.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use isoform::host::{self, PRESERVED};
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::class::{self, ClassData};
use super::roots;
use crate::convert::complex_of;

/// The instance layout of `Object`; subclasses append their slots.
#[repr(C)]
pub(crate) struct Wrapper {
    base: ffi::PyObject,
    /// The address of the core object, or of a [`Staging`] with the low bit
    /// set; zero for an instance that was never initialised.
    state: Cell<usize>,
    weak_references: *mut ffi::PyObject,
}

pub(super) const WRAPPER_SIZE: usize = size_of::<Wrapper>();
pub(super) const WEAKLIST_OFFSET: usize = std::mem::offset_of!(Wrapper, weak_references);

/// The low bit of [`Wrapper::state`].
const STAGED: usize = 1;

/// The fields of an incomplete object.
pub(crate) struct Staging {
    pub(super) data: &'static ClassData,
    pub(super) values: Vec<Option<Value>>,
    /// True while the object is being completed, to prevent a second completion.
    pub(super) finishing: bool,
}

/// The wrapper in a Python object.
///
/// # Safety
///
/// `object` must be a live instance of `Object`, and the GIL held.
#[inline(always)]
pub(super) unsafe fn layout<'a>(object: *mut ffi::PyObject) -> &'a Wrapper {
    // SAFETY: promised by the caller; `state` is a cell, and the other fields
    // are not touched through the reference.
    unsafe { &*object.cast::<Wrapper>() }
}

impl Wrapper {
    #[inline(always)]
    pub(super) fn core(&self) -> Option<&Ref<Obj>> {
        let state = self.state.get();
        if state & STAGED != 0 || state == 0 {
            return None;
        }
        // SAFETY: `Cell<usize>` holds the non-null address of an object of which the
        // wrapper owns a reference; `Ref<Obj>` and `NonNull<()>` have the same
        // representation, and a state that is an object never changes while the wrapper
        // lives.
        Some(unsafe { host::borrow_raw(&*self.state.as_ptr().cast::<NonNull<()>>()) })
    }

    /// Separates the wrapper from its object; the caller takes over the reference to
    /// the object.
    pub(super) fn take_core(&self) -> Option<*mut ()> {
        host::host_word(self.core()?).store(0, Ordering::Release);
        Some(self.state.replace(0) as *mut ())
    }

    #[inline]
    pub(super) fn staging(&self) -> Option<*mut Staging> {
        let state = self.state.get();
        (state & STAGED != 0).then_some((state & !STAGED) as *mut Staging)
    }

    /// Sets the unfinished fields of an instance without state.
    pub(super) fn set_staging(&self, staging: Staging) {
        debug_assert_eq!(self.state.get(), 0);
        self.state
            .set(Box::into_raw(Box::new(staging)) as usize | STAGED);
    }

    /// Binds an instance without object to an object.
    ///
    /// # Safety
    ///
    /// `this` must be the wrapper itself, which has no object yet, and the
    /// object must have no wrapper; the GIL is held.
    unsafe fn tie(this: *mut ffi::PyObject, object: Ref<Obj>) {
        // SAFETY: promised by the caller.
        let wrapper = unsafe { layout(this) };
        let staging = wrapper.staging();
        host::host_word(&object).store(this as usize, Ordering::Release);
        wrapper
            .state
            .set(object.into_raw_pointer().as_ptr() as usize);
        if let Some(staging) = staging {
            // SAFETY: the box was made by `set_staging`, and the wrapper no longer
            // points to it.
            drop(unsafe { Box::from_raw(staging) });
        }
    }
}

/// Completes a staged wrapper with its object.
///
/// # Safety
///
/// As [`Wrapper::tie`].
pub(super) unsafe fn tie(this: *mut ffi::PyObject, object: Ref<Obj>) {
    // SAFETY: promised by the caller.
    unsafe { Wrapper::tie(this, object) }
}

/// The wrapper of an object, made on first use.
///
/// # Errors
///
/// `MemoryError`; exceptions from making the class of a native type.
pub(crate) fn wrap(py: Python<'_>, object: Ref<Obj>) -> PyResult<Bound<'_, PyAny>> {
    if let Some(wrapper) = existing(py, &object) {
        return Ok(wrapper);
    }
    let class = class::class_of(py, host::type_index_of(&object))?;
    // SAFETY: the class is a live subclass of `Object`, and the object has no wrapper,
    // as checked above; no Python code ran in between, since allocating runs at most
    // the collector, which makes no wrappers of live objects.
    unsafe {
        let this = allocate(class);
        if this.is_null() {
            return Err(PyErr::fetch(py));
        }
        if let Some(wrapper) = existing(py, &object) {
            // A finaliser run by the collector was faster.
            ffi::Py_DECREF(this);
            return Ok(wrapper);
        }
        Wrapper::tie(this, object);
        Ok(Bound::from_owned_ptr(py, this))
    }
}

/// The wrapper of a borrowed object, or the instance of the value class to which the
/// object belongs.
///
/// # Errors
///
/// As [`wrap`]; exceptions from making the instance.
#[inline]
pub(crate) fn wrap_borrowed<'py>(
    py: Python<'py>,
    object: &Ref<Obj>,
) -> PyResult<Bound<'py, PyAny>> {
    match existing(py, object) {
        Some(found) => Ok(found),
        None => {
            if let Some(number) = complex_of(py, object) {
                return Ok(number);
            }
            let made = wrap(py, object.clone())?;
            let class = class::of_index(py, host::type_index_of(object));
            match class.and_then(|data| data.instance_of.get(py)) {
                Some(instance_of) => instance_of.bind(py).call1((made,)),
                None => Ok(made),
            }
        }
    }
}

/// The existing wrapper of an object.
#[inline(always)]
fn existing<'py>(py: Python<'py>, object: &Ref<Obj>) -> Option<Bound<'py, PyAny>> {
    let word = host::host_word(object);
    let current = word.load(Ordering::Relaxed);
    if current == 0 {
        return None;
    }
    let this = (current & !PRESERVED) as *mut ffi::PyObject;
    // SAFETY: the spare word points to a live wrapper, which clears the word before it
    // dies; both happen under the GIL.
    unsafe {
        if current & PRESERVED != 0 {
            let taken =
                word.compare_exchange(current, this as usize, Ordering::AcqRel, Ordering::Relaxed);
            if taken.is_ok() {
                // The object's reference to the wrapper passes to the caller.
                clear_finalized(this);
                return Some(Bound::from_owned_ptr(py, this));
            }
        }
        Some(Bound::from_borrowed_ptr(py, this))
    }
}

/// Allocates an instance without state.
///
/// # Safety
///
/// `class` must be a live subclass of `Object`, and the GIL held.
#[inline]
pub(super) unsafe fn allocate(class: *mut ffi::PyTypeObject) -> *mut ffi::PyObject {
    // SAFETY: `tp_alloc` gives zeroed memory of the class's size, which is a
    // valid wrapper without state.
    unsafe {
        match (*class).tp_alloc {
            Some(alloc) => alloc(class, 0),
            None => ffi::PyType_GenericAlloc(class, 0),
        }
    }
}

/// Makes a wrapper of exactly this class for an object without a wrapper.
///
/// # Safety
///
/// As for [`allocate`]. The object must be new and must not have a wrapper.
#[inline]
pub(super) unsafe fn wrap_fresh(
    class: *mut ffi::PyTypeObject,
    object: Ref<Obj>,
) -> *mut ffi::PyObject {
    // SAFETY: promised by the caller.
    unsafe {
        let this = allocate(class);
        if !this.is_null() {
            Wrapper::tie(this, object);
        }
        this
    }
}

/// Makes a wrapper of a user-chosen class for an object without a wrapper.
///
/// # Errors
///
/// `TypeError` unless the class is, or extends, the class of the object's type.
pub(crate) fn wrap_as<'py>(
    class: &Bound<'py, PyType>,
    object: Ref<Obj>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let expected = class::class_of(py, host::type_index_of(&object))?;
    let ty = class.as_type_ptr();
    // SAFETY: both are live types.
    if unsafe { ffi::PyType_IsSubtype(ty, expected) == 0 || !roots::has_layout(ty) } {
        return Err(PyTypeError::new_err(format!(
            "class {} does not stand for objects of {}",
            class.name()?,
            object.type_info().key()
        )));
    }
    if let Some(wrapper) = existing(py, &object) {
        return Ok(wrapper);
    }
    // SAFETY: the class extends the class of the type, and therefore `Object`; the
    // object has no wrapper, as checked above, and if one was made while memory was
    // allocated, the new wrapper is released.
    unsafe {
        let this = allocate(ty);
        if this.is_null() {
            return Err(PyErr::fetch(py));
        }
        if let Some(wrapper) = existing(py, &object) {
            ffi::Py_DECREF(this);
            return Ok(wrapper);
        }
        Wrapper::tie(this, object);
        Ok(Bound::from_owned_ptr(py, this))
    }
}

/// Makes a wrapper of the class of another instance of the same type.
///
/// # Errors
///
/// As [`wrap_as`].
pub(crate) fn wrap_like<'py>(
    original: &Bound<'py, PyAny>,
    object: Ref<Obj>,
) -> PyResult<Bound<'py, PyAny>> {
    wrap_as(&original.get_type(), object)
}

/// True if instances of the object's class may have attributes besides fields.
pub(crate) fn may_have_state(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the class of an instance of `Object` is alive; any other class
    // has no wrapper's layout.
    unsafe { roots::is_wrapper(object.as_ptr()) && has_own_state(ffi::Py_TYPE(object.as_ptr())) }
}

/// True if the class of an object has a custom repr.
pub(crate) fn has_own_repr(py: Python<'_>, object: &Ref<Obj>) -> bool {
    let class = match existing(py, object) {
        Some(found) => found.get_type_ptr(),
        // The class may be in a module that nothing has imported so far.
        None => match class::class_of(py, host::type_index_of(object)) {
            Ok(class) => class,
            Err(_) => return false,
        },
    };
    // SAFETY: a registered class, the class of a live object, and `Object` are
    // alive; their slots are read under the GIL.
    let slot = |class: *mut ffi::PyTypeObject| unsafe { (*class).tp_repr }.map(|f| f as usize);
    slot(class) != slot(roots::base())
}

/// The core object of a Python object, if it is a complete instance of `Object`.
#[inline]
pub(crate) fn core_of<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Ref<Obj>> {
    // SAFETY: the GIL is held, and the reference keeps the wrapper alive.
    unsafe {
        if !roots::is_wrapper(object.as_ptr()) {
            return None;
        }
        layout(object.as_ptr()).core()
    }
}

/// Completes a staged object.
type Complete = fn(&Bound<'_, PyAny>) -> PyResult<()>;

/// Set at start-up, because completing converts defaults, and converting a value
/// unwraps it.
static COMPLETE: OnceLock<Complete> = OnceLock::new();

/// Sets, once, the function for completing staged objects.
pub(super) fn set_complete(complete: Complete) {
    // The core rejects a second module in the process later.
    let _ = COMPLETE.set(complete);
}

/// The core object of a Python object; None if the Python object is not an instance of
/// `Object`. A staged object is completed first.
///
/// # Errors
///
/// Exceptions from completing, for example a `TypeError` for an unset field.
#[inline]
pub(crate) fn unwrap<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a Ref<Obj>>> {
    // SAFETY: as in `core_of`.
    unsafe {
        if !roots::is_wrapper(object.as_ptr()) {
            return Ok(None);
        }
        if let Some(found) = layout(object.as_ptr()).core() {
            return Ok(Some(found));
        }
    }
    if let Some(complete) = COMPLETE.get() {
        complete(object)?;
    }
    match core_of(object) {
        Some(found) => Ok(Some(found)),
        None => Err(PyTypeError::new_err(format!(
            "{}: the object is still being initialised",
            object.get_type().name()?
        ))),
    }
}

/// True if instances of a class have state outside of the core.
///
/// # Safety
///
/// `class` must be a live subclass of `Object`.
pub(super) unsafe fn has_own_state(class: *mut ffi::PyTypeObject) -> bool {
    // SAFETY: promised by the caller.
    unsafe { (*class).tp_dictoffset != 0 || (*class).tp_basicsize as usize > WRAPPER_SIZE }
}

/// Excludes instances of a class from Python's cycle collector, since neither the
/// instances nor their fields refer to a Python object. (Objects below them in the core
/// are the core's concern.)
///
/// # Safety
///
/// `class` must be a live heap type made by our metaclass that has no
/// instances yet.
pub(super) unsafe fn leave_collector(class: *mut ffi::PyTypeObject) {
    // SAFETY: promised by the caller. Without the flag `tp_alloc` makes
    // instances without a collector header, which `PyObject_Free` frees.
    unsafe {
        if has_own_state(class) || (*class).tp_finalize.is_some_and(is_foreign_finalizer) {
            return;
        }
        (*class).tp_flags &= !ffi::Py_TPFLAGS_HAVE_GC;
        (*class).tp_traverse = None;
        (*class).tp_clear = None;
        (*class).tp_free = Some(ffi::PyObject_Free);
        ffi::PyType_Modified(class);
    }
}

/// True if a finaliser is, or calls, a `__del__` of Python code.
pub(super) fn is_foreign_finalizer(finalizer: ffi::destructor) -> bool {
    finalizer as usize != finalize as *const () as usize
}

/// CPython's function that calls `__del__`, the same for all classes.
static CALL_DEL: OnceLock<ffi::destructor> = OnceLock::new();

/// Makes the preservation of wrappers run before the `__del__` of a class, if any.
///
/// # Safety
///
/// `class` must be a live subclass of `Object`, and the GIL held.
pub(super) unsafe fn adopt_finalizer(class: *mut ffi::PyTypeObject) {
    // SAFETY: promised by the caller.
    unsafe {
        let Some(found) = (*class).tp_finalize else {
            return;
        };
        let adopted = finalize_with_del as *const () as usize;
        if is_foreign_finalizer(found) && found as usize != adopted {
            CALL_DEL.get_or_init(|| found);
            (*class).tp_finalize = Some(finalize_with_del);
        }
    }
}

/// `tp_finalize` of classes with `__del__`: an object that the core still holds stays
/// alive, together with its wrapper; `__del__` runs when the object dies.
///
/// # Safety
///
/// As [`finalize`].
unsafe extern "C" fn finalize_with_del(this: *mut ffi::PyObject) {
    // SAFETY: promised by the caller.
    unsafe {
        if !preserve(this)
            && let Some(call_del) = CALL_DEL.get()
        {
            call_del(this);
        }
    }
}

/// Deallocates a wrapper without its own state: `tp_dealloc` of `Object` and of every
/// class with an unextended layout.
///
/// # Safety
///
/// Called by CPython on an instance without references, under the GIL.
pub(super) unsafe extern "C" fn dealloc(this: *mut ffi::PyObject) {
    // SAFETY: `this` is a dying instance; nothing uses it after this.
    unsafe {
        let class = ffi::Py_TYPE(this);
        if ffi::PyType_IS_GC(class) != 0 {
            ffi::PyObject_GC_UnTrack(this.cast());
        }
        let wrapper = layout(this);
        // The object's link to the wrapper is cleared before any code runs, to hide the
        // dying wrapper.
        let core = wrapper.take_core();
        let staging = wrapper.staging();
        if !wrapper.weak_references.is_null() {
            ffi::PyObject_ClearWeakRefs(this);
        }
        wrapper.state.set(0);
        match (*class).tp_free {
            Some(free) => free(this.cast()),
            None => ffi::PyObject_GC_Del(this.cast()),
        }
        ffi::Py_DECREF(class.cast());
        // Dropping the object may run Python code; the wrapper is gone.
        if let Some(address) = core.and_then(NonNull::new) {
            drop(host::from_raw_pointer(address));
        }
        if let Some(staging) = staging {
            drop(Box::from_raw(staging));
        }
    }
}

/// Keeps a wrapper with its own state alive while the core holds its object:
/// `tp_finalize` of `Object`.
///
/// # Safety
///
/// Called by CPython on an instance whose last reference is going, under the
/// GIL.
pub(super) unsafe extern "C" fn finalize(this: *mut ffi::PyObject) {
    // SAFETY: `this` is alive while it is being finalised.
    unsafe {
        if has_own_state(ffi::Py_TYPE(this)) {
            preserve(this);
        }
    }
}

/// Lets the object own its wrapper while the object has another owner; otherwise
/// returns false.
///
/// # Safety
///
/// As [`finalize`].
unsafe fn preserve(this: *mut ffi::PyObject) -> bool {
    // SAFETY: `this` is alive while it is being finalised.
    unsafe {
        let Some(core) = layout(this).core() else {
            return false;
        };
        if core.owners() < 2 {
            return false;
        }
        let word = host::host_word(core);
        word.fetch_or(PRESERVED, Ordering::AcqRel);
        if core.owners() < 2 {
            word.fetch_and(!PRESERVED, Ordering::AcqRel);
            return false;
        }
        // The object's reference to the wrapper.
        ffi::Py_INCREF(this);
        true
    }
}

/// Makes CPython call the finaliser again the next time.
///
/// # Safety
///
/// `this` must be a live object, and the GIL held.
unsafe fn clear_finalized(this: *mut ffi::PyObject) {
    // SAFETY: promised by the caller. Without a collector header there is no mark, and
    // a finaliser is called at every death.
    if unsafe { ffi::PyType_IS_GC(ffi::Py_TYPE(this)) } == 0 {
        return;
    }
    // In builds with a GIL, from 3.9 on, the two words before an object are its
    // collector header, and the lowest bit of the second one marks a finalised object.
    // SAFETY: the object has a collector header, as checked above.
    unsafe {
        let previous = this.cast::<usize>().sub(1);
        *previous &= !1;
    }
}

/// Wrappers of objects without another owner, to be released under the GIL.
static ABANDONED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Called by the core when a preserved wrapper becomes the only owner.
pub(super) fn abandon(wrapper: usize) {
    let mut waiting = ABANDONED.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.push(wrapper);
    if waiting.len() == 1 {
        // SAFETY: may be called in any thread, with or without the GIL. If
        // CPython's queue is full, the next object or `collect` drains.
        unsafe { ffi::Py_AddPendingCall(Some(drain_later), ptr::null_mut()) };
    }
}

extern "C" fn drain_later(_nothing: *mut std::ffi::c_void) -> std::ffi::c_int {
    // SAFETY: CPython runs pending calls under the GIL.
    let py = unsafe { Python::assume_attached() };
    drain(py);
    0
}

/// Releases the wrappers kept alive by their own object alone.
pub(crate) fn drain(py: Python<'_>) {
    let waiting = std::mem::take(&mut *ABANDONED.lock().unwrap_or_else(PoisonError::into_inner));
    for wrapper in waiting {
        let this = wrapper as *mut ffi::PyObject;
        // SAFETY: the queue owns one reference to the wrapper; if its object got new
        // owners meanwhile, the finaliser preserves the wrapper again.
        unsafe {
            clear_finalized(this);
            drop(Bound::from_owned_ptr(py, this));
        }
    }
}
