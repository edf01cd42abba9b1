//! Hooks written in Python: comparison, hash, verification, form in files; and the
//! callbacks of comparison and hash.

use std::sync::Arc;

use isoform::functions::Function;
use isoform::hooks::{
    DynEqual, DynFromJson, DynHash, DynToJson, DynVerify, DynVisit, EqualCallback, HashCallback,
    Hook,
};
use isoform::host::with_scoped;
use isoform::types::{RegionChange, TypeDef, TypeIndex};
use isoform::{Error, Obj, Ref, Result, attrs};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::callbacks::{EqualHandle, HashHandle};
use crate::convert::{self, HostObject, to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::{gil, wrapper};
use crate::walk::{InterruptHandle, VisitorHandle};

pyo3::create_exception!(
    isoform._core,
    DataFault,
    PyValueError,
    "The data that a hook reads is wrong; the reader adds the place in the file."
);

/// A hook of a type, made from a Python callable.
pub(crate) trait PythonHook {
    /// Adds the hook to a definition.
    fn define(self: Box<Self>, definition: TypeDef) -> TypeDef;

    /// Sets the hook of a registered type.
    ///
    /// # Errors
    ///
    /// `ValueError` if it is already set, unless `replace`; `TypeError` for a built-in
    /// type.
    fn set(self: Box<Self>, ty: TypeIndex, replace: bool) -> Result<()>;
}

impl<H: Hook> PythonHook for H {
    fn define(self: Box<Self>, definition: TypeDef) -> TypeDef {
        definition.hook(*self)
    }

    fn set(self: Box<Self>, ty: TypeIndex, replace: bool) -> Result<()> {
        attrs::set_hook(ty, *self, replace)
    }
}

/// Makes the hook of this name for the type with this key. None if the library has no
/// hook of this name, and for a function of the core, which is used unchanged.
///
/// # Errors
///
/// `TypeError` for anything that is not callable.
pub(crate) fn make(
    key: &str,
    name: &str,
    callable: &Bound<'_, PyAny>,
) -> PyResult<Option<Box<dyn PythonHook>>> {
    if matches!(name, DynEqual::NAME | DynHash::NAME) {
        gil::note_comparison_hook();
    }
    let make: fn(Py<PyAny>, &str, Function) -> Box<dyn PythonHook> = match name {
        DynEqual::NAME => |hook, key, shown| Box::new(equality(hook, key).shown_as(shown)),
        DynHash::NAME => |hook, key, shown| Box::new(hashing(hook, key).shown_as(shown)),
        DynVerify::NAME => |hook, _, shown| Box::new(verifying(hook).shown_as(shown)),
        DynToJson::NAME => |hook, _, shown| Box::new(writing(hook).shown_as(shown)),
        DynFromJson::NAME => |hook, key, shown| Box::new(reading(hook, key).shown_as(shown)),
        DynVisit::NAME => |hook, key, shown| Box::new(visiting(hook, key).shown_as(shown)),
        // The others only need the function.
        _ => return Ok(None),
    };
    if wrapper::core_of(callable).is_some_and(|core| Function::of(core).is_some()) {
        return Ok(None);
    }
    if !callable.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "{key}: the hook {name} is not callable: {}",
            callable.get_type().name()?
        )));
    }
    let shown = convert::function(callable);
    Ok(Some(make(callable.clone().unbind(), key, shown)))
}

/// The low 64 bits of an int.
fn word(number: &Bound<'_, PyAny>, place: &str, what: &str) -> PyResult<u64> {
    if !number.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err(format!(
            "{place}: expected an int as {what}, got {}",
            number.get_type().name()?
        )));
    }
    match number.extract() {
        Ok(word) => Ok(word),
        Err(_) => number.bitand(u64::MAX)?.extract(),
    }
}

fn equality(hook: Py<PyAny>, key: &str) -> DynEqual {
    let key = key.to_owned();
    DynEqual::new(move |left, right, callback| {
        Python::attach(|py| call_equal(hook.bind(py), &key, left, right, callback))
            .map_err(from_python)
    })
}

fn call_equal(
    hook: &Bound<'_, PyAny>,
    key: &str,
    left: &Ref<Obj>,
    right: &Ref<Obj>,
    callback: &mut dyn EqualCallback,
) -> PyResult<bool> {
    let py = hook.py();
    let left = wrapper::wrap_borrowed(py, left)?;
    let right = wrapper::wrap_borrowed(py, right)?;
    let result = with_scoped(DynEqual::NAME, callback, |scoped| {
        let handle = EqualHandle(Arc::clone(scoped));
        gil::call(hook, &[&left, &right, &Bound::new(py, handle)?.into_any()])
    })?;
    match result.cast::<PyBool>() {
        Ok(equal) => Ok(equal.is_true()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "{key}.__s_equal__: expected a bool as result, got {}",
            result.get_type().name()?
        ))),
    }
}

fn hashing(hook: Py<PyAny>, key: &str) -> DynHash {
    let place = format!("{key}.__s_hash__");
    DynHash::new(move |object, init, callback| {
        Python::attach(|py| call_hash(hook.bind(py), &place, object, init, callback))
            .map_err(from_python)
    })
}

fn call_hash(
    hook: &Bound<'_, PyAny>,
    place: &str,
    object: &Ref<Obj>,
    init: u64,
    callback: &mut dyn HashCallback,
) -> PyResult<u64> {
    let py = hook.py();
    let object = wrapper::wrap_borrowed(py, object)?;
    let result = with_scoped(DynHash::NAME, callback, |scoped| {
        let handle = HashHandle(Arc::clone(scoped));
        let init = init.into_pyobject(py)?.into_any();
        gil::call(hook, &[&object, &init, &Bound::new(py, handle)?.into_any()])
    })?;
    word(&result, place, "result")
}

fn verifying(hook: Py<PyAny>) -> DynVerify {
    DynVerify::new(move |object| {
        Python::attach(|py| {
            let object = wrapper::wrap_borrowed(py, object)?;
            gil::call(hook.bind(py), &[&object]).map(drop)
        })
        .map_err(from_python)
    })
}

fn writing(hook: Py<PyAny>) -> DynToJson {
    DynToJson::new(move |object| {
        Python::attach(|py| {
            let object = wrapper::wrap_borrowed(py, object)?;
            untyped(&gil::call(hook.bind(py), &[&object])?)
        })
        .map_err(from_python)
    })
}

fn reading(hook: Py<PyAny>, key: &str) -> DynFromJson {
    let key = key.to_owned();
    DynFromJson::new(move |data| {
        Python::attach(|py| {
            let made = gil::call(hook.bind(py), &[&to_python(py, data)?])?;
            wrapper::unwrap(&made)?.cloned().ok_or_else(|| {
                let name = made.get_type().name();
                PyTypeError::new_err(format!(
                    "{key}: reading from a file gave {}, not a node",
                    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
                ))
            })
        })
        .map_err(|raised| {
            if Python::attach(|py| raised.is_instance_of::<DataFault>(py)) {
                // Without the exception, so the reader adds the place of the node.
                return Error::value_error(from_python(raised).message());
            }
            from_python(raised)
        })
    })
}

fn visiting(hook: Py<PyAny>, key: &str) -> DynVisit {
    let key = key.to_owned();
    DynVisit::new(move |object, visitor| {
        Python::attach(|py| {
            let object = wrapper::wrap_borrowed(py, object)?;
            let end = with_scoped(DynVisit::NAME, visitor, |scoped| {
                let visitor = VisitorHandle::scoped(Arc::clone(scoped));
                gil::call(
                    hook.bind(py),
                    &[&object, &Bound::new(py, visitor)?.into_any()],
                )
            })?;
            if end.is_none() {
                Ok(None)
            } else if end.is_instance_of::<InterruptHandle>() {
                Ok(Some(HostObject::wrap(&end)))
            } else {
                Err(PyTypeError::new_err(format!(
                    "{key}.__s_visit__: expected None or a VisitInterrupt as result, got {}",
                    end.get_type().name()?
                )))
            }
        })
        .map_err(from_python)
    })
}

/// The argument `def_region` of a callback.
struct Region(RegionChange);

impl<'a, 'py> FromPyObject<'a, 'py> for Region {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(flag) = value.cast::<PyBool>() {
            return Ok(Region(if flag.is_true() {
                RegionChange::Def
            } else {
                RegionChange::Inherit
            }));
        }
        if !value.is_instance_of::<PyInt>() {
            return Err(PyTypeError::new_err(format!(
                "expected a bool or an int, got {}",
                value.get_type().name()?
            )));
        }
        match value.extract::<i64>() {
            Ok(number) => RegionChange::from_number(number).into_py().map(Region),
            Err(_) => Err(PyValueError::new_err(format!(
                "def_region: expected 0, 1 or 2, got {}",
                &*value
            ))),
        }
    }
}

#[pymethods]
impl EqualHandle {
    /// Compares two parts; `name` is the step of the path to them.
    #[pyo3(signature = (lhs, rhs, def_region=Region(RegionChange::Inherit), name=None))]
    fn __call__(
        &self,
        lhs: &Bound<'_, PyAny>,
        rhs: &Bound<'_, PyAny>,
        def_region: Region,
        name: Option<&str>,
    ) -> PyResult<bool> {
        let (left, right) = (untyped(lhs)?, untyped(rhs)?);
        let name = name.unwrap_or("?");
        self.0
            .with(|callback| callback.equal_in(&left, &right, def_region.0, name))
            .into_py()
    }
}

#[pymethods]
impl HashHandle {
    /// The hash of a part, starting from `init`.
    #[pyo3(signature = (value, init, def_region=Region(RegionChange::Inherit)))]
    fn __call__(
        &self,
        value: &Bound<'_, PyAny>,
        init: &Bound<'_, PyAny>,
        def_region: Region,
    ) -> PyResult<u64> {
        let (value, init) = (untyped(value)?, word(init, "hash_cb", "init")?);
        self.0
            .with(|callback| callback.hash_in(&value, init, def_region.0))
            .into_py()
    }
}
