//! Attributes of types, for Python; see `isoform.type_attrs`.
//!
//! The functions find the type for a class, key or node. The metaclass calls them for
//! names that Python does not find in a class; attribute access on instances never
//! consults type attributes and stays CPython's own.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use isoform::attrs::{self, AttrDef, AttrInfo, Column, Lookup};
use isoform::functions::Function;
use isoform::types::{TypeDef, TypeIndex, find_type};
use isoform::values::ValueRef;
use isoform::{Error, Node, Obj, Value, host};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use crate::convert::{HostObject, SchemaHandle, to_python, untyped};
use crate::error::IntoPyResult;
use crate::hooks;
use crate::object::{bind, class, construct, roots, wrapper};
use crate::type_info::TypeInfoHandle;
use crate::value_classes::built_in;

type Object<'py> = Bound<'py, PyAny>;

fn lookup(inherit: bool) -> Lookup {
    if inherit {
        Lookup::Nearest
    } else {
        Lookup::Exact
    }
}

/// The type identified by a class, a type key, a `TypeInfo` or a node.
#[inline]
fn type_of(of: &Object<'_>) -> PyResult<TypeIndex> {
    match wrapper::core_of(of) {
        Some(core) => Ok(host::type_index_of(core)),
        None => type_named(of),
    }
}

fn type_named(of: &Object<'_>) -> PyResult<TypeIndex> {
    if let Ok(class) = of.cast::<PyType>() {
        return match registered(class)? {
            Some(index) => Ok(index),
            // Its objects have the type of the extended class.
            None => nearest(class).ok_or_else(|| no_type(of)),
        };
    }
    if let Some(index) = stated(of)? {
        return Ok(index);
    }
    // An object that is still being initialised.
    nearest(&of.get_type()).ok_or_else(|| no_type(of))
}

/// The type to change: nodes, and classes without their own type, are rejected, to
/// prevent accidental changes of a type.
fn type_to_change(of: &Object<'_>) -> PyResult<TypeIndex> {
    if let Ok(class) = of.cast::<PyType>() {
        return match registered(class)? {
            Some(index) => Ok(index),
            None => match nearest(class) {
                Some(parent) => Err(PyTypeError::new_err(format!(
                    "class {} is not registered; its objects are of type {}",
                    class.name()?,
                    host::type_info(parent).key()
                ))),
                None => Err(no_type(of)),
            },
        };
    }
    match stated(of)? {
        Some(index) => Ok(index),
        None => Err(PyTypeError::new_err(format!(
            "expected a type (a class, a type key or a TypeInfo), got {}",
            of.get_type().name()?
        ))),
    }
}

/// The type of a type key or a `TypeInfo`; None for other objects.
fn stated(of: &Object<'_>) -> PyResult<Option<TypeIndex>> {
    if let Ok(info) = of.cast::<TypeInfoHandle>() {
        return Ok(Some(info.get().index()));
    }
    // Data types are strings, too.
    if let Ok(key) = of.cast_exact::<PyString>() {
        let key = key.to_str()?;
        return match find_type(key) {
            Some(info) => Ok(Some(info.index())),
            None => Err(PyKeyError::new_err(format!(
                "no type is registered as '{key}'"
            ))),
        };
    }
    Ok(None)
}

#[cold]
fn no_type(of: &Object<'_>) -> PyErr {
    let got = match of.cast::<PyType>() {
        Ok(class) => class.name().map(|name| format!("class {name}")),
        Err(_) => of.get_type().name().map(|name| name.to_string()),
    };
    PyTypeError::new_err(format!(
        "expected a type (a class, a type key or a TypeInfo) or a node, got {}",
        got.unwrap_or_else(|_| "an object".to_owned())
    ))
}

/// The type that has exactly this class.
fn registered(class: &Bound<'_, PyType>) -> PyResult<Option<TypeIndex>> {
    let py = class.py();
    if let Some(data) = class::of_class(py, class.as_type_ptr()) {
        return Ok(Some(data.info.index()));
    }
    if let Some(index) = built_in(class) {
        return Ok(Some(index));
    }
    // The class may wait for names in annotations.
    construct::resolve(class.as_any())?;
    Ok(class::of_class(py, class.as_type_ptr()).map(|data| data.info.index()))
}

/// The type of the objects of a class without its own type.
fn nearest(class: &Bound<'_, PyType>) -> Option<TypeIndex> {
    let py = class.py();
    let found = class::nearest(py, class.as_type_ptr());
    found
        .map(|data| data.info.index())
        .or_else(|| roots::extends_base(class).then(Obj::type_index))
}

/// The class of a type; a type declared in Rust gets it now.
fn class_of<'py>(py: Python<'py>, index: TypeIndex) -> PyResult<Bound<'py, PyType>> {
    bind::class_by_key(py, host::type_info(index).key())
}

/// The value of an attribute as it was set: for a function without a name, the original
/// callable.
fn shown<'py>(py: Python<'py>, value: &Value) -> PyResult<Object<'py>> {
    if let Some(function) = value.as_object().and_then(Function::of)
        && function.name().is_none()
        && let Some(callable) = function.content::<HostObject>()
    {
        return Ok(callable.get(py));
    }
    to_python(py, value)
}

/// The attribute of a class, for the metaclass: the attribute of the nearest type that
/// has it. None if there is no such attribute.
pub(crate) fn attribute_of_class<'py>(
    class: &Bound<'py, PyType>,
    name: &Object<'py>,
) -> PyResult<Option<Object<'py>>> {
    let Ok(name) = name.cast::<PyString>() else {
        return Ok(None);
    };
    // An incomplete class has the attributes of its parent.
    let Some(index) = nearest(class) else {
        return Ok(None);
    };
    // Names with lone surrogates cannot be attributes.
    let Ok(name) = name.to_str() else {
        return Ok(None);
    };
    let found = attrs::get(index, name, Lookup::Nearest);
    found.map(|value| shown(class.py(), value)).transpose()
}

fn assign(index: TypeIndex, name: &str, value: &Object<'_>, replace: bool) -> PyResult<()> {
    if let Some(hook) = hooks::make(host::type_info(index).key(), name, value)? {
        return hook.set(index, replace).into_py();
    }
    let value = untyped(value)?;
    if replace {
        attrs::replace(index, name, value).into_py()
    } else {
        attrs::set(index, name, value).into_py()
    }
}

/// Adds an attribute to a definition.
pub(crate) fn define(definition: TypeDef, name: &str, value: &Object<'_>) -> PyResult<TypeDef> {
    match hooks::make(definition.key(), name, value)? {
        Some(hook) => Ok(hook.define(definition)),
        None => Ok(definition.attr(name, untyped(value)?)),
    }
}

/// Sets an attribute of a type; see `isoform.type_attrs.set`.
#[pyfunction]
fn type_attrs_set(
    of: &Object<'_>,
    name: Name<'_>,
    value: &Object<'_>,
    replace: bool,
) -> PyResult<()> {
    assign(type_to_change(of)?, name.text()?, value, replace)
}

/// Raises the exceptions of setting an attribute, without setting it.
#[pyfunction]
fn type_attrs_check(of: &Object<'_>, name: Name<'_>, value: &Object<'_>) -> PyResult<()> {
    let (index, name) = (type_to_change(of)?, name.text()?);
    let key = host::type_info(index).key();
    if attrs::has(index, name, Lookup::Exact) {
        return Err(PyValueError::new_err(format!(
            "attribute '{name}' of type {key} is set already"
        )));
    }
    if hooks::make(key, name, value)?.is_some() {
        return Ok(());
    }
    let value = untyped(value)?;
    let Some(schema) = attrs::info(name).and_then(|known| known.schema) else {
        return Ok(());
    };
    let wrong = |error: Error| {
        let place = format!("attribute '{name}' of type {key}");
        Error::new(error.kind(), format!("{place}: {}", error.message()))
    };
    schema.convert(value).map(drop).map_err(wrong).into_py()
}

/// The type to change, by its class, key or `TypeInfo`.
///
/// Raises TypeError for anything else, KeyError for an unknown key.
#[pyfunction]
fn type_attrs_place(of: &Object<'_>) -> PyResult<TypeInfoHandle> {
    type_to_change(of).map(|index| TypeInfoHandle::new(host::type_info(index)))
}

/// The attribute of a type or of the type of a node; see
/// `isoform.type_attrs.get`.
#[pyfunction]
fn type_attrs_get<'py>(
    of: &Object<'py>,
    name: Name<'_>,
    default: Object<'py>,
    inherit: bool,
) -> PyResult<Object<'py>> {
    match attrs::get(type_of(of)?, name.text()?, lookup(inherit)) {
        Some(value) => shown(of.py(), value),
        None => Ok(default),
    }
}

/// True if an attribute is set; see `isoform.type_attrs.has`.
#[pyfunction]
fn type_attrs_has(of: &Object<'_>, name: Name<'_>, inherit: bool) -> PyResult<bool> {
    Ok(attrs::has(type_of(of)?, name.text()?, lookup(inherit)))
}

/// The type that has an attribute; see `isoform.type_attrs.owner`.
#[pyfunction]
fn type_attrs_owner<'py>(of: &Object<'py>, name: Name<'_>) -> PyResult<Option<Bound<'py, PyType>>> {
    let owner = attrs::owner(type_of(of)?, name.text()?);
    owner.map(|owner| class_of(of.py(), owner)).transpose()
}

/// The attributes of a type; see `isoform.type_attrs.attrs_of`.
#[pyfunction]
fn type_attrs_of<'py>(of: &Object<'py>, inherit: bool) -> PyResult<Bound<'py, PyDict>> {
    let py = of.py();
    let index = type_of(of)?;
    let attributes = PyDict::new(py);
    if !inherit {
        for (name, value) in attrs::attrs_of(index) {
            attributes.set_item(name, shown(py, value)?)?;
        }
        return Ok(attributes);
    }
    for known in attrs::list() {
        if let Some(value) = attrs::get(index, known.name, Lookup::Nearest) {
            attributes.set_item(known.name, shown(py, value)?)?;
        }
    }
    Ok(attributes)
}

/// The names of all attributes; see `isoform.type_attrs.list`.
#[pyfunction]
fn type_attrs_list() -> Vec<&'static str> {
    let all = attrs::list().into_iter();
    all.map(|known| known.name).collect()
}

/// The names of the attributes that the library itself reads.
#[pyfunction]
fn type_attrs_hooks() -> Vec<&'static str> {
    let all = attrs::list().into_iter();
    all.filter(|known| known.builtin)
        .map(|known| known.name)
        .collect()
}

/// Declares an attribute; see `isoform.type_attrs.declare`.
#[pyfunction]
fn type_attrs_declare(
    name: &str,
    doc: &str,
    schema: Option<&Bound<'_, SchemaHandle>>,
    dense: bool,
) -> PyResult<()> {
    let mut definition = AttrDef::new(name).doc(doc);
    if let Some(schema) = schema {
        definition = definition.schema(schema.get().schema().clone());
    }
    if dense {
        definition = definition.dense();
    }
    attrs::declare(definition).into_py()
}

/// Moves an attribute to the hot tier; see `isoform.type_attrs.declare_dense`.
#[pyfunction]
fn type_attrs_declare_dense(name: Name<'_>) -> PyResult<()> {
    attrs::declare_dense(name.text()?).into_py()
}

/// The declaration of an attribute; see `isoform.type_attrs.info`.
#[pyfunction]
fn type_attrs_info<'py>(py: Python<'py>, name: Name<'_>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let described = |known: AttrInfo| -> PyResult<Bound<'py, PyDict>> {
        let about = PyDict::new(py);
        about.set_item("name", known.name)?;
        about.set_item("doc", known.doc)?;
        about.set_item("schema", known.schema.map(SchemaHandle::from_schema))?;
        let methods = known
            .methods
            .iter()
            .map(|method| (method.name, method.doc, method.required));
        about.set_item("methods", methods.collect::<Vec<_>>())?;
        about.set_item("dense", known.dense)?;
        about.set_item("builtin", known.builtin)?;
        about.set_item("count", known.count)?;
        about.set_item("bytes", known.bytes)?;
        Ok(about)
    };
    attrs::info(name.text()?).map(described).transpose()
}

/// Wraps a Python object as an opaque value, even one that would otherwise be
/// converted.
#[pyfunction]
fn opaque<'py>(value: &Object<'py>) -> PyResult<Object<'py>> {
    match HostObject::wrap(value).as_object() {
        Some(object) => wrapper::wrap_borrowed(value.py(), object),
        None => Err(PyTypeError::new_err("an opaque value is an object")),
    }
}

/// An attribute whose name has been looked up.
#[pyclass(frozen, name = "Column", module = "isoform._core")]
struct ColumnHandle {
    column: Column<Value>,
}

#[pymethods]
impl ColumnHandle {
    #[new]
    fn new(name: Name<'_>) -> PyResult<Self> {
        let column = Column::open(name.text()?).into_py()?;
        Ok(ColumnHandle { column })
    }

    /// The name of the attribute.
    #[getter]
    fn name(&self) -> &'static str {
        self.column.name()
    }

    /// The value for a type or for the type of a node; `default` if there is none.
    /// O(1).
    ///
    /// With `inherit`, a type without a value uses that of its nearest ancestor.
    #[pyo3(signature = (of, default=None, *, inherit=false))]
    fn get<'py>(
        &self,
        of: &Object<'py>,
        default: Option<Object<'py>>,
        inherit: bool,
    ) -> PyResult<Object<'py>> {
        let py = of.py();
        match self.column.lookup(type_of(of)?, lookup(inherit)) {
            Some(value) => shown(py, value),
            None => Ok(default.unwrap_or_else(|| py.None().into_bound(py))),
        }
    }

    fn __getitem__<'py>(&self, of: &Object<'py>) -> PyResult<Object<'py>> {
        let index = type_of(of)?;
        match self.column.get(index) {
            Some(value) => shown(of.py(), value),
            None => Err(PyKeyError::new_err(format!(
                "type {} has no attribute '{}'",
                host::type_info(index).key(),
                self.column.name()
            ))),
        }
    }

    fn __contains__(&self, of: &Object<'_>) -> PyResult<bool> {
        Ok(self.column.get(type_of(of)?).is_some())
    }

    /// Sets the value for a type. An existing value is replaced only with `override`.
    ///
    /// Raises ValueError if a value is already set, TypeError for one that the
    /// attribute's declaration does not allow.
    #[pyo3(signature = (of, value, r#override=false))]
    fn set(&self, of: &Object<'_>, value: &Object<'_>, r#override: bool) -> PyResult<()> {
        assign(type_to_change(of)?, self.column.name(), value, r#override)
    }

    /// The types that have a value, in the order of their registration.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let classes = self.column.iter().map(|(index, _)| class_of(py, index));
        PyList::new(py, classes.collect::<PyResult<Vec<_>>>()?)
    }

    /// The values, in the order in which their types were registered.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = self.column.iter().map(|(_, value)| shown(py, value));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// The types that have a value, with it, in the order of registration.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let pair = |(index, value): (TypeIndex, &Value)| -> PyResult<Bound<'py, PyTuple>> {
            (class_of(py, index)?, shown(py, value)?).into_pyobject(py)
        };
        let pairs = self.column.iter().map(pair);
        PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys(py)?.try_iter()?.into_any())
    }

    fn __len__(&self) -> usize {
        self.column.iter().count()
    }

    // A column without values is still true.
    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        format!("Column('{}')", self.column.name())
    }
}

/// The data of a trait for `implements`, stored as `__isoform_handle__` of its class.
#[pyclass(frozen, name = "TraitHandle", module = "isoform._core")]
struct TraitHandle {
    column: Column<Value>,
    /// The only instance of a trait without methods and arguments.
    marker: Option<Py<PyAny>>,
    /// Makes an instance from the object, whether that is a node, and the value.
    view: Py<PyAny>,
    /// The instances of a trait without methods, by the address of the value, which
    /// lives until the process ends. None for a trait with methods, since every node
    /// gets a separate instance.
    made: Option<Mutex<HashMap<usize, Py<PyAny>>>>,
}

impl TraitHandle {
    fn instance<'py>(&self, of: &Object<'py>, value: &'static Value) -> PyResult<Object<'py>> {
        let py = of.py();
        let make = || {
            let is_node = !is_type(of);
            self.view.bind(py).call1((of, is_node, shown(py, value)?))
        };
        let Some(made) = &self.made else {
            return make();
        };
        let address = std::ptr::from_ref(value) as usize;
        let known = |made: &HashMap<usize, Py<PyAny>>| Some(made.get(&address)?.bind(py).clone());
        if let Some(known) = known(&made.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(known);
        }
        // Python code runs meanwhile, so the lock is not held.
        let instance = make()?;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        let first = made
            .entry(address)
            .or_insert_with(|| instance.clone().unbind());
        Ok(first.bind(py).clone())
    }
}

/// True if an object identifies a type rather than being a node of it.
fn is_type(of: &Object<'_>) -> bool {
    of.is_instance_of::<PyType>()
        || of.is_instance_of::<TypeInfoHandle>()
        || of.is_exact_instance_of::<PyString>()
}

#[pymethods]
impl TraitHandle {
    #[new]
    fn new(
        name: &str,
        marker: Option<Py<PyAny>>,
        view: Py<PyAny>,
        has_methods: bool,
    ) -> PyResult<Self> {
        Ok(TraitHandle {
            column: Column::open(name).into_py()?,
            marker,
            view,
            made: (!has_methods).then(Mutex::default),
        })
    }

    /// The name of the attribute.
    #[getter]
    fn name(&self) -> &'static str {
        self.column.name()
    }
}

fn handle_of<'py>(of: &Object<'py>) -> PyResult<Bound<'py, TraitHandle>> {
    let handle = of.getattr_opt(intern!(of.py(), "__isoform_handle__"))?;
    match handle.map(Bound::cast_into) {
        Some(Ok(handle)) => Ok(handle),
        _ => Err(PyTypeError::new_err(format!(
            "expected a subclass of Trait, got {}",
            of.repr()?
        ))),
    }
}

/// A type or node as an instance of a trait; None if it does not have the trait; see
/// `isoform.type_attrs.implements`.
#[pyfunction]
#[pyo3(name = "implements", signature = (of, r#trait, /, *, inherit=false))]
fn implements<'py>(
    of: &Object<'py>,
    r#trait: &Object<'py>,
    inherit: bool,
) -> PyResult<Option<Object<'py>>> {
    let handle = handle_of(r#trait)?;
    let handle = handle.get();
    let Some(value) = handle.column.lookup(type_of(of)?, lookup(inherit)) else {
        return Ok(None);
    };
    match (&handle.marker, value.view()) {
        (_, ValueRef::None | ValueRef::Bool(false)) => Ok(None),
        (Some(marker), _) => Ok(Some(marker.bind(of.py()).clone())),
        (None, _) => handle.instance(of, value).map(Some),
    }
}

/// The name of an attribute, given by text or by the trait.
struct Name<'py>(Bound<'py, PyString>);

impl<'a, 'py> FromPyObject<'a, 'py> for Name<'py> {
    type Error = PyErr;

    #[inline]
    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = given.cast::<PyString>() {
            return Ok(Name(name.to_owned()));
        }
        if given.is_instance_of::<PyType>() {
            let handle = handle_of(&given)?;
            Ok(Name(PyString::new(given.py(), handle.get().name())))
        } else {
            Err(PyTypeError::new_err(format!(
                "expected the name of an attribute or its trait, got {}",
                given.get_type().name()?
            )))
        }
    }
}

impl Name<'_> {
    fn text(&self) -> PyResult<&str> {
        self.0.to_str()
    }
}

/// Adds the functions of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ColumnHandle>()?;
    module.add_class::<TraitHandle>()?;
    module.add_function(wrap_pyfunction!(implements, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_check, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_place, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_set, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_get, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_has, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_owner, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_of, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_list, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_hooks, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_declare, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_declare_dense, module)?)?;
    module.add_function(wrap_pyfunction!(type_attrs_info, module)?)?;
    module.add_function(wrap_pyfunction!(opaque, module)?)
}
