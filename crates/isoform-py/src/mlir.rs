//! Programs of MLIR, for `isoform.mlir`.

use std::sync::Arc;

use isoform::{Error, Ref, Value};
use isoform_mlir::{
    Block, Dialects, DumpMoment, Level, PassHistory, PassStep, Program, ReadOptions, Region,
    Report, UnitChange, WriteOptions, read_dumps,
};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyDict;

use crate::convert::{to_python, untyped};
use crate::difference::DifferenceHandle;
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    isoform_mlir::register().into_py()?;
    module.add_function(wrap_pyfunction!(mlir_read, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_read_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_read_split, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_write, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_normal_form, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_region, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_with_bindings, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_extract, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_changes, module)?)?;
    module.add_function(wrap_pyfunction!(mlir_passes, module)?)
}

/// The program in a Python object.
fn program_of(program: &Bound<'_, PyAny>) -> PyResult<Ref<Program>> {
    let value = untyped(program)?;
    let program = value.extract::<Ref<Program>>().map_err(|_| {
        Error::type_error(format!(
            "expected an mlir.Program, got {}; isoform.mlir.read and isoform.mlir.from_module make one",
            value.type_name()
        ))
    });
    program.into_py()
}

/// A program from text; see `isoform.mlir.read`.
#[pyfunction]
fn mlir_read<'py>(
    py: Python<'py>,
    text: Text,
    name: &str,
    symbol_names: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let options = ReadOptions::default().name(name).symbol_names(symbol_names);
    let program = under_gil(py, || options.read(text.bytes())).into_py()?;
    to_python(py, &Value::from(program))
}

/// An attribute or a type from text; see `isoform.mlir.read_attribute`.
#[pyfunction]
fn mlir_read_attribute<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let attribute = under_gil(py, || isoform_mlir::read_attribute(text)).into_py()?;
    to_python(py, &Value::from(attribute))
}

/// The programs of a text; see `isoform.mlir.read_split`.
#[pyfunction]
fn mlir_read_split<'py>(
    py: Python<'py>,
    text: Text,
    name: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let options = ReadOptions::default().name(name);
    let programs = under_gil(py, || options.read_split(text.bytes())).into_py()?;
    let programs = programs.into_iter();
    programs
        .map(|program| to_python(py, &Value::from(program)))
        .collect()
}

/// A text as str or bytes.
#[derive(FromPyObject)]
enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    fn bytes(&self) -> &[u8] {
        match self {
            Text::Str(text) => text.as_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }
}

/// The text of a program; see `isoform.mlir.write`.
#[pyfunction]
fn mlir_write(
    program: &Bound<'_, PyAny>,
    locations: bool,
    max_elements: Option<usize>,
    kind_names: bool,
) -> PyResult<String> {
    let read = program_of(program)?;
    let options = WriteOptions::default()
        .locations(locations)
        .max_elements(max_elements)
        .kind_names(kind_names);
    under_gil(program.py(), || options.write(&read)).into_py()
}

/// The normal form of a program at a level; see `isoform.mlir.normal_form`.
#[pyfunction]
fn mlir_normal_form<'py>(
    program: &Bound<'py, PyAny>,
    io_names: bool,
    contents: bool,
    symbol_order: bool,
    semantics: bool,
    dialects: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyAny>> {
    let read = program_of(program)?;
    let py = program.py();
    let made = under_gil(py, || {
        let mut level = Level::strict()
            .io_names(io_names)
            .contents(contents)
            .symbol_order(symbol_order)
            .semantics(semantics);
        if !dialects.is_empty() {
            let mut known = Dialects::clone(Dialects::builtin());
            for (name, text) in &dialects {
                known = known.with(&Dialects::parse(name, text)?);
            }
            level = level.dialects(Arc::new(known));
        }
        level.apply(&read)
    });
    to_python(py, &Value::from(made.into_py()?))
}

/// A region of blocks; see `isoform.mlir.region`.
#[pyfunction]
fn mlir_region<'py>(
    py: Python<'py>,
    blocks: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let blocks = blocks.iter().map(|block| {
        let value = untyped(block)?;
        value.extract::<Ref<Block>>().into_py()
    });
    let blocks = blocks.collect::<PyResult<Vec<_>>>()?;
    let region = under_gil(py, || Region::new(blocks));
    to_python(py, &Value::from(region))
}

/// A program with the current bindings of its regions; see `isoform.mlir.with_bindings`.
#[pyfunction]
fn mlir_with_bindings<'py>(program: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let read = program_of(program)?;
    let py = program.py();
    let made = under_gil(py, || isoform_mlir::with_bindings(&read)).into_py()?;
    to_python(py, &Value::from(made))
}

/// The part of a program that symbols need; see `isoform.mlir.extract`.
#[pyfunction]
fn mlir_extract<'py>(
    program: &Bound<'py, PyAny>,
    symbols: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let read = program_of(program)?;
    let py = program.py();
    let part = under_gil(py, || isoform_mlir::extract(&read, &symbols)).into_py()?;
    to_python(py, &Value::from(part))
}

/// Kind, text, count, both lines, and the numbers of changes.
type ChangeRow = (
    String,
    String,
    usize,
    (Option<String>, Option<String>),
    Vec<usize>,
);

fn change_rows(report: &Report) -> Vec<ChangeRow> {
    let changes = report.changes.iter().map(|change| {
        let [left, right] = change.lines.clone();
        (
            change.kind.name().to_owned(),
            change.text.clone(),
            change.count,
            (left, right),
            change.changes.clone(),
        )
    });
    changes.collect()
}

/// A difference operation by operation; see `isoform.mlir.changes`.
#[pyfunction]
fn mlir_changes(difference: &Bound<'_, DifferenceHandle>) -> PyResult<(Vec<ChangeRow>, String)> {
    let py = difference.py();
    let difference = &difference.get().0;
    let report = under_gil(py, || Report::new(difference)).into_py()?;
    Ok((change_rows(&report), report.summary()))
}

/// The steps of dumps; see `isoform.mlir.passes`.
#[pyfunction]
fn mlir_passes<'py>(py: Python<'py>, text: Text) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let history = under_gil(py, || PassHistory::new(&read_dumps(text.bytes())?));
    let history = history.into_py()?;
    let steps = history.steps.iter();
    steps.map(|step| step_dict(py, step)).collect()
}

fn step_dict<'py>(py: Python<'py>, step: &PassStep) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &step.pass)?;
    dict.set_item("argument", &step.argument)?;
    dict.set_item("line", step.line)?;
    dict.set_item("is_first", step.is_first)?;
    dict.set_item(
        "moment",
        match step.moment {
            DumpMoment::Before => "before",
            DumpMoment::After => "after",
            DumpMoment::Failed => "failed",
            DumpMoment::Text => "text",
        },
    )?;
    dict.set_item("summary", step.summary())?;
    let changes = step.changes.iter().map(|change| match change {
        UnitChange::Added(symbol) => (symbol.clone(), "added", Vec::new()),
        UnitChange::Removed(symbol) => (symbol.clone(), "removed", Vec::new()),
        UnitChange::Changed(symbol, report) => (symbol.clone(), "changed", change_rows(report)),
    });
    dict.set_item("changes", changes.collect::<Vec<_>>())?;
    Ok(dict)
}
