//! The engine of `NodeVisitor`, `NodeMutator` and `NodeFunctor`: traverses a
//! value with an explicit stack, on which methods that are generators wait for
//! what they asked for.
//!
//! Which method a class goes to is said by `python/isoform/visitors.py`; hooks
//! of types are in `hooks.rs`, and the way to an error is in `way.rs`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use isoform::host::{self, Contents};
use isoform::paths::AccessStep;
use isoform::traverse::{ChildOptions, Children};
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::{PyRecursionError, PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::way::between;
use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
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

/// Why a run ends early.
pub(super) enum Stop {
    Error(PyErr),
    /// A method of a visitor returned this.
    Interrupt(Py<PyAny>),
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Self {
        Stop::Error(error)
    }
}

pub(super) type Outcome<T> = Result<T, Stop>;

#[derive(Default)]
pub(super) struct State {
    /// The methods of classes, by the index of the type.
    methods: HashMap<u32, Option<Py<PyAny>>>,
    /// The node whose method runs, and the region in which it was met.
    pub(super) open: Option<(Value, RegionKind)>,
    /// Results of nodes; None while one is being visited.
    pub(super) known: HashMap<u64, Option<Answer>>,
    /// Replacements of uses of variables, whatever method they have.
    pub(super) uses: HashMap<u64, Value>,
    /// The way to an error, its last step first.
    pub(super) way: Vec<AccessStep>,
}

/// The engine of one visit.
#[pyclass(frozen, name = "NodeDriver", module = "isoform._core")]
pub(crate) struct NodeDriver {
    pub(super) rule: Rule,
    visitor: Py<PyAny>,
    generators: Py<PyType>,
    later: Py<PyType>,
    state: Mutex<State>,
}

/// A value that is being visited.
pub(super) struct Frame {
    value: Value,
    region: RegionKind,
    /// The node for which the result is kept.
    place: Option<u64>,
    work: Work,
}

enum Work {
    /// The children are visited in order.
    Children {
        children: Children,
        next: usize,
        done: Vec<Answer>,
    },
    /// A method waits for what it asked for.
    Method {
        generator: Py<PyAny>,
        asked: Option<Value>,
    },
}

fn options() -> ChildOptions {
    ChildOptions::default().keys(false)
}

/// The object of a value that is not plain.
pub(super) fn node_of(value: &Value) -> Option<&Ref<Obj>> {
    let object = value.as_object();
    object.filter(|object| !host::is_plain(host::type_index_of(object)))
}

#[cold]
fn cyclic(value: &Value) -> PyErr {
    let name = value.type_name();
    PyValueError::new_err(format!("cyclic value: the {name} contains itself"))
}

impl NodeDriver {
    pub(super) fn of(
        rule: Rule,
        visitor: Py<PyAny>,
        generators: Py<PyType>,
        later: Py<PyType>,
    ) -> Self {
        NodeDriver {
            rule,
            visitor,
            generators,
            later,
            state: Mutex::default(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The region in which the node was met whose method runs.
    pub(super) fn region(&self) -> RegionKind {
        let state = self.state();
        state.open.as_ref().map_or(RegionKind::Use, |open| open.1)
    }

    /// The method for an object, if its class has one.
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

    /// The result for a value that a method asks for while it runs.
    pub(super) fn run(&self, py: Python<'_>, value: &Value, region: RegionKind) -> Outcome<Answer> {
        self.nested(py, value, |stack| {
            self.meet(py, value.clone(), region, stack)
        })
    }

    /// The result for a value from those of its children.
    pub(super) fn run_children(
        &self,
        py: Python<'_>,
        value: &Value,
        region: RegionKind,
        hooked: Option<&Ref<Obj>>,
    ) -> Outcome<Answer> {
        self.nested(py, value, |stack| {
            if let Some(object) = node_of(value)
                && !hooked.is_some_and(|hooked| hooked.same_as(object))
                && let Some(answer) = self.by_hook(py, object, region)
            {
                return answer.map(Some);
            }
            stack.push(Self::children(py, value.clone(), region, None));
            Ok(None)
        })
    }

    /// Runs what `begin` puts on a stack of its own. An error on the way notes
    /// its steps from the node that is open now.
    pub(super) fn nested(
        &self,
        py: Python<'_>,
        value: &Value,
        begin: impl FnOnce(&mut Vec<Frame>) -> Outcome<Option<Answer>>,
    ) -> Outcome<Answer> {
        let mut stack = Vec::new();
        let outcome = match begin(&mut stack) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => self.descend(py, &mut stack),
            Err(stop) => Err(stop),
        };
        self.forget(&stack);
        if let Err(Stop::Error(error)) = &outcome
            && error.is_instance_of::<PyRecursionError>(py)
        {
            let open = self.state().open.as_ref().map(|open| open.0.clone());
            let steps = open.map_or(Vec::new(), |open| between(py, &open, value));
            self.state().way.extend(steps);
        }
        outcome
    }

    /// Forgets values that were not visited to their end.
    fn forget(&self, stack: &[Frame]) {
        let mut state = self.state();
        for place in stack.iter().filter_map(|frame| frame.place) {
            state.known.remove(&place);
        }
    }

    fn children(py: Python<'_>, value: Value, region: RegionKind, place: Option<u64>) -> Frame {
        let children = under_gil(py, || options().children_of(&value));
        Frame {
            value,
            region,
            place,
            work: Work::Children {
                children,
                next: 0,
                done: Vec::new(),
            },
        }
    }

    /// The result for a value, or None when it was put on the stack.
    fn meet(
        &self,
        py: Python<'_>,
        value: Value,
        region: RegionKind,
        stack: &mut Vec<Frame>,
    ) -> Outcome<Option<Answer>> {
        let Some(object) = node_of(&value) else {
            return Ok(Some(match self.rule {
                Rule::Visit => Answer::Nothing,
                Rule::Rewrite => Answer::Value(value),
                Rule::Compute => Answer::Python(to_python(py, &value)?.unbind()),
            }));
        };
        let place = object.identity();
        {
            let mut state = self.state();
            if region == RegionKind::Use
                && let Some(image) = state.uses.get(&place)
            {
                return Ok(Some(Answer::Value(image.clone())));
            }
            match state.known.get(&place) {
                Some(Some(answer)) => return Ok(Some(answer.again(py))),
                Some(None) => return Err(cyclic(&value).into()),
                None => drop(state.known.insert(place, None)),
            }
        }
        let answer = match self.method(py, object) {
            Ok(Some(method)) => self.call(py, &method, &value, region, Some(place), stack),
            Ok(None) => match self.by_hook(py, object, region) {
                Some(answer) => answer.map(Some),
                None => {
                    stack.push(Self::children(py, value.clone(), region, Some(place)));
                    return Ok(None);
                }
            },
            Err(error) => Err(error.into()),
        };
        match answer {
            Ok(None) => Ok(None),
            Ok(Some(answer)) => {
                let kept = Some(answer.again(py));
                self.state().known.insert(place, kept);
                Ok(Some(answer))
            }
            Err(stop) => {
                self.state().known.remove(&place);
                Err(stop)
            }
        }
    }

    /// Calls a method for its node; None when it waits on the stack.
    fn call(
        &self,
        py: Python<'_>,
        method: &Py<PyAny>,
        value: &Value,
        region: RegionKind,
        place: Option<u64>,
        stack: &mut Vec<Frame>,
    ) -> Outcome<Option<Answer>> {
        let node = to_python(py, value)?;
        let arguments = [self.visitor.bind(py), &node];
        let result = self.within(value, region, || gil::call(method.bind(py), &arguments))?;
        self.begin(py, result, value, region, place, stack)
    }

    /// The result of a method, unless it is a generator, which is
    /// put on the stack.
    pub(super) fn begin(
        &self,
        py: Python<'_>,
        result: Bound<'_, PyAny>,
        value: &Value,
        region: RegionKind,
        place: Option<u64>,
        stack: &mut Vec<Frame>,
    ) -> Outcome<Option<Answer>> {
        if !result.get_type().is(self.generators.bind(py)) {
            return self.accept(py, value, region, &result).map(Some);
        }
        stack.push(Frame {
            value: value.clone(),
            region,
            place,
            work: Work::Method {
                generator: result.unbind(),
                asked: None,
            },
        });
        Ok(None)
    }

    /// Runs code of a method, for which its node is the open one.
    fn within<R>(&self, value: &Value, region: RegionKind, body: impl FnOnce() -> R) -> R {
        let outer = self.state().open.replace((value.clone(), region));
        let result = body();
        let inner = std::mem::replace(&mut self.state().open, outer);
        // Its end may run code that asks this engine.
        drop(inner);
        result
    }

    /// Checks the return value of a method.
    fn accept(
        &self,
        py: Python<'_>,
        value: &Value,
        region: RegionKind,
        result: &Bound<'_, PyAny>,
    ) -> Outcome<Answer> {
        match self.rule {
            Rule::Compute => return Ok(Answer::Python(result.clone().unbind())),
            Rule::Visit if result.is_none() => return Ok(Answer::Nothing),
            Rule::Visit if result.is_instance_of::<InterruptHandle>() => {
                return Err(Stop::Interrupt(result.clone().unbind()));
            }
            Rule::Visit | Rule::Rewrite => {}
        }
        let node = to_python(py, value)?;
        if self.rule == Rule::Rewrite && result.is(&node) {
            return Ok(Answer::Value(value.clone()));
        }
        let accepted = self.within(value, region, || {
            let arguments = (&node, result);
            self.visitor.bind(py).call_method1("_accept", arguments)
        })?;
        Ok(Answer::Value(untyped(&accepted)?))
    }

    /// Visits what is on the stack; the result of the lowest frame.
    fn descend(&self, py: Python<'_>, stack: &mut Vec<Frame>) -> Outcome<Answer> {
        let mut reply = None;
        while !stack.is_empty() {
            reply = match self.step(py, stack, reply) {
                Ok(Step::Go(answer)) => answer.map(Ok),
                Ok(Step::Throw(error)) => Some(Err(error)),
                Ok(Step::Leave(answer)) => {
                    let place = stack.pop().and_then(|frame| frame.place);
                    if let Some(place) = place {
                        let kept = Some(answer.again(py));
                        self.state().known.insert(place, kept);
                    }
                    Some(Ok(answer))
                }
                Err(Stop::Error(error)) => {
                    if let Some(frame) = stack.pop() {
                        self.fail(py, frame, &error);
                    }
                    Some(Err(error))
                }
                Err(interrupt) => return Err(interrupt),
            };
        }
        match reply {
            Some(answer) => answer.map_err(Stop::from),
            None => Ok(Answer::Nothing),
        }
    }

    /// Goes on with the last frame, after what it asked for came to `reply`. An
    /// error is one of the frame itself.
    fn step(
        &self,
        py: Python<'_>,
        stack: &mut Vec<Frame>,
        reply: Option<PyResult<Answer>>,
    ) -> Outcome<Step> {
        let Some(frame) = stack.last_mut() else {
            return Ok(Step::Go(None));
        };
        let region = frame.region;
        match &mut frame.work {
            Work::Children {
                children,
                next,
                done,
            } => {
                done.extend(reply.transpose()?);
                let Some(child) = under_gil(py, || children.get(*next, region)) else {
                    let done = std::mem::take(done);
                    return Ok(Step::Leave(self.combine(py, children, done)?));
                };
                *next += 1;
                let met = self.meet(py, child.value, child.region, stack)?;
                Ok(Step::Go(met))
            }
            Work::Method { generator, asked } => {
                *asked = None;
                let (value, generator) = (frame.value.clone(), generator.clone_ref(py));
                let failed = matches!(reply, Some(Err(_)));
                let resumed = self.within(&value, region, || resume(generator.bind(py), reply));
                let (result, has_ended) = resumed?;
                if failed {
                    self.state().way.clear();
                }
                if has_ended {
                    return Ok(Step::Leave(self.accept(py, &value, region, &result)?));
                }
                let met = if result.get_type().is(self.later.bind(py)) {
                    self.hand_on(py, &result, &value, region, stack)
                } else {
                    let child = untyped(&result)?;
                    if let Some(Frame {
                        work: Work::Method { asked, .. },
                        ..
                    }) = stack.last_mut()
                    {
                        *asked = Some(child.clone());
                    }
                    self.meet(py, child, region, stack)
                };
                match met {
                    Ok(met) => Ok(Step::Go(met)),
                    // The method may catch what its child raised.
                    Err(Stop::Error(error)) => Ok(Step::Throw(error)),
                    Err(interrupt) => Err(interrupt),
                }
            }
        }
    }

    /// Calls the method that another one hands its node on to.
    fn hand_on(
        &self,
        py: Python<'_>,
        later: &Bound<'_, PyAny>,
        value: &Value,
        region: RegionKind,
        stack: &mut Vec<Frame>,
    ) -> Outcome<Option<Answer>> {
        let begun = self.within(value, region, || {
            self.visitor.bind(py).call_method1("_begin", (later,))
        })?;
        let (has_method, result) = begun.extract::<(bool, Bound<'_, PyAny>)>()?;
        if has_method {
            return self.begin(py, result, value, region, None, stack);
        }
        if let Some(object) = node_of(value)
            && let Some(answer) = self.by_hook(py, object, region)
        {
            return answer.map(Some);
        }
        stack.push(Self::children(py, value.clone(), region, None));
        Ok(None)
    }

    /// Gives a frame up, and notes its step of the way to the error.
    fn fail(&self, py: Python<'_>, frame: Frame, error: &PyErr) {
        let mut steps = Vec::new();
        if error.is_instance_of::<PyRecursionError>(py) {
            match &frame.work {
                Work::Children { children, next, .. } => {
                    let step = || children.step(next.checked_sub(1)?);
                    steps.extend(under_gil(py, step));
                }
                Work::Method { asked, .. } => {
                    let asked = asked.as_ref();
                    steps
                        .extend(asked.map_or(Vec::new(), |asked| between(py, &frame.value, asked)));
                }
            }
        }
        let mut state = self.state();
        state.way.extend(steps);
        if let Some(place) = frame.place {
            state.known.remove(&place);
        }
        drop(state);
        // Its end may run code that asks this engine.
        drop(frame);
    }

    /// The result for a value whose children have been visited.
    fn combine(&self, py: Python<'_>, children: &Children, done: Vec<Answer>) -> PyResult<Answer> {
        match self.rule {
            Rule::Visit => Ok(Answer::Nothing),
            Rule::Rewrite => {
                let value = |answer| match answer {
                    Answer::Value(value) => value,
                    Answer::Nothing | Answer::Python(_) => Value::NONE,
                };
                let done = done.into_iter().map(value).collect();
                let rebuilt = under_gil(py, || children.rebuild(done)).into_py()?;
                Ok(Answer::Value(rebuilt))
            }
            Rule::Compute => {
                let done: Vec<_> = done
                    .iter()
                    .map(|answer| answer.to_python(py))
                    .collect::<PyResult<_>>()?;
                let made = match host::contents(children.source()) {
                    Some(Contents::Items(_)) => PyTuple::new(py, done)?.into_any(),
                    Some(Contents::Entries(_)) => {
                        let results = PyDict::new(py);
                        for (position, result) in done.into_iter().enumerate() {
                            let step = under_gil(py, || children.step(position));
                            if let Some(AccessStep::MapItem(key)) = step {
                                results.set_item(to_python(py, &key)?, result)?;
                            }
                        }
                        results.into_any()
                    }
                    None => to_python(py, children.source())?,
                };
                Ok(Answer::Python(made.unbind()))
            }
        }
    }
}

/// The next step of a frame.
enum Step {
    /// A child has this result, or lies on the stack and has none so far.
    Go(Option<Answer>),
    /// The child that a method asked for has failed.
    Throw(PyErr),
    /// The frame has its result.
    Leave(Answer),
}

/// Goes on with a generator: what it asks for or, when it has ended, what it
/// returned.
fn resume<'py>(
    generator: &Bound<'py, PyAny>,
    reply: Option<PyResult<Answer>>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let py = generator.py();
    let resumed = match reply {
        Some(Err(error)) => {
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
