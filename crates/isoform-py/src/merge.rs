//! Merges for Python.

use isoform::Value;
use isoform::compare::{CompareOptions, Conflict, DiffOptions, Merge, Resolution};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::{to_python, untyped};
use crate::difference::DifferenceHandle;
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::under_gil;
use crate::path::PathHandle;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MergeHandle>()?;
    module.add_class::<ConflictHandle>()?;
    module.add_function(wrap_pyfunction!(_merge, module)?)
}

/// `isoform.diff.merge`, with everything to ignore by kind.
#[pyfunction]
#[pyo3(signature = (base, left, right, map_free_vars, types, fields))]
fn _merge(
    base: &Bound<'_, PyAny>,
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    map_free_vars: bool,
    types: Vec<String>,
    fields: Vec<(String, String)>,
) -> PyResult<MergeHandle> {
    let options = DiffOptions {
        compare: CompareOptions {
            map_free_vars,
            ..CompareOptions::default()
        },
        ignore_types: types,
        ignore_fields: fields,
        ..DiffOptions::default()
    };
    let py = base.py();
    let (base, left, right) = (untyped(base)?, untyped(left)?, untyped(right)?);
    let result = under_gil(py, || options.merge(base, left, right)).into_py()?;
    Ok(MergeHandle(result))
}

/// The changes of two values since a third one, together, by `isoform.diff.merge`.
///
/// As a str, the number of conflicts, the changes of each side in short, and the conflicts, up
/// to a hundred.
#[pyclass(frozen, generic, name = "Merge", module = "isoform.diff")]
pub(crate) struct MergeHandle(Merge);

#[pymethods]
impl MergeHandle {
    /// The merged value. At conflicts, it has the parts of the base.
    #[getter]
    fn merged<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.merged())
    }

    /// The places that both sides changed in different ways, in a fixed order.
    #[getter]
    fn conflicts(&self) -> Vec<ConflictHandle> {
        let conflicts = self.0.conflicts().iter().cloned();
        conflicts.map(ConflictHandle).collect()
    }

    /// True if there are no conflicts.
    #[getter]
    fn is_clean(&self) -> bool {
        self.0.is_clean()
    }

    /// The value that both sides were made from.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.base())
    }

    /// The difference from the base to the left value.
    #[getter]
    fn left(&self) -> DifferenceHandle {
        DifferenceHandle(self.0.left().clone())
    }

    /// The difference from the base to the right value.
    #[getter]
    fn right(&self) -> DifferenceHandle {
        DifferenceHandle(self.0.right().clone())
    }

    /// The merged value with other parts at conflicts: those of one side for all of them if
    /// `choice` is "left", "right" or "base". A function is called with each conflict, once,
    /// and returns the part for its place; where the conflict is not single, a list of parts.
    ///
    /// Raises ValueError for another choice, TypeError for a part that does not fit its
    /// place, and whatever the function raises. O(n) for n parts of the base.
    fn resolve<'py>(&self, choice: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = choice.py();
        let result = match choice.extract::<String>() {
            Ok(side) => {
                let resolution = match &*side {
                    "left" => Resolution::Left,
                    "right" => Resolution::Right,
                    "base" => Resolution::Base,
                    other => {
                        return Err(PyValueError::new_err(format!(
                            "resolve: expected 'left', 'right', 'base' or a function of a \
                             conflict, got {other:?}"
                        )));
                    }
                };
                under_gil(py, || self.0.resolve(|_| Ok(resolution.clone())))
            }
            Err(_) if choice.is_callable() => {
                let choice = choice.clone().unbind();
                under_gil(py, || self.0.resolve(|conflict| chosen(&choice, conflict)))
            }
            Err(_) => {
                return Err(PyTypeError::new_err(format!(
                    "resolve: expected 'left', 'right', 'base' or a function of a conflict, \
                     got {}",
                    choice.get_type().name()?
                )));
            }
        };
        to_python(py, &result.into_py()?)
    }

    fn __str__(&self, py: Python<'_>) -> String {
        under_gil(py, || self.0.to_string())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// The parts returned by a Python function for a conflict.
fn chosen(choice: &Py<PyAny>, conflict: &Conflict) -> isoform::Result<Resolution> {
    Python::attach(|py| {
        let part = choice.bind(py).call1((ConflictHandle(conflict.clone()),))?;
        if conflict.is_single() {
            return Ok(Resolution::Parts(vec![untyped(&part)?]));
        }
        let parts: Vec<Bound<'_, PyAny>> = part.extract().map_err(|_| {
            PyTypeError::new_err(format!(
                "resolve: expected a list of parts for the conflict at {}, got {}",
                conflict.path(),
                part.get_type()
                    .name()
                    .map_or_else(|_| String::new(), |name| name.to_string())
            ))
        })?;
        let parts: PyResult<Vec<Value>> = parts.iter().map(untyped).collect();
        Ok(Resolution::Parts(parts?))
    })
    .map_err(from_python)
}

/// A place that both sides of a merge changed in different ways.
#[pyclass(frozen, name = "Conflict", module = "isoform.diff")]
pub(crate) struct ConflictHandle(Conflict);

impl ConflictHandle {
    fn parts<'py>(&self, py: Python<'py>, parts: &[Value]) -> PyResult<Bound<'py, PyAny>> {
        match parts {
            [part] if self.0.is_single() => to_python(py, part),
            parts => {
                let parts: PyResult<Vec<_>> =
                    parts.iter().map(|part| to_python(py, part)).collect();
                Ok(PyList::new(py, parts?)?.into_any())
            }
        }
    }
}

#[pymethods]
impl ConflictHandle {
    /// The place in the base. For parts that both sides insert into a list, the position of the
    /// element that they are inserted before.
    #[getter]
    fn path(&self) -> PathHandle {
        self.0.path().clone().into()
    }

    /// The part of the base. Unless the conflict is single, a list: of the elements in a stretch
    /// of a list, or of the value under a key, which is empty if there is none.
    #[getter]
    fn base<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parts(py, self.0.base())
    }

    /// The part that the left side has instead, or a list of parts, as for `base`; an empty one
    /// if the left side deleted it.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parts(py, self.0.left())
    }

    /// The part that the right side has instead, or a list of parts, as for `left`.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parts(py, self.0.right())
    }

    /// True if the place holds exactly one part in all three values.
    #[getter]
    fn is_single(&self) -> bool {
        self.0.is_single()
    }

    /// Why both sides as a whole are in conflict, although no two of their edits are at one
    /// place; None for all other conflicts.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.0.reason()
    }

    /// The change of the left side: from the parts of the base to those of the left.
    #[getter]
    fn left_change(&self, py: Python<'_>) -> PyResult<DifferenceHandle> {
        let found = under_gil(py, || self.0.left_change()).into_py()?;
        Ok(DifferenceHandle(found))
    }

    /// The change of the right side: from the parts of the base to those of the right.
    #[getter]
    fn right_change(&self, py: Python<'_>) -> PyResult<DifferenceHandle> {
        let found = under_gil(py, || self.0.right_change()).into_py()?;
        Ok(DifferenceHandle(found))
    }

    fn __str__(&self, py: Python<'_>) -> String {
        under_gil(py, || self.0.to_string())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
