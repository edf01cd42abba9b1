//! The judges of structural comparison, and node types declared in Rust, for
//! tests written in Python.

use isoform::testing::family::{Family, ROLES};
use isoform::testing::{check_laws, check_types, oracle};
use isoform::{CompareOptions, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::untyped;
use crate::error::IntoPyResult;
use crate::object::class;

fn options(map_free_vars: bool, skip_tensor_content: bool) -> CompareOptions {
    CompareOptions {
        map_free_vars,
        skip_tensor_content,
    }
}

fn values(given: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    given.iter().map(untyped).collect()
}

/// Checks that equality is reflexive, symmetric and transitive on the given
/// values, and that equal values have the same hash and digest. Cubic in the
/// number of values.
///
/// Raises ValueError with the law and the values that break it.
#[pyfunction]
#[pyo3(name = "check_laws", signature = (values, map_free_vars=false, skip_tensor_content=false))]
fn laws(
    values: Vec<Bound<'_, PyAny>>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<()> {
    let values = self::values(values)?;
    check_laws(&values, options(map_free_vars, skip_tensor_content))
        .map_err(|violation| PyValueError::new_err(violation.to_string()))
}

/// Checks on the given values what their types promise by their kind: nothing
/// below a `const-tree` is a variable or a `dag` node.
///
/// Raises ValueError with the type and the place.
#[pyfunction]
#[pyo3(name = "check_types")]
fn types(values: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    check_types(&self::values(values)?)
        .map_err(|violation| PyValueError::new_err(violation.to_string()))
}

/// The answer of the slow oracle, which shares no code with
/// `structural_equal`.
///
/// Raises what `structural_equal` raises, and RecursionError for values nested
/// deeper than some hundred levels.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars=false, skip_tensor_content=false))]
fn oracle_equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<bool> {
    let options = options(map_free_vars, skip_tensor_content);
    oracle::equal(&untyped(lhs)?, &untyped(rhs)?, options).into_py()
}

/// A text that two values share exactly if they are structurally equal, in
/// this process.
///
/// Raises TypeError for types with hooks of their own, ValueError for cycles,
/// RecursionError for values nested too deeply.
#[pyfunction]
#[pyo3(signature = (value, map_free_vars=false, skip_tensor_content=false))]
fn oracle_canonical(
    value: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<String> {
    oracle::canonical(
        &untyped(value)?,
        options(map_free_vars, skip_tensor_content),
    )
    .into_py()
}

/// Registers the node types of the library's own tests, which are declared in
/// Rust, and gives their Python classes by name.
#[pyfunction]
fn rust_family(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let family = Family::native().into_py()?;
    let classes = PyDict::new(py);
    for role in ROLES {
        let key = isoform::host::type_info(family.type_of(role)).key();
        classes.set_item(format!("{role:?}"), class::class_by_key(py, key)?)?;
    }
    Ok(classes)
}

/// Adds the functions of `isoform.testing`.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(laws, module)?)?;
    module.add_function(wrap_pyfunction!(types, module)?)?;
    module.add_function(wrap_pyfunction!(oracle_equal, module)?)?;
    module.add_function(wrap_pyfunction!(oracle_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(rust_family, module)?)
}
