//! Access to `Object` and its metaclass for the rest of the binding, and tests for
//! their classes and instances.
//!
//! The bases that lay out the instances of a class decide whether a Python object wraps
//! an object of the core. Python code cannot forge these bases; metaclasses can be
//! borrowed.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

static BASE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());
static META: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

pub(super) fn set_base(base: *mut ffi::PyTypeObject) {
    BASE.store(base, Ordering::Release);
}

pub(super) fn set_meta(meta: *mut ffi::PyTypeObject) {
    META.store(meta, Ordering::Release);
}

/// The type object of `Object`; null before the module is initialised.
#[inline(always)]
pub(super) fn base() -> *mut ffi::PyTypeObject {
    BASE.load(Ordering::Relaxed)
}

/// The metaclass; null before the module is initialised.
#[inline(always)]
pub(super) fn meta() -> *mut ffi::PyTypeObject {
    META.load(Ordering::Relaxed)
}

/// True if a class is `Object` itself.
pub(crate) fn is_base(class: &Bound<'_, PyType>) -> bool {
    class.as_type_ptr() == base()
}

/// True if a class is `Object` or extends it.
pub(crate) fn extends_base(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: the class is a live type.
    unsafe { has_layout(class.as_type_ptr()) }
}

/// True if instances of a class have the layout of a wrapper.
///
/// Checks the chain of bases by which CPython itself lays out instances. Metaclass and
/// resolution order prove nothing: Python code can choose both.
///
/// # Safety
///
/// `class` must be a live type, and the GIL held.
#[inline(always)]
pub(super) unsafe fn has_layout(mut class: *mut ffi::PyTypeObject) -> bool {
    let base = base();
    while !class.is_null() {
        if class == base {
            return true;
        }
        // SAFETY: a live type's base is null or a live type.
        class = unsafe { (*class).tp_base };
    }
    false
}

/// `Object` itself.
pub(crate) fn base_class(py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
    // SAFETY: null or a live type, which lives as long as the process.
    let base = unsafe { Bound::from_borrowed_ptr_or_err(py, base().cast())? };
    Ok(base.cast_into()?)
}

/// True if a Python object has the layout of a wrapper.
///
/// # Safety
///
/// `object` must be a live Python object, and the GIL held.
#[inline(always)]
pub(super) unsafe fn is_wrapper(object: *mut ffi::PyObject) -> bool {
    // SAFETY: promised by the caller; types outlive their instances.
    unsafe { has_layout(ffi::Py_TYPE(object)) }
}

/// The flags of a class.
///
/// # Safety
///
/// `class` must be a live type.
#[inline(always)]
pub(super) unsafe fn flags(class: *mut ffi::PyTypeObject) -> std::ffi::c_ulong {
    // SAFETY: promised by the caller.
    let flags = unsafe { &(*class).tp_flags };
    #[cfg(Py_GIL_DISABLED)]
    let flags = &flags.load(Ordering::Relaxed);
    *flags
}

/// Sets a flag of a class, or clears the flag.
///
/// # Safety
///
/// `class` must be a live type that has no instances yet, and the GIL held.
pub(super) unsafe fn set_flag(
    class: *mut ffi::PyTypeObject,
    flag: std::ffi::c_ulong,
    is_set: bool,
) {
    // SAFETY: promised by the caller.
    unsafe {
        let flags = flags(class);
        let flags = if is_set { flags | flag } else { flags & !flag };
        #[cfg(Py_GIL_DISABLED)]
        (*class).tp_flags.store(flags, Ordering::Relaxed);
        #[cfg(not(Py_GIL_DISABLED))]
        {
            (*class).tp_flags = flags;
        }
    }
}
