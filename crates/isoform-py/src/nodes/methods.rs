//! The methods that visitors of Python call.

use isoform::types::{RegionKind, TypeInfo, registered_types};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::driver::{Answer, NodeDriver, Outcome, Rule, Stop, node_of};
use super::way::located;
use crate::convert::{to_python, untyped};
use crate::object::gil::enter_call;

impl NodeDriver {
    /// The outcome of a run as Python sees it.
    fn shown<'py>(&self, py: Python<'py>, outcome: Outcome<Answer>) -> PyResult<Bound<'py, PyAny>> {
        match outcome {
            Ok(answer) => answer.to_python(py),
            Err(Stop::Interrupt(interrupt)) => Ok(interrupt.into_bound(py)),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

#[pymethods]
impl NodeDriver {
    /// The engine for one visit by a visitor. `rule` is "visit", "rewrite" or
    /// "compute"; `later` is the class of what hands a node on to a method.
    #[new]
    fn new(
        visitor: Py<PyAny>,
        rule: &str,
        generators: Py<PyType>,
        later: Py<PyType>,
    ) -> PyResult<Self> {
        let rule = match rule {
            "visit" => Rule::Visit,
            "rewrite" => Rule::Rewrite,
            "compute" => Rule::Compute,
            other => return Err(PyValueError::new_err(format!("no rule is called {other}"))),
        };
        Ok(NodeDriver::of(rule, visitor, generators, later))
    }

    /// The node whose method runs, or None.
    #[getter]
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let open = self.state().open.as_ref().map(|open| open.0.clone());
        open.map(|open| to_python(py, &open)).transpose()
    }

    /// The result for the value that the whole visit is about.
    ///
    /// A RecursionError names the place, and has it as its `path`.
    fn start<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let outcome = self.run(py, &untyped(value)?, RegionKind::Use);
        let ended = std::mem::take(&mut *self.state());
        let result = self.shown(py, outcome);
        result.map_err(|error| located(py, error, &ended.way))
    }

    /// The result for a value that a method asks for while it runs.
    fn visit<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let _depth = enter_call(py)?;
        self.shown(py, self.run(py, &untyped(value)?, self.region()))
    }

    /// The result for a value by way of its children, whatever method it has.
    fn below<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let _depth = enter_call(py)?;
        let outcome = self.run_children(py, &untyped(value)?, self.region(), None);
        self.shown(py, outcome)
    }

    /// The result of a method of the open node that is a generator.
    fn finish<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        generator: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = value.py();
        let _depth = enter_call(py)?;
        let (value, region) = (untyped(value)?, self.region());
        let outcome = self.nested(py, &value, |stack| {
            self.begin(py, generator.clone(), &value, region, None, stack)
        });
        self.shown(py, outcome)
    }

    /// Records what comes in place of a variable wherever it is met from now
    /// on.
    fn remap(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (var, value) = (var_of(var)?, Answer::Value(untyped(value)?));
        let old = self.state().known.insert(var, Some(value));
        // Its end may run code that asks this engine.
        drop(old);
        Ok(())
    }

    /// Records what comes in place of the uses of a variable that are met from
    /// now on, whatever method it has.
    fn remap_uses(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (var, value) = (var_of(var)?, untyped(value)?);
        let old = self.state().uses.insert(var, value);
        // Its end may run code that asks this engine.
        drop(old);
        Ok(())
    }

    /// The result of a node that was visited before; None for other nodes.
    fn image<'py>(&self, node: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = node.py();
        let place = var_of(node)?;
        let found = self.state().known.get(&place).and_then(|known| {
            let answer = known.as_ref()?;
            Some(answer.again(py))
        });
        found.map(|answer| answer.to_python(py)).transpose()
    }
}

/// The identity of what may be remapped.
fn var_of(var: &Bound<'_, PyAny>) -> PyResult<u64> {
    let value = untyped(var)?;
    match node_of(&value) {
        Some(object) => Ok(object.identity()),
        None => Err(PyTypeError::new_err(format!(
            "expected a variable, got {}",
            value.type_name()
        ))),
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
