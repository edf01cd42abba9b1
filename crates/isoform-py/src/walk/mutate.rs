//! `structural_mutate`: callbacks that decide themselves what is rewritten
//! below their value.

use std::sync::Mutex;

use isoform::host::mutate_by_hook;
use isoform::{Children, Kind, MutateCallback, Obj, Ref, RegionKind, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::dispatch::{Callbacks, node_of};
use super::enums;
use super::mutator::{MutatorHandle, Place, State, Work};
use super::visit::{children, cyclic, ended};
use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::gil::{enter_call, under_gil};

/// A value whose children are being rewritten.
struct Frame {
    children: Children,
    next: usize,
    done: Vec<Value>,
    region: RegionKind,
    place: Option<Place>,
    descent: Option<u64>,
}

impl MutatorHandle {
    /// The mutator of a hook, while the hook runs.
    fn elsewhere<R>(&self, ask: impl FnOnce(&mut dyn MutateCallback) -> R) -> PyResult<Option<R>> {
        let Work::Elsewhere(mutator) = &self.work else {
            return Ok(None);
        };
        mutator.with(|mutator| Ok(ask(mutator))).map(Some).into_py()
    }

    fn region(&self) -> PyResult<RegionKind> {
        let state = self.state();
        match state.active {
            true => Ok(state.region),
            false => Err(ended("rewrite")),
        }
    }

    fn run(this: &Bound<'_, Self>, value: Value, region: RegionKind) -> PyResult<Value> {
        let mut stack = Vec::new();
        let result = match Self::meet(this, value, region, &mut stack) {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Self::descend(this, &mut stack),
            Err(error) => Err(error),
        };
        Self::close(this, stack);
        result
    }

    /// Rewrites what lies below the open values; the result of the first one.
    fn descend(this: &Bound<'_, Self>, stack: &mut Vec<Frame>) -> PyResult<Value> {
        let py = this.py();
        loop {
            let Some(frame) = stack.last_mut() else {
                return Ok(Value::NONE);
            };
            let (next, region) = (frame.next, frame.region);
            let finished = match under_gil(py, || frame.children.get(next, region)) {
                Some(child) => {
                    frame.next += 1;
                    Self::meet(this, child.value, child.region, stack)?
                }
                None => {
                    let done = std::mem::take(&mut frame.done);
                    let rebuilt = under_gil(py, || frame.children.rebuild(done)).into_py()?;
                    let (place, descent) = (frame.place, frame.descent);
                    stack.pop();
                    let mut state = this.get().state();
                    if let Some(place) = place {
                        state.results.insert(place, Some(rebuilt.clone()));
                    }
                    if let Some(identity) = descent {
                        state.descents.insert(identity, rebuilt.clone());
                    }
                    Some(rebuilt)
                }
            };
            if let Some(result) = finished {
                match stack.last_mut() {
                    Some(frame) => frame.done.push(result),
                    None => return Ok(result),
                }
            }
        }
    }

    /// Forgets values that were not rewritten to their end.
    fn close(this: &Bound<'_, Self>, stack: Vec<Frame>) {
        let mut state = this.get().state();
        for place in stack.into_iter().filter_map(|frame| frame.place) {
            state.results.remove(&place);
        }
    }

    /// The result for a value, or None when it was put on the stack.
    fn meet(
        this: &Bound<'_, Self>,
        value: Value,
        region: RegionKind,
        stack: &mut Vec<Frame>,
    ) -> PyResult<Option<Value>> {
        let py = this.py();
        let mutator = this.get();
        let object = node_of(&value);
        let mut place = object.map(|object| (object.identity(), region));
        if let Some(place) = &mut place {
            let mut state = mutator.state();
            if !state.regions_apart {
                place.1 = RegionKind::Use;
            }
            let place = *place;
            if region == RegionKind::Use
                && let Some(image) = state.uses.get(&place.0)
            {
                return Ok(Some(image.clone()));
            }
            match state.results.get(&place) {
                Some(Some(result)) => return Ok(Some(result.clone())),
                Some(None) => return Err(cyclic(&value)),
                None => state.results.insert(place, None),
            };
        }
        let chosen = match &mutator.work {
            Work::Here(callbacks) => callbacks.find_for(&value),
            Work::Elsewhere(_) => None,
        };
        let Some(chosen) = chosen else {
            let Some(place) = place else {
                return Ok(Some(value));
            };
            if let Some(object) = object
                && let Some(result) = Self::by_hook(this, object, region)
            {
                let mut state = mutator.state();
                match &result {
                    Ok(result) => state.results.insert(place, Some(result.clone())),
                    Err(_) => state.results.remove(&place),
                };
                return result.map(Some);
            }
            return Ok(Self::enter(this, value, region, Some(place), stack));
        };
        let before = std::mem::replace(&mut mutator.state().region, region);
        let result = to_python(py, &value)
            .and_then(|given| chosen.call_with(&given, this.as_any()))
            .and_then(|result| untyped(&result));
        let mut state = mutator.state();
        state.region = before;
        if let Some(place) = place {
            match &result {
                Ok(result) => state.results.insert(place, Some(result.clone())),
                Err(_) => state.results.remove(&place),
            };
        }
        result.map(Some)
    }

    /// Starts with the children of an object, unless its result is recorded.
    fn enter(
        this: &Bound<'_, Self>,
        value: Value,
        region: RegionKind,
        place: Option<Place>,
        stack: &mut Vec<Frame>,
    ) -> Option<Value> {
        let mutator = this.get();
        let object = value.as_object();
        let identity = object.map(|object| object.identity());
        let recorded = identity.and_then(|identity| {
            let mut state = mutator.state();
            let found = state.remapped.get(&identity);
            let found = found.or_else(|| state.descents.get(&identity)).cloned()?;
            if let Some(place) = place {
                state.results.insert(place, Some(found.clone()));
            }
            Some(found)
        });
        if recorded.is_some() {
            return recorded;
        }
        let spread =
            object.is_some_and(|object| matches!(object.type_info().kind(), Kind::Var | Kind::Dag));
        stack.push(Frame {
            children: children(this.py(), &value),
            next: 0,
            done: Vec::new(),
            region,
            place,
            descent: identity.filter(|_| spread),
        });
        None
    }
}

impl MutatorHandle {
    /// What an object becomes by the hook of its type; None if there is none.
    /// What was recorded for a variable goes first.
    fn by_hook(
        this: &Bound<'_, Self>,
        object: &Ref<Obj>,
        region: RegionKind,
    ) -> Option<PyResult<Value>> {
        if let Some(recorded) = this.get().state().remapped.get(&object.identity()) {
            return Some(Ok(recorded.clone()));
        }
        let mut mutator = HookMutator {
            this,
            object,
            region,
        };
        Some(mutate_by_hook(object, &mut mutator)?.into_py())
    }

    /// A value with its children rewritten: by its hook, unless that hook
    /// asks.
    fn run_children(
        this: &Bound<'_, Self>,
        value: &Value,
        region: RegionKind,
        hooked: Option<&Ref<Obj>>,
    ) -> PyResult<Value> {
        if let Some(object) = node_of(value)
            && !hooked.is_some_and(|hooked| hooked.same_as(object))
            && let Some(result) = Self::by_hook(this, object, region)
        {
            return result;
        }
        let mut stack = Vec::new();
        let result = match Self::enter(this, value.clone(), region, None, &mut stack) {
            Some(recorded) => Ok(recorded),
            None => Self::descend(this, &mut stack),
        };
        Self::close(this, stack);
        result
    }
}

/// This rewrite as the hook of a type sees it.
struct HookMutator<'a, 'py> {
    this: &'a Bound<'py, MutatorHandle>,
    object: &'a Ref<Obj>,
    region: RegionKind,
}

impl MutateCallback for HookMutator<'_, '_> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Value> {
        MutatorHandle::run(self.this, value.clone(), region).map_err(from_python)
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Value> {
        let hooked = Some(self.object);
        MutatorHandle::run_children(self.this, value, region, hooked).map_err(from_python)
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        let state = self.this.get().state();
        state.remapped.get(&var.identity()).cloned()
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        let old = self.this.get().state().remap(var.identity(), value);
        // Its end may run code that asks this engine.
        drop(old);
    }
}

/// What may be remapped.
fn var_of(var: &Bound<'_, PyAny>) -> PyResult<Ref<Obj>> {
    let value = untyped(var)?;
    match node_of(&value) {
        Some(object) => Ok(object.clone()),
        None => Err(PyTypeError::new_err(format!(
            "expected a variable, got {}",
            value.type_name()
        ))),
    }
}

#[pymethods]
impl MutatorHandle {
    /// The result for a value: that of its callback, or the value with its
    /// children rewritten if there is none.
    ///
    /// The same object when nothing changes. Raises ValueError for a value
    /// whose rewriting is not over, TypeError for a result that does not fit
    /// its field.
    fn mutate<'py>(
        this: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let region = this.get().region()?;
        let _depth = enter_call(this.py())?;
        let value = untyped(value)?;
        let asked = this
            .get()
            .elsewhere(|mutator| mutator.mutate_in(&value, region))?;
        let result = match asked {
            Some(result) => result.into_py()?,
            None => Self::run(this, value, region)?,
        };
        to_python(this.py(), &result)
    }

    /// The value with its children rewritten, whatever callback it has: by the
    /// hook `__s_mutate__` of its type, or by its fields. Of the object whose
    /// hook runs, the fields are rewritten.
    fn default_mutate<'py>(
        this: &Bound<'py, Self>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let region = this.get().region()?;
        let _depth = enter_call(this.py())?;
        let value = untyped(value)?;
        let ask = |mutator: &mut dyn MutateCallback| mutator.mutate_children_in(&value, region);
        let result = match this.get().elsewhere(ask)? {
            Some(result) => result.into_py()?,
            None => Self::run_children(this, &value, region, None)?,
        };
        to_python(this.py(), &result)
    }

    /// What was recorded for a variable; None if nothing was.
    fn var_remap_get<'py>(&self, var: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.region()?;
        let object = var_of(var)?;
        let found = match self.elsewhere(|mutator| mutator.remapped(&object))? {
            Some(found) => found,
            None => self.state().remapped.get(&object.identity()).cloned(),
        };
        found.map(|value| to_python(var.py(), &value)).transpose()
    }

    /// Records what comes in place of a variable wherever it is met from now
    /// on without a callback of its own.
    fn var_remap_set(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.region()?;
        let (object, value) = (var_of(var)?, untyped(value)?);
        let kept = value.clone();
        if self
            .elsewhere(|mutator| mutator.remap(&object, kept))?
            .is_some()
        {
            return Ok(());
        }
        let old = self.state().remap(object.identity(), value);
        // Its end may run code that asks this engine.
        drop(old);
        Ok(())
    }

    /// Records what comes in place of the uses of a variable that are met from
    /// now on, whatever callback it has.
    fn _remap_uses(&self, var: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.region()?;
        let (object, value) = (var_of(var)?, untyped(value)?);
        let old = self.state().uses.insert(object.identity(), value);
        // Its end may run code that asks this engine.
        drop(old);
        Ok(())
    }

    /// What a variable became where it was met before; None if it was not.
    fn _image<'py>(&self, var: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = var_of(var)?;
        let place = (object.identity(), RegionKind::Use);
        let found = self.state().results.get(&place).cloned().flatten();
        found.map(|value| to_python(var.py(), &value)).transpose()
    }

    /// Whether variables are bound or used where the rewrite is now, a
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

/// Rewrites a value with callbacks of a value and a StructuralMutator; see
/// `isoform.structural_mutate`.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, *, regions_apart=true))]
pub(crate) fn structural_mutate<'py>(
    root: &Bound<'py, PyAny>,
    callbacks: Option<&Bound<'py, PyAny>>,
    regions_apart: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = root.py();
    let mutator = MutatorHandle {
        work: Work::Here(Callbacks::parse("structural_mutate", callbacks, None)?),
        state: Mutex::new(State::new(RegionKind::Use, regions_apart)),
    };
    let mutator = Bound::new(py, mutator)?;
    let result = MutatorHandle::run(&mutator, untyped(root)?, RegionKind::Use);
    let ended = {
        let mut state = mutator.get().state();
        state.active = false;
        (
            std::mem::take(&mut state.results),
            std::mem::take(&mut state.remapped),
            std::mem::take(&mut state.uses),
        )
    };
    // Their ends may run code that asks this engine.
    drop(ended);
    to_python(py, &result?)
}
