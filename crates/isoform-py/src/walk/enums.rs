//! The members of the enumerations received and returned by callbacks.

use isoform::types::RegionKind;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

struct Members {
    advance: Py<PyAny>,
    skip: Py<PyAny>,
    regions: [Py<PyAny>; 3],
}

static MEMBERS: PyOnceLock<Members> = PyOnceLock::new();

/// Sets the classes `WalkResult` and `DefRegionKind` for walks. Called once, by the
/// package.
#[pyfunction]
pub(crate) fn _set_walk_enums(
    walk_result: &Bound<'_, PyAny>,
    region_kind: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let member = |class: &Bound<'_, PyAny>, number: u8| -> PyResult<Py<PyAny>> {
        Ok(class.call1((number,))?.unbind())
    };
    let members = Members {
        advance: member(walk_result, 0)?,
        skip: member(walk_result, 1)?,
        regions: [
            member(region_kind, 0)?,
            member(region_kind, 1)?,
            member(region_kind, 2)?,
        ],
    };
    // A second call has no effect, for example if the package is imported again.
    let _ = MEMBERS.set(walk_result.py(), members);
    Ok(())
}

fn members(py: Python<'_>) -> PyResult<&Members> {
    MEMBERS
        .get(py)
        .ok_or_else(|| PyRuntimeError::new_err("the module isoform.structural is not loaded"))
}

/// True for `WalkResult.SKIP`, false for `WalkResult.ADVANCE`, None for other objects.
pub(super) fn walk_result(result: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    let members = members(result.py())?;
    if result.is(&members.skip) {
        return Ok(Some(true));
    }
    Ok(result.is(&members.advance).then_some(false))
}

/// The member of `DefRegionKind` for a region.
pub(super) fn region_kind<'py>(
    py: Python<'py>,
    region: RegionKind,
) -> PyResult<&'py Bound<'py, PyAny>> {
    Ok(members(py)?.regions[region as usize].bind(py))
}

/// The region for a `DefRegionKind` or a number.
pub(super) fn region_of(kind: &Bound<'_, PyAny>) -> PyResult<RegionKind> {
    match kind.extract::<i64>()? {
        0 => Ok(RegionKind::Use),
        1 => Ok(RegionKind::Def),
        2 => Ok(RegionKind::DefSimple),
        other => Err(PyValueError::new_err(format!(
            "the kind of a region is 0, 1 or 2, got {other}"
        ))),
    }
}
