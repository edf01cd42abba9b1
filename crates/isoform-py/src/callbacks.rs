//! What hooks written in Python get as callbacks: objects of classes of their
//! own around what the core lends as functions.

use isoform::host::{LentEqual, LentHash, LentMutate, LentVisit, not_lent};
use isoform::{DynEqual, DynHash, Function, Hook, RegionChange};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::convert::untyped;
use crate::error::IntoPyResult;
use crate::hooks::word;
use crate::walk::{MutatorHandle, VisitorHandle};

/// A callback of the core as its hook in Python sees it; None for any other
/// function.
pub(crate) fn callback_of<'py>(
    py: Python<'py>,
    function: &Function,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(Some(if let Some(lent) = function.content::<LentEqual>() {
        Bound::new(py, EqualHandle(lent.clone()))?.into_any()
    } else if let Some(lent) = function.content::<LentHash>() {
        Bound::new(py, HashHandle(lent.clone()))?.into_any()
    } else if let Some(lent) = function.content::<LentVisit>() {
        Bound::new(py, VisitorHandle::lent(lent.clone()))?.into_any()
    } else if let Some(lent) = function.content::<LentMutate>() {
        Bound::new(py, MutatorHandle::lent(lent.clone()))?.into_any()
    } else {
        return Ok(None);
    }))
}

/// The function behind a callback; None for any other object.
pub(crate) fn function_of(value: &Bound<'_, PyAny>) -> Option<Function> {
    if let Ok(handle) = value.cast::<EqualHandle>() {
        return Some(handle.get().0.function());
    }
    if let Ok(handle) = value.cast::<HashHandle>() {
        return Some(handle.get().0.function());
    }
    if let Ok(handle) = value.cast::<VisitorHandle>() {
        return handle.get().function();
    }
    value.cast::<MutatorHandle>().ok()?.get().function()
}

/// The argument `def_region` of a callback.
struct Region(RegionChange);

impl<'a, 'py> FromPyObject<'a, 'py> for Region {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(flag) = given.cast::<PyBool>() {
            return Ok(Region(match flag.is_true() {
                true => RegionChange::Def,
                false => RegionChange::Inherit,
            }));
        }
        if !given.is_instance_of::<PyInt>() {
            return Err(PyTypeError::new_err(format!(
                "expected a bool or an int, got {}",
                given.get_type().name()?
            )));
        }
        match given.extract::<i64>() {
            Ok(number) => RegionChange::from_number(number).into_py().map(Region),
            Err(_) => Err(PyValueError::new_err(format!(
                "def_region: expected 0, 1 or 2, got {}",
                &*given
            ))),
        }
    }
}

/// `eq_cb` of `__s_equal__`.
#[pyclass(frozen, name = "StructuralEqualCallback", module = "isoform._core")]
pub(crate) struct EqualHandle(pub(crate) LentEqual);

#[pymethods]
impl EqualHandle {
    /// Compares two parts; `name` is the step of the path to them.
    #[pyo3(signature = (lhs, rhs, def_region=Region(RegionChange::Inherit), name=None))]
    fn __call__(
        &self,
        lhs: &Bound<'_, PyAny>,
        rhs: &Bound<'_, PyAny>,
        def_region: Region,
        name: Option<&str>,
    ) -> PyResult<bool> {
        let (left, right) = (untyped(lhs)?, untyped(rhs)?);
        let compared = self
            .0
            .0
            .with(|callback| callback.equal_in(&left, &right, def_region.0, name.unwrap_or("?")));
        compared
            .unwrap_or_else(|| Err(not_lent(DynEqual::NAME)))
            .into_py()
    }
}

/// `hash_cb` of `__s_hash__`.
#[pyclass(frozen, name = "StructuralHashCallback", module = "isoform._core")]
pub(crate) struct HashHandle(pub(crate) LentHash);

#[pymethods]
impl HashHandle {
    /// The hash of a part, starting from `init`.
    #[pyo3(signature = (value, init, def_region=Region(RegionChange::Inherit)))]
    fn __call__(
        &self,
        value: &Bound<'_, PyAny>,
        init: &Bound<'_, PyAny>,
        def_region: Region,
    ) -> PyResult<u64> {
        let (value, init) = (untyped(value)?, word(init, "hash_cb", "init")?);
        let hashed = self
            .0
            .0
            .with(|callback| callback.hash_in(&value, init, def_region.0));
        hashed
            .unwrap_or_else(|| Err(not_lent(DynHash::NAME)))
            .into_py()
    }
}
