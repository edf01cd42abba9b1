//! `free_variables`, `fresh_binders` and `check_well_formed`: the variables of a value.

use isoform::traverse;
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::path::PathHandle;

/// The variables that occur free in a value, in the order of their first free
/// occurrences.
///
/// Bindings are those of `substitute`; the fields of free variables are not searched.
///
/// Raises ValueError for a value that contains itself. Linear in the number of distinct
/// objects as long as each variable is bound once.
#[pyfunction]
pub(crate) fn free_variables<'py>(root: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (py, value) = (root.py(), untyped(root)?);
    let free = under_gil(py, || traverse::free_variables(&value)).into_py()?;
    let variables = free.into_iter().map(|var| to_python(py, &var.into()));
    variables.collect()
}

/// A copy of a value in which every binder has a new variable: structurally equal to the
/// value, with the same free variables.
///
/// A variable that several objects bind becomes a new variable for each of them. Sharing is
/// kept: an object on several paths remains one object, and parts without a binder are the
/// same objects.
///
/// Raises ValueError for a value that contains itself. Linear in the number of distinct
/// objects as long as each variable is bound once.
#[pyfunction]
pub(crate) fn fresh_binders<'py>(root: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (py, value) = (root.py(), untyped(root)?);
    let fresh = under_gil(py, || traverse::fresh_binders(&value)).into_py()?;
    to_python(py, &fresh)
}

/// The faults of the bindings of a value, as pairs of a path and a message.
#[pyfunction]
pub(crate) fn binding_faults(root: &Bound<'_, PyAny>) -> PyResult<Vec<(PathHandle, String)>> {
    let (py, value) = (root.py(), untyped(root)?);
    let faults = under_gil(py, || traverse::check_well_formed(&value)).into_py()?;
    let pair = |fault: traverse::BindingFault| (fault.path.clone().into(), fault.to_string());
    Ok(faults.into_iter().map(pair).collect())
}
