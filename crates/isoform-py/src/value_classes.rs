//! The Python classes of values without a class of the library: `int` for the core's
//! ints, `str` for its strings, `Object` for objects of unknown type.

use isoform::types::{TypeIndex, find_type};
use isoform::{Node, Obj, host};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyNone, PyString, PyType};

use crate::convert::{device_class, dtype_class, shape_class};
use crate::object::roots;

/// The keys of the types with values of Python classes.
const VALUE_TYPES: [&str; 9] = [
    "isoform.None",
    "isoform.Bool",
    "isoform.Int",
    "isoform.Float",
    "isoform.Str",
    "isoform.Bytes",
    "isoform.DType",
    "isoform.Device",
    "isoform.Shape",
];

/// Python's class for the objects of a built-in type; None for a type with a separate
/// class.
pub(crate) fn class_of_values(
    py: Python<'_>,
    index: TypeIndex,
) -> PyResult<Option<Bound<'_, PyType>>> {
    if index == Obj::type_index() {
        return roots::base_class(py).map(Some);
    }
    let info = host::type_info(index);
    Ok(if info.is_builtin() {
        value_class(py, info.key())
    } else {
        None
    })
}

fn value_class<'py>(py: Python<'py>, key: &str) -> Option<Bound<'py, PyType>> {
    let own = |class: Option<Bound<'py, PyAny>>| class?.cast_into().ok();
    match key {
        "isoform.None" => Some(py.get_type::<PyNone>()),
        "isoform.Bool" => Some(py.get_type::<PyBool>()),
        "isoform.Int" | "isoform.BigInt" => Some(py.get_type::<PyInt>()),
        "isoform.Float" => Some(py.get_type::<PyFloat>()),
        "isoform.Str" => Some(py.get_type::<PyString>()),
        "isoform.Bytes" => Some(py.get_type::<PyBytes>()),
        "isoform.DType" => own(dtype_class(py).map(|class| class.clone().into_any())),
        "isoform.Device" => own(device_class(py).map(|class| class.clone().into_any())),
        "isoform.Shape" => own(shape_class(py).map(|class| class.clone().into_any())),
        _ => None,
    }
}

/// The built-in type of a class without a type.
pub(crate) fn built_in(class: &Bound<'_, PyType>) -> Option<TypeIndex> {
    if roots::is_base(class) {
        return Some(Obj::type_index());
    }
    let stands_for =
        |key: &&&str| value_class(class.py(), key).is_some_and(|known| known.is(class));
    let key = VALUE_TYPES.iter().find(stands_for)?;
    find_type(key).map(|info| info.index())
}
