//! Pages and pictures of results and values, for `isoform.pages` and for notebooks.
//!
//! `isoform_cli::pages` decides what a page shows, and `isoform_page` lays it out.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isoform::{Obj, Ref, Value};
use isoform_cli::pages::pictures::{
    PictureFormat, model_changes_picture, model_picture, value_changes_picture, value_picture,
};
use isoform_cli::pages::{
    ModelPage, OptimizePage, excerpt_of_value, page_of_mismatch, page_of_model, page_of_models,
    page_of_optimization, page_of_program, page_of_value, page_of_values,
};
use isoform_onnx::ir::Program;
use isoform_onnx::report::Report;
use isoform_onnx::verify::Verification;
use isoform_onnx::{Model, WholeFile, optimize, replaceable};
use isoform_page::page::Section;
use isoform_page::{Page, Picture};
use pyo3::exceptions::{PyFileExistsError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::convert::untyped;
use crate::difference::DifferenceHandle;
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::object::{class, wrapper};
use crate::onnx::OnnxModel;
use crate::structural::MismatchHandle;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReportHandle>()?;
    module.add_class::<OptimizationHandle>()?;
    module.add_class::<VerificationHandle>()?;
    module.add_function(wrap_pyfunction!(_page_html, module)?)?;
    module.add_function(wrap_pyfunction!(_page_save, module)?)?;
    module.add_function(wrap_pyfunction!(_page_markdown, module)?)?;
    module.add_function(wrap_pyfunction!(_page_notebook, module)?)?;
    module.add_function(wrap_pyfunction!(_page_picture, module)?)
}

/// The comparison of two models, and their names.
#[pyclass(frozen, name = "OnnxReport", module = "isoform._core")]
pub(crate) struct ReportHandle {
    pub(crate) report: Report,
    pub(crate) names: [String; 2],
}

/// The results of `isoform.onnx.optimize` and of `isoform.onnx.verify`.
#[pyclass(frozen, name = "OnnxOptimization", module = "isoform._core")]
#[derive(Clone)]
pub(crate) struct OptimizationHandle {
    pub(crate) programs: [Ref<Program>; 2],
    pub(crate) report: optimize::Report,
    pub(crate) verification: Option<Verification>,
    /// The name of the model that was read.
    pub(crate) name: String,
}

#[pymethods]
impl OptimizationHandle {
    /// The same with a verification.
    fn verified(&self, verification: Bound<'_, VerificationHandle>) -> OptimizationHandle {
        OptimizationHandle {
            verification: Some(verification.get().0.clone()),
            ..self.clone()
        }
    }
}

/// The result of `isoform.onnx.verify`.
#[pyclass(frozen, name = "OnnxVerification", module = "isoform._core")]
pub(crate) struct VerificationHandle(pub(crate) Verification);

/// The names on a page: of the value, or of both sides.
#[derive(FromPyObject)]
pub(crate) enum Names {
    #[pyo3(transparent)]
    One(String),
    #[pyo3(transparent)]
    Both((String, String)),
}

impl Names {
    /// The names of both sides.
    fn sides(names: Option<Names>, usual: [&str; 2]) -> PyResult<[String; 2]> {
        match names {
            None => Ok(usual.map(str::to_owned)),
            Some(Names::Both((left, right))) => Ok([left, right]),
            Some(Names::One(name)) => Err(PyValueError::new_err(format!(
                "names: expected the names of both sides, got only {name:?}"
            ))),
        }
    }

    /// The name of one value.
    fn single(names: Option<Names>, usual: impl FnOnce() -> String) -> PyResult<String> {
        match names {
            None => Ok(usual()),
            Some(Names::One(name)) => Ok(name),
            Some(Names::Both(_)) => Err(PyValueError::new_err(
                "names: expected the name of one value, got the names of two",
            )),
        }
    }
}

/// The nodes, inputs and outputs of models that notebooks draw.
const DRAWN: usize = 100;

/// The usual names of two values.
pub(crate) const SIDES: [&str; 2] = ["left", "right"];

/// The name of a model for people: that of its file, without the folder.
fn name_of(model: &Model) -> String {
    let name = model.path().and_then(Path::file_name);
    name.map_or_else(
        || "model".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The name of a model, or of an object of `onnx.Program`.
pub(crate) fn model_name(model: &Bound<'_, PyAny>) -> Option<String> {
    let model = model.cast::<OnnxModel>().ok()?;
    model
        .get()
        .model
        .path()
        .map(|_| name_of(&model.get().model))
}

/// The names of two models: of their files, in full if they are named alike.
pub(crate) fn model_names(left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> [String; 2] {
    let full = |model: &Bound<'_, PyAny>| {
        let model = model.cast::<OnnxModel>().ok()?;
        let path = model.get().model.path()?;
        Some(path.to_string_lossy().into_owned())
    };
    let names = [model_name(left), model_name(right)];
    let names = match &names {
        [Some(one), Some(other)] if one == other => [full(left), full(right)],
        _ => names,
    };
    let mut usual = SIDES.into_iter();
    names.map(|name| name.unwrap_or(usual.next().unwrap_or_default().to_owned()))
}

/// The page of a result or a value.
///
/// # Errors
///
/// `TypeError` for a value without text, and `ValueError` for one that contains itself.
pub(crate) fn page_of(subject: &Bound<'_, PyAny>, names: Option<Names>) -> PyResult<Page> {
    let py = subject.py();
    if let Ok(difference) = subject.cast::<DifferenceHandle>() {
        let names = Names::sides(names, SIDES)?;
        let page = || page_of_values(&difference.get().0, texts(&names));
        return Ok(under_gil(py, page));
    }
    if let Ok(handle) = subject.cast::<ReportHandle>() {
        let handle = handle.get();
        let names = Names::sides(names, texts(&handle.names))?;
        let page = || page_of_models(&handle.report, texts(&names));
        return Ok(under_gil(py, page));
    }
    if let Ok(mismatch) = subject.cast::<MismatchHandle>() {
        let handle = mismatch.get();
        let [left, right] = &handle.sides;
        let names = Names::sides(names, SIDES)?;
        let page = || page_of_mismatch(left, right, &handle.found, texts(&names));
        return Ok(under_gil(py, page));
    }
    if let Ok(done) = subject.cast::<OptimizationHandle>() {
        return page_of_optimized(py, done.get(), names);
    }
    let shown = page_of_one(subject, names)?;
    Ok(with_picture(shown, drawing(subject)?))
}

fn texts(names: &[String; 2]) -> [&str; 2] {
    names.each_ref().map(String::as_str)
}

fn page_of_optimized(
    py: Python<'_>,
    done: &OptimizationHandle,
    names: Option<Names>,
) -> PyResult<Page> {
    let names = Names::sides(names, [&done.name, "optimized"])?;
    let parts = OptimizePage {
        names: texts(&names),
        programs: done.programs.each_ref(),
        report: &done.report,
        verified: done.verification.as_ref(),
        bytes: None,
    };
    under_gil(py, || page_of_optimization(&parts)).into_py()
}

/// The page of a model or of a value, without a picture.
fn page_of_one(subject: &Bound<'_, PyAny>, names: Option<Names>) -> PyResult<Page> {
    let py = subject.py();
    let options = ModelPage {
        contents: true,
        shapes: true,
        ..ModelPage::default()
    };
    if let Ok(model) = subject.cast::<OnnxModel>() {
        let model = &model.get().model;
        let name = Names::single(names, || name_of(model))?;
        return Ok(under_gil(py, || page_of_model(model, name, options)));
    }
    let value = untyped(subject)?;
    let name = Names::single(names, String::new)?;
    match value.peek::<Ref<Program>>() {
        Some(program) => Ok(under_gil(py, || page_of_program(program, name, options))),
        None => under_gil(py, || page_of_value(&value, name)).into_py(),
    }
}

/// The page with a picture before the other sections.
fn with_picture(mut page: Page, picture: Picture) -> Page {
    page.sections.insert(0, Section::Picture(picture));
    page
}

/// The page of a result or a value as one file of HTML.
pub(crate) fn html(subject: &Bound<'_, PyAny>, names: Option<Names>) -> PyResult<String> {
    let page = page_of(subject, names)?;
    Ok(subject.py().detach(|| page.html()))
}

/// The page of a model with a picture, unless that is large.
fn with_small_picture(page: Page, subject: &Bound<'_, PyAny>) -> Page {
    match drawing(subject) {
        Ok(picture) if picture.nodes.len() <= DRAWN => with_picture(page, picture),
        _ => page,
    }
}

/// Writes the page of a result or a value to a file, which appears completely or not at all.
pub(crate) fn save(
    subject: &Bound<'_, PyAny>,
    path: &Path,
    names: Option<Names>,
    force: bool,
) -> PyResult<()> {
    // A page takes time, and the answer is known before.
    check(path, force).map_err(|error| os_error(path, &error))?;
    let page = page_of(subject, names)?;
    let written = subject.py().detach(|| {
        let html = page.html();
        check(path, force)?;
        let mut file = WholeFile::create(path)?;
        file.write_all(html.as_bytes())?;
        if force { file.keep() } else { file.keep_new() }
    });
    written.map_err(|error| os_error(path, &error))
}

fn check(path: &Path, force: bool) -> io::Result<()> {
    match replaceable(path)? {
        Some(_) if !force => Err(io::ErrorKind::AlreadyExists.into()),
        _ => Ok(()),
    }
}

/// The exception for a file that cannot be written, with its name.
fn os_error(path: &Path, error: &io::Error) -> PyErr {
    // The numbers of POSIX, by which Python chooses the class of the exception.
    let number = match error.kind() {
        io::ErrorKind::NotFound => 2,
        io::ErrorKind::PermissionDenied => 13,
        io::ErrorKind::AlreadyExists => 17,
        io::ErrorKind::NotADirectory => 20,
        io::ErrorKind::IsADirectory => 21,
        io::ErrorKind::InvalidInput => 22,
        io::ErrorKind::StorageFull => 28,
        io::ErrorKind::ReadOnlyFilesystem => 30,
        _ => error.raw_os_error().unwrap_or(5),
    };
    if error.kind() == io::ErrorKind::AlreadyExists {
        let text = "the file exists; force=True replaces it";
        return PyFileExistsError::new_err((number, text, path.as_os_str().to_owned()));
    }
    let text = error.to_string();
    let text = text
        .split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned();
    PyOSError::new_err((number, text, path.as_os_str().to_owned()))
}

/// The summary of a result or a value for a pull request.
pub(crate) fn markdown(
    subject: &Bound<'_, PyAny>,
    names: Option<Names>,
    page_url: Option<&str>,
) -> PyResult<String> {
    let page = page_of(subject, names)?;
    Ok(subject.py().detach(|| page.markdown(page_url)))
}

/// A result or a value as a picture in a format.
pub(crate) fn picture(
    subject: &Bound<'_, PyAny>,
    format: &str,
    title: Option<&str>,
) -> PyResult<String> {
    let py = subject.py();
    let format: PictureFormat = format.parse().into_py()?;
    let mut drawn = drawing(subject)?;
    if let Some(title) = title {
        drawn.title = title.to_owned();
    }
    Ok(py.detach(|| format.draw(drawn)))
}

fn drawing(subject: &Bound<'_, PyAny>) -> PyResult<Picture> {
    let py = subject.py();
    if let Ok(difference) = subject.cast::<DifferenceHandle>() {
        return Ok(under_gil(py, || value_changes_picture(&difference.get().0)));
    }
    if let Ok(handle) = subject.cast::<ReportHandle>() {
        return Ok(under_gil(py, || {
            model_changes_picture(&handle.get().report)
        }));
    }
    if let Ok(done) = subject.cast::<OptimizationHandle>() {
        let [left, right] = &done.get().programs;
        let report = under_gil(py, || isoform_onnx::report::report(left, right)).into_py()?;
        return Ok(under_gil(py, || model_changes_picture(&report)));
    }
    if let Ok(model) = subject.cast::<OnnxModel>() {
        let model = &model.get().model;
        let picture = || model_picture(model.program(), &name_of(model));
        return under_gil(py, picture).into_py();
    }
    if subject.cast::<MismatchHandle>().is_ok() {
        let text = "a mismatch has no picture; isoform.diff.diff finds all changes, and draws them";
        return Err(PyTypeError::new_err(text));
    }
    let value = untyped(subject)?;
    match value.peek::<Ref<Program>>() {
        Some(program) => under_gil(py, || model_picture(program, "Program")).into_py(),
        None => Ok(under_gil(py, || value_picture(&value, ""))),
    }
}

/// The output of a notebook for a result; None if there is none, so that the notebook shows
/// the `repr`.
pub(crate) fn notebook(subject: &Bound<'_, PyAny>) -> Option<String> {
    let py = subject.py();
    let page = match subject.cast::<OnnxModel>() {
        // Weights are not read: they may be large, and their file may be gone.
        Ok(model) => {
            let model = &model.get().model;
            let page = || page_of_model(model, name_of(model), ModelPage::default());
            with_small_picture(under_gil(py, page), subject)
        }
        Err(_) => page_of(subject, None).ok()?,
    };
    Some(py.detach(|| page.notebook_html()))
}

/// `Object._repr_html_`: the beginning of a value; None if a class says itself how it is
/// shown.
pub(crate) fn object_notebook(this: &Bound<'_, PyAny>) -> Option<String> {
    let py = this.py();
    let object = wrapper::core_of(this)?;
    if is_shown_by_itself(this, object).unwrap_or(true) {
        return None;
    }
    let value = Value::from(object);
    if object.type_info().is_builtin() && value.contents().is_none() {
        // A function or a tensor has nothing to show beside its `repr`.
        return None;
    }
    let page = match value.peek::<Ref<Program>>() {
        Some(program) => {
            let page = || page_of_program(program, String::new(), ModelPage::default());
            with_small_picture(under_gil(py, page), this)
        }
        None => under_gil(py, || excerpt_of_value(&value)).ok()?,
    };
    Some(py.detach(|| page.notebook_html()))
}

/// The methods by which notebooks show objects.
const SHOWING: [&str; 6] = [
    "_repr_pretty_",
    "_repr_markdown_",
    "_repr_latex_",
    "_repr_svg_",
    "_repr_png_",
    "_repr_mimebundle_",
];

/// True for an object whose class has a `__repr__` or another method for notebooks of its
/// own, which HTML would hide.
fn is_shown_by_itself(this: &Bound<'_, PyAny>, object: &Ref<Obj>) -> PyResult<bool> {
    let (py, class) = (this.py(), this.get_type());
    // The texts of types that are declared in Rust are also those of their pages.
    let data = class::of_class(py, class.as_type_ptr());
    let is_native = object.type_info().is_builtin() || data.is_some_and(|data| data.native);
    if !is_native && wrapper::has_own_repr(py, object) {
        return Ok(true);
    }
    let base = py.import("isoform._core")?.getattr("Object")?;
    let base = base.cast::<PyType>()?;
    for name in SHOWING {
        let own = class.getattr_opt(name)?;
        let usual = base.getattr_opt(name)?;
        let is_usual = match (&own, &usual) {
            (None, _) => true,
            (Some(own), Some(usual)) => own.is(usual),
            (Some(_), None) => false,
        };
        if !is_usual {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `isoform.pages.to_html`, for an IR value or a handle of a result.
#[pyfunction]
fn _page_html(subject: &Bound<'_, PyAny>, names: Option<Names>) -> PyResult<String> {
    html(subject, names)
}

/// `isoform.pages.save_html`.
#[pyfunction]
fn _page_save(
    subject: &Bound<'_, PyAny>,
    path: PathBuf,
    names: Option<Names>,
    force: bool,
) -> PyResult<()> {
    save(subject, &path, names, force)
}

/// `isoform.pages.to_markdown`.
#[pyfunction]
fn _page_markdown(
    subject: &Bound<'_, PyAny>,
    names: Option<Names>,
    page_url: Option<String>,
) -> PyResult<String> {
    markdown(subject, names, page_url.as_deref())
}

/// The output of a notebook for the handle of a result; None if there is none.
#[pyfunction]
fn _page_notebook(subject: &Bound<'_, PyAny>) -> Option<String> {
    notebook(subject)
}

/// `isoform.pages.picture`.
#[pyfunction]
fn _page_picture(
    subject: &Bound<'_, PyAny>,
    format: String,
    title: Option<String>,
) -> PyResult<String> {
    picture(subject, &format, title.as_deref())
}
