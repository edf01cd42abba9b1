//! Hooks written in Python: comparison, hash, verification, form in files.

use isoform::{
    DynEqual, DynFromJson, DynHash, DynToJson, DynVerify, EqualCallback, HashCallback, Obj, Ref,
    RegionChange, TypeDef,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt};

use crate::convert::{to_python, untyped};
use crate::error::{IntoPyResult, from_python};
use crate::object::lend::{Lent, lend_equal, lend_hash};
use crate::object::wrapper;

/// Adds the hooks that the options of a class name to its definition.
///
/// # Errors
///
/// `TypeError` for a hook that is not callable.
pub(crate) fn install(mut definition: TypeDef, options: &Bound<'_, PyDict>) -> PyResult<TypeDef> {
    let key = definition.key().to_owned();
    let hook = |name: &str| -> PyResult<Option<Py<PyAny>>> {
        match options.get_item(name)?.filter(|hook| !hook.is_none()) {
            None => Ok(None),
            Some(hook) if hook.is_callable() => Ok(Some(hook.unbind())),
            Some(hook) => Err(PyTypeError::new_err(format!(
                "{key}: the hook {name} is not callable: {}",
                hook.get_type().name()?
            ))),
        }
    };
    let (equal, hash) = (hook("s_equal")?, hook("s_hash")?);
    let (to_json, from_json) = (hook("to_json")?, hook("from_json")?);
    if let Some(equal) = equal {
        definition = definition.custom_equal(equality(equal, &key));
    }
    if let Some(hash) = hash {
        definition = definition.custom_hash(hashing(hash, &key));
    }
    if let Some(verify) = hook("verify")? {
        definition = definition.verifier(verifying(verify));
    }
    if let (Some(to_json), Some(from_json)) = (to_json, from_json) {
        definition = definition.json_hooks(writing(to_json), reading(from_json, &key));
    }
    Ok(definition)
}

/// The argument `def_region` of a callback.
struct Region(RegionChange);

impl<'a, 'py> FromPyObject<'a, 'py> for Region {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(flag) = given.cast::<PyBool>() {
            return Ok(Region(match flag.is_true() {
                true => RegionChange::Def,
                false => RegionChange::Inherit,
            }));
        }
        if !given.is_instance_of::<PyInt>() {
            return Err(PyTypeError::new_err(format!(
                "expected a bool or an int, got {}",
                given.get_type().name()?
            )));
        }
        match given.extract::<i64>() {
            Ok(number) => RegionChange::from_number(number).into_py().map(Region),
            Err(_) => Err(PyValueError::new_err(format!(
                "def_region: expected 0, 1 or 2, got {}",
                &*given
            ))),
        }
    }
}

#[cold]
fn not_lent(name: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "the callback of {name} can be used only while {name} runs, in the same thread"
    ))
}

/// `eq_cb` of `__s_equal__`.
#[pyclass(frozen, name = "StructuralEqualCallback", module = "isoform._core")]
struct EqualHandle(Lent<dyn EqualCallback>);

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
        let compared = self
            .0
            .with(|callback| callback.equal_in(&left, &right, def_region.0, name.unwrap_or("?")));
        compared.ok_or_else(|| not_lent("__s_equal__"))?.into_py()
    }
}

/// `hash_cb` of `__s_hash__`.
#[pyclass(frozen, name = "StructuralHashCallback", module = "isoform._core")]
struct HashHandle(Lent<dyn HashCallback>);

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
        let hashed = self
            .0
            .with(|callback| callback.hash_in(&value, init, def_region.0));
        hashed.ok_or_else(|| not_lent("__s_hash__"))?.into_py()
    }
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
    let handle = Bound::new(py, EqualHandle(Lent::empty()))?;
    let result = lend_equal(&handle.get().0, callback, || {
        hook.call1((left, right, &handle))
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
    let handle = Bound::new(py, HashHandle(Lent::empty()))?;
    let result = lend_hash(&handle.get().0, callback, || {
        hook.call1((object, init, &handle))
    })?;
    word(&result, place, "result")
}

fn verifying(hook: Py<PyAny>) -> DynVerify {
    DynVerify::new(move |object| {
        Python::attach(|py| {
            let object = wrapper::wrap_borrowed(py, object)?;
            hook.bind(py).call1((object,)).map(drop)
        })
        .map_err(from_python)
    })
}

fn writing(hook: Py<PyAny>) -> DynToJson {
    DynToJson::new(move |object| {
        Python::attach(|py| {
            let object = wrapper::wrap_borrowed(py, object)?;
            untyped(&hook.bind(py).call1((object,))?)
        })
        .map_err(from_python)
    })
}

fn reading(hook: Py<PyAny>, key: &str) -> DynFromJson {
    let key = key.to_owned();
    DynFromJson::new(move |data| {
        Python::attach(|py| {
            let made = hook.bind(py).call1((to_python(py, data)?,))?;
            wrapper::unwrap(&made)?.cloned().ok_or_else(|| {
                let name = made.get_type().name();
                PyTypeError::new_err(format!(
                    "{key}: reading from a file gave {}, not a node",
                    name.map_or_else(|_| "an object".to_owned(), |name| name.to_string())
                ))
            })
        })
        .map_err(from_python)
    })
}
