//! Differences for Python.

use std::path::PathBuf;
use std::sync::Arc;

use isoform::Value;
use isoform::compare::{Change, CompareOptions, DiffOptions, Difference, IgnoreChange, Patch};
use isoform::files::{ChangeRecord, DifferenceRecord};
use isoform_ir::kernels::within;
use pyo3::prelude::*;

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::under_gil;
use crate::pages::{self, Names};
use crate::path::PathHandle;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<DifferenceHandle>()?;
    module.add_class::<ChangeHandle>()?;
    module.add_class::<PatchHandle>()?;
    module.add_class::<RecordHandle>()?;
    module.add_class::<ChangeRecordHandle>()?;
    module.add_function(wrap_pyfunction!(_diff, module)?)
}

/// `isoform.diff.diff`, with everything to ignore by kind.
#[pyfunction]
#[pyo3(signature = (left, right, map_free_vars, skip_tensor_content, tolerances, types, fields, predicates))]
#[expect(clippy::too_many_arguments, reason = "one for each argument in Python")]
fn _diff(
    left: &Bound<'_, PyAny>,
    right: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    tolerances: (f64, f64),
    types: Vec<String>,
    fields: Vec<(String, String)>,
    predicates: Vec<Py<PyAny>>,
) -> PyResult<DifferenceHandle> {
    let (rtol, atol) = tolerances;
    let mut ignore: Vec<IgnoreChange> = predicates.into_iter().map(ignored_by).collect();
    if (rtol, atol) != (0.0, 0.0) {
        ignore.push(within(rtol, atol));
    }
    let options = DiffOptions {
        compare: CompareOptions {
            map_free_vars,
            skip_tensor_content,
        },
        ignore_types: types,
        ignore_fields: fields,
        ignore,
    };
    let py = left.py();
    let (left, right) = (untyped(left)?, untyped(right)?);
    let difference = under_gil(py, || options.diff(left, right)).into_py()?;
    Ok(DifferenceHandle(difference))
}

/// A predicate in Python on a change.
fn ignored_by(predicate: Py<PyAny>) -> IgnoreChange {
    Arc::new(move |change: &Change| {
        Python::attach(|py| {
            let change = ChangeHandle(change.clone());
            let answer = predicate.bind(py).call1((change,));
            answer.and_then(|answer| answer.is_truthy())
        })
        .map_err(from_python)
    })
}

/// All differences of two values, by `isoform.diff.diff`.
///
/// As a str, the summary and one line for each change, up to a hundred. Empty, and false, if
/// and only if the values are structurally equal.
#[pyclass(frozen, generic, name = "Difference", module = "isoform.diff")]
pub(crate) struct DifferenceHandle(pub(crate) Difference);

#[pymethods]
impl DifferenceHandle {
    /// The changes, in the order in which comparison visits the right value, moves last. Equal
    /// changes are one.
    #[getter]
    fn changes(&self) -> Vec<ChangeHandle> {
        self.0.changes().iter().cloned().map(ChangeHandle).collect()
    }

    /// The value that the difference starts from.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.left())
    }

    /// The value that it leads to.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.right())
    }

    /// One line: how many changes of each kind; `equal` if nothing differs.
    fn summary(&self) -> String {
        self.0.summary()
    }

    /// The number of changes by kind, each occurrence counted.
    #[getter]
    fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.counts().into_iter();
        counts.map(|(kind, count)| (kind.name(), count)).collect()
    }

    /// Builds the right value out of the left one, or one that is equal to it. What did not
    /// change is shared with `value`, lists and dicts included.
    ///
    /// Raises ValueError for a value that is not equal to the left one, and if one of the two
    /// values has changed since the difference was made. O(n) for n parts of the value, plus
    /// the size of the patch.
    fn apply<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, given) = (value.py(), untyped(value)?);
        let made = under_gil(py, || self.0.apply(&given)).into_py()?;
        to_python(py, &made)
    }

    /// The way back, from the right value to the left one, as they were when the difference
    /// was made.
    fn invert(&self, py: Python<'_>) -> PyResult<DifferenceHandle> {
        let back = under_gil(py, || self.0.invert()).into_py()?;
        Ok(DifferenceHandle(back))
    }

    /// How to build the right value, to be written as JSON and applied elsewhere.
    ///
    /// It is for the values as they were when the difference was made, even if they have
    /// changed since.
    ///
    /// Raises ValueError for a variable that is free on the right and not on the left, and for
    /// the difference of equal values of which one has changed since; TypeError for values that
    /// cannot be written.
    #[getter]
    fn patch(&self, py: Python<'_>) -> PyResult<PatchHandle> {
        let patch = under_gil(py, || self.0.checked_patch()).into_py()?;
        Ok(PatchHandle(patch))
    }

    /// The changes and the patches for the way there and back as JSON; see docs/diff.md.
    ///
    /// Raises as `patch`.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        under_gil(py, || self.0.to_json()).into_py()
    }

    /// The difference in a JSON text: it can be applied and inverted without the two values.
    ///
    /// Raises ValueError for text that is not a difference, or one of another version, and
    /// TypeError for a type that is not registered.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<RecordHandle> {
        RecordHandle::from_json(py, text)
    }

    /// The difference as a page for a browser, one file of HTML; see docs/pages.md.
    ///
    /// `names` has the names of both sides, by default `left` and `right`.
    #[pyo3(signature = (*, names=None))]
    fn to_html(this: &Bound<'_, Self>, names: Option<Names>) -> PyResult<String> {
        pages::html(this, names)
    }

    /// Writes the page of `to_html` to a file, completely or not at all.
    ///
    /// Raises FileExistsError for a file that exists, unless `force` is true, and OSError for
    /// one that cannot be written.
    #[pyo3(signature = (path, *, names=None, force=false))]
    fn save_html(
        this: &Bound<'_, Self>,
        path: PathBuf,
        names: Option<Names>,
        force: bool,
    ) -> PyResult<()> {
        pages::save(this, &path, names, force)
    }

    /// A summary as Markdown, for a pull request: always below 60,000 characters. `page_url`
    /// is the address of the whole page.
    #[pyo3(signature = (*, names=None, page_url=None))]
    fn to_markdown(
        this: &Bound<'_, Self>,
        names: Option<Names>,
        page_url: Option<&str>,
    ) -> PyResult<String> {
        pages::markdown(this, names, page_url)
    }

    /// The changes as a picture, in the format `"svg"`, `"dot"` or `"mermaid"`.
    #[pyo3(signature = (format="svg", *, title=None))]
    fn picture(this: &Bound<'_, Self>, format: &str, title: Option<&str>) -> PyResult<String> {
        pages::picture(this, format, title)
    }

    /// The difference in a notebook.
    fn _repr_html_(this: &Bound<'_, Self>) -> Option<String> {
        pages::notebook(this)
    }

    fn __len__(&self) -> usize {
        self.0.changes().len()
    }

    fn __bool__(&self) -> bool {
        !self.0.is_empty()
    }

    fn __str__(&self, py: Python<'_>) -> String {
        under_gil(py, || self.0.to_string())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A change between two values, with every place where the same change occurs.
#[pyclass(frozen, name = "Change", module = "isoform.diff")]
pub(crate) struct ChangeHandle(Change);

#[pymethods]
impl ChangeHandle {
    /// The kind: `value`, `inserted`, `deleted`, `moved`, `wrapped`, `unwrapped`, `replaced`,
    /// `variable`, `sharing`, `key renamed`, `tensor`, `attribute` or `rewired`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind().name()
    }

    /// The number of occurrences, counting a shared part at each of its places and a dag
    /// node once, at most 2**64 - 1.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    /// The value on the left; None if the left side has no value.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.left().unwrap_or(&Value::NONE))
    }

    /// The value on the right; None if the right side has no value.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, self.0.right().unwrap_or(&Value::NONE))
    }

    /// The number of nodes that the change takes away on the left.
    #[getter]
    fn left_size(&self) -> u64 {
        self.0.left_size()
    }

    /// The number of nodes that the change brings on the right.
    #[getter]
    fn right_size(&self) -> u64 {
        self.0.right_size()
    }

    /// The first place on the left; of what is only on the right, that of what it was put into.
    #[getter]
    fn left_path(&self) -> PathHandle {
        self.0.left_path().into()
    }

    /// The first place on the right; of what is only on the left, that of what it was taken
    /// from.
    #[getter]
    fn right_path(&self) -> PathHandle {
        self.0.right_path().into()
    }

    /// The places on both sides, each distinct pair of objects once.
    #[getter]
    fn paths(&self) -> Vec<(PathHandle, PathHandle)> {
        let paths = self.0.paths();
        paths
            .map(|(left, right)| (left.into(), right.into()))
            .collect()
    }

    /// How the elements of two tensors of one type and shape differ, by name: the number of
    /// elements that are `differing` of all `elements`, the largest absolute difference
    /// `max_abs`, the length of the difference relative to the left tensor `relative_l2`, the
    /// `cosine`, and the position of the `first` one that differs. None for everything else.
    #[getter]
    fn tensor<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = under_gil(py, || isoform_ir::kernels::tensor_change(&self.0)).into_py()?;
        let Some(found) = found else {
            return Ok(None);
        };
        let made = pyo3::types::PyDict::new(py);
        made.set_item("differing", found.differing)?;
        made.set_item("elements", found.count)?;
        made.set_item("max_abs", found.max_abs)?;
        made.set_item("relative_l2", found.relative_l2)?;
        made.set_item("cosine", found.cosine)?;
        made.set_item("first", found.first)?;
        Ok(Some(made.into_any()))
    }

    fn __str__(&self, py: Python<'_>) -> String {
        under_gil(py, || self.0.to_string())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        under_gil(py, || format!("{:?}", self.0))
    }
}

/// How to build one value out of another, read from JSON.
#[pyclass(frozen, name = "Patch", module = "isoform.diff")]
pub(crate) struct PatchHandle(Patch);

#[pymethods]
impl PatchHandle {
    /// Builds the right value out of the left one.
    ///
    /// Raises ValueError for a value that the patch was not made for, or that shares its parts
    /// in another way.
    fn apply<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, given) = (value.py(), untyped(value)?);
        let made = under_gil(py, || self.0.apply(&given)).into_py()?;
        to_python(py, &made)
    }

    /// The patch as JSON text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        under_gil(py, || self.0.to_json()).into_py()
    }

    /// The patch in a JSON text. Raises ValueError for text that is not a patch.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<PatchHandle> {
        let patch = under_gil(py, || Patch::from_json(text)).into_py()?;
        Ok(PatchHandle(patch))
    }
}

/// A difference that was read from JSON.
#[pyclass(frozen, name = "DifferenceRecord", module = "isoform.diff")]
pub(crate) struct RecordHandle(DifferenceRecord);

#[pymethods]
impl RecordHandle {
    /// The changes; values are short texts.
    #[getter]
    fn changes(&self) -> Vec<ChangeRecordHandle> {
        let changes = self.0.changes.iter().cloned();
        changes.map(ChangeRecordHandle).collect()
    }

    /// Builds the right value out of the left one. Raises ValueError for another value.
    fn apply<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, given) = (value.py(), untyped(value)?);
        let made = under_gil(py, || self.0.apply(&given)).into_py()?;
        to_python(py, &made)
    }

    /// The way back.
    fn invert(&self) -> RecordHandle {
        RecordHandle(self.0.invert())
    }

    /// The difference as JSON text.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        under_gil(py, || self.0.to_json()).into_py()
    }

    /// The difference in a JSON text. Raises ValueError for text that is not a difference.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<RecordHandle> {
        let record = under_gil(py, || DifferenceRecord::from_json(text)).into_py()?;
        Ok(RecordHandle(record))
    }

    fn __len__(&self) -> usize {
        self.0.changes.len()
    }
}

/// A change that was read from JSON.
#[pyclass(frozen, name = "ChangeRecord", module = "isoform.diff")]
pub(crate) struct ChangeRecordHandle(ChangeRecord);

#[pymethods]
impl ChangeRecordHandle {
    /// As `Change.kind`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.name()
    }

    /// As `Change.count`, at most 2**63 - 1.
    #[getter]
    fn count(&self) -> i64 {
        self.0.count
    }

    /// The value on the left as text; None if the left side has no value.
    #[getter]
    fn left(&self) -> Option<&str> {
        self.0.left.as_deref()
    }

    /// The value on the right as text; None if the right side has no value.
    #[getter]
    fn right(&self) -> Option<&str> {
        self.0.right.as_deref()
    }

    /// As `Change.left_path`.
    #[getter]
    fn left_path(&self) -> PathHandle {
        self.0.left_path().into()
    }

    /// As `Change.right_path`.
    #[getter]
    fn right_path(&self) -> PathHandle {
        self.0.right_path().into()
    }

    /// As `Change.left_size`.
    #[getter]
    fn left_size(&self) -> i64 {
        self.0.left_size
    }

    /// As `Change.right_size`.
    #[getter]
    fn right_size(&self) -> i64 {
        self.0.right_size
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}
