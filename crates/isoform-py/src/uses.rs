//! Uses of values for Python.

use isoform::paths::AccessPath;
use isoform::traverse::{Uses, replace_all_uses};
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::path::PathHandle;

/// Adds the classes and functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<UsesHandle>()?;
    module.add_class::<UserHandle>()?;
    module.add_class::<DefinitionHandle>()?;
    module.add_function(wrap_pyfunction!(replace_all, module)?)
}

/// The users of every object and variable below a root.
///
/// It describes the root as it was when the analysis was made. A use is a place: a field, an
/// item or an entry of an object that holds the value. Variables are used wherever they occur
/// outside of definition fields. Fields that comparison ignores are not searched.
///
/// Raises ValueError for a value that contains itself; TypeError or ValueError for an attribute
/// `rewrite.binding` of the wrong form. Linear in the number of distinct objects, in one pass.
#[pyclass(frozen, generic, name = "Uses", module = "isoform.uses")]
pub(crate) struct UsesHandle(pub(crate) Uses);

#[pymethods]
impl UsesHandle {
    #[new]
    fn new(root: &Bound<'_, PyAny>) -> PyResult<Self> {
        let given = untyped(root)?;
        let uses = under_gil(root.py(), || Uses::of(&given)).into_py()?;
        Ok(UsesHandle(uses))
    }

    /// The root.
    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.root())
    }

    /// The places where a value is used, in no particular order; an empty list for a value that
    /// does not occur. O(users), plus the depth of each for its path.
    fn users(&self, of: &Bound<'_, PyAny>) -> PyResult<Vec<UserHandle>> {
        let (py, given) = (of.py(), untyped(of)?);
        self.0
            .users(&given)
            .map(|user| {
                Ok(UserHandle {
                    owner: to_python(py, user.owner())?.unbind(),
                    path: user.path(),
                })
            })
            .collect()
    }

    /// The number of places where a value is used. O(users).
    fn use_count(&self, of: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(self.0.use_count(&untyped(of)?))
    }

    /// True if a value is used in exactly one place. O(1).
    fn has_one_use(&self, of: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.0.has_one_use(&untyped(of)?))
    }

    /// The statement or expression that binds a variable to a value, if its class declares
    /// `rewrite.binding`; None for a variable that something else binds, nothing, or several
    /// places, and for one that is also used outside of the scope of its definition. O(1), after
    /// O(n log n) for the first question.
    fn definition(&self, var: &Bound<'_, PyAny>) -> PyResult<Option<DefinitionHandle>> {
        let py = var.py();
        let Some(found) = self.0.definition(&untyped(var)?) else {
            return Ok(None);
        };
        Ok(Some(DefinitionHandle {
            binding: to_python(py, &found.binding)?.unbind(),
            value: to_python(py, &found.value)?.unbind(),
            index: found.index,
        }))
    }

    /// The path to a value: that of one of its places, or the root. None if it does not occur.
    fn path(&self, of: &Bound<'_, PyAny>) -> PyResult<Option<PathHandle>> {
        Ok(self.0.path(&untyped(of)?).map(PathHandle::from))
    }

    /// The root with all uses of `old` replaced by `new`. What contains none is the same object,
    /// and definitions stay.
    ///
    /// A free variable is replaced as by `substitute`, so uses in a scope that binds it stay; a bound
    /// one by anything that is visible where it is bound, and another object where it stands. A bound
    /// variable whose own fields change becomes a new one, wherever it occurs.
    ///
    /// Raises ValueError if a variable of `new` is bound where `old` is used but not where it is
    /// bound; TypeError with the path if `new` does not fit a field. Takes time in proportion to
    /// the uses and the objects around them.
    fn replace_all<'py>(
        &self,
        old: &Bound<'py, PyAny>,
        new: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, old, new) = (old.py(), untyped(old)?, untyped(new)?);
        let made = under_gil(py, || self.0.replace_all(&old, &new)).into_py()?;
        to_python(py, &made)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A place where a value is used.
#[pyclass(frozen, name = "User", module = "isoform.uses")]
pub(crate) struct UserHandle {
    owner: Py<PyAny>,
    path: AccessPath,
}

#[pymethods]
impl UserHandle {
    /// The object or container that holds the value.
    #[getter]
    fn owner(&self, py: Python<'_>) -> Py<PyAny> {
        self.owner.clone_ref(py)
    }

    /// A path from the root to the place; if the owner is shared, the path through one of its
    /// own places.
    #[getter]
    fn path(&self) -> PathHandle {
        self.path.clone().into()
    }

    fn __repr__(&self) -> String {
        format!("User({})", self.path)
    }
}

/// The statement or expression that binds a variable to a value.
#[pyclass(frozen, name = "Definition", module = "isoform.uses")]
pub(crate) struct DefinitionHandle {
    binding: Py<PyAny>,
    value: Py<PyAny>,
    index: Option<usize>,
}

#[pymethods]
impl DefinitionHandle {
    /// The object that binds the variable.
    #[getter]
    fn binding(&self, py: Python<'_>) -> Py<PyAny> {
        self.binding.clone_ref(py)
    }

    /// The value.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    /// The position of the variable if the value has several results, otherwise None.
    #[getter]
    fn index(&self) -> Option<usize> {
        self.index
    }
}

/// Returns `root` with all uses of `old` replaced by `new`; `Uses.replace_all` for a root whose
/// uses are not known yet.
///
/// Raises what `Uses` and `Uses.replace_all` raise. Linear in the number of distinct objects of
/// the root.
#[pyfunction]
#[pyo3(name = "replace_all_uses")]
fn replace_all<'py>(
    root: &Bound<'py, PyAny>,
    old: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = root.py();
    let (root, old, new) = (untyped(root)?, untyped(old)?, untyped(new)?);
    let made = under_gil(py, || replace_all_uses(&root, &old, &new)).into_py()?;
    to_python(py, &made)
}
