//! Access paths for Python.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use isoform::Value;
use isoform::paths::{AccessPath, AccessStep};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

static KIND_CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sets the enum class of the kinds of steps. Called once, by the package.
#[pyfunction]
pub(crate) fn _set_access_kind(py: Python<'_>, class: Py<PyAny>) {
    // A second call has no effect, for example if the package is imported again.
    let _ = KIND_CLASS.set(py, class);
}

/// A place inside a value, as steps from its root.
///
/// Paths are compared and hashed by their steps; object keys count by identity. Start
/// with `AccessPath.root()`.
#[pyclass(frozen, name = "AccessPath", module = "isoform.access_path")]
#[derive(Clone)]
pub(crate) struct PathHandle {
    /// Shared with longer paths of the same origin, to make `parent` O(1).
    steps: Arc<Vec<AccessStep>>,
    depth: usize,
}

impl From<AccessPath> for PathHandle {
    fn from(path: AccessPath) -> Self {
        let steps = path.steps().to_vec();
        PathHandle {
            depth: steps.len(),
            steps: Arc::new(steps),
        }
    }
}

impl From<&PathHandle> for AccessPath {
    fn from(path: &PathHandle) -> Self {
        AccessPath::from_steps(path.steps().to_vec())
    }
}

impl PathHandle {
    fn steps(&self) -> &[AccessStep] {
        &self.steps[..self.depth]
    }

    fn join(&self, step: AccessStep) -> PathHandle {
        let mut steps = Vec::with_capacity(self.depth + 1);
        steps.extend_from_slice(self.steps());
        steps.push(step);
        PathHandle {
            depth: steps.len(),
            steps: Arc::new(steps),
        }
    }
}

fn position(index: i64) -> PyResult<usize> {
    usize::try_from(index).map_err(|_| {
        PyValueError::new_err(format!("a position in a path is not negative, got {index}"))
    })
}

#[pymethods]
impl PathHandle {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyAny>, _kwargs: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Err(PyValueError::new_err(
            "AccessPath cannot be constructed directly; start with AccessPath.root()",
        ))
    }

    /// The path of the root itself.
    #[staticmethod]
    fn root() -> Self {
        AccessPath::root().into()
    }

    /// Parses the text of a path.
    ///
    /// Raises ValueError for text that is not a path, and for an object as a key, which
    /// cannot be read from text. O(length).
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        Ok(text.parse::<AccessPath>().into_py()?.into())
    }

    /// The path to the field of this name. O(depth).
    fn attr(&self, name: String) -> Self {
        self.join(AccessStep::Attr(name))
    }

    /// The path to a field that does not exist.
    fn attr_missing(&self, name: String) -> Self {
        self.join(AccessStep::AttrMissing(name))
    }

    /// The path to the element at this position.
    fn array_item(&self, index: i64) -> PyResult<Self> {
        Ok(self.join(AccessStep::ArrayItem(position(index)?)))
    }

    /// The path to an element that does not exist.
    fn array_item_missing(&self, index: i64) -> PyResult<Self> {
        Ok(self.join(AccessStep::ArrayItemMissing(position(index)?)))
    }

    /// The path to the value under this key.
    fn map_item(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.join(AccessStep::MapItem(untyped(key)?)))
    }

    /// The path to a key that does not exist.
    fn map_item_missing(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.join(AccessStep::MapItemMissing(untyped(key)?)))
    }

    /// The path extended by one step.
    fn extend(&self, step: &StepHandle) -> Self {
        self.join(step.0.clone())
    }

    /// The steps, outermost first, as a tuple.
    fn to_steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let steps = self
            .steps()
            .iter()
            .cloned()
            .map(StepHandle)
            .map(|step| Py::new(py, step))
            .collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, steps)
    }

    /// The path without its last step; None for the root. O(1).
    #[getter]
    fn parent(&self) -> Option<Self> {
        Some(PathHandle {
            depth: self.depth.checked_sub(1)?,
            steps: self.steps.clone(),
        })
    }

    /// The last step; None for the root.
    #[getter]
    fn step(&self) -> Option<StepHandle> {
        self.steps().last().cloned().map(StepHandle)
    }

    /// The number of steps.
    #[getter]
    fn depth(&self) -> usize {
        self.depth
    }

    /// True if the other path is at or below this place.
    fn is_prefix_of(&self, other: &PathHandle) -> bool {
        other.steps().starts_with(self.steps())
    }

    /// The value at this place below a root.
    ///
    /// Raises AttributeError, IndexError or KeyError for a step that does not exist,
    /// TypeError for one that the value does not support; the message names the step.
    fn get<'py>(&self, root: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = root.py();
        let given = untyped(root)?;
        let path = AccessPath::from(self);
        let found = under_gil(py, || path.get(&given)).into_py()?;
        to_python(py, &found)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<PathHandle>()
            .is_ok_and(|other| other.get().steps() == self.steps())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.steps().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> PyResult<String> {
        let mut text = String::from("<root>");
        for step in self.steps() {
            write_step(&mut text, step)?;
        }
        Ok(text)
    }
}

fn write_step(text: &mut String, step: &AccessStep) -> PyResult<()> {
    write!(text, "{step}").map_err(|_| PyValueError::new_err("a step could not be printed"))
}

/// One step of an access path.
#[pyclass(frozen, name = "AccessStep", module = "isoform.access_path")]
#[derive(Clone)]
pub(crate) struct StepHandle(AccessStep);

impl StepHandle {
    fn kind_number(&self) -> u8 {
        match &self.0 {
            AccessStep::Attr(_) => 0,
            AccessStep::ArrayItem(_) => 1,
            AccessStep::MapItem(_) => 2,
            AccessStep::AttrMissing(_) => 3,
            AccessStep::ArrayItemMissing(_) => 4,
            AccessStep::MapItemMissing(_) => 5,
        }
    }
}

#[pymethods]
impl StepHandle {
    /// Makes a step of a kind (an `AccessKind` or a number) with a key.
    #[new]
    fn new(kind: u8, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let item = || -> PyResult<Value> { untyped(key) };
        Ok(StepHandle(match kind {
            0 => AccessStep::Attr(key.extract()?),
            1 => AccessStep::ArrayItem(position(key.extract()?)?),
            2 => AccessStep::MapItem(item()?),
            3 => AccessStep::AttrMissing(key.extract()?),
            4 => AccessStep::ArrayItemMissing(position(key.extract()?)?),
            5 => AccessStep::MapItemMissing(item()?),
            other => {
                return Err(PyValueError::new_err(format!(
                    "the kind of a step is a number from 0 to 5, got {other}"
                )));
            }
        }))
    }

    /// The kind of the step, an `AccessKind`.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = KIND_CLASS
            .get(py)
            .ok_or_else(|| PyTypeError::new_err("the module isoform.access_path is not loaded"))?;
        class.bind(py).call1((self.kind_number(),))
    }

    /// The name of the field, the position or the key.
    #[getter]
    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            AccessStep::Attr(name) | AccessStep::AttrMissing(name) => {
                Ok(name.into_pyobject(py)?.into_any())
            }
            AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index) => {
                Ok(index.into_pyobject(py)?.into_any())
            }
            AccessStep::MapItem(key) | AccessStep::MapItemMissing(key) => to_python(py, key),
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<StepHandle>()
            .is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> PyResult<String> {
        let mut text = String::new();
        write_step(&mut text, &self.0)?;
        Ok(text)
    }
}
