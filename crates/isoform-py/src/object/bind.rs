//! Binding a class to a type: properties, constructor, entry in the table of classes.

use isoform::attrs::{self, Lookup};
use isoform::host::{self, FieldPlace};
use isoform::types::{FieldDef, Schema, TypeInfo, find_type};
use isoform::values::ValueRef;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use super::class::{
    self, ClassData, Default, FieldData, Maker, class_of, nearest, of_class, of_index,
};
use super::construct;
use super::init_function::InitFunction;
use super::property::Property;
use super::{roots, wrapper};

/// The Python class of a type, by the type's key.
///
/// # Errors
///
/// `KeyError` for an unknown key.
pub(crate) fn class_by_key<'py>(py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyType>> {
    let info = known(key)?;
    if let Some(class) = crate::value_classes::class_of_values(py, info.index())? {
        return Ok(class);
    }
    class_of(py, info.index())?;
    match of_index(py, info.index()) {
        Some(data) => Ok(data.class(py)),
        None => Err(PyKeyError::new_err(format!("type '{key}' has no class"))),
    }
}

/// Makes the class of a natively declared type without a class.
///
/// # Errors
///
/// Exceptions from making a class.
#[cold]
pub(super) fn make_native(py: Python<'_>, info: &'static TypeInfo) -> PyResult<&'static ClassData> {
    if let Some(hook) = IMPORT_HOOK.get(py) {
        hook.bind(py).call1((info.key(),))?;
        if let Some(data) = of_index(py, info.index()) {
            return Ok(data);
        }
    }
    let (module, name) = info
        .key()
        .rsplit_once('.')
        .unwrap_or(("isoform", info.key()));
    let base = match info.parent() {
        Some(parent) if parent.parent().is_some() || of_index(py, parent.index()).is_some() => {
            class_of(py, parent.index())?
        }
        _ => roots::base(),
    };
    // SAFETY: both are live types.
    let (meta, base) = unsafe {
        (
            Bound::from_borrowed_ptr(py, roots::meta().cast()),
            Bound::from_borrowed_ptr(py, base.cast()),
        )
    };
    one_at_a_time(py, || {
        if let Some(data) = of_index(py, info.index()) {
            // Another thread was faster.
            return Ok(data);
        }
        let body = PyDict::new(py);
        body.set_item("__module__", module)?;
        body.set_item("__doc__", doc_of(info))?;
        let class = meta.call1((name, (base,), body))?.cast_into::<PyType>()?;
        let data = bind(py, &class, info, None)?;
        if let Some(hook) = NATIVE_HOOK.get(py) {
            hook.bind(py).call1((class,))?;
        }
        Ok(data)
    })
}

/// The lock of all changes to the table of classes, an `RLock`.
///
/// # Errors
///
/// Exceptions from CPython.
pub(crate) fn class_lock(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static LOCK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || Ok(py.import("threading")?.getattr("RLock")?.call0()?.unbind());
    Ok(LOCK.get_or_try_init::<_, PyErr>(py, make)?.bind(py))
}

/// Runs `body` while no other thread registers a class or makes the class of a type.
///
/// `body` must import no module: another thread may import it, and wait for this lock.
///
/// # Errors
///
/// Those of `body`.
pub(crate) fn one_at_a_time<R>(py: Python<'_>, body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    /// The lock, released even if `body` panics.
    struct Acquired<'a, 'py>(&'a Bound<'py, PyAny>);
    impl Drop for Acquired<'_, '_> {
        fn drop(&mut self) {
            let name = intern!(self.0.py(), "release");
            if let Err(error) = self.0.call_method0(name) {
                error.write_unraisable(self.0.py(), Some(self.0));
            }
        }
    }
    let lock = class_lock(py)?;
    lock.call_method0(intern!(py, "acquire"))?;
    let _acquired = Acquired(lock);
    body()
}

static IMPORT_HOOK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sets, once, the function that imports the module with the class of a native type, which is
/// called with the key of the type.
#[pyfunction]
#[pyo3(name = "_set_import_hook")]
pub(crate) fn set_import_hook(py: Python<'_>, hook: Py<PyAny>) {
    // A second call has no effect, for example if the package is imported again.
    let _ = IMPORT_HOOK.set(py, hook);
}

static NATIVE_HOOK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Sets, once, the function that completes the classes made for native types with the
/// methods that the Python layer adds to every node class.
#[pyfunction]
#[pyo3(name = "_set_native_hook")]
pub(crate) fn set_native_hook(py: Python<'_>, hook: Py<PyAny>) {
    // A second call has no effect, for example if the package is imported again.
    let _ = NATIVE_HOOK.set(py, hook);
}

/// The docstring of a type: the text of the type and a line for each field.
fn doc_of(info: &TypeInfo) -> String {
    let mut text = info.doc().to_owned();
    let documented = info
        .fields()
        .iter()
        .filter(|field| !field.documentation().is_empty());
    for (position, field) in documented.enumerate() {
        let start = if position == 0 { "\n\nFields:\n" } else { "\n" };
        text.push_str(&format!(
            "{start}    {}: {} ({})",
            field.name(),
            field.documentation().trim(),
            field.schema()
        ));
    }
    text
}

/// The constructor requested by a class, if any.
pub(crate) struct Plan {
    pub(crate) own: Vec<FieldData>,
    pub(crate) params: Vec<String>,
    pub(crate) kw_only: Vec<String>,
    pub(crate) init: bool,
    pub(crate) post_init: bool,
}

/// Binds a class to a type: properties, constructor, entry in the table.
///
/// Without a plan (a type declared natively), the constructor takes all fields, those
/// without default first.
///
/// # Errors
///
/// `ValueError` if the type or the class is already bound; exceptions from setting
/// attributes of the class.
pub(crate) fn bind(
    py: Python<'_>,
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    plan: Option<Plan>,
) -> PyResult<&'static ClassData> {
    bind_parent(py, info)?;
    one_at_a_time(py, || bind_alone(py, class, info, plan))
}

/// Makes the class of the parent, if the fields of a class need one. That may import its
/// module.
///
/// # Errors
///
/// Exceptions from making a class.
pub(crate) fn bind_parent(py: Python<'_>, info: &'static TypeInfo) -> PyResult<()> {
    match info.parent() {
        Some(parent) if !parent.fields().is_empty() => class_of(py, parent.index()).map(drop),
        _ => Ok(()),
    }
}

fn bind_alone(
    py: Python<'_>,
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    plan: Option<Plan>,
) -> PyResult<&'static ClassData> {
    if of_index(py, info.index()).is_some() {
        return Err(PyValueError::new_err(format!(
            "type '{}' has a class already",
            info.key()
        )));
    }
    let raw = class.as_type_ptr();
    if !roots::extends_base(class) {
        return Err(PyTypeError::new_err(format!(
            "class {} must extend isoform.Object to stand for type '{}'",
            class.name()?,
            info.key()
        )));
    }
    // A class that extends a declared class may already have instances.
    // SAFETY: the class is a live type.
    let has_instances =
        nearest(py, unsafe { (*raw).tp_base }).is_some_and(|base| !base.info.is_builtin());
    if of_class(py, raw).is_some() {
        return Err(PyValueError::new_err(format!(
            "class {} stands for a type already",
            class.name()?
        )));
    }
    let native = plan.is_none();
    let maker = if native { Maker::of(py, info)? } else { None };
    let mut fields: Vec<FieldData> = Vec::new();
    let mut inherited = 0;
    if let Some(parent) = info.parent()
        && !parent.fields().is_empty()
    {
        if let Some(parent) = of_index(py, parent.index()) {
            fields.extend(parent.fields.iter().map(|field| field.share(py)));
        }
        inherited = fields.len();
    }
    let plan = match plan {
        Some(plan) => plan,
        None => native_plan(class, info, inherited)?,
    };
    fields.extend(plan.own);
    let position = |name: &String| {
        info.field_index(name)
            .ok_or_else(|| PyTypeError::new_err(format!("{}: no field '{name}'", info.key())))
    };
    let mut params = Vec::new();
    for name in plan
        .params
        .iter()
        .filter(|name| !plan.kw_only.contains(name))
    {
        params.push(position(name)?);
    }
    let positional = params.len();
    for name in &plan.kw_only {
        params.push(position(name)?);
    }
    for (field, definition) in info.fields().iter().enumerate().skip(inherited) {
        let property = Property::new(py, info, field, &fields[field], definition, class)?;
        class.setattr(definition.name(), property)?;
    }
    class.setattr(intern!(py, "__isoform_type_key__"), info.key())?;
    let simple = !plan.post_init
        && maker.is_none()
        && fields.len() <= construct::SIMPLE_FIELDS
        && positional == fields.len()
        && fields.iter().all(|field| field.converter.is_none());
    let data: &'static ClassData = Box::leak(Box::new(ClassData {
        info,
        class: class.clone().unbind(),
        native,
        fields: fields.into(),
        params: params.into(),
        positional,
        maker,
        init: plan.init,
        post_init: plan.post_init,
        simple,
        instance_of: PyOnceLock::new(),
    }));
    if !info.is_builtin() {
        let init = Bound::new(py, InitFunction::new(data))?;
        class.setattr(intern!(py, "__isoform_init__"), &init)?;
        class.setattr(intern!(py, "__ffi_init__"), &init)?;
        if data.init {
            class.setattr(intern!(py, "__init__"), &init)?;
        }
    }
    if native && !info.is_builtin() {
        let names = match_args(py, data);
        class.setattr(intern!(py, "__match_args__"), PyTuple::new(py, names)?)?;
    }
    // The class is complete; no step fails from here on.
    class::enter(py, data);
    // SAFETY: the class extends `Object` and is alive.
    unsafe { wrapper::adopt_finalizer(raw) };
    if !has_instances
        && !info.is_builtin()
        && !info.fields().iter().any(|field| holds_host(field.schema()))
    {
        // SAFETY: the class is a live heap type without instances so far.
        unsafe { wrapper::leave_collector(raw) };
    }
    if data.init {
        // SAFETY: the class is a live heap type made by our metaclass, whose vectorcall
        // offset is the offset of this member.
        unsafe { (*raw).tp_vectorcall = Some(construct::class_vectorcall) };
    }
    Ok(data)
}

/// As [`bind`] without a plan, for the type with a key.
///
/// # Errors
///
/// `KeyError` for an unknown key; otherwise as [`bind`].
pub(crate) fn bind_key(class: &Bound<'_, PyType>, type_key: &str) -> PyResult<&'static TypeInfo> {
    let info = known(type_key)?;
    bind(class.py(), class, info, None)?;
    Ok(info)
}

fn known(type_key: &str) -> PyResult<&'static TypeInfo> {
    find_type(type_key)
        .ok_or_else(|| PyKeyError::new_err(format!("no type is registered as '{type_key}'")))
}

/// The fields accepted by `match` by position: in the order of the constructor's
/// parameters, as far as the parameters are fields.
fn match_args(py: Python<'_>, data: &ClassData) -> Vec<&'static str> {
    let fields = data.info.fields();
    let by_position = &data.params[..data.positional];
    let by_field = || by_position.iter().map(|&field| fields[field].name());
    let Some(maker) = &data.maker else {
        return by_field().collect();
    };
    let named: Vec<_> = maker
        .names(py)
        .map(|name| {
            let position = data.info.field_index(name.to_str().ok()?)?;
            Some(fields[position].name())
        })
        .collect();
    let required = maker.required().min(named.len());
    let first: Vec<_> = named[..required].iter().map_while(|name| *name).collect();
    match first.len() {
        count if count == required => named.into_iter().flatten().collect(),
        // The constructor takes further arguments.
        0 => by_field().collect(),
        _ => first,
    }
}

/// True if a field may contain a Python object itself, not only through the nodes below
/// it.
fn holds_host(schema: &Schema) -> bool {
    match schema {
        Schema::Any | Schema::Function | Schema::Host(_) => true,
        Schema::Optional(inner) | Schema::Array(inner) | Schema::List(inner) => holds_host(inner),
        Schema::Union(options) | Schema::Tuple(options) => options.iter().any(holds_host),
        Schema::Map(pair) | Schema::Dict(pair) => holds_host(&pair.0) || holds_host(&pair.1),
        _ => false,
    }
}

/// The default of a field of a native type.
fn default_of(definition: &'static FieldDef) -> Option<Default> {
    let value = definition.make_default()?;
    Some(match value.view() {
        ValueRef::Object(_) => Default::Made(definition),
        _ if host::is_mutable_container(&value) => Default::Made(definition),
        _ => Default::Value(value),
    })
}

/// True if a type lists a field in the attribute `init.keyword_only`, possibly
/// inherited from the nearest ancestor with the attribute.
fn is_keyword_only(info: &TypeInfo, field: &str) -> bool {
    let listed = attrs::get(info.index(), "init.keyword_only", Lookup::Nearest);
    listed.is_some_and(|listed| match listed.view() {
        ValueRef::Array(names) => names
            .values()
            .iter()
            .any(|name| name.as_str() == Some(field)),
        _ => listed.as_str() == Some(field),
    })
}

fn native_plan(
    class: &Bound<'_, PyType>,
    info: &'static TypeInfo,
    inherited: usize,
) -> PyResult<Plan> {
    let py = class.py();
    let own_init = class
        .getattr(intern!(py, "__dict__"))?
        .contains(intern!(py, "__init__"))?;
    let definitions = || info.fields().iter().enumerate();
    let own = definitions()
        .skip(inherited)
        .filter_map(|(field, definition)| {
            Some(FieldData {
                place: FieldPlace::of(info, field)?,
                name: PyString::intern(py, definition.name()).unbind(),
                converter: None,
                default: default_of(definition),
                frozen: true,
                kw_only: false,
                init: true,
                repr: true,
                compare: true,
                hash: true,
            })
        })
        .collect();
    let required = definitions().filter(|(_, field)| !field.has_default());
    let mut params: Vec<String> = required.map(|(_, field)| field.name().to_owned()).collect();
    // A type's own optional fields come before inherited fields, like the place in the
    // source text of many types.
    let mut ancestor = Some(info);
    while let Some(current) = ancestor {
        let parent = current.parent();
        let first = parent.map_or(0, |parent| parent.fields().len());
        let own = current.fields()[first..].iter();
        let optional = own.filter(|field| field.has_default());
        params.extend(optional.map(|field| field.name().to_owned()));
        ancestor = parent;
    }
    let kw_only = params
        .iter()
        .filter(|name| is_keyword_only(info, name))
        .cloned()
        .collect();
    Ok(Plan {
        own,
        params,
        kw_only,
        init: !info.is_builtin() && !own_init,
        post_init: false,
    })
}
