//! The methods of `NodeVisitor`, `NodeMutator` and `NodeFunctor` for the engine
//! of the core, which traverses a value with an explicit stack.
//!
//! This module calls and resumes methods and converts results. The method for a class
//! is found by `python/isoform/visitors.py`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use isoform::host::{
    self, Call, Contents, Hooks, Memory, Methods, Outcome, Resumed, Retention, Stop,
};
use isoform::paths::AccessStep;
use isoform::traverse::Children;
use isoform::types::RegionKind;
use isoform::{Error, Obj, Ref, Value};
use pyo3::exceptions::{PyBaseException, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::way::shortened;
use crate::convert::{HostObject, to_python, untyped};
use crate::error::{self, IntoPyResult, from_python};
use crate::object::gil::{self, under_gil};
use crate::type_info::TypeInfoHandle;
use crate::walk::InterruptHandle;

/// The kind of result that methods return.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Nothing.
    Visit,
    /// Replacements of nodes.
    Rewrite,
    /// Anything.
    Compute,
}

/// The result for a value.
pub(super) enum Answer {
    Nothing,
    Value(Value),
    Python(Py<PyAny>),
}

impl Answer {
    pub(super) fn again(&self, py: Python<'_>) -> Answer {
        match self {
            Answer::Nothing => Answer::Nothing,
            Answer::Value(value) => Answer::Value(value.clone()),
            Answer::Python(value) => Answer::Python(value.clone_ref(py)),
        }
    }

    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Answer::Nothing => Ok(py.None().into_bound(py)),
            Answer::Value(value) => to_python(py, value),
            Answer::Python(value) => Ok(value.bind(py).clone()),
        }
    }
}

/// The exception that a method raised.
#[derive(Debug)]
pub(super) struct Raised(pub(super) PyErr);

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Raised(error)
    }
}

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        Raised(error::to_python(error))
    }
}

impl From<Raised> for Error {
    fn from(error: Raised) -> Self {
        from_python(error.0)
    }
}

fn failed(error: PyErr) -> Stop<Raised> {
    Stop::Error(Raised(error))
}

#[derive(Default)]
pub(super) struct State {
    /// The methods of classes, by the index of the type.
    methods: HashMap<u32, Option<Py<PyAny>>>,
    /// The node of the running method, with the region where the node was met.
    pub(super) open: Option<(Value, RegionKind)>,
    pub(super) memory: Memory<Answer>,
    pub(super) failure: Option<Failure>,
}

/// Where the last exception of a method was raised.
pub(super) struct Failure {
    exception: Py<PyBaseException>,
    /// The node of the method.
    node: Value,
}

/// The engine of one visit.
#[pyclass(frozen, name = "NodeDriver", module = "isoform._core")]
pub(crate) struct NodeDriver {
    rule: Rule,
    visitor: Py<PyAny>,
    generators: Py<PyType>,
    later: Py<PyType>,
    /// How long results are remembered.
    retention: Retention,
    state: Mutex<State>,
}

impl NodeDriver {
    pub(super) fn of(
        rule: Rule,
        visitor: Py<PyAny>,
        generators: Py<PyType>,
        later: Py<PyType>,
        retention: Retention,
    ) -> Self {
        NodeDriver {
            rule,
            visitor,
            generators,
            later,
            retention,
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The method for an object, if the class has a method.
    fn method(&self, py: Python<'_>, object: &Ref<Obj>) -> PyResult<Option<Py<PyAny>>> {
        let ty = host::type_index_of(object);
        if let Some(known) = self.state().methods.get(&ty.get()) {
            return Ok(known.as_ref().map(|method| method.clone_ref(py)));
        }
        let info = TypeInfoHandle::new(host::type_info(ty));
        let found = self.visitor.call_method1(py, "_method_for", (info,))?;
        let found = (!found.is_none(py)).then_some(found);
        let kept = found.as_ref().map(|method| method.clone_ref(py));
        self.state().methods.insert(ty.get(), kept);
        Ok(found)
    }

    /// The error for a method whose result is a call that nobody makes.
    #[cold]
    fn returned_later(&self, py: Python<'_>, node: &Value) -> PyErr {
        let visitor = self.visitor.bind(py).get_type();
        let key = node.as_object().map(|object| object.type_info().key());
        PyTypeError::new_err(format!(
            "{visitor}: expected the result of the method for {}, got a Later; write \
             `return (yield Later(method, node))`",
            key.unwrap_or("the value"),
            visitor = visitor
                .name()
                .map_or_else(|_| "a visitor".into(), |name| name.to_string()),
        ))
    }

    /// The error for a method that waits for the result of its own node.
    #[cold]
    fn asked_itself(&self, py: Python<'_>, node: &Value) -> PyErr {
        let info = node.as_object().map(host::type_index_of);
        let info = info.map(|ty| TypeInfoHandle::new(host::type_info(ty)));
        let method = self.visitor.bind(py).call_method1("_method_name", (info,));
        method.map_or_else(
            |error| error,
            |method| {
                PyValueError::new_err(format!(
                    "{method}: yield of the node whose method runs; \
                     `yield Later(super().generic_visit, node)` visits what lies below it"
                ))
            },
        )
    }

    /// Notes the node whose method raised an exception, and tells its memory. An exception that
    /// only passes through a method is not the method's own.
    #[cold]
    fn blame(
        &self,
        py: Python<'_>,
        error: PyErr,
        node: &Value,
        begin: impl FnOnce(&mut Memory<Answer>),
    ) -> Raised {
        let exception = error.value(py).clone().unbind();
        let mut state = self.state();
        let known = state.failure.as_ref();
        if known.is_some_and(|known| known.exception.is(&exception)) {
            return Raised(error);
        }
        begin(&mut state.memory);
        let node = node.clone();
        let old = state.failure.replace(Failure { exception, node });
        drop(state);
        // Dropping the old exception may run code that calls this engine.
        drop(old);
        Raised(error)
    }

    /// As [`blame`](Self::blame), for results of methods for parts, of which the node
    /// cannot be built.
    #[cold]
    fn blame_part(&self, py: Python<'_>, error: PyErr, children: &Children) -> Raised {
        let key = children.source().type_name();
        let text = error.value(py).to_string();
        let named = children
            .iter(RegionKind::Use)
            .enumerate()
            .find_map(|(at, child)| {
                let step = children.step(at)?;
                let AccessStep::Attr(field) = &step else {
                    return None;
                };
                let rest = text.strip_prefix(&format!("{key}.{field}"))?;
                rest.starts_with([':', '[']).then_some((child.value, step))
            });
        let (node, step) = match named {
            Some((part, step)) => (part, Some(step)),
            None => (children.source().clone(), None),
        };
        self.blame(py, error, &node, |memory| memory.begin_path(step))
    }

    /// Adds the method and the place of an exception to the exception.
    #[cold]
    pub(super) fn noted(&self, py: Python<'_>, error: PyErr, ended: &State) -> PyErr {
        let known = ended.failure.as_ref();
        let Some(known) = known.filter(|known| known.exception.is(error.value(py))) else {
            return error;
        };
        let info = known.node.as_object().map(host::type_index_of);
        let info = info.map(|ty| TypeInfoHandle::new(host::type_info(ty)));
        let method = self.visitor.bind(py).call_method1("_method_name", (info,));
        if let Ok(method) = method {
            let place = shortened(&ended.memory.path());
            error::note(py, &error, format!("in {method} at {place}"));
        }
        error
    }

    /// Runs code of a method while the node of the method is the open node.
    fn within<R>(&self, node: &Value, region: RegionKind, body: impl FnOnce() -> R) -> R {
        let outer = self.state().open.replace((node.clone(), region));
        let result = body();
        let inner = std::mem::replace(&mut self.state().open, outer);
        // Dropping the old engine state may run code that calls this engine.
        drop(inner);
        result
    }
}

/// The methods that the engine calls.
#[derive(Clone, Copy)]
pub(super) struct Visit<'a, 'py> {
    pub(super) driver: &'a NodeDriver,
    pub(super) py: Python<'py>,
}

impl<'py> Visit<'_, 'py> {
    /// Continues after a method returned `result`.
    pub(super) fn called(
        &self,
        result: Bound<'_, PyAny>,
        node: &Value,
        region: RegionKind,
    ) -> Outcome<Call<Self>, Self> {
        if result.get_type().is(self.driver.generators.bind(self.py)) {
            return Ok(Call::Waiting(result.unbind()));
        }
        self.accept(&result, node, region).map(Call::Answer)
    }

    /// Checks the return value of a method.
    fn accept(
        &self,
        result: &Bound<'_, PyAny>,
        node: &Value,
        region: RegionKind,
    ) -> Outcome<Answer, Self> {
        let (py, driver) = (self.py, self.driver);
        if result.get_type().is(driver.later.bind(py)) {
            return Err(self.refused(driver.returned_later(py, node), node));
        }
        match driver.rule {
            Rule::Compute => return Ok(Answer::Python(result.clone().unbind())),
            Rule::Visit if result.is_none() => return Ok(Answer::Nothing),
            Rule::Visit if result.is_instance_of::<InterruptHandle>() => {
                return Err(Stop::End(HostObject::wrap(result)));
            }
            Rule::Visit | Rule::Rewrite => {}
        }
        let shown = to_python(py, node).map_err(failed)?;
        if driver.rule == Rule::Rewrite && result.is(&shown) {
            return Ok(Answer::Value(node.clone()));
        }
        let accepted = driver.within(node, region, || {
            let arguments = (&shown, result);
            driver.visitor.bind(py).call_method1("_accept", arguments)
        });
        let accepted = accepted.and_then(|accepted| untyped(&accepted));
        match accepted {
            Ok(value) => Ok(Answer::Value(value)),
            Err(error) => Err(self.refused(error, node)),
        }
    }

    /// The exception of the method for a node, or of its result.
    #[cold]
    fn refused(&self, error: PyErr, node: &Value) -> Stop<Raised> {
        let begin = |memory: &mut Memory<Answer>| memory.begin_path(None);
        Stop::Error(self.driver.blame(self.py, error, node, begin))
    }

    /// The exception of a method that was resumed.
    #[cold]
    fn thrown(&self, error: PyErr, node: &Value) -> Stop<Raised> {
        let begin = |memory: &mut Memory<Answer>| memory.begin_path_here();
        Stop::Error(self.driver.blame(self.py, error, node, begin))
    }

    /// Resumes a generator: returns the request, or the return value with true.
    fn send(
        &self,
        generator: &Py<PyAny>,
        reply: Option<Result<Answer, Raised>>,
    ) -> PyResult<(Bound<'py, PyAny>, bool)> {
        let py = self.py;
        let generator = generator.bind(py);
        let resumed = match reply {
            Some(Err(Raised(error))) => {
                let throw = generator.getattr("throw")?;
                gil::call(&throw, &[error.into_value(py).bind(py).as_any()])
            }
            reply => {
                let answer = match reply {
                    Some(Ok(answer)) => answer.to_python(py)?,
                    _ => py.None().into_bound(py),
                };
                let send = generator.getattr("send")?;
                gil::call(&send, &[&answer])
            }
        };
        match resumed {
            Ok(asked) => Ok((asked, false)),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                Ok((error.value(py).getattr("value")?, true))
            }
            Err(error) => Err(error),
        }
    }

    /// Calls the method that gets the node from a generator.
    fn call_later(
        &self,
        later: &Bound<'_, PyAny>,
        node: &Value,
        region: RegionKind,
    ) -> Outcome<Call<Self>, Self> {
        let visitor = self.driver.visitor.bind(self.py);
        let begin = || visitor.call_method1("_begin", (later,));
        let begun = self.driver.within(node, region, begin);
        let begun = begun.and_then(|begun| begun.extract::<(bool, Bound<'_, PyAny>)>());
        match begun.map_err(|error| self.refused(error, node))? {
            (true, result) => self.called(result, node, region),
            (false, _) => Ok(Call::Children),
        }
    }

    /// The result of a functor for a value without a method: containers have
    /// the results of their elements.
    fn collected(&self, children: &Children, replies: &[Answer]) -> PyResult<Py<PyAny>> {
        let py = self.py;
        let replies = replies.iter().map(|reply| reply.to_python(py));
        Ok(match host::contents(children.source()) {
            Some(Contents::Items(_)) => PyTuple::new(py, replies.collect::<PyResult<Vec<_>>>()?)?
                .into_any()
                .unbind(),
            Some(Contents::Entries(_)) => {
                let results = PyDict::new(py);
                for (position, result) in replies.enumerate() {
                    let step = self.reading(|| children.step(position));
                    if let Some(AccessStep::MapItem(key)) = step {
                        results.set_item(to_python(py, &key)?, result?)?;
                    }
                }
                results.into_any().unbind()
            }
            None => to_python(py, children.source())?.unbind(),
        })
    }
}

impl<'py> Methods for Visit<'_, 'py> {
    type Answer = Answer;
    type Reply = Answer;
    /// A generator.
    type Waiting = Py<PyAny>;
    type Error = Raised;

    fn memory<T>(&self, body: impl FnOnce(&mut Memory<Answer>) -> T) -> T {
        body(&mut self.driver.state().memory)
    }

    fn reply(&self, answer: &Answer) -> Answer {
        answer.again(self.py)
    }

    fn plain(&self, value: Value) -> Outcome<Answer, Self> {
        Ok(match self.driver.rule {
            Rule::Visit => Answer::Nothing,
            Rule::Rewrite => Answer::Value(value),
            Rule::Compute => Answer::Python(to_python(self.py, &value).map_err(failed)?.unbind()),
        })
    }

    fn call(&self, node: &Value, region: RegionKind) -> Outcome<Call<Self>, Self> {
        let (py, driver) = (self.py, self.driver);
        let Some(object) = node.as_object() else {
            return Ok(Call::Children);
        };
        let Some(method) = driver.method(py, object).map_err(failed)? else {
            return Ok(Call::Children);
        };
        let shown = to_python(py, node).map_err(failed)?;
        let arguments = [driver.visitor.bind(py), &shown];
        let call = || gil::call(method.bind(py), &arguments);
        let result = driver.within(node, region, call);
        let result = result.map_err(|error| self.refused(error, node))?;
        self.called(result, node, region)
    }

    fn resume(
        &self,
        generator: &mut Py<PyAny>,
        node: &Value,
        region: RegionKind,
        reply: Option<Result<Answer, Raised>>,
    ) -> Outcome<Resumed<Self>, Self> {
        let send = || self.send(generator, reply);
        let sent = self.driver.within(node, region, send);
        let (result, has_ended) = sent.map_err(|error| self.thrown(error, node))?;
        if has_ended {
            return self.accept(&result, node, region).map(Resumed::Answer);
        }
        if result.get_type().is(self.driver.later.bind(self.py)) {
            return Ok(Resumed::Call(self.call_later(&result, node, region)));
        }
        let asked = untyped(&result).map_err(|error| self.thrown(error, node))?;
        if let (Some(asked), Some(node_object)) = (asked.as_object(), node.as_object())
            && asked.same_as(node_object)
        {
            return Err(self.thrown(self.driver.asked_itself(self.py, node), node));
        }
        Ok(Resumed::Ask(asked))
    }

    fn combine(&self, children: &Children, replies: Vec<Answer>) -> Result<Answer, Raised> {
        match self.driver.rule {
            Rule::Visit => Ok(Answer::Nothing),
            Rule::Rewrite => {
                let replies = replies.into_iter().filter_map(Self::replacement).collect();
                let rebuilt = self.reading(|| children.rebuild(replies)).into_py();
                let blame = |error| self.driver.blame_part(self.py, error, children);
                rebuilt.map(Answer::Value).map_err(blame)
            }
            Rule::Compute => Ok(Answer::Python(self.collected(children, &replies)?)),
        }
    }

    fn hooks(&self) -> Hooks {
        match self.driver.rule {
            Rule::Visit => Hooks::Visit,
            Rule::Rewrite => Hooks::Mutate,
            Rule::Compute => Hooks::None,
        }
    }

    fn answer_of(&self, value: Value) -> Answer {
        match self.driver.rule {
            Rule::Visit => Answer::Nothing,
            Rule::Rewrite | Rule::Compute => Answer::Value(value),
        }
    }

    fn replacement(reply: Answer) -> Option<Value> {
        match reply {
            Answer::Value(value) => Some(value),
            Answer::Nothing | Answer::Python(_) => None,
        }
    }

    fn retention(&self) -> Retention {
        self.driver.retention
    }

    fn is_located(&self, _error: &Raised) -> bool {
        true
    }

    fn reading<T>(&self, body: impl FnOnce() -> T) -> T {
        under_gil(self.py, body)
    }
}
