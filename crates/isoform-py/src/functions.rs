//! `Function` and the explicit conversions.

use isoform::{Function, Value, ValueRef, host};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use smallvec::SmallVec;

use crate::convert::{function, to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::method::Methods;
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// Makes a class the Python class of functions, or of opaque values.
///
/// Raises ValueError for the name of anything else.
#[pyfunction]
#[pyo3(name = "_install_function")]
pub(crate) fn install(class: &Bound<'_, PyType>, name: &str) -> PyResult<()> {
    match name {
        "Function" => install_function(Methods::bind(class, "isoform.Function")?),
        "Opaque" => {
            Methods::bind(class, "isoform.Opaque")?.finish();
            Ok(())
        }
        other => Err(PyValueError::new_err(format!("'{other}' is no such class"))),
    }
}

fn install_function(methods: Methods<'_>) -> PyResult<()> {
    methods.make(
        |given: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, _py: Python<'_>| {
            let ([callable], None) = (given, named) else {
                return Err(PyTypeError::new_err("Function() takes one callable"));
            };
            match function_of(callable)?.view_object() {
                Some(object) => Ok(object),
                None => Err(PyTypeError::new_err("a function is an object")),
            }
        },
    )?;
    methods.call(call)?;
    methods.unary("_name", |this| match own(this)?.name() {
        Some(name) => Ok(name.into_pyobject(this.py())?.into_any()),
        None => Ok(this.py().None().into_bound(this.py())),
    })?;
    methods.binary("named", |this, name| {
        let name: String = name.extract()?;
        to_python(this.py(), &own(this)?.named(&name).into())
    })?;
    methods.finish();
    Ok(())
}

/// The object of a value.
trait ViewObject {
    fn view_object(&self) -> Option<isoform::Ref<isoform::Obj>>;
}

impl ViewObject for Value {
    fn view_object(&self) -> Option<isoform::Ref<isoform::Obj>> {
        self.as_object().cloned()
    }
}

/// A callable as a function of the core.
///
/// # Errors
///
/// `TypeError` for anything that cannot be called.
fn function_of(callable: &Object<'_>) -> PyResult<Value> {
    if let Some(core) = wrapper::core_of(callable)
        && let ValueRef::Function(_) = host::view(core)
    {
        return Ok(core.into());
    }
    if !callable.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "expected a callable, got {}",
            callable.get_type().name()?
        )));
    }
    Ok(function(callable).into())
}

fn own<'a>(this: &'a Object<'_>) -> PyResult<&'a Function> {
    match wrapper::core_of(this).map(host::view) {
        Some(ValueRef::Function(function)) => Ok(function),
        _ => Err(PyTypeError::new_err("expected a Function")),
    }
}

fn call<'py>(
    this: &Object<'py>,
    arguments: &Bound<'py, PyTuple>,
    named: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    if named.is_some_and(|named| !named.is_empty()) {
        return Err(PyTypeError::new_err(
            "a Function takes no keyword arguments",
        ));
    }
    let mut values: SmallVec<[Value; 8]> = SmallVec::with_capacity(arguments.len());
    for argument in arguments.iter_borrowed() {
        values.push(untyped(&argument)?);
    }
    let result = own(this)?.call(&values).into_py()?;
    to_python(this.py(), &result)
}

/// A Python value as the core gives it back; see `isoform.convert`.
#[pyfunction]
pub(crate) fn convert<'py>(value: &Object<'py>) -> PyResult<Object<'py>> {
    to_python(value.py(), &untyped(value)?)
}

/// A callable as a `Function`; see `isoform.convert_func`.
#[pyfunction]
pub(crate) fn convert_func<'py>(callable: &Object<'py>) -> PyResult<Object<'py>> {
    to_python(callable.py(), &function_of(callable)?)
}
