//! Equality, hash, digest and mismatch for Python.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use isoform::Value;
use isoform::compare::{CompareOptions, Mismatch, MismatchReason};
use isoform::text::{MismatchOptions, render_mismatch};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, of_name};
use crate::object::class;
use crate::object::gil::under_gil;
use crate::object::wrapper::core_of;
use crate::onnx_diff::report_of_programs;
use crate::pages::{self, Names};
use crate::path::PathHandle;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<MismatchHandle>()?;
    module.add_function(wrap_pyfunction!(structural_digest, module)?)?;
    module.add_function(wrap_pyfunction!(declaration_digest, module)?)?;
    module.add_function(wrap_pyfunction!(get_first_structural_mismatch, module)?)?;
    module.add_function(wrap_pyfunction!(explain_structural_mismatch, module)?)?;
    module.add_function(wrap_pyfunction!(assert_structural_equal, module)?)?;
    module.add_function(wrap_pyfunction!(_watch_unequal, module)?)?;
    module.add_function(wrap_pyfunction!(last_visit_count, module)?)
}

/// True if there is a function that receives unequal values.
pub(crate) static IS_WATCHED: AtomicBool = AtomicBool::new(false);
static WATCHER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Sets the function called with both values and the options whenever `structural_equal`
/// is false, so that a test tool can explain the failure; None for no function.
#[pyfunction]
fn _watch_unequal(callback: Option<Py<PyAny>>) {
    let is_watched = callback.is_some();
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    let old = std::mem::replace(&mut *watcher, callback);
    IS_WATCHED.store(is_watched, Ordering::Relaxed);
    // Dropping the old function may run code that sets another one.
    drop(watcher);
    drop(old);
}

/// Tells the watching function that two values are not equal.
#[cold]
pub(crate) fn tell_unequal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    flags: Flags,
) -> PyResult<()> {
    let watcher = {
        let watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
        watcher.as_ref().map(|watcher| watcher.clone_ref(lhs.py()))
    };
    if let Some(watcher) = watcher {
        let options = (flags.map_free_vars, flags.skip_tensor_content);
        watcher.call1(lhs.py(), (lhs, rhs, options.0, options.1))?;
    }
    Ok(())
}

fn options(map_free_vars: bool, auto_mapping: bool, skip_tensor_content: bool) -> CompareOptions {
    CompareOptions {
        // Two names for one flag.
        map_free_vars: map_free_vars || auto_mapping,
        skip_tensor_content,
    }
}

/// The options of a comparison, as passed by callers.
pub(crate) type Flags = CompareOptions;

/// True if two values are structurally equal.
#[inline]
pub(crate) fn equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    flags: Flags,
) -> PyResult<bool> {
    if let (Some(left), Some(right)) = (core_of(lhs), core_of(rhs)) {
        let compare = || isoform::host::objects_equal(left, right, flags);
        return under_gil(lhs.py(), compare).into_py();
    }
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    let compare = || flags.equal(left, right);
    under_gil(lhs.py(), compare).into_py()
}

/// The structural hash of a value.
#[inline]
pub(crate) fn hash(value: &Bound<'_, PyAny>, flags: Flags) -> PyResult<u64> {
    let given = untyped(value)?;
    let hash = || flags.hash(given);
    under_gil(value.py(), hash).into_py()
}

/// The digest of a value, a portable name of 32 bytes: the same on every machine and in every
/// release with the same digest format. Equal values have the same digest, and values that
/// equality tells apart have different ones.
///
/// There are three exceptions: singletons are named by type and content, a class with its own
/// `__s_hash__` distinguishes what the 64 bits that it returns distinguish, and tensors with
/// `skip_tensor_content` what their data type and shape do. The names of classes and of their
/// compared fields are part of the digest, so it changes when these are renamed or change
/// places.
///
/// Args:
///     value: the value.
///     map_free_vars: whether free variables are equal up to renaming, too.
///     skip_tensor_content: name tensors by data type and shape only.
///     enable_auto_mapping: another name of `map_free_vars`.
///
/// Raises:
///     TypeError: a value that cannot be compared, with its path.
///     ValueError: a value contains itself, or something without a portable name, with its
///         path: a free variable without `map_free_vars`, or an unbound object as a map key.
///     RecursionError: `__s_hash__` methods nest too deeply.
///
/// Linear in the number of distinct objects, and in the bytes of tensors.
#[pyfunction]
#[pyo3(signature = (value, map_free_vars=false, skip_tensor_content=false, *, enable_auto_mapping=false))]
fn structural_digest<'py>(
    value: &Bound<'py, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    enable_auto_mapping: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let options = options(map_free_vars, enable_auto_mapping, skip_tensor_content);
    let (py, given) = (value.py(), untyped(value)?);
    let digest = under_gil(py, || options.digest(given)).into_py()?;
    Ok(PyBytes::new(py, digest.as_bytes()))
}

/// The digest of the declaration of a class and of all classes that its compared fields name:
/// 32 bytes, the same in every process that declares them alike, in any order.
///
/// It changes with a type key, that of a parent included, the kind, `scope`, and with name,
/// accepted values, flag, default and order of visit of the compared fields; not with ignored
/// fields, aliases, members of enums, methods and documentation, nor with classes that extend a
/// named one. A default factory is called twice; only its presence counts if the values differ.
///
/// Args:
///     cls: a class declared with `py_class`, or the class of a native type.
///
/// Raises:
///     TypeError: anything but such a class, also one that still waits for the names in its
///         annotations; a default that cannot be compared.
///     ValueError: a default without a portable name, such as a free variable.
///
/// Linear in the number of fields of all these classes, and in the sizes of their defaults.
///
/// >>> from isoform import declaration_digest, tir
/// >>> declaration_digest(tir.Add) == declaration_digest(tir.Mul)
/// False
#[pyfunction]
fn declaration_digest<'py>(cls: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = cls.py();
    let class = cls.cast::<PyType>().ok();
    let data = class.and_then(|class| class::of_class(py, class.as_type_ptr()));
    let data = data.ok_or_else(|| {
        let shown = cls
            .repr()
            .map_or_else(|_| String::new(), |text| text.to_string());
        PyTypeError::new_err(format!(
            "declaration_digest: expected a class that is declared with py_class, and complete, \
             got {shown}"
        ))
    })?;
    let index = data.info.index();
    let digest = under_gil(py, || isoform::compare::declaration_digest(index)).into_py()?;
    Ok(PyBytes::new(py, digest.as_bytes()))
}

/// The paths of the first difference between two values; None if they are equal.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars=false, skip_tensor_content=false, *, enable_auto_mapping=false))]
fn get_first_structural_mismatch(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    enable_auto_mapping: bool,
) -> PyResult<Option<(PathHandle, PathHandle)>> {
    let options = options(map_free_vars, enable_auto_mapping, skip_tensor_content);
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    let found = under_gil(lhs.py(), || options.first_mismatch(left, right)).into_py()?;
    Ok(found.map(|(left, right)| (left.into(), right.into())))
}

/// The first difference between two values, with the reason; None if they are equal.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars=false, skip_tensor_content=false, *, enable_auto_mapping=false))]
fn explain_structural_mismatch(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
    enable_auto_mapping: bool,
) -> PyResult<Option<MismatchHandle>> {
    let options = options(map_free_vars, enable_auto_mapping, skip_tensor_content);
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    let found = under_gil(lhs.py(), || options.explain_mismatch(&left, &right));
    let sides = [left, right];
    Ok(found
        .into_py()?
        .map(|found| MismatchHandle { found, sides }))
}

/// The option in the place where other assertions take a message.
struct MapFreeVars(bool);

impl<'a, 'py> FromPyObject<'a, 'py> for MapFreeVars {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        value.extract::<bool>().map(MapFreeVars).map_err(|_| {
            let got = value.get_type().name();
            let got = got.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "assert_structural_equal() argument 'map_free_vars': expected bool, got {got}; \
                 the error says itself what differs"
            ))
        })
    }
}

/// Raises StructuralError, an AssertionError and a ValueError, with the explained mismatch,
/// unless two values are structurally equal. For programs of `isoform.onnx`, it names the nodes, weights and elements that differ.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars=MapFreeVars(false), skip_tensor_content=false, *, enable_auto_mapping=false))]
fn assert_structural_equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: MapFreeVars,
    skip_tensor_content: bool,
    enable_auto_mapping: bool,
) -> PyResult<()> {
    let options = options(map_free_vars.0, enable_auto_mapping, skip_tensor_content);
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    let text = under_gil(lhs.py(), || -> isoform::Result<_> {
        let Some(found) = options.explain_mismatch(&left, &right)? else {
            return Ok(None);
        };
        let shown = render_mismatch(&left, &right, &found) + advice(&found);
        let report = report_of_programs(&left, &right, options);
        let report = report.map_or_else(String::new, |report| format!("\n{report}"));
        Ok(Some(format!(
            "the values are not structurally equal: {shown}{report}"
        )))
    });
    match text.into_py()? {
        None => Ok(()),
        Some(text) => Err(of_name("StructuralError", &text)?),
    }
}

/// The number of pairs or objects that the last comparison, hash or digest of this
/// thread visited.
#[pyfunction]
fn last_visit_count() -> u64 {
    isoform::compare::last_visit_count()
}

/// The reason why two values are not structurally equal, and the place.
///
/// As a str, both sides as text, with the place underlined.
#[pyclass(frozen, name = "StructuralMismatch", module = "isoform")]
pub(crate) struct MismatchHandle {
    pub(crate) found: Mismatch,
    /// The compared values.
    pub(crate) sides: [Value; 2],
}

/// Advice about the options where a comparison can be asked for another meaning.
fn advice(found: &Mismatch) -> &'static str {
    match found.reason {
        MismatchReason::DifferentFreeVariables => {
            "\nmap_free_vars=True lets free variables of one side stand for those of the other"
        }
        _ => "",
    }
}

impl MismatchHandle {
    pub(crate) fn new(found: Mismatch, sides: [Value; 2]) -> Self {
        MismatchHandle { found, sides }
    }
}

fn optional<'py>(py: Python<'py>, value: &Option<Value>) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Some(value) => to_python(py, value),
        None => Ok(py.None().into_bound(py)),
    }
}

#[pymethods]
impl MismatchHandle {
    /// The place of the difference in the left value.
    #[getter]
    fn left_path(&self) -> PathHandle {
        self.found.left_path.clone().into()
    }

    /// The place of the difference in the right value.
    #[getter]
    fn right_path(&self) -> PathHandle {
        self.found.right_path.clone().into()
    }

    /// The value at the place on the left; None if the left side has no value there.
    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, &self.found.left)
    }

    /// The value at the place on the right; None if the right side has no value there.
    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        optional(py, &self.found.right)
    }

    /// True if the left side has a value there.
    #[getter]
    fn left_exists(&self) -> bool {
        self.found.left.is_some()
    }

    /// True if the right side has a value there.
    #[getter]
    fn right_exists(&self) -> bool {
        self.found.right.is_some()
    }

    /// The reason for the difference, a sentence.
    #[getter]
    fn reason(&self) -> String {
        self.found.reason.to_string()
    }

    /// Both sides as text, with the place underlined.
    ///
    /// `values` and `lines` limit the number of values shown of a side, and of lines
    /// above and below the place; `width` is the number of columns that a line should
    /// have; `color` colours the text for a terminal. The cost depends only on these
    /// and on the length of the paths.
    #[pyo3(signature = (*, values=400, lines=6, width=100, color=false))]
    fn render(
        &self,
        py: Python<'_>,
        values: usize,
        lines: usize,
        width: usize,
        color: bool,
    ) -> String {
        let options = MismatchOptions::default()
            .values(values)
            .lines(lines)
            .width(width)
            .color(color);
        let [left, right] = &self.sides;
        under_gil(py, || options.render(left, right, &self.found))
    }

    /// The mismatch as a page for a browser, one file of HTML; see docs/pages.md.
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

    /// The mismatch in a notebook.
    fn _repr_html_(this: &Bound<'_, Self>) -> Option<String> {
        pages::notebook(this)
    }

    fn __str__(&self, py: Python<'_>) -> String {
        let [left, right] = &self.sides;
        let options = MismatchOptions::default();
        under_gil(py, || options.render(left, right, &self.found)) + advice(&self.found)
    }

    fn __repr__(&self) -> String {
        format!(
            "<mismatch at {} and {}: {}>",
            self.found.left_path, self.found.right_path, self.found.reason
        )
    }
}
