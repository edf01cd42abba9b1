//! `Function` and the explicit conversions.

use isoform::functions::{Function, Parameter, Signature};
use isoform::values::ValueRef;
use isoform::{Value, host};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use smallvec::SmallVec;

use crate::convert::{HostObject, SchemaHandle, function, to_python, typed, untyped};
use crate::error::IntoPyResult;
use crate::object::method::Methods;
use crate::object::wrapper;

type Object<'py> = Bound<'py, PyAny>;

/// Makes a class the Python class of functions, or of opaque values.
///
/// Raises ValueError for any other name.
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
        |arguments: &[Object<'_>], named: Option<&Bound<'_, PyDict>>, _py: Python<'_>| {
            let ([callable], None) = (arguments, named) else {
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
    methods.unary("_doc", |this| match own(this)?.doc() {
        Some(doc) => Ok(doc.into_pyobject(this.py())?.into_any()),
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

/// Makes a function of the core from a callable.
///
/// # Errors
///
/// `TypeError` for anything that is not callable.
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
    let function = own(this)?;
    let parameters = parameters(function);
    let mut values: SmallVec<[Value; 8]> = SmallVec::with_capacity(arguments.len());
    for (position, argument) in arguments.iter_borrowed().enumerate() {
        values.push(match parameters.get(position) {
            Some(parameter) => typed(&argument, parameter.schema()).map_err(|failure| {
                let label = || function.argument_label(position);
                failure.into_python(|message| format!("{}: {message}", label()))
            })?,
            None => untyped(&argument)?,
        });
    }
    let result = function.call(&values).into_py()?;
    to_python(this.py(), &result)
}

/// The parameters for converting arguments, for functions written in languages other
/// than Python. Python functions accept any argument, as usual in Python.
fn parameters(function: &Function) -> &[Parameter] {
    match function.signature() {
        Some(signature) if signature.written_in() != PYTHON => signature.parameters(),
        _ => &[],
    }
}

/// The language of functions made from Python callables.
const PYTHON: &str = "python";

/// A parameter as described by the Python layer: name, schema, whether it has a
/// default, and the default.
type ParamSpec<'py> = (String, Bound<'py, SchemaHandle>, bool, Object<'py>);

/// Adds metadata to a callable: returns a new `Function` called `known_as` unless that
/// is None, with documentation, and with a signature unless the parameters are None.
/// Each parameter consists of a name, a schema, whether it has a default, and the
/// default.
#[pyfunction]
#[pyo3(name = "_describe_function")]
pub(crate) fn describe<'py>(
    function: &Object<'py>,
    known_as: Option<&str>,
    doc: Option<&str>,
    parameters: Option<Vec<ParamSpec<'py>>>,
    returns: &Bound<'py, SchemaHandle>,
) -> PyResult<Object<'py>> {
    let value = function_of(function)?;
    let ValueRef::Function(described) = value.view() else {
        return Err(PyTypeError::new_err("expected a function"));
    };
    let mut described = described.clone();
    if let Some(name) = known_as {
        described = described.named(name);
    }
    if let Some(doc) = doc {
        described = described.with_doc(doc);
    }
    if let Some(parameters) = parameters {
        let describe = |(name, schema, has_default, default): ParamSpec<'py>| {
            let parameter = Parameter::new(schema.get().schema().clone()).named(&name);
            Ok(if has_default {
                parameter.default_value(untyped(&default)?)
            } else {
                parameter
            })
        };
        let parameters: PyResult<Vec<_>> = parameters.into_iter().map(describe).collect();
        let signature = Signature::new(parameters?, returns.get().schema().clone());
        described = described.with_signature(signature.language(PYTHON));
    }
    to_python(function.py(), &described.into())
}

/// A parameter for Python: name, text of the schema, whether a default exists, the
/// default, and whether it is keyword-only.
type ParamRow<'py> = (Option<String>, String, bool, Object<'py>, bool);

/// The parameters of a function, the text of its result's schema, and its language;
/// None if unknown.
#[pyfunction]
#[pyo3(name = "_signature_of")]
pub(crate) fn signature_of<'py>(
    function: &Object<'py>,
) -> PyResult<Option<(Vec<ParamRow<'py>>, String, &'static str)>> {
    let py = function.py();
    let Some(signature) = own(function)?.signature() else {
        return Ok(None);
    };
    let parameters = signature.parameters().iter().map(|parameter| {
        let default = match parameter.default() {
            Some(default) => to_python(py, default)?,
            None => py.None().into_bound(py),
        };
        let has_default = parameter.default().is_some();
        let name = parameter.name().map(str::to_owned);
        let schema = parameter.schema().to_string();
        let keyword_only = parameter.is_keyword_only();
        Ok((name, schema, has_default, default, keyword_only))
    });
    let parameters: PyResult<Vec<_>> = parameters.collect();
    let returns = signature.returns().to_string();
    Ok(Some((parameters?, returns, signature.written_in())))
}

/// The Python callable that a function was made from; None for any other function.
#[pyfunction]
#[pyo3(name = "_callable_of")]
pub(crate) fn callable_of<'py>(function: &Object<'py>) -> PyResult<Option<Object<'py>>> {
    let host = own(function)?.content::<HostObject>();
    Ok(host.map(|host| host.get(function.py())))
}

/// Converts a Python value to the core and back; see `isoform.convert`.
#[pyfunction]
pub(crate) fn convert<'py>(value: &Object<'py>) -> PyResult<Object<'py>> {
    to_python(value.py(), &untyped(value)?)
}

/// Makes a `Function` from a callable; see `isoform.convert_func`.
#[pyfunction]
pub(crate) fn convert_func<'py>(callable: &Object<'py>) -> PyResult<Object<'py>> {
    to_python(callable.py(), &function_of(callable)?)
}
