//! The state of instances of Python classes besides the fields of their objects.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// The state of an instance besides the fields of its object.
pub(crate) struct State<'py> {
    attributes: Option<Bound<'py, PyDict>>,
    slots: Option<Bound<'py, PyDict>>,
}

impl<'py> State<'py> {
    /// The current state of an instance.
    pub(crate) fn of(this: &Object<'py>) -> PyResult<State<'py>> {
        static SLOT_NAMES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = this.py();
        let mut state = State {
            attributes: None,
            slots: None,
        };
        if !wrapper::may_have_state(this) {
            return Ok(state);
        }
        if let Some(held) = this.getattr_opt(intern!(py, "__dict__"))? {
            let held = held.cast::<PyDict>()?.copy()?;
            state.attributes = Some(held).filter(|held| !held.is_empty());
        }
        let names = SLOT_NAMES
            .import(py, "copyreg", "_slotnames")?
            .call1((this.get_type(),))?;
        let slots = PyDict::new(py);
        for name in names.try_iter()? {
            let name = name?.cast_into::<PyString>()?;
            if let Some(value) = this.getattr_opt(&name)? {
                slots.set_item(name, value)?;
            }
        }
        state.slots = Some(slots).filter(|slots| !slots.is_empty());
        Ok(state)
    }

    /// True if there is no state.
    pub(crate) fn is_empty(&self) -> bool {
        self.attributes.is_none() && self.slots.is_none()
    }

    /// Copies the state to another instance of the same class.
    pub(crate) fn give(&self, made: &Object<'py>) -> PyResult<()> {
        let py = made.py();
        if let Some(attributes) = &self.attributes {
            let target = made.getattr(intern!(py, "__dict__"))?;
            target.cast::<PyDict>()?.update(attributes.as_mapping())?;
        }
        for (name, value) in self.slots.iter().flatten() {
            made.setattr(name.cast::<PyString>()?, value)?;
        }
        Ok(())
    }

    /// Returns the state with copied contents, by Python's `deepcopy`.
    pub(crate) fn deep_copy(self, memo: &Object<'py>) -> PyResult<State<'py>> {
        static DEEPCOPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let deepcopy = DEEPCOPY.import(memo.py(), "copy", "deepcopy")?;
        let copy = |held: Bound<'py, PyDict>| -> PyResult<Bound<'py, PyDict>> {
            Ok(deepcopy.call1((held, memo))?.cast_into()?)
        };
        Ok(State {
            attributes: self.attributes.map(copy).transpose()?,
            slots: self.slots.map(copy).transpose()?,
        })
    }

    /// The state in the form that pickle restores by itself; None without state.
    pub(crate) fn for_pickle(self, py: Python<'py>) -> PyResult<Object<'py>> {
        Ok(match (self.attributes, self.slots) {
            (None, None) => py.None().into_bound(py),
            (Some(attributes), None) => attributes.into_any(),
            (attributes, Some(slots)) => {
                let attributes = match attributes {
                    Some(attributes) => attributes.into_any(),
                    None => py.None().into_bound(py),
                };
                PyTuple::new(py, [attributes, slots.into_any()])?.into_any()
            }
        })
    }
}
