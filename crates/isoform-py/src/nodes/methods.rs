//! The methods that visitors of Python call.

use isoform::Value;
use isoform::host::{self, Call, Retention, Stop};
use isoform::types::{RegionKind, TypeInfo, registered_types};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::driver::{Answer, NodeDriver, Raised, Rule, Visit};
use super::stack::level;
use super::way::located;
use crate::convert::{to_python, untyped};
use crate::object::gil::enter_call;
use crate::walk::{interrupt_of, var_of};

/// The outcome of a run.
type RunOutcome = Result<Answer, Stop<Raised>>;

impl<'py> Visit<'_, 'py> {
    /// The outcome of a run as seen by Python.
    fn shown(self, outcome: RunOutcome) -> PyResult<Bound<'py, PyAny>> {
        match outcome {
            Ok(answer) => answer.to_python(self.py),
            Err(Stop::End(end)) => Ok(interrupt_of(self.py, &end)?.into_bound(self.py)),
            Err(Stop::Error(Raised(error))) => Err(error),
        }
    }
}

impl NodeDriver {
    /// Runs the engine for a value that the method of the open node asks for.
    fn ask<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        run: impl FnOnce(Visit<'_, 'py>, &Value, RegionKind, Option<&Value>) -> RunOutcome,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let _depth = enter_call(py)?;
        let value = untyped(value)?;
        let open = self.state().open.clone();
        let region = open.as_ref().map_or(RegionKind::Use, |open| open.1);
        let from = open.as_ref().map(|open| &open.0);
        let visit = Visit { driver: self, py };
        visit.shown(run(visit, &value, region, from))
    }
}

/// Runs a method of the engine in this thread, or calls the method in another thread.
fn leveled<'py, const N: usize>(
    driver: &Bound<'py, NodeDriver>,
    method: &str,
    arguments: [&Bound<'py, PyAny>; N],
    run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = driver.py();
    let elsewhere = || Ok((driver.getattr(method)?, PyTuple::new(py, arguments)?));
    level(py, run, elsewhere)
}

#[pymethods]
impl NodeDriver {
    /// The engine for one visit by a visitor. `rule` is "visit", "rewrite" or
    /// "compute"; `later` is the class of the objects that hand a node on to a method, and
    /// `memo` says how long the result of a node is remembered: "visit", "bindings" or
    /// "request".
    #[new]
    fn new(
        visitor: Py<PyAny>,
        rule: &str,
        generators: Py<PyType>,
        later: Py<PyType>,
        memo: &str,
    ) -> PyResult<Self> {
        let rule = match rule {
            "visit" => Rule::Visit,
            "rewrite" => Rule::Rewrite,
            "compute" => Rule::Compute,
            other => return Err(PyValueError::new_err(format!("no rule is called {other}"))),
        };
        let retention = match memo {
            "visit" => Retention::Visit,
            "bindings" => Retention::Bindings,
            "request" => Retention::Request,
            other => return Err(PyValueError::new_err(format!("no memo is called {other}"))),
        };
        Ok(NodeDriver::of(rule, visitor, generators, later, retention))
    }

    /// The node whose method runs, or None.
    #[getter]
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let open = self.state().open.as_ref().map(|open| open.0.clone());
        open.map(|open| to_python(py, &open)).transpose()
    }

    /// The result for the value that the whole visit is about.
    ///
    /// An exception of a method gets a note with the method and the place. A RecursionError
    /// names the place, and has it as its `path`.
    fn start<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let driver = slf.get();
        let visit = Visit {
            driver,
            py: value.py(),
        };
        leveled(slf, "start", [value], || {
            let outcome = host::result_of(&visit, &untyped(value)?, RegionKind::Use, None);
            let ended = std::mem::take(&mut *driver.state());
            let result = visit.shown(outcome);
            result.map_err(|error| {
                let error = driver.noted(visit.py, error, &ended);
                located(visit.py, error, ended.memory.path())
            })
        })
    }

    /// The result for a value that a method asks for while it runs.
    fn visit<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        leveled(slf, "visit", [value], || {
            slf.get().ask(value, |visit, value, region, from| {
                host::result_of(&visit, value, region, from)
            })
        })
    }

    /// The result for a value by way of its children, whatever method it has.
    fn below<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        leveled(slf, "below", [value], || {
            slf.get().ask(value, |visit, value, region, from| {
                host::result_of_call(&visit, Call::Children, value, region, from)
            })
        })
    }

    /// The result of a method of the open node that is a generator.
    fn finish<'py>(
        slf: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
        generator: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        leveled(slf, "finish", [value, generator], || {
            slf.get().ask(value, |visit, value, region, from| {
                let call = visit.called(generator.clone(), value, region)?;
                host::result_of_call(&visit, call, value, region, from)
            })
        })
    }

    /// Records what comes in place of a variable wherever it is met from now
    /// on.
    fn remap(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (var, value) = (var_of(var)?, Answer::Value(untyped(value)?));
        let old = self.state().memory.set(var.identity(), value);
        // Dropping the old object may run code that calls this engine.
        drop(old);
        Ok(())
    }

    /// Records what comes in place of the uses of a variable that are met from
    /// now on, whatever method it has.
    fn remap_uses(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (var, value) = (var_of(var)?, untyped(value)?);
        let old = self.state().memory.set_use(var.identity(), value);
        // Dropping the old object may run code that calls this engine.
        drop(old);
        Ok(())
    }

    /// The result of a node that was visited before; None for other nodes.
    fn image<'py>(&self, node: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = node.py();
        let place = var_of(node)?.identity();
        let found = self.state().memory.answer(place).map(|it| it.again(py));
        found.map(|answer| answer.to_python(py)).transpose()
    }
}

/// The names of the registered types for visitors: key, dialect, and the name of the
/// class.
#[pyfunction]
pub(crate) fn _visit_names() -> Vec<(String, String, String)> {
    let names = |info: &'static TypeInfo| {
        let (key, dialect) = (info.key().to_owned(), info.dialect().to_owned());
        (key, dialect, info.visit_name().into_owned())
    };
    registered_types().into_iter().map(names).collect()
}

/// How many types are registered.
#[pyfunction]
pub(crate) fn _type_count() -> usize {
    registered_types().len()
}
