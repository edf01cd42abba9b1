//! Objects in the form of plain Python data: `asdict` and `astuple`.
//!
//! Fields are read in the core, so a converted object gets no wrapper. An explicit
//! stack supports any depth.

use hashbrown::HashMap;
use isoform::host::{self, Contents, FIRST_DECLARED_TYPE};
use isoform::types::TypeIndex;
use isoform::{Obj, Ref, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::convert::{to_python, untyped};
use crate::object::class;

type Object<'py> = Bound<'py, PyAny>;

/// The number of objects that are converted between two checks for signals.
const STEPS: usize = 1 << 14;

/// Converts an object to nested dicts, or tuples, of its fields; its arrays and lists
/// become lists, maps and dicts become dicts.
///
/// Objects of the class `leaf` stay as they are; `factory` replaces Python's own dict,
/// called with a list of pairs, or tuple, called with a list. An object that is reached
/// in several ways is converted once. Raises ValueError for an object that contains
/// itself. Linear in the number of distinct objects.
#[pyfunction]
#[pyo3(signature = (root, leaf, names, factory=None))]
pub(crate) fn _to_plain<'py>(
    root: &Object<'py>,
    leaf: &Bound<'py, PyType>,
    names: bool,
    factory: Option<Object<'py>>,
) -> PyResult<Object<'py>> {
    let root = untyped(root)?;
    let mut conversion = Conversion {
        leaf,
        names,
        factory,
        leaves: HashMap::default(),
        met: HashMap::default(),
        stack: Vec::new(),
    };
    conversion.run(&root)
}

/// An object that is being converted.
struct Frame<'py> {
    object: Ref<Obj>,
    /// The keys of a map or dict.
    keys: Vec<Value>,
    parts: Vec<Value>,
    done: Vec<Object<'py>>,
}

struct Conversion<'a, 'py> {
    leaf: &'a Bound<'py, PyType>,
    names: bool,
    factory: Option<Object<'py>>,
    /// True for types with objects returned without conversion.
    leaves: HashMap<TypeIndex, bool>,
    /// The results for objects by identity, unique even among dead objects; None while
    /// an object is open.
    met: HashMap<u64, Option<Object<'py>>>,
    stack: Vec<Frame<'py>>,
}

impl<'py> Conversion<'_, 'py> {
    fn run(&mut self, root: &Value) -> PyResult<Object<'py>> {
        if let Some(result) = self.enter(root)? {
            return Ok(result);
        }
        let py = self.leaf.py();
        let mut steps = 0;
        loop {
            let Some(frame) = self.stack.last_mut() else {
                return Ok(py.None().into_bound(py));
            };
            if let Some(part) = frame.parts.get(frame.done.len()).cloned() {
                if let Some(result) = self.enter(&part)?
                    && let Some(frame) = self.stack.last_mut()
                {
                    frame.done.push(result);
                }
                continue;
            }
            steps += 1;
            if steps % STEPS == 0 {
                py.check_signals()?;
            }
            let Some(frame) = self.stack.pop() else {
                return Ok(py.None().into_bound(py));
            };
            let identity = frame.object.identity();
            let result = self.finish(frame)?;
            self.met.insert(identity, Some(result.clone()));
            match self.stack.last_mut() {
                Some(outer) => outer.done.push(result),
                None => return Ok(result),
            }
        }
    }

    /// The result for a value, if immediately known; otherwise enters the value.
    fn enter(&mut self, value: &Value) -> PyResult<Option<Object<'py>>> {
        let py = self.leaf.py();
        let Some(object) = value.as_object() else {
            return to_python(py, value).map(Some);
        };
        if self.stays(object)? {
            return to_python(py, value).map(Some);
        }
        match self.met.get(&object.identity()) {
            Some(Some(result)) => return Ok(Some(result.clone())),
            Some(None) => return Err(self.cyclic()),
            None => self.met.insert(object.identity(), None),
        };
        let mut keys = Vec::new();
        let parts = match host::contents(value) {
            Some(Contents::Items(items)) => items.values().to_vec(),
            Some(Contents::Entries(entries)) => {
                keys.extend(entries.keys().cloned());
                entries.iter().map(|(_, value)| value.clone()).collect()
            }
            None => host::field_values(object),
        };
        self.stack.push(Frame {
            object: object.clone(),
            keys,
            done: Vec::with_capacity(parts.len()),
            parts,
        });
        Ok(None)
    }

    fn stays(&mut self, object: &Ref<Obj>) -> PyResult<bool> {
        let index = host::type_index_of(object);
        if let Some(&known) = self.leaves.get(&index) {
            return Ok(known);
        }
        let is_container = host::contents(&object.into()).is_some();
        let stays = match class::of_index(self.leaf.py(), index) {
            _ if is_container => false,
            // Values without fields, for example functions and tensors.
            _ if index.get() < FIRST_DECLARED_TYPE => true,
            Some(data) => data.class(self.leaf.py()).is_subclass(self.leaf)?,
            None => false,
        };
        self.leaves.insert(index, stays);
        Ok(stays)
    }

    fn finish(&self, frame: Frame<'py>) -> PyResult<Object<'py>> {
        let py = self.leaf.py();
        match host::contents(&(&frame.object).into()) {
            Some(Contents::Items(_)) => {
                return Ok(PyList::new(py, frame.done)?.into_any());
            }
            Some(Contents::Entries(_)) => {
                let dict = PyDict::new(py);
                for (key, value) in frame.keys.iter().zip(frame.done) {
                    dict.set_item(to_python(py, key)?, value)?;
                }
                return Ok(dict.into_any());
            }
            None => {}
        }
        if !self.names {
            return match &self.factory {
                None => Ok(PyTuple::new(py, frame.done)?.into_any()),
                Some(factory) => factory.call1((PyList::new(py, frame.done)?,)),
            };
        }
        let info = frame.object.type_info();
        let names = info.fields().iter().map(|field| field.name());
        let Some(factory) = &self.factory else {
            let dict = PyDict::new(py);
            match class::of_index(py, info.index()) {
                // These strings already exist.
                Some(data) => {
                    for (field, value) in data.fields.iter().zip(frame.done) {
                        dict.set_item(&field.name, value)?;
                    }
                }
                None => {
                    for (name, value) in names.zip(frame.done) {
                        dict.set_item(name, value)?;
                    }
                }
            }
            return Ok(dict.into_any());
        };
        factory.call1((PyList::new(py, names.zip(frame.done))?,))
    }

    #[cold]
    fn cyclic(&self) -> PyErr {
        let mut path = String::from("<root>");
        for frame in &self.stack {
            let position = frame.done.len();
            let contents = host::contents(&(&frame.object).into());
            path += &match (contents, frame.keys.get(position)) {
                (Some(Contents::Items(_)), _) => format!("[{position}]"),
                (_, Some(key)) if key.as_int().is_some() || key.is_str() => format!("[{key:?}]"),
                (_, Some(_)) => "[…]".to_owned(),
                _ => match frame.object.type_info().fields().get(position) {
                    Some(field) => format!(".{}", field.name()),
                    None => String::new(),
                },
            };
        }
        PyValueError::new_err(format!(
            "cyclic value: {path} is an object that contains it"
        ))
    }
}
