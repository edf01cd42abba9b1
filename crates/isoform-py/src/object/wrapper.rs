//! The instance layout of `Object`, and the life of a wrapper.

use std::ptr::NonNull;
use std::sync::OnceLock;
#[cfg(Py_GIL_DISABLED)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::host;
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::abandoned;
use super::class::{self, ClassData};
use super::link::{self, existing};
use super::roots;
use crate::convert::complex_of;

/// The instance layout of `Object`; subclasses append their slots.
#[repr(C)]
pub(crate) struct Wrapper {
    base: ffi::PyObject,
    /// The address of the core object, or of a [`Staging`] with the low bit
    /// set; zero for an instance that was never initialised.
    state: AtomicUsize,
    weak_references: *mut ffi::PyObject,
    /// True if the last traversal by the cycle collector found objects of the core that
    /// nobody but this wrapper, or a garbage of which it is a part, keeps alive.
    #[cfg(Py_GIL_DISABLED)]
    is_exclusive: AtomicBool,
    /// True while a thread works on the [`Staging`], where the GIL does not lock it. The state
    /// itself has no bit for this: a thread that fails to set the bit would access a state that
    /// others read as an object already.
    #[cfg(Py_GIL_DISABLED)]
    is_locked: AtomicBool,
}

pub(super) const WRAPPER_SIZE: usize = size_of::<Wrapper>();
pub(super) const WEAKLIST_OFFSET: usize = std::mem::offset_of!(Wrapper, weak_references);

/// The low bit of [`Wrapper::state`].
const STAGED: usize = 1;

/// How the state is read: another thread may have just set it.
const READING: Ordering = if cfg!(Py_GIL_DISABLED) {
    Ordering::Acquire
} else {
    Ordering::Relaxed
};
/// How the state is set.
const SETTING: Ordering = if cfg!(Py_GIL_DISABLED) {
    Ordering::Release
} else {
    Ordering::Relaxed
};

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
    // SAFETY: promised by the caller; `state` is atomic, and the other fields of CPython
    // are not touched through the reference.
    unsafe { &*object.cast::<Wrapper>() }
}

impl Wrapper {
    #[inline(always)]
    pub(super) fn core(&self) -> Option<&Ref<Obj>> {
        let state = self.state.load(READING);
        if state & STAGED != 0 || state == 0 {
            return None;
        }
        // SAFETY: the state holds the non-null address of an object of which the
        // wrapper owns a reference; `Ref<Obj>` and `NonNull<()>` have the same
        // representation, and a state that is an object never changes while anybody can
        // reach the wrapper.
        Some(unsafe { host::borrow_raw(&*self.state.as_ptr().cast::<NonNull<()>>()) })
    }

    /// Gives an object to a wrapper without one, and without staging.
    #[inline(always)]
    pub(super) fn set_core(&self, object: Ref<Obj>) {
        let address = object.into_raw_pointer().as_ptr() as usize;
        self.state.store(address, SETTING);
    }

    /// Separates the wrapper from its object; the caller takes over the reference to
    /// the object.
    ///
    /// # Safety
    ///
    /// `this` must be a wrapper that no other code can reach.
    pub(super) unsafe fn take_core(this: *mut ffi::PyObject) -> Option<*mut ()> {
        // SAFETY: promised by the caller.
        let wrapper = unsafe { layout(this) };
        link::disconnect(this, wrapper.core()?);
        Some(wrapper.state.swap(0, Ordering::AcqRel) as *mut ())
    }

    /// Runs `body`, which must run no Python code, on the unfinished fields; None without
    /// such fields.
    #[inline]
    #[cfg(not(Py_GIL_DISABLED))]
    pub(super) fn with_staging<R>(&self, body: impl FnOnce(&mut Staging) -> R) -> Option<R> {
        let state = self.state.load(READING);
        if state & STAGED == 0 {
            return None;
        }
        // SAFETY: the staging lives until the wrapper is bound to an object. The GIL is
        // held, and `body` does not release it, so the reference is unique.
        Some(body(unsafe { &mut *((state & !STAGED) as *mut Staging) }))
    }

    /// Runs `body`, which must run no Python code and wait for no lock, on the unfinished
    /// fields; None without such fields.
    #[cfg(Py_GIL_DISABLED)]
    pub(super) fn with_staging<R>(&self, body: impl FnOnce(&mut Staging) -> R) -> Option<R> {
        // Objects without staging are the rule, and need no lock.
        if self.state.load(Ordering::Relaxed) & STAGED == 0 {
            return None;
        }
        let _lock = self.lock_staging();
        let state = self.state.load(READING);
        if state & STAGED == 0 {
            return None;
        }
        // SAFETY: the staging lives until the wrapper is bound to an object, which needs
        // the lock, too; so the reference is unique.
        Some(body(unsafe { &mut *((state & !STAGED) as *mut Staging) }))
    }

    /// Locks the staging until the result is dropped.
    #[cfg(Py_GIL_DISABLED)]
    fn lock_staging(&self) -> StagingLock<'_> {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        StagingLock(&self.is_locked)
    }

    /// Sets the unfinished fields of an instance without state.
    pub(super) fn set_staging(&self, staging: Staging) {
        debug_assert_eq!(self.state.load(READING), 0);
        let address = Box::into_raw(Box::new(staging)) as usize | STAGED;
        self.state.store(address, SETTING);
    }

    /// The unfinished fields of a wrapper that is about to be freed.
    ///
    /// # Safety
    ///
    /// No other code can reach the wrapper.
    unsafe fn take_staging(&self) -> Option<Box<Staging>> {
        let state = self.state.load(READING);
        if state & STAGED == 0 {
            return None;
        }
        self.state.store(0, SETTING);
        // SAFETY: the box was made by `set_staging`, and the wrapper no longer points to
        // it.
        Some(unsafe { Box::from_raw((state & !STAGED) as *mut Staging) })
    }

    /// Binds an instance without object to an object.
    ///
    /// # Safety
    ///
    /// `this` must be the wrapper itself, which has no object yet, and nobody else may
    /// reach the object; the GIL is held, or the thread attached.
    unsafe fn tie(this: *mut ffi::PyObject, object: Ref<Obj>) {
        // SAFETY: promised by the caller. The box was made by `set_staging`, and the
        // wrapper no longer points to it when it is freed.
        unsafe {
            let wrapper = layout(this);
            #[cfg(Py_GIL_DISABLED)]
            let lock = wrapper.lock_staging();
            let before = wrapper.state.load(READING);
            link::connect_new(this, &object);
            wrapper.set_core(object);
            // Values of the staging may run other code when they go.
            #[cfg(Py_GIL_DISABLED)]
            drop(lock);
            if before & STAGED != 0 {
                drop(Box::from_raw((before & !STAGED) as *mut Staging));
            }
        }
    }

    /// Notes whether the wrapper alone keeps objects alive; for the cycle collector.
    pub(super) fn note_exclusive(&self, _is_exclusive: bool) {
        #[cfg(Py_GIL_DISABLED)]
        self.is_exclusive.store(_is_exclusive, Ordering::Relaxed);
    }

    /// True if the cycle collector may separate the wrapper, which it found unreachable,
    /// from its object.
    pub(super) fn is_exclusive(&self) -> bool {
        #[cfg(Py_GIL_DISABLED)]
        {
            self.is_exclusive.load(Ordering::Relaxed)
        }
        #[cfg(not(Py_GIL_DISABLED))]
        true
    }
}

/// The lock of a [`Staging`], which ends even if a thread panics.
#[cfg(Py_GIL_DISABLED)]
struct StagingLock<'a>(&'a AtomicBool);

#[cfg(Py_GIL_DISABLED)]
impl Drop for StagingLock<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
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
    // SAFETY: the class is a live subclass of `Object`.
    unsafe { wrap_in(py, class, object) }
}

/// Makes a wrapper of a class for an object, unless the object has one.
///
/// # Safety
///
/// As for [`allocate`].
unsafe fn wrap_in<'py>(
    py: Python<'py>,
    class: *mut ffi::PyTypeObject,
    object: Ref<Obj>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: promised by the caller; the new wrapper has no object.
    unsafe {
        let this = allocate(class);
        if this.is_null() {
            return Err(PyErr::fetch(py));
        }
        let this = Bound::from_owned_ptr(py, this);
        // Another thread, or a finaliser run by the collector, may have been faster.
        let faster = link::connect(py, this.as_ptr(), object);
        Ok(faster.unwrap_or(this))
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
        // Another thread, or a hook, may have the object of an instance as a wrapper.
        Some(found) if class::has_value_classes() => instance_of(py, object, found),
        Some(found) => Ok(found),
        None => {
            if let Some(number) = complex_of(py, object) {
                return Ok(number);
            }
            let made = wrap(py, object.clone())?;
            instance_of(py, object, made)
        }
    }
}

/// The instance of the value class to which an object belongs, or else its wrapper.
fn instance_of<'py>(
    py: Python<'py>,
    object: &Ref<Obj>,
    wrapper: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = class::of_index(py, host::type_index_of(object));
    match class.and_then(|data| data.instance_of.get(py)) {
        Some(instance_of) => instance_of.bind(py).call1((wrapper,)),
        None => Ok(wrapper),
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
    // SAFETY: the class extends the class of the type, and therefore `Object`.
    unsafe { wrap_in(py, ty, object) }
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
        roots::set_flag(class, ffi::Py_TPFLAGS_HAVE_GC, false);
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
        let core = Wrapper::take_core(this);
        let staging = wrapper.take_staging();
        if !wrapper.weak_references.is_null() {
            ffi::PyObject_ClearWeakRefs(this);
        }
        match (*class).tp_free {
            Some(free) => free(this.cast()),
            None => ffi::PyObject_GC_Del(this.cast()),
        }
        ffi::Py_DECREF(class.cast());
        // Dropping the object may run Python code; the wrapper is gone.
        if let Some(address) = core.and_then(NonNull::new) {
            drop(host::from_raw_pointer(address));
        }
        drop(staging);
    }
    abandoned::settle();
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

/// Lets the object of a wrapper own the wrapper while the object has another owner;
/// otherwise returns false.
///
/// # Safety
///
/// As [`finalize`].
unsafe fn preserve(this: *mut ffi::PyObject) -> bool {
    // SAFETY: `this` is alive while it is being finalised.
    unsafe {
        match layout(this).core() {
            Some(core) => link::preserve(this, core),
            None => false,
        }
    }
}
