//! Optimisation of ONNX programs, for `isoform.onnx`: options, rules written in Python, and
//! verification by a runtime of Python.

use std::sync::Arc;

use isoform::errors::ErrorKind;
use isoform::files::{from_bytes, to_bytes};
use isoform::host::{ScopedRef, with_scoped};
use isoform::values::{Tensor, ValueRef};
use isoform::{Array, Error, Map, Ref, Str, Value};
use isoform_onnx::ir::Program;
use isoform_onnx::optimize::{Fold, OptimizeOptions, Pattern, Rule, Site, rule_infos};
use isoform_onnx::verify::{Evaluator, Inputs, Ran, Runner, Subject, Tolerance, VerifyOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pythonize::pythonize;

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{self, Owned};
use crate::onnx::{named_values, program_of};
use crate::pages::{OptimizationHandle, VerificationHandle, model_name};

/// Adds the names of this file.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RuleHandle>()?;
    module.add_class::<SiteHandle>()?;
    module.add_function(wrap_pyfunction!(onnx_optimize, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_rules, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_extract, module)?)?;
    module.add_function(wrap_pyfunction!(onnx_verify, module)?)?;
    isoform_onnx::optimize::register().into_py()
}

/// A rewrite rule written in Python: a name, a pattern as text, and a function.
///
/// The pattern is matched against each call whose inputs are simplified already.
/// `rewrite(site)` returns what takes the place of the outputs of the call: a value, a list
/// with one value for each output, or None to leave the call as it is.
///
/// `versions` is a pair of the first and the last version of `ai.onnx` to which the rule
/// applies; None instead of the last means any later one.
///
/// Raises ValueError for an empty name, and for a pattern that cannot be read.
#[pyclass(frozen, name = "OnnxRule", module = "isoform._core")]
struct RuleHandle(Rule);

#[pymethods]
impl RuleHandle {
    #[new]
    #[pyo3(signature = (name, pattern, rewrite, versions=None))]
    fn new(
        name: &str,
        pattern: &str,
        rewrite: &Bound<'_, PyAny>,
        versions: Option<(i64, Option<i64>)>,
    ) -> PyResult<Self> {
        if !rewrite.is_callable() {
            let got = rewrite.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "Rule.rewrite: expected a callable, got {got}"
            )));
        }
        let function = Owned::new(rewrite);
        let note = format!("in rule '{name}'");
        let rule = Rule::new(name, pattern, move |site| {
            apply(&function, site).map_err(|error| error.noted(note.as_str()))
        })
        .into_py()?;
        Ok(RuleHandle(match versions {
            None => rule,
            Some((first, last)) => rule.versions(first..=last.unwrap_or(i64::MAX)),
        }))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The pattern.
    #[getter]
    fn pattern(&self) -> String {
        self.0.patterns().map(Pattern::text).collect()
    }

    fn __repr__(&self) -> String {
        format!("Rule('{}', '{}')", self.name(), self.pattern())
    }
}

/// Calls the function of a rule.
fn apply(function: &Owned, site: &mut Site<'_, '_>) -> isoform::Result<Option<Vec<Value>>> {
    let root = Value::from(site.root());
    let version = site.version();
    let mut answer = |request: &[Value]| answer(site, request);
    let reference: &mut dyn FnMut(&[Value]) -> isoform::Result<Value> = &mut answer;
    let result = with_scoped("Rule.rewrite", reference, |scoped| {
        Python::attach(|py| {
            let handle = SiteHandle {
                scoped: Arc::clone(scoped),
                root,
                version,
            };
            let handle = Bound::new(py, handle)?.into_any();
            let result = gil::call(&function.get(py), &[&handle])?;
            if result.is_none() {
                return Ok(None);
            }
            untyped(&result).map(Some)
        })
    });
    let result = result.map_err(from_python)?;
    Ok(result.map(|values| match values.view() {
        ValueRef::Array(values) => values.values().to_vec(),
        ValueRef::List(values) => values.snapshot().values().to_vec(),
        _ => vec![values],
    }))
}

/// Serves a request of a Python function at a site.
fn answer(site: &mut Site<'_, '_>, request: &[Value]) -> isoform::Result<Value> {
    let [what, arguments @ ..] = request else {
        return Err(unexpected());
    };
    let ValueRef::Str(what) = what.view() else {
        return Err(unexpected());
    };
    match (what, arguments) {
        ("get", [name]) => site.get(&name.extract::<Str>()?).cloned(),
        ("shape", [value]) => Ok(site.shape(value).map_or(Value::NONE, |sizes| {
            let size = |size: &isoform_onnx::facts::Size| match size.as_const() {
                Some(number) => Value::from(number),
                None => Value::from(size.to_string().as_str()),
            };
            Array::from(sizes.iter().map(size).collect::<Vec<_>>()).into()
        })),
        ("ints", [value]) => Ok(site.ints(value).map_or(Value::NONE, numbers)),
        ("floats", [value]) => Ok(site.floats(value).map_or(Value::NONE, numbers)),
        ("elem_type", [value]) => {
            let elem = site.fact(value).elem;
            Ok(elem.map_or(Value::NONE, |elem| elem.name().into()))
        }
        ("has_one_use", [value]) => Ok(site.has_one_use(value).into()),
        ("constant", [tensor]) => Ok(site.constant(tensor.extract::<Tensor>()?)),
        ("make" | "replace", [op, inputs, attrs, outputs]) => {
            let op = op.extract::<Str>()?;
            let inputs = inputs.extract::<Array>()?.values().to_vec();
            let attrs = attrs.extract::<Map<Str, Value>>()?;
            let attrs: Vec<(&str, Value)> = attrs
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone()))
                .collect();
            let outputs = outputs.extract::<i64>()?;
            let results = site.request(&op, inputs, &attrs, outputs, what == "replace");
            // The engine keeps the reason, and raises it when the function has ended.
            let mut values = results.ok_or_else(|| {
                let reason = format!("a call of {op} cannot be made");
                Error::new(ErrorKind::Runtime, reason)
            })?;
            Ok(match values.len() {
                1 => values.remove(0),
                _ => Array::from(values).into(),
            })
        }
        _ => Err(unexpected()),
    }
}

fn numbers<T: Into<Value>>(numbers: Vec<T>) -> Value {
    let numbers: Vec<Value> = numbers.into_iter().map(Into::into).collect();
    Array::from(numbers).into()
}

#[cold]
fn unexpected() -> Error {
    Error::new(ErrorKind::Runtime, "a site cannot be asked for this")
}

type SiteFunction = dyn FnMut(&[Value]) -> isoform::Result<Value>;

/// A place where a rule may apply: what its pattern matched, what is known about values, and
/// how to make new calls.
///
/// `site["x"]` is the value that the name `x` of the pattern stands for, and None for an
/// omitted input. A site can be used only while the function of the rule runs, and raises
/// RuntimeError afterwards.
#[pyclass(frozen, name = "OnnxSite", module = "isoform._core")]
struct SiteHandle {
    scoped: Arc<ScopedRef<SiteFunction>>,
    root: Value,
    version: i64,
}

impl SiteHandle {
    fn ask<'py>(&self, py: Python<'py>, request: &[Value]) -> PyResult<Bound<'py, PyAny>> {
        let answer = self.scoped.with(|ask| ask(request)).into_py()?;
        to_python(py, &answer)
    }

    fn about<'py>(&self, what: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.ask(value.py(), &[what.into(), untyped(value)?])
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        what: &str,
        op: &str,
        inputs: &Bound<'py, PyAny>,
        outputs: i64,
        attrs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut attributes: Vec<(Str, Value)> = Vec::new();
        for (name, value) in attrs.into_iter().flatten() {
            attributes.push((name.extract::<String>()?.into(), untyped(&value)?));
        }
        let inputs = inputs.try_iter()?.map(|value| untyped(&value?));
        let inputs: Vec<Value> = inputs.collect::<PyResult<_>>()?;
        let attrs: Map<Str, Value> = attributes.into_iter().collect();
        let request = [
            what.into(),
            op.into(),
            Array::from(inputs).into(),
            attrs.into(),
            outputs.into(),
        ];
        self.ask(py, &request)
    }
}

#[pymethods]
impl SiteHandle {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.ask(py, &["get".into(), name.into()])
    }

    /// The call that the pattern matched.
    #[getter]
    fn root<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.root)
    }

    /// The version of `ai.onnx` of that call.
    #[getter]
    fn version(&self) -> i64 {
        self.version
    }

    /// The sizes of a value's axes: an int if the size is known, otherwise its text, which
    /// is the same for equal sizes. None if not even their number is known.
    fn shape<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("shape", value)
    }

    /// The elements of a small tensor of integers or bools, if all are known in every run;
    /// otherwise None.
    fn ints<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("ints", value)
    }

    /// The elements of a constant of floats of 32 or 64 bits; otherwise None.
    fn floats<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("floats", value)
    }

    /// The name of a value's element type, such as `"float"` or `"int64"`; None if it is not
    /// known.
    fn elem_type<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("elem_type", value)
    }

    /// True if nothing else uses the value.
    fn has_one_use<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("has_one_use", value)
    }

    /// A constant, from an `isoform.Tensor` or an array.
    fn constant<'py>(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.about("constant", tensor)
    }

    /// Makes a call of an operator, simplified, and returns its result; a list of all results
    /// if `outputs` is not 1.
    ///
    /// `op` may have a domain, as in `com.microsoft::Gelu`. Attributes are given by name.
    #[pyo3(signature = (op, inputs, /, *, outputs=1, **attrs))]
    fn make<'py>(
        &self,
        op: &str,
        inputs: &Bound<'py, PyAny>,
        outputs: i64,
        attrs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.call(inputs.py(), "make", op, inputs, outputs, attrs)
    }

    /// As `make`, for the call that takes the place of the root, whose name it gets.
    #[pyo3(signature = (op, inputs, /, *, outputs=1, **attrs))]
    fn replace<'py>(
        &self,
        op: &str,
        inputs: &Bound<'py, PyAny>,
        outputs: i64,
        attrs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.call(inputs.py(), "replace", op, inputs, outputs, attrs)
    }
}

/// The program, the report, and what the page of the report shows.
type OptimizedRow<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, OptimizationHandle);

/// Optimises a program; see `isoform.onnx.optimize`.
#[pyfunction]
#[pyo3(signature = (model, *, fold, fuse, max_constant, only, without, rules))]
#[allow(clippy::too_many_arguments)]
fn onnx_optimize<'py>(
    model: &Bound<'py, PyAny>,
    fold: &str,
    fuse: bool,
    max_constant: Option<u64>,
    only: Option<Vec<String>>,
    without: Vec<String>,
    rules: Vec<Bound<'py, RuleHandle>>,
) -> PyResult<OptimizedRow<'py>> {
    let py = model.py();
    let program = program_of(model)?;
    let mut options = OptimizeOptions::default()
        .fold(Fold::from_name(fold).into_py()?)
        .fuse(fuse)
        .without(without)
        .rules(rules.iter().map(|rule| rule.get().0.clone()));
    if let Some(bytes) = max_constant {
        options = options.max_constant(bytes);
    }
    if let Some(only) = only {
        options = options.only(only);
    }
    let done = py.detach(|| options.optimize(&program)).into_py()?;
    let report = pythonize(py, &done.report)?;
    let optimized = to_python(py, &(&done.program).into())?;
    let handle = OptimizationHandle {
        programs: [program, done.program],
        report: done.report,
        verification: None,
        name: model_name(model).unwrap_or_else(|| "model".to_owned()),
    };
    Ok((optimized, report, handle))
}

/// The steps and rules of the library; see `isoform.onnx.rules`.
#[pyfunction]
fn onnx_rules(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize(py, &rule_infos().collect::<Vec<_>>())?)
}

/// The part of a program between values; see `isoform.onnx.extract`.
#[pyfunction]
fn onnx_extract<'py>(
    model: &Bound<'py, PyAny>,
    from: Vec<String>,
    to: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let program = program_of(model)?;
    let part = isoform_onnx::extract(&program, &from, &to).into_py()?;
    to_python(model.py(), &part.into())
}

/// A runtime of Python: its name, and a function that runs a model in a file or in bytes on
/// sets of inputs, and returns the results of each, or the reason why the run failed.
pub(crate) struct Runtime {
    name: String,
    run: Py<PyAny>,
}

impl Runtime {
    pub(crate) fn of(found: &Bound<'_, PyAny>) -> PyResult<Option<Runtime>> {
        if found.is_none() {
            return Ok(None);
        }
        let (name, run) = found.extract::<(String, Py<PyAny>)>()?;
        Ok(Some(Runtime { name, run }))
    }

    fn results(
        &self,
        py: Python<'_>,
        subject: Subject<'_>,
        cases: usize,
        encoded: &[u8],
    ) -> PyResult<Vec<Result<Vec<u8>, String>>> {
        let model = match subject.file {
            Some(file) => file.to_path_buf().into_pyobject(py)?.into_any(),
            None => match isoform_onnx::to_bytes(subject.program) {
                Ok(bytes) => PyBytes::new(py, &bytes).into_any(),
                // For example, the model is too large for a single file; another runner may
                // still run the model.
                Err(error) => return Ok(vec![Err(error.to_string()); cases]),
            },
        };
        let results = self
            .run
            .bind(py)
            .call1((model, PyBytes::new(py, encoded)))?;
        let results = results.try_iter()?;
        results
            .map(|result| {
                let result = result?;
                Ok(match result.cast::<PyBytes>() {
                    Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
                    Err(_) => Err(result.extract::<String>()?),
                })
            })
            .collect()
    }
}

impl Runner for Runtime {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>> {
        let pairs = cases.iter().map(|inputs| {
            let pairs = inputs.iter().map(|(name, value)| {
                Value::from(Array::from(vec![name.as_str().into(), value.clone()]))
            });
            Value::from(Array::from(pairs.collect::<Vec<_>>()))
        });
        let encoded = to_bytes(Array::from(pairs.collect::<Vec<_>>()))?;
        let ran = Python::attach(|py| self.results(py, subject, cases.len(), &encoded))
            .map_err(from_python)?;
        let decode = |bytes: Vec<u8>| -> Ran {
            let values = from_bytes(&bytes)
                .and_then(|value| value.extract::<Array>())
                .map_err(|error| error.to_string())?;
            Ok(values.values().to_vec())
        };
        Ok(ran
            .into_iter()
            .map(|result| result.and_then(decode))
            .collect())
    }
}

/// Runs two programs on the same inputs; see `isoform.onnx.verify`. Returns the cases, their
/// text, and both as they are for a page.
#[pyfunction]
#[pyo3(signature = (original, optimized, *, file, tolerance, seed, runtime, inputs, shapes))]
#[expect(clippy::too_many_arguments, reason = "options of Python are keywords")]
fn onnx_verify<'py>(
    original: &Bound<'py, PyAny>,
    optimized: &Bound<'py, PyAny>,
    file: Option<std::path::PathBuf>,
    tolerance: Option<(f64, f64)>,
    seed: u64,
    runtime: &Bound<'_, PyAny>,
    inputs: Vec<(String, Bound<'_, PyAny>)>,
    shapes: Vec<(String, Vec<i64>)>,
) -> PyResult<(Bound<'py, PyAny>, String, VerificationHandle)> {
    let py = original.py();
    let (left, right): (Ref<Program>, Ref<Program>) =
        (program_of(original)?, program_of(optimized)?);
    let runtime = Runtime::of(runtime)?;
    let mut options = VerifyOptions::default()
        .seed(seed)
        .inputs(named_values(inputs)?)
        .shapes(shapes);
    if let Some((rtol, atol)) = tolerance {
        options = options.tolerance(Tolerance { rtol, atol });
    }
    let report = py.detach(|| {
        let mut runners: Vec<&dyn Runner> = Vec::new();
        runners.extend(runtime.as_ref().map(|runner| runner as &dyn Runner));
        runners.push(&Evaluator);
        let subject = Subject {
            program: &left,
            file: file.as_deref(),
        };
        options.verify(subject, (&right).into(), &runners)
    });
    let report = report.into_py()?;
    let cases = pythonize(py, &report.cases)?;
    Ok((cases, report.to_string(), VerificationHandle(report)))
}
