//! Functions called often for little work: without general argument parsing, which
//! would cost more than the work.

use std::ptr;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};

use super::slot::guarded;
use crate::structural::{self, Flags};

/// The maximal number of parameters of a function here.
const MOST: usize = 5;

/// The parameters of a function: values first, then positional flags, then the
/// keyword-only flag.
struct Signature {
    name: &'static str,
    parameters: &'static [&'static str],
    values: usize,
}

const EQUAL: Signature = Signature {
    name: "structural_equal",
    parameters: &[
        "lhs",
        "rhs",
        "map_free_vars",
        "skip_tensor_content",
        "enable_auto_mapping",
    ],
    values: 2,
};

const HASH: Signature = Signature {
    name: "structural_hash",
    parameters: &[
        "value",
        "map_free_vars",
        "skip_tensor_content",
        "enable_auto_mapping",
    ],
    values: 1,
};

impl Signature {
    /// Sorts the arguments of a call by parameter; omitted ones are null.
    ///
    /// # Safety
    ///
    /// The arguments are those of a vectorcall.
    #[cold]
    unsafe fn sort(
        &self,
        py: Python<'_>,
        arguments: *const *mut ffi::PyObject,
        count: usize,
        names: *mut ffi::PyObject,
    ) -> PyResult<[*mut ffi::PyObject; MOST]> {
        let error = |text: String| Err(PyTypeError::new_err(format!("{}() {text}", self.name)));
        let positional = self.parameters.len() - 1;
        if count > positional {
            return error(format!(
                "takes from {} to {positional} positional arguments but {count} were given",
                self.values
            ));
        }
        let mut sorted = [ptr::null_mut(); MOST];
        // SAFETY: promised by the caller.
        unsafe {
            for (position, place) in sorted.iter_mut().take(count).enumerate() {
                *place = *arguments.add(position);
            }
            if let Some(names) = Bound::from_borrowed_ptr_or_opt(py, names) {
                for (offset, name) in names.cast::<PyTuple>()?.iter().enumerate() {
                    let keyword: String = name.extract()?;
                    let position = self
                        .parameters
                        .iter()
                        .position(|parameter| *parameter == keyword);
                    match position {
                        Some(place) if sorted[place].is_null() => {
                            sorted[place] = *arguments.add(count + offset);
                        }
                        Some(_) => {
                            return error(format!("got multiple values for argument '{keyword}'"));
                        }
                        None => {
                            return error(format!(
                                "got an unexpected keyword argument '{keyword}'"
                            ));
                        }
                    }
                }
            }
        }
        match (0..self.values).find(|&value| sorted[value].is_null()) {
            Some(value) => error(format!(
                "missing required argument: '{}'",
                self.parameters[value]
            )),
            None => Ok(sorted),
        }
    }

    /// The flags, which follow the values.
    ///
    /// # Safety
    ///
    /// `sorted` is a result of [`sort`](Self::sort).
    unsafe fn flags(&self, py: Python<'_>, sorted: &[*mut ffi::PyObject; MOST]) -> PyResult<Flags> {
        let flag = |offset: usize| -> PyResult<bool> {
            // SAFETY: promised by the caller.
            match unsafe { Bound::from_borrowed_ptr_or_opt(py, sorted[self.values + offset]) } {
                None => Ok(false),
                Some(given) => given.extract().map_err(|_| {
                    PyTypeError::new_err(format!(
                        "{}(): '{}' is True or False, got {given}",
                        self.name,
                        self.parameters[self.values + offset]
                    ))
                }),
            }
        };
        Ok(Flags {
            map_free_vars: flag(0)? | flag(2)?,
            skip_tensor_content: flag(1)?,
        })
    }
}

unsafe extern "C" fn structural_equal(
    _module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live arguments, as many as the count and the tuple of
    // names say, and holds the GIL.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let (left, right, flags) = if count == 2 && names.is_null() {
                (*arguments, *arguments.add(1), Flags::default())
            } else {
                let sorted = EQUAL.sort(py, arguments, count as usize, names)?;
                (sorted[0], sorted[1], EQUAL.flags(py, &sorted)?)
            };
            let (left, right) = (Borrowed::from_ptr(py, left), Borrowed::from_ptr(py, right));
            let equal = structural::equal(&left, &right, flags)?;
            if !equal && structural::IS_WATCHED.load(Ordering::Relaxed) {
                structural::tell_unequal(&left, &right, flags)?;
            }
            Ok(PyBool::new(py, equal).to_owned().into_ptr())
        })
    }
}

unsafe extern "C" fn structural_hash(
    _module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `structural_equal`.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let (value, flags) = if count == 1 && names.is_null() {
                (*arguments, Flags::default())
            } else {
                let sorted = HASH.sort(py, arguments, count as usize, names)?;
                (sorted[0], HASH.flags(py, &sorted)?)
            };
            let hash = structural::hash(&Borrowed::from_ptr(py, value), flags)?;
            Ok(hash.into_pyobject(py)?.into_ptr())
        })
    }
}

const EQUAL_DOC: &std::ffi::CStr = c"structural_equal(lhs, rhs, map_free_vars=False, skip_tensor_content=False, *, enable_auto_mapping=False)\n--\n\nTrue if two values are structurally equal: the same up to renaming of bound\nvariables.\n\nArgs:\n    lhs: a value.\n    rhs: another value.\n    map_free_vars: whether free variables are equal up to renaming, too.\n    skip_tensor_content: compare tensors by data type and shape only.\n    enable_auto_mapping: another name of `map_free_vars`.\n\nRaises:\n    TypeError: a value that cannot be compared, with its path.\n    ValueError: a value contains itself.\n    RecursionError: `__s_equal__` methods nest too deeply.\n\nLinear in the number of distinct pairs of objects.";

const HASH_DOC: &std::ffi::CStr = c"structural_hash(value, map_free_vars=False, skip_tensor_content=False, *, enable_auto_mapping=False)\n--\n\nThe structural hash of a value, an int of 64 bits without sign. Values that\nare equal under some flags have the same hash under the same flags.\n\nArgs:\n    value: the value.\n    map_free_vars: whether free variables are equal up to renaming, too.\n    skip_tensor_content: hash tensors by data type and shape only.\n    enable_auto_mapping: another name of `map_free_vars`.\n\nRaises:\n    TypeError: a value that cannot be compared, with its path.\n    ValueError: a value contains itself.\n    RecursionError: `__s_hash__` methods nest too deeply.\n\nLinear in the number of distinct objects.";

/// Adds the functions to the module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let functions = [
        (c"structural_equal", structural_equal as Function, EQUAL_DOC),
        (c"structural_hash", structural_hash as Function, HASH_DOC),
    ];
    for (name, function, doc) in functions {
        // A function points to the definition, which must live until the process ends.
        let definition = Box::leak(Box::new(ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer {
                PyCFunctionFastWithKeywords: function,
            },
            ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
            ml_doc: doc.as_ptr(),
        }));
        // SAFETY: the definition has the flags of its function, and is never
        // freed; the name of the module is a live string.
        let function = unsafe {
            let module_name = module.name()?;
            let function =
                ffi::PyCFunction_NewEx(definition, ptr::null_mut(), module_name.as_ptr());
            Bound::from_owned_ptr_or_err(module.py(), function)?
        };
        let name = function.getattr("__name__")?.cast_into::<PyString>()?;
        module.setattr(&name, function)?;
    }
    Ok(())
}

type Function = unsafe extern "C" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    ffi::Py_ssize_t,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;
