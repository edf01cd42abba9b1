//! Parsing of the callbacks and options of walks.

use isoform::values::{Dict, List};
use isoform::{Array, Value, host};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTuple, PyType,
};

use super::dispatch::{
    Accepts, BOOL, BYTES, Callbacks, DEVICE, DTYPE, Entry, FLOAT, INT, NONE, SHAPE, STR,
};
use crate::convert::{device_class, dtype_class, shape_class};
use crate::object::{class, roots};

impl Callbacks {
    /// Parses the callbacks passed by a user to a function of this name, and the
    /// callbacks that receive the kind of region.
    pub(super) fn parse(
        name: &str,
        callbacks: Option<&Bound<'_, PyAny>>,
        with_region: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut entries = Vec::new();
        for (given, with_region) in [(callbacks, false), (with_region, true)] {
            if let Some(given) = given {
                read_entries(name, given, with_region, &mut entries)?;
            }
        }
        Ok(Callbacks::new(entries))
    }
}

fn read_entries(
    name: &str,
    callbacks: &Bound<'_, PyAny>,
    with_region: bool,
    entries: &mut Vec<Entry>,
) -> PyResult<()> {
    if callbacks.is_none() {
        return Ok(());
    }
    if callbacks.is_callable() {
        entries.push(Entry {
            accepts: Accepts::Anything,
            call: callbacks.clone().unbind(),
            with_region,
        });
        return Ok(());
    }
    let is_pair = |candidate: &Bound<'_, PyAny>| -> PyResult<bool> {
        match candidate.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => Ok(pair.get_item(1)?.is_callable()),
            _ => Ok(false),
        }
    };
    if is_pair(callbacks)? {
        return read_pair(name, callbacks, with_region, entries);
    }
    let fail = || {
        PyTypeError::new_err(format!(
            "{name}: callbacks are a function, a pair (type, function), a pair ((type, ...), \
             function) or a sequence of pairs"
        ))
    };
    if !callbacks.is_instance_of::<PyTuple>() && !callbacks.is_instance_of::<PyList>() {
        return Err(fail());
    }
    for pair in callbacks.try_iter()? {
        let pair = pair?;
        if !is_pair(&pair)? {
            return Err(fail());
        }
        read_pair(name, &pair, with_region, entries)?;
    }
    Ok(())
}

fn read_pair(
    name: &str,
    pair: &Bound<'_, PyAny>,
    with_region: bool,
    entries: &mut Vec<Entry>,
) -> PyResult<()> {
    let (types, call) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    let types = match types.cast::<PyTuple>() {
        Ok(types) => types.iter().collect(),
        Err(_) => vec![types],
    };
    for ty in types {
        let accepts = accepted(&ty)?.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{name}: the type of a callback is Any, object, a class of nodes, a container or \
                 a plain type, got {ty}"
            ))
        })?;
        entries.push(Entry {
            accepts,
            call: call.clone().unbind(),
            with_region,
        });
    }
    Ok(())
}

/// The values accepted by a callback's type; None for a type without values in walks.
fn accepted(ty: &Bound<'_, PyAny>) -> PyResult<Option<Accepts>> {
    let py = ty.py();
    if ty.is_none() {
        return Ok(Some(Accepts::Plain(NONE)));
    }
    if ty.is(py.import("typing")?.getattr(intern!(py, "Any"))?) {
        return Ok(Some(Accepts::Anything));
    }
    let Ok(class) = ty.cast::<PyType>() else {
        // `Array[int]` and similar types match by their origin.
        return match ty.getattr_opt(intern!(py, "__origin__"))? {
            Some(origin) if origin.is_instance_of::<PyType>() => accepted(&origin),
            _ => Ok(None),
        };
    };
    let plain = [
        (py.get_type::<PyNone>(), NONE),
        (py.get_type::<PyBool>(), BOOL),
        (py.get_type::<PyInt>(), INT),
        (py.get_type::<PyFloat>(), FLOAT),
        (py.get_type::<PyString>(), STR),
        (py.get_type::<PyBytes>(), BYTES),
    ];
    if let Some((_, number)) = plain.iter().find(|(other, _)| other.is(class)) {
        return Ok(Some(Accepts::Plain(*number)));
    }
    let special = [
        (dtype_class(py), DTYPE),
        (device_class(py), DEVICE),
        (shape_class(py), SHAPE),
    ];
    for (other, number) in special {
        if other.is_some_and(|other| other.is(class)) {
            return Ok(Some(Accepts::Plain(number)));
        }
    }
    let index_of = |value: Value| value.as_object().map(host::type_index_of);
    let native = [
        (
            py.get_type::<PyList>(),
            index_of(List::<Value>::new().into()),
        ),
        (
            py.get_type::<PyTuple>(),
            index_of(Array::<Value>::new().into()),
        ),
        (
            py.get_type::<PyDict>(),
            index_of(Dict::<Value, Value>::new().into()),
        ),
    ];
    if let Some((_, index)) = native.iter().find(|(other, _)| other.is(class)) {
        return Ok(index.map(Accepts::Objects));
    }
    let object = py.get_type::<PyAny>();
    if class.is(&object) {
        return Ok(Some(Accepts::Anything));
    }
    if roots::is_base(class) {
        return Ok(Some(Accepts::AnyObject));
    }
    Ok(class::of_class(py, class.as_type_ptr()).map(|data| Accepts::Objects(data.info.index())))
}

/// Parses the order from its name or number; the default is post-order.
pub(super) fn order(
    name: &str,
    order: Option<&Bound<'_, PyAny>>,
) -> PyResult<isoform::traverse::WalkOrder> {
    use isoform::traverse::WalkOrder::{Post, Pre};
    let Some(order) = order else {
        return Ok(Post);
    };
    if let Ok(text) = order.cast::<PyString>() {
        match text.to_str()? {
            "pre" => return Ok(Pre),
            "post" => return Ok(Post),
            _ => {}
        }
    } else if let Ok(number) = order.extract::<u8>() {
        match number {
            0 => return Ok(Pre),
            1 => return Ok(Post),
            _ => {}
        }
    }
    Err(PyValueError::new_err(format!(
        "{name}: expected the order 'pre' or 'post', got {}",
        order.repr()?
    )))
}
