//! Functions for all objects: copies, text, comparison by fields, verification,
//! pickling.

use std::cmp::Ordering;

use isoform::attrs::{self, Lookup};
use isoform::files::BinaryReadOptions;
use isoform::hooks::{DynCopy, Hook};
use isoform::host::find_type_in_file;
use isoform::objects::{ReprHooks, ReprOptions, VerifyHooks};
use isoform::text::{TensorText, TextOptions};
use isoform::types::{TypeInfo, find_type};
use isoform::{Error, Obj, Ref, Value, host};
use isoform_ir::transform::own_script;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{
    PyAttributeError, PyException, PyImportError, PyKeyError, PyTypeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};

use crate::convert::{self, to_python, untyped};
use crate::error::{IntoPyResult, from_python, raised, to_python as raise};
use crate::object::gil::{enter_call, under_gil};
use crate::object::method::{Arguments, Methods};
use crate::object::tensor::elements_of;
use crate::object::{class, wrapper};
use crate::pages::object_notebook;
use crate::path::PathHandle;
use crate::state::State;

/// Adds the functions of this module, and the methods of `Object`.
pub(crate) fn init(module: &Bound<'_, PyModule>, object: &Bound<'_, PyType>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(recursive_eq, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_lt, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_le, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_gt, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_ge, module)?)?;
    module.add_function(wrap_pyfunction!(recursive_hash, module)?)?;
    module.add_function(wrap_pyfunction!(deep_copy, module)?)?;
    module.add_function(wrap_pyfunction!(shallow_copy, module)?)?;
    module.add_function(wrap_pyfunction!(make_node, module)?)?;
    module.add_function(wrap_pyfunction!(with_fields, module)?)?;
    module.add_function(wrap_pyfunction!(repr_print, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(_from_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(_from_pickle_apart, module)?)?;
    module.add_function(wrap_pyfunction!(_require_type, module)?)?;
    let methods = Methods::of(object);
    for name in ["same_as", "is_"] {
        methods.binary(name, |this, other| {
            let same = same_as(this, other)?;
            Ok(pyo3::types::PyBool::new(this.py(), same)
                .to_owned()
                .into_any())
        })?;
    }
    methods.unary("_id", |this| {
        let address = std::ptr::from_ref(host::host_word(core(this)?)).addr();
        Ok(address.into_pyobject(this.py())?.into_any())
    })?;
    methods.unary("__copy__", shallow_copy)?;
    methods.binary("__deepcopy__", deep_copy_method)?;
    methods.unary("__reduce__", reduce)?;
    methods.binary("__reduce_ex__", reduce_with_protocol)?;
    methods.variadic("_repr_pretty_", display)?;
    methods.unary("__rich__", rich_text)?;
    methods.unary("_repr_html_", |this| {
        Ok(object_notebook(this).into_pyobject(this.py())?)
    })?;
    methods.finish();
    let property = object.py().import("builtins")?.getattr("property")?;
    object.setattr("id_", property.call1((object.getattr("_id")?,))?)
}

/// True if both represent the same object.
fn same_as(this: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    if this.is(other) {
        return Ok(true);
    }
    Ok(match (wrapper::unwrap(this)?, wrapper::unwrap(other)?) {
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    })
}

fn core<'a>(this: &'a Bound<'_, PyAny>) -> PyResult<&'a Ref<Obj>> {
    wrapper::unwrap(this)?.ok_or_else(|| {
        let name = this.get_type().name();
        let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("expected an instance of Object, got {name}"))
    })
}

/// True if two values are equal field by field, whatever their structural kind.
#[pyfunction]
fn recursive_eq(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    under_gil(lhs.py(), || isoform::compare::recursive_eq(&left, &right)).into_py()
}

fn compare(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<Ordering> {
    let (left, right) = (untyped(lhs)?, untyped(rhs)?);
    under_gil(lhs.py(), || isoform::compare::recursive_cmp(&left, &right)).into_py()
}

/// True if the left value comes before the right one, field by field.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_lt(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_lt())
}

/// True if the left value comes before the right one or is equal.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_le(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_le())
}

/// True if the left value comes after the right one, field by field.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_gt(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_gt())
}

/// True if the left value comes after the right one or is equal.
///
/// Raises TypeError for values without an order.
#[pyfunction]
fn recursive_ge(lhs: &Bound<'_, PyAny>, rhs: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(compare(lhs, rhs)?.is_ge())
}

/// A hash that agrees with `recursive_eq`.
#[pyfunction]
fn recursive_hash(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let given = untyped(value)?;
    let hash = under_gil(value.py(), || isoform::compare::recursive_hash(&given)).into_py()?;
    // `__hash__` may return it unchanged.
    Ok(hash as i64)
}

/// Returns a copy of a value and of everything below it that can be copied.
///
/// Sharing and cycles are kept. Singletons, functions, tensors and opaque Python
/// objects are shared with the original. O(size).
#[pyfunction]
fn deep_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = untyped(value)?;
    let copy = under_gil(value.py(), || isoform::traverse::deep_copy(&given)).into_py()?;
    match copy.as_object() {
        Some(object) if wrapper::core_of(value).is_some() => like(value, object.clone()),
        _ => to_python(value.py(), &copy),
    }
}

/// Returns a new object with the fields of another one, or the result of the hook
/// `__ffi_shallow_copy__` of its type.
#[pyfunction]
fn shallow_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let given = core(value)?;
    let copy = under_gil(value.py(), || isoform::traverse::shallow_copy(given)).into_py()?;
    like(value, copy)
}

/// The Python object for a copy: of the class of the original, and with its attributes.
fn like<'py>(original: &Bound<'py, PyAny>, copy: Ref<Obj>) -> PyResult<Bound<'py, PyAny>> {
    let made = wrapper::wrap_like(original, copy)?;
    if !made.is(original) {
        State::of(original)?.give(&made)?;
    }
    Ok(made)
}

/// `Object.__deepcopy__`: also copies attributes besides the fields.
fn deep_copy_method<'py>(
    this: &Bound<'py, PyAny>,
    memo: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, original) = (this.py(), core(this)?);
    let copy = under_gil(py, || isoform::traverse::deep_copy(original)).into_py()?;
    let Some(copy) = copy.as_object().filter(|copy| !copy.same_as(original)) else {
        return Ok(this.clone());
    };
    let made = wrapper::wrap_like(this, copy.clone())?;
    let state = State::of(this)?;
    if !state.is_empty() {
        // An attribute may lead back here.
        if let Ok(memo) = memo.cast::<PyDict>() {
            memo.set_item(this.as_ptr() as usize, &made)?;
        }
        state.deep_copy(memo)?.give(&made)?;
    }
    Ok(made)
}

/// Makes an object of a type from its fields by name, without the constructor of its
/// class; omitted fields take their defaults. Runs the `__post_init__` of a class
/// declared in Python.
///
/// Raises KeyError for an unknown key, AttributeError for an unknown field, TypeError
/// for one that is missing or does not fit.
#[pyfunction]
fn make_node<'py>(
    py: Python<'py>,
    type_key: &str,
    fields: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let info = find_type(type_key)
        .ok_or_else(|| PyKeyError::new_err(format!("no type is registered as '{type_key}'")))?;
    let mut named = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        let name: String = name.extract()?;
        let Some(field) = info.field_index(&name) else {
            let names: Vec<_> = info.fields().iter().map(|field| field.name()).collect();
            return Err(PyAttributeError::new_err(format!(
                "{} has no field '{name}', expected some of {}",
                info.key(),
                names.join(", ")
            )));
        };
        let schema = info.fields()[field].schema();
        let value = convert::typed(&value, schema).map_err(|error| {
            error.into_python(|message| format!("{} field '{name}': {message}", info.key()))
        })?;
        named.push((name, value));
    }
    let named = named
        .iter()
        .map(|(name, value)| (&**name, value.clone()))
        .collect();
    let object = isoform::objects::construct_named(info.index(), named).into_py()?;
    let node = wrapper::wrap(py, object)?;
    if class::of_index(py, info.index()).is_some_and(|data| data.post_init) {
        node.call_method0(intern!(py, "__post_init__"))?;
    }
    Ok(node)
}

/// Returns a copy of an object with some of its fields replaced; the constructor is not
/// run. The other fields are those of the copy that the hook `__ffi_shallow_copy__` of
/// its type makes, if there is one.
///
/// Raises TypeError for an unknown field or a value that does not fit.
#[pyfunction]
fn with_fields<'py>(
    obj: &Bound<'py, PyAny>,
    changes: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, object) = (obj.py(), core(obj)?.clone());
    let info = object.type_info();
    if info.is_builtin() {
        return Err(PyTypeError::new_err(format!(
            "{} has no fields",
            info.key()
        )));
    }
    let mut new_values = Vec::with_capacity(changes.len());
    for (name, value) in changes {
        let name = name.cast_into::<PyString>()?;
        let name = name.to_str()?;
        let field = info.field_index(name).ok_or_else(|| {
            let hint = host::field_hint(info, name);
            PyTypeError::new_err(format!("{} has no field '{name}'{hint}", info.key()))
        })?;
        let converter = class::of_index(py, info.index())
            .and_then(|data| data.fields.get(field)?.converter.as_ref());
        let schema = info.fields()[field].schema();
        let value = convert::field(&value, schema, converter).map_err(|error| {
            error.into_python(|message| format!("{} field '{name}': {message}", info.key()))
        })?;
        new_values.push((field, value));
    }
    let copied = attrs::has(info.index(), DynCopy::NAME, Lookup::Exact);
    let object = if copied {
        under_gil(py, || isoform::traverse::shallow_copy(&object)).into_py()?
    } else {
        object
    };
    let mut values = under_gil(py, || host::field_values(&object));
    for (field, value) in new_values {
        values[field] = value;
    }
    let copy = host::construct_from(info, &mut values).into_py()?;
    like(obj, copy)
}

/// Calls `__repr__` methods of users for objects inside of other objects.
struct OwnText<'a, 'py> {
    py: Python<'py>,
    /// The object with the method that requested the text, if any.
    root: Option<&'a Ref<Obj>>,
}

impl ReprHooks for OwnText<'_, '_> {
    fn repr(&self, object: &Ref<Obj>) -> Option<isoform::Result<String>> {
        if !wrapper::has_own_repr(self.py, object)
            || self.root.is_some_and(|root| root.same_as(object))
        {
            return None;
        }
        let ask = || -> PyResult<String> {
            let this = wrapper::wrap_borrowed(self.py, object)?;
            let _depth = enter_call(self.py)?;
            Ok(this.repr()?.to_str()?.to_owned())
        };
        Some(ask().map_err(from_python))
    }
}

fn text(py: Python<'_>, value: &Value, root: Option<&Ref<Obj>>) -> PyResult<String> {
    let hooks = OwnText { py, root };
    under_gil(py, || ReprOptions::default().repr(value, &hooks)).into_py()
}

/// The result of `Object.__repr__`.
///
/// # Errors
///
/// Exceptions from a `__repr__` of an object inside.
pub(crate) fn own_text(this: &Bound<'_, PyAny>) -> PyResult<String> {
    match wrapper::core_of(this) {
        Some(object) => text(this.py(), &object.into(), Some(object)),
        // During a constructor, showing the object must not complete it.
        None => Ok(format!("<unfinished {}>", this.get_type().name()?)),
    }
}

/// The lines of a program that people see.
const SHOWN_LINES: usize = 200;
/// The parts of an object that people see, and the length of a text in one line.
const SHOWN_PARTS: usize = 2_000;
const SHOWN_LENGTH: usize = 100;

/// The text of an object for people: that of its dialect or class, a short `repr`, or the
/// text in lines; bounded, and the same for shared parts as for others.
///
/// # Errors
///
/// Exceptions from texts of users.
pub(crate) fn shown(this: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = this.py();
    let Some(object) = wrapper::core_of(this) else {
        return own_text(this);
    };
    if let Some(script) = under_gil(py, || own_script(object)).into_py()? {
        return Ok(first_lines(&script, "isoform.transform.script"));
    }
    if object.type_info().is_builtin() || wrapper::has_own_repr(py, object) {
        return Ok(this.repr()?.to_string());
    }
    let value = Value::from(object);
    let hooks = OwnText { py, root: None };
    let options = ReprOptions::default().max_length(SHOWN_LENGTH);
    let line = under_gil(py, || options.repr(&value, &hooks)).into_py()?;
    if line.len() <= SHOWN_LENGTH {
        return Ok(line);
    }
    let options = TextOptions::default()
        .parts(SHOWN_PARTS)
        .spans(false)
        .unshown_fields(false)
        .tensors(TensorText::Abbreviated)
        .metadata(false)
        .placeholders(true);
    let text = under_gil(py, || options.to_text(&value)).into_py()?;
    Ok(first_lines(&text, "isoform.text.to_text"))
}

/// The lines of a text up to a limit, and the function that writes all of them.
fn first_lines(text: &str, whole: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let left = lines.len().saturating_sub(SHOWN_LINES);
    lines.truncate(SHOWN_LINES);
    let rest = format!("... {left} more lines, in {whole}");
    lines.extend((left > 0).then_some(&*rest));
    lines.join("\n")
}

/// Writes an object to a printer of IPython.
fn display<'py>(
    this: &Bound<'py, PyAny>,
    arguments: Arguments<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    arguments.expect("_repr_pretty_", 2, 2)?;
    let text = shown(this)?;
    let printer = arguments
        .get(0)
        .ok_or_else(|| PyTypeError::new_err("no printer"))?;
    printer.call_method1(intern!(this.py(), "text"), (text,))
}

/// The text of an object for the library `rich`, which reads no markup in it.
fn rich_text<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let text = this.py().import("rich.text")?.getattr("Text")?;
    text.call1((shown(this)?,))
}

/// The text of a value: `key(field=value, ...)` for nodes, as `repr` shows it.
///
/// Floats are exact, a value inside itself is shown as `...`. O(length).
#[pyfunction]
fn repr_print(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text(value.py(), &untyped(value)?, None)
}

/// Runs the `__verify__` methods of all nodes of a value, and lists all failures as
/// pairs of a path and an exception.
///
/// Exceptions that are not an `Exception`, such as KeyboardInterrupt, are raised at
/// once.
#[pyfunction]
fn verify<'py>(root: &Bound<'py, PyAny>) -> PyResult<Vec<(PathHandle, Bound<'py, PyAny>)>> {
    let py = root.py();
    let given = untyped(root)?;
    let failures = under_gil(py, || isoform::objects::verify(&given, &Findings)).into_py()?;
    let found = failures.into_iter().map(|(path, error)| {
        let error = raise(error).into_value(py);
        (path.into(), error.into_bound(py).into_any())
    });
    Ok(found.collect())
}

/// Exceptions outside of `except Exception` are not findings: they end the
/// verification.
struct Findings;

impl VerifyHooks for Findings {
    fn is_finding(&self, error: &Error) -> bool {
        let is_finding =
            |error: &PyErr| Python::attach(|py| error.is_instance_of::<PyException>(py));
        raised(error).is_none_or(is_finding)
    }
}

/// The parts of an object stored by `pickle`: its binary form, the class if it is not
/// the type's own, the modules that declare the types of all objects inside, and
/// attributes besides the fields.
fn reduce<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let object = core(this)?;
    let write = || isoform::host::to_bytes_with_types(&object.into());
    let (bytes, types) = under_gil(py, write).into_py()?;
    let bytes = PyBytes::new(py, &bytes).into_any();
    let (class, modules) = origin(this, types)?;
    let arguments = PyTuple::new(py, [bytes, class, modules])?;
    reduced(this, intern!(py, "_from_pickle"), arguments)
}

/// The first protocol of pickles that keeps buffers beside the pickle.
const WITH_BUFFERS: i64 = 5;

/// [`reduce`], with the elements of tensors in buffers that `pickle` may keep out of band.
fn reduce_with_protocol<'py>(
    this: &Bound<'py, PyAny>,
    protocol: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let name = intern!(py, "__reduce__");
    let own = || -> PyResult<bool> {
        let of_object = py.import(intern!(py, "isoform._core"))?;
        let of_object = of_object.getattr(intern!(py, "Object"))?.getattr(name)?;
        Ok(this.get_type().getattr(name)?.is(&of_object))
    };
    if protocol.extract::<i64>()? < WITH_BUFFERS || !own()? {
        return this.call_method0(name);
    }
    let object = core(this)?;
    let write = || isoform::host::to_bytes_apart(&object.into());
    let apart = under_gil(py, write).into_py()?;
    if apart.tensors.is_empty() {
        return this.call_method0(name);
    }
    let buffer = py
        .import(intern!(py, "pickle"))?
        .getattr(intern!(py, "PickleBuffer"))?;
    let buffers: Vec<_> = apart
        .tensors
        .into_iter()
        .map(|tensor| {
            let bytes = to_python(py, &crate::tensor::as_bytes(&tensor)?.into())?;
            buffer.call1((bytes,))
        })
        .collect::<PyResult<_>>()?;
    let (class, modules) = origin(this, apart.types)?;
    let bytes = PyBytes::new(py, &apart.bytes).into_any();
    let buffers = PyTuple::new(py, buffers)?.into_any();
    let arguments = PyTuple::new(py, [bytes, buffers, class, modules])?;
    reduced(this, intern!(py, "_from_pickle_apart"), arguments)
}

/// The function that restores an object, its arguments, and the object's own state.
fn reduced<'py>(
    this: &Bound<'py, PyAny>,
    restore: &Bound<'py, PyString>,
    arguments: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let restore = py.import(intern!(py, "isoform._core"))?.getattr(restore)?;
    let state = State::of(this)?.for_pickle(py)?;
    Ok((restore, arguments, state).into_pyobject(py)?.into_any())
}

/// The class of an object if it is not the type's own, and the modules that declare types.
fn origin<'py>(
    this: &Bound<'py, PyAny>,
    types: Vec<&'static TypeInfo>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = this.py();
    let ty = this.get_type();
    let is_registered = class::of_class(py, ty.as_type_ptr()).is_some();
    let class = if is_registered {
        py.None().into_bound(py)
    } else {
        ty.into_any()
    };
    let mut modules = Vec::new();
    for info in types {
        // Native types are registered when the core is loaded.
        if let Some(data) = class::of_index(py, info.index()).filter(|data| !data.native) {
            let module = data.class(py).getattr(intern!(py, "__module__"))?;
            modules.push(PyTuple::new(
                py,
                [PyString::new(py, info.key()).into_any(), module],
            )?);
        }
    }
    Ok((class, PyTuple::new(py, modules)?.into_any()))
}

/// Imports the module that declares a type, unless the type is known.
///
/// Raises ImportError if the type is still unknown afterwards.
#[pyfunction]
fn _require_type(py: Python<'_>, key: &str, module: &str) -> PyResult<()> {
    if find_type_in_file(key).is_some() {
        return Ok(());
    }
    let fail = |why: &str, cause: Option<PyErr>| {
        let error = PyImportError::new_err(format!("type '{key}' of the pickle is unknown: {why}"));
        error.set_cause(py, cause);
        Err(error)
    };
    if module == "__main__" {
        return fail(
            "the script that made the pickle declares it; move the class into a module that both \
             programs import",
            None,
        );
    }
    let declare_enum = || -> PyResult<bool> {
        let classes = py.import(intern!(py, "isoform._value_classes"))?;
        classes.call_method1(intern!(py, "declare_by_name"), (key, module))?;
        Ok(find_type_in_file(key).is_some())
    };
    match py.import(module) {
        Ok(_) if find_type_in_file(key).is_some() => Ok(()),
        // An enum of the standard library is declared by its use in a class.
        Ok(_) if declare_enum()? => Ok(()),
        Ok(_) => fail(
            &format!(
                "module '{module}', which declared it, does not declare it when it is imported"
            ),
            None,
        ),
        Err(error) if error.is_instance_of::<PyImportError>(py) => fail(
            &format!("module '{module}', which declared it, cannot be imported"),
            Some(error),
        ),
        Err(error) => Err(error),
    }
}

/// The inverse of `__reduce__`.
#[pyfunction]
#[pyo3(signature = (data, cls=None, modules=Vec::new(), ignore_unknown_fields=false))]
fn _from_pickle<'py>(
    py: Python<'py>,
    data: &[u8],
    cls: Option<&Bound<'py, PyType>>,
    modules: Vec<(String, String)>,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    for (key, module) in &modules {
        _require_type(py, key, module)?;
    }
    let options = BinaryReadOptions::default().ignore_unknown_fields(ignore_unknown_fields);
    let value = under_gil(py, || options.read(data)).into_py()?;
    restored(py, &value, cls)
}

/// The inverse of `__reduce_ex__` with protocol 5. The memory of a read-only buffer is
/// shared; others are copied. `pickle` makes buffers of tensors read-only, also where
/// the caller can write to them, and then must not.
#[pyfunction]
#[pyo3(signature = (data, buffers, cls=None, modules=Vec::new(), ignore_unknown_fields=false))]
fn _from_pickle_apart<'py>(
    py: Python<'py>,
    data: &[u8],
    buffers: Vec<PyBuffer<u8>>,
    cls: Option<&Bound<'py, PyType>>,
    modules: Vec<(String, String)>,
    ignore_unknown_fields: bool,
) -> PyResult<Bound<'py, PyAny>> {
    for (key, module) in &modules {
        _require_type(py, key, module)?;
    }
    let elements = buffers
        .into_iter()
        .map(|buffer| elements_of(py, buffer))
        .collect::<PyResult<Vec<_>>>()?;
    let options = BinaryReadOptions::default().ignore_unknown_fields(ignore_unknown_fields);
    let read = || isoform::host::from_bytes_apart(data, elements, options);
    let value = under_gil(py, read).into_py()?;
    restored(py, &value, cls)
}

fn restored<'py>(
    py: Python<'py>,
    value: &Value,
    cls: Option<&Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyAny>> {
    match (cls, value.as_object()) {
        (None, _) => to_python(py, value),
        (Some(cls), Some(object)) => wrapper::wrap_as(cls, object.clone()),
        (Some(cls), None) => Err(PyValueError::new_err(format!(
            "expected an object of {} in the data, got {}",
            cls.name()?,
            value.type_name()
        ))),
    }
}
