//! The cycle collectors of Python and the core.
//!
//! A cycle within the core (a list that contains itself, two nodes that refer to each
//! other) is invisible to Python; the core's own collector frees the cycle, after each
//! full collection by Python. A cycle through Python objects (a node contains a closure
//! that refers to the node) is found by Python: the wrapper reports the Python objects
//! that live only because of the wrapper.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::functions::Function;
use isoform::host::{self, PRESERVED};
use isoform::objects::{collect_cycles, tracked_count};
use isoform::values::OpaqueObj;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::abandoned;
use super::link;
use super::wrapper::{self, Wrapper};
use crate::convert::HostObject;

/// The number of objects searched by a wrapper for Python objects. Objects beyond the
/// limit count as referenced from elsewhere and are kept.
const LIMIT: usize = 1024;

/// `tp_traverse` of `Object`.
///
/// # Safety
///
/// Called by CPython on a live instance, under the GIL or while all threads stand still.
pub(super) unsafe extern "C" fn traverse(
    this: *mut ffi::PyObject,
    visit: ffi::visitproc,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: promised by CPython. Heap types are visited by their instances;
    // the visitor changes no object of the core.
    unsafe {
        let stop = visit(ffi::Py_TYPE(this).cast(), argument);
        if stop != 0 {
            return stop;
        }
        let Some(core) = wrapper::layout(this).core() else {
            return 0;
        };
        if abandoned::abandon_unnoticed(core) {
            wrapper::layout(this).note_exclusive(false);
            return 0;
        }
        let mut stop = 0;
        let mut is_exclusive = false;
        host::visit_exclusively_owned(core, LIMIT, &mut |object| {
            is_exclusive = true;
            if stop != 0 {
                return;
            }
            let word = host::host_word(object).load(Ordering::Relaxed);
            if word & PRESERVED != 0 {
                // The object's reference to its wrapper.
                stop = visit(link::wrapper_in(word), argument);
            }
            if stop != 0 || !object.type_info().is_builtin() {
                return;
            }
            if let Some(host) = host_object(object) {
                stop = visit(host.as_ptr(), argument);
            }
        });
        wrapper::layout(this).note_exclusive(is_exclusive);
        stop
    }
}

/// The Python object owned by this object alone: a copy under another name shares the
/// Python object, and the collector must see every reference once.
fn host_object(object: &isoform::Ref<isoform::Obj>) -> Option<&HostObject> {
    if let Some(opaque) = object.downcast_ref::<OpaqueObj>() {
        return opaque.exclusive_content::<HostObject>();
    }
    Function::of(object)?.exclusive_content::<HostObject>()
}

/// `tp_clear` of `Object`: the wrapper of an unreachable cycle releases its object, and
/// becomes like a wrapper that was never initialised.
///
/// Without a GIL, a wrapper with an object that other threads can reach keeps the object:
/// they may have taken the wrapper from the object since the collector found the wrapper
/// unreachable. Such a wrapper is in no cycle through the core.
///
/// # Safety
///
/// Called by CPython on a live instance that only garbage refers to.
pub(super) unsafe extern "C" fn clear(this: *mut ffi::PyObject) -> c_int {
    // SAFETY: promised by CPython. The address belongs to an object; the wrapper owns
    // one reference to the object, and this reference moves to the `Ref`.
    unsafe {
        let wrapper = wrapper::layout(this);
        if !wrapper.is_exclusive() {
            return 0;
        }
        // Whoever clears the bit takes over the object's reference to its wrapper.
        let preserved = wrapper.core().is_some_and(|core| {
            host::host_word(core).fetch_and(!PRESERVED, Ordering::AcqRel) & PRESERVED != 0
        });
        if let Some(address) = Wrapper::take_core(this).and_then(NonNull::new) {
            drop(host::from_raw_pointer(address));
        }
        if preserved {
            // The collector holds its own reference during this call.
            ffi::Py_DECREF(this);
        }
    }
    0
}

/// The number of objects tracked after the last collection.
static SURVIVORS: AtomicUsize = AtomicUsize::new(0);
/// The number of tracked objects up to which a collection is always cheap.
const CHEAP: usize = 10_000;

/// Called by Python before and after every collection.
///
/// With a full collection, the core's cycles are collected, too: before it, to make
/// them release Python objects, and after it, because objects released by Python may
/// form cycles in the core. With many tracked objects, this happens only if many of
/// them are new, as in Python itself.
#[pyfunction]
pub(crate) fn around_collection(
    py: Python<'_>,
    phase: &str,
    info: &Bound<'_, PyDict>,
) -> PyResult<()> {
    if phase == "stop" {
        link::end_collection(py);
    }
    abandoned::drain(py);
    let full = match info.get_item("generation")? {
        Some(generation) => generation.extract::<u32>()? >= 2,
        None => false,
    };
    let tracked = tracked_count();
    let survivors = SURVIVORS.load(Ordering::Relaxed);
    let grown = tracked > survivors.saturating_add(survivors / 4);
    let due = tracked <= CHEAP || (grown && phase == "stop");
    if full && tracked > 0 && due {
        collect(py);
    }
    Ok(())
}

/// Frees the objects of the core that only keep each other alive, and returns their
/// number.
///
/// Python's own collector calls this function after every full collection (such as
/// `gc.collect()`), so an explicit call is rarely needed.
#[pyfunction]
pub(crate) fn collect(py: Python<'_>) -> usize {
    let freed = collect_cycles();
    SURVIVORS.store(tracked_count(), Ordering::Relaxed);
    abandoned::drain(py);
    freed
}

/// Registers with Python's collector.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_function(wrap_pyfunction!(collect, module)?)?;
    let callbacks = py.import("gc")?.getattr("callbacks")?;
    callbacks.call_method1("append", (wrap_pyfunction!(around_collection, module)?,))?;
    Ok(())
}
