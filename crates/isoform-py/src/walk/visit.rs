//! `structural_visit`: callbacks that decide themselves what is visited below
//! their value.

use std::sync::Mutex;

use isoform::host::visit_by_hook;
use isoform::{ChildOptions, Children, Obj, Ref, RegionKind, Value, VisitCallback, children_of};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::dispatch::{Callbacks, node_of};
use super::enums;
use super::visitor::{Mark, State, VisitorHandle, Work};
use super::walker::{InterruptHandle, interrupt_of};
use crate::convert::{HostObject, to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{enter_call, under_gil};

/// A value whose children are being visited.
struct Frame {
    children: Children,
    next: usize,
    region: RegionKind,
    mark: Option<(u64, RegionKind)>,
}

/// The result of a visit: None, or the interrupt that ended it.
type Outcome = PyResult<Option<Py<PyAny>>>;

pub(super) fn options() -> ChildOptions {
    ChildOptions::default().keys(false)
}

/// The children of a value, read under the GIL.
pub(super) fn children(py: Python<'_>, value: &Value) -> Children {
    under_gil(py, || children_of(value, options()))
}

/// The error for a value that is met while it is open.
#[cold]
pub(super) fn cyclic(value: &Value) -> PyErr {
    PyValueError::new_err(format!(
        "cyclic value: the {} contains itself",
        value.type_name()
    ))
}

/// The error for an engine that is used after its end.
#[cold]
pub(super) fn ended(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "the {what} has ended; its engine cannot be used any more"
    ))
}

impl VisitorHandle {
    /// The end of the walk as the core handed it to a hook.
    fn ended_by(py: Python<'_>, end: Option<Value>) -> Outcome {
        end.map(|end| interrupt_of(py, &end)).transpose()
    }

    fn region(&self) -> PyResult<RegionKind> {
        let state = self.state();
        match state.active {
            true => Ok(state.region),
            false => Err(ended("visit")),
        }
    }

    /// Visits a value and, where no callback is responsible, what lies below.
    fn run(this: &Bound<'_, Self>, value: Value, region: RegionKind) -> Outcome {
        let mut stack = Vec::new();
        let outcome = Self::meet(this, value, region, &mut stack).and_then(|found| match found {
            Some(interrupt) => Ok(Some(interrupt)),
            None => Self::descend(this, &mut stack),
        });
        Self::close(this, stack);
        outcome
    }

    /// Visits the children of the open values.
    fn descend(this: &Bound<'_, Self>, stack: &mut Vec<Frame>) -> Outcome {
        let py = this.py();
        while let Some(frame) = stack.last_mut() {
            let (next, region) = (frame.next, frame.region);
            match under_gil(py, || frame.children.get(next, region)) {
                Some(child) => {
                    frame.next += 1;
                    if let Some(found) = Self::meet(this, child.value, child.region, stack)? {
                        return Ok(Some(found));
                    }
                }
                None => {
                    let done = frame.mark;
                    stack.pop();
                    if let Some(mark) = done {
                        this.get().state().marks.insert(mark, Mark::Done);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Takes the marks of values back that were not visited to their end.
    fn close(this: &Bound<'_, Self>, stack: Vec<Frame>) {
        let mut state = this.get().state();
        for mark in stack.into_iter().filter_map(|frame| frame.mark) {
            state.marks.remove(&mark);
        }
    }

    fn meet(
        this: &Bound<'_, Self>,
        value: Value,
        region: RegionKind,
        stack: &mut Vec<Frame>,
    ) -> Outcome {
        let py = this.py();
        let visitor = this.get();
        let object = node_of(&value);
        let mut mark = object.map(|object| (object.identity(), region));
        if let Some(mark) = &mut mark {
            let mut state = visitor.state();
            if !state.regions_apart {
                mark.1 = RegionKind::Use;
            }
            let mark = *mark;
            match state.marks.get(&mark) {
                Some(Mark::Done) => return Ok(None),
                Some(Mark::Open) => return Err(cyclic(&value)),
                None => state.marks.insert(mark, Mark::Open),
            };
        }
        let chosen = match &visitor.work {
            Work::Here(callbacks) => callbacks.find_for(&value),
            Work::Elsewhere(_) => None,
        };
        let Some(chosen) = chosen else {
            if let Some(outcome) = object.and_then(|object| Self::by_hook(this, object, region)) {
                if let Some(mark) = mark {
                    let mut state = visitor.state();
                    match &outcome {
                        Ok(None) => state.marks.insert(mark, Mark::Done),
                        _ => state.marks.remove(&mark),
                    };
                }
                return outcome;
            }
            if mark.is_some() {
                stack.push(Frame {
                    children: children(py, &value),
                    next: 0,
                    region,
                    mark,
                });
            }
            return Ok(None);
        };
        let before = std::mem::replace(&mut visitor.state().region, region);
        let result = to_python(py, &value)
            .and_then(|given| chosen.call_with(&given, this.as_any()))
            .and_then(|result| checked(&result));
        let mut state = visitor.state();
        state.region = before;
        if let Some(mark) = mark {
            match &result {
                Ok(None) => state.marks.insert(mark, Mark::Done),
                _ => state.marks.remove(&mark),
            };
        }
        result
    }
}

impl VisitorHandle {
    /// Visits an object by the hook of its type; None if there is none.
    fn by_hook(this: &Bound<'_, Self>, object: &Ref<Obj>, region: RegionKind) -> Option<Outcome> {
        let mut visitor = HookVisitor {
            this,
            object,
            region,
        };
        let end = visit_by_hook(object, &mut visitor)?;
        Some(end.into_py().and_then(|end| Self::ended_by(this.py(), end)))
    }

    /// Visits the children of a value: by its hook, unless that hook asks.
    fn run_children(
        this: &Bound<'_, Self>,
        value: &Value,
        region: RegionKind,
        hooked: Option<&Ref<Obj>>,
    ) -> Outcome {
        if let Some(object) = node_of(value)
            && !hooked.is_some_and(|hooked| hooked.same_as(object))
            && let Some(outcome) = Self::by_hook(this, object, region)
        {
            return outcome;
        }
        let mut stack = vec![Frame {
            children: children(this.py(), value),
            next: 0,
            region,
            mark: None,
        }];
        let outcome = Self::descend(this, &mut stack);
        Self::close(this, stack);
        outcome
    }
}

/// This visit as the hook of a type sees it.
struct HookVisitor<'a, 'py> {
    this: &'a Bound<'py, VisitorHandle>,
    object: &'a Ref<Obj>,
    region: RegionKind,
}

impl HookVisitor<'_, '_> {
    fn shown(&self, outcome: Outcome) -> isoform::Result<Option<Value>> {
        let end = outcome.map_err(from_python)?;
        Ok(end.map(|end| HostObject::wrap(end.bind(self.this.py()))))
    }
}

impl VisitCallback for HookVisitor<'_, '_> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Option<Value>> {
        self.shown(VisitorHandle::run(self.this, value.clone(), region))
    }

    fn visit_children_in(
        &mut self,
        value: &Value,
        region: RegionKind,
    ) -> isoform::Result<Option<Value>> {
        let hooked = Some(self.object);
        self.shown(VisitorHandle::run_children(
            self.this, value, region, hooked,
        ))
    }
}

fn checked(result: &Bound<'_, PyAny>) -> Outcome {
    if result.is_none() {
        return Ok(None);
    }
    if result.is_instance_of::<InterruptHandle>() {
        return Ok(Some(result.clone().unbind()));
    }
    Err(PyTypeError::new_err(format!(
        "structural_visit: a callback answers None or a VisitInterrupt, got {}",
        result.get_type().name()?
    )))
}

#[pymethods]
impl VisitorHandle {
    /// Visits a value: its callback, or what lies below it if there is none.
    ///
    /// Returns None, or the VisitInterrupt that a callback answered. Raises
    /// ValueError for a value whose visit is not over.
    fn visit(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> Outcome {
        let region = this.get().region()?;
        let _depth = enter_call(this.py())?;
        let value = untyped(value)?;
        let Work::Elsewhere(visitor) = &this.get().work else {
            return Self::run(this, value, region);
        };
        let end = visitor.with(|visitor| visitor.visit_in(&value, region));
        Self::ended_by(this.py(), end.into_py()?)
    }

    /// Visits the children of a value, whatever callback the value has: by the
    /// hook `__s_visit__` of its type, or by its fields. Of the object whose
    /// hook runs, the fields are visited.
    fn default_visit(this: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> Outcome {
        let region = this.get().region()?;
        let _depth = enter_call(this.py())?;
        let value = untyped(value)?;
        let Work::Elsewhere(visitor) = &this.get().work else {
            return Self::run_children(this, &value, region, None);
        };
        let end = visitor.with(|visitor| visitor.visit_children_in(&value, region));
        Self::ended_by(this.py(), end.into_py()?)
    }

    /// Whether variables are bound or used where the visit is now, a
    /// DefRegionKind.
    fn def_region_kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(enums::region_kind(py, self.region()?)?.clone())
    }

    /// Calls a function without arguments with another kind of region, and
    /// returns what it returns.
    fn with_def_region_kind<'py>(
        &self,
        kind: &Bound<'py, PyAny>,
        callback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let region = enums::region_of(kind)?;
        self.region()?;
        let before = std::mem::replace(&mut self.state().region, region);
        let result = callback.call0();
        self.state().region = before;
        result
    }
}

/// Visits a value with callbacks that decide what is visited below theirs.
///
/// `callbacks` is as for `structural_walk`, but each function gets the value
/// and a StructuralVisitor: `visitor.visit(child)` goes on below the value,
/// `visitor.default_visit(value)` visits all its children, and without either
/// nothing below it is visited. Values without callback are walked through. An
/// object is visited once in each kind of region, or once at all without
/// `regions_apart`. Returns None, or the VisitInterrupt that a callback
/// answered.
///
/// Raises TypeError for another answer, ValueError for a value that contains
/// itself, RecursionError when callbacks nest too deeply, and what they raise.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, *, regions_apart=true))]
pub(crate) fn structural_visit(
    root: &Bound<'_, PyAny>,
    callbacks: Option<&Bound<'_, PyAny>>,
    regions_apart: bool,
) -> Outcome {
    let visitor = VisitorHandle {
        work: Work::Here(Callbacks::parse("structural_visit", callbacks, None)?),
        state: Mutex::new(State::new(RegionKind::Use, regions_apart)),
    };
    let visitor = Bound::new(root.py(), visitor)?;
    let outcome = VisitorHandle::run(&visitor, untyped(root)?, RegionKind::Use);
    visitor.get().state().active = false;
    outcome
}
