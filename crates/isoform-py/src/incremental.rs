//! Hashes and digests of programs under edit, for Python.

use std::sync::{Mutex, PoisonError};

use isoform::compare::{CompareOptions, IncrementalHasher};
use isoform::{Result, Value};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::convert::untyped;
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Adds the class of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<IncrementalHandle>()
}

/// Hashes a program again and again while it is edited, each time at the cost of the edit.
///
/// It remembers the hashes of parts; a part that it meets again as the same object is not
/// visited. The results are those of `structural_hash` and `structural_digest`.
///
/// Parts count in which no variable from around them is met first: closed expressions,
/// functions, also those of a module that call each other by name, and parts whose variables
/// were met before and are numbered as in the earlier call. A write to any object that can change
/// makes it forget the parts that can change; edits that make new objects, as `replace` and
/// all rewrites do, forget nothing.
///
/// Args:
///     map_free_vars: whether free variables are hashed up to renaming.
///     skip_tensor_content: whether tensors are hashed by type and shape only.
///
/// It remembers at most 262,144 parts for hashes and as many for digests, of some 70 and 100
/// bytes, and forgets all of them if there are more. It keeps no object alive.
#[pyclass(frozen, name = "IncrementalHasher", module = "isoform")]
pub(crate) struct IncrementalHandle {
    options: CompareOptions,
    /// None while it is in use.
    hasher: Mutex<Option<IncrementalHasher>>,
}

impl IncrementalHandle {
    fn put(&self, hasher: Option<IncrementalHasher>) -> Option<IncrementalHasher> {
        let mut held = self.hasher.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, hasher)
    }

    fn take(&self) -> PyResult<IncrementalHasher> {
        self.put(None).ok_or_else(|| {
            PyRuntimeError::new_err(
                "this IncrementalHasher is in use, by another thread or by a custom hash that \
                 it called; make one for each",
            )
        })
    }

    fn with<T>(
        &self,
        value: &Bound<'_, PyAny>,
        ask: impl FnOnce(&mut IncrementalHasher, Value) -> Result<T>,
    ) -> PyResult<T> {
        let given = untyped(value)?;
        let mut hasher = self.take()?;
        let found = under_gil(value.py(), || ask(&mut hasher, given));
        self.put(Some(hasher));
        found.into_py()
    }
}

#[pymethods]
impl IncrementalHandle {
    #[new]
    #[pyo3(signature = (map_free_vars=false, skip_tensor_content=false))]
    fn new(map_free_vars: bool, skip_tensor_content: bool) -> Self {
        let options = CompareOptions {
            map_free_vars,
            skip_tensor_content,
        };
        IncrementalHandle {
            options,
            hasher: Mutex::new(Some(IncrementalHasher::new(options))),
        }
    }

    /// The structural hash of a value. Raises what `structural_hash` raises, and RuntimeError
    /// while another call on this object is running.
    fn hash(&self, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.with(value, |hasher, given| hasher.hash(given))
    }

    /// The structural digest of a value, 32 bytes. Raises what `structural_digest` raises, and
    /// RuntimeError while another call on this object is running.
    fn digest<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let digest = self.with(value, |hasher, given| hasher.digest(given))?;
        Ok(PyBytes::new(value.py(), digest.as_bytes()))
    }

    /// Copies and pickles have the options, and remember nothing.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, (bool, bool)) {
        let options = this.get().options;
        (
            this.get_type(),
            (options.map_free_vars, options.skip_tensor_content),
        )
    }

    /// Forgets everything, and frees the memory. Raises RuntimeError while another call on this
    /// object is running.
    fn clear(&self) -> PyResult<()> {
        drop(self.take()?);
        self.put(Some(IncrementalHasher::new(self.options)));
        Ok(())
    }
}
