//! Registration of classes, from descriptions made by the Python layer.

use isoform::Value;
use isoform::host::{self, FieldPlace};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, find_type, register_type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::convert::{self, SchemaHandle};
use crate::error::IntoPyResult;
use crate::missing::is_missing;
use crate::object::bind::{self, Plan};
use crate::object::class::{self, Default, FieldData};
use crate::object::construct::interned;
use crate::type_info::TypeInfoHandle;

/// A field in the description of the Python layer.
struct Field {
    name: String,
    schema: Schema,
    flag: FieldFlag,
    default: Option<Default>,
    frozen: bool,
    init: bool,
    kw_only: bool,
    repr: bool,
    compare: bool,
    hash: bool,
    converter: Option<Py<PyAny>>,
    aliases: Vec<String>,
    doc: String,
}

impl Field {
    fn parse(description: &Bound<'_, PyAny>, type_key: &str) -> PyResult<Field> {
        let py = description.py();
        let get = |name: &str| description.getattr(name);
        let optional = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(description
                .getattr_opt(name)?
                .filter(|value| !value.is_none() && !is_missing(value)))
        };
        let flag = |name: &str, default: bool| -> PyResult<bool> {
            match optional(name)? {
                Some(value) => value.is_truthy(),
                None => Ok(default),
            }
        };
        let name: String = get("name")?.extract()?;
        let handle = get("schema")?;
        let schema = handle
            .cast::<SchemaHandle>()
            .map_err(|_| {
                PyTypeError::new_err(format!("field '{name}': expected a Schema, got {handle}"))
            })?
            .get()
            .schema()
            .clone();
        let structural = match optional("structural_eq")? {
            Some(text) => {
                let flag = text.extract::<String>()?.parse::<FieldFlag>();
                flag.map_err(|error| {
                    PyValueError::new_err(format!("field '{name}': {}", error.message()))
                })?
            }
            None => FieldFlag::None,
        };
        let converter = optional("converter")?.map(Bound::unbind);
        let compare = flag("compare", true)?;
        let default = Field::default(
            py,
            description,
            &name,
            &schema,
            converter.as_ref(),
            type_key,
        )?;
        Ok(Field {
            flag: structural,
            default,
            frozen: flag("frozen", false)?,
            init: flag("init", true)?,
            kw_only: flag("kw_only", false)?,
            repr: flag("repr", true)?,
            hash: flag("hash", compare)?,
            compare,
            converter,
            aliases: match optional("aliases")? {
                Some(names) => names.extract()?,
                None => Vec::new(),
            },
            doc: match optional("doc")? {
                Some(text) => text.extract()?,
                None => String::new(),
            },
            name,
            schema,
        })
    }

    fn default(
        py: Python<'_>,
        description: &Bound<'_, PyAny>,
        name: &str,
        schema: &Schema,
        converter: Option<&Py<PyAny>>,
        type_key: &str,
    ) -> PyResult<Option<Default>> {
        let default = description.getattr(intern!(py, "default"))?;
        let factory = description.getattr(intern!(py, "default_factory"))?;
        if !is_missing(&factory) && !factory.is_none() {
            if !is_missing(&default) {
                return Err(PyValueError::new_err(format!(
                    "{type_key}: field '{name}' has both a default and a default_factory"
                )));
            }
            if !factory.is_callable() {
                return Err(PyTypeError::new_err(format!(
                    "{type_key}: the default_factory of field '{name}' is not callable"
                )));
            }
            return Ok(Some(Default::Factory(factory.unbind())));
        }
        if is_missing(&default) {
            return Ok(None);
        }
        if converter.is_some() {
            return Ok(Some(Default::Convert(default.unbind())));
        }
        let value = convert::typed(&default, schema).map_err(|error| {
            error.into_python(|message| {
                format!("{type_key}: the default of field '{name}': {message}")
            })
        })?;
        Ok(Some(if host::is_mutable_container(&value) {
            Default::Convert(default.unbind())
        } else {
            Default::Value(value)
        }))
    }

    fn definition(&self, py: Python<'_>) -> FieldDef {
        let mut definition = FieldDef::new(&self.name, self.schema.clone())
            .flag(self.flag)
            .doc(&self.doc)
            .mutable(!self.frozen)
            .compare(self.compare)
            .hash(self.hash)
            .repr(self.repr)
            .aliases(self.aliases.iter().map(String::as_str));
        match &self.default {
            None => {}
            Some(Default::Value(value)) => definition = definition.default_value(value),
            Some(Default::Made(inherited)) => {
                let inherited = *inherited;
                definition =
                    definition.default_fn(move || inherited.make_default().unwrap_or_default());
            }
            Some(Default::Convert(value)) => {
                let value = value.clone_ref(py);
                let schema = self.schema.clone();
                definition = definition.default_fn(move || {
                    made_by_python(|py| {
                        convert::typed(value.bind(py), &schema)
                            .map_err(|error| error.into_python(str::to_owned))
                    })
                });
            }
            Some(Default::Factory(make)) => {
                let make = make.clone_ref(py);
                let schema = self.schema.clone();
                definition = definition.default_fn(move || {
                    made_by_python(|py| {
                        convert::typed(&make.bind(py).call0()?, &schema)
                            .map_err(|error| error.into_python(str::to_owned))
                    })
                });
            }
        }
        definition
    }
}

/// A default for the core, where defaults cannot fail: an exception is reported as
/// unraisable, and the result None does not fit.
fn made_by_python(make: impl FnOnce(Python<'_>) -> PyResult<Value>) -> Value {
    Python::attach(|py| {
        make(py).unwrap_or_else(|error| {
            error.write_unraisable(py, None);
            Value::NONE
        })
    })
}

/// Registers a class; see `isoform.dataclasses.py_class`, which calls this.
///
/// On an error, nothing is registered, and the class is unchanged.
#[pyfunction]
pub(crate) fn register_class<'py>(
    py: Python<'py>,
    cls: &Bound<'py, PyType>,
    type_key: &str,
    parent: Option<&Bound<'py, PyType>>,
    fields: Vec<Bound<'py, PyAny>>,
    options: &Bound<'py, PyDict>,
) -> PyResult<TypeInfoHandle> {
    let is_override = match options.get_item("override")? {
        Some(value) => value.is_truthy()?,
        None => false,
    };
    if !is_override && find_type(type_key).is_some() {
        return Err(PyValueError::new_err(format!(
            "type key '{type_key}' is already registered"
        )));
    }
    let option = |name: &str| -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(options.get_item(name)?.filter(|value| !value.is_none()))
    };
    let names = |name: &str| -> PyResult<Vec<String>> {
        option(name)?.map_or(Ok(Vec::new()), |value| value.extract())
    };
    let flag = |name: &str| -> PyResult<bool> {
        option(name)?.map_or(Ok(false), |value| value.is_truthy())
    };
    let kind: Option<String> = option("kind")?.map(|kind| kind.extract()).transpose()?;
    let mut definition = TypeDef::new(type_key)
        .kind(kind.map_or(Ok(Kind::None), |kind| kind.parse()).into_py()?)
        .scope(flag("scope")?);
    if let Some(defs_first) = option("defs_first")? {
        definition = definition.defs_first(defs_first.is_truthy()?);
    }
    if option("visit_order")?.is_some() {
        definition = definition.visit_order(names("visit_order")?);
    }
    definition = definition.aliases(names("aliases")?);
    if let Some(doc) = option("doc")? {
        definition = definition.doc(&doc.extract::<String>()?);
    }
    if let Some(parent) = parent {
        let data = class::of_class(py, parent.as_type_ptr()).ok_or_else(|| {
            PyTypeError::new_err(format!("the parent of '{type_key}' is not registered"))
        })?;
        definition = definition.parent(data.info.index());
    }
    let own: Vec<Field> = fields
        .iter()
        .map(|field| Field::parse(field, type_key))
        .collect::<PyResult<_>>()?;
    for field in &own {
        definition = definition.field(field.definition(py));
    }
    if let Some(attributes) = option("attributes")? {
        for (name, value) in attributes.extract::<Vec<(String, Bound<'py, PyAny>)>>()? {
            definition = crate::type_attrs::define(definition, &name, &value)?;
        }
    }
    if class::of_class(py, cls.as_type_ptr()).is_some() {
        return Err(PyValueError::new_err(format!(
            "class {} stands for a type already",
            cls.name()?
        )));
    }
    let params = names("init_order")?;
    let kw_only = names("kw_only")?;
    let init = flag("init")?;
    let post_init = flag("post_init")?;
    // Between the two steps, no other thread makes a class for the type.
    bind::one_at_a_time(py, || {
        let index = if is_override {
            host::replace_type(definition).into_py()?
        } else {
            register_type(definition).into_py()?
        };
        let info = host::type_info(index);
        let inherited = info.fields().len() - own.len();
        let own = own
            .into_iter()
            .enumerate()
            .filter_map(|(position, field)| {
                Some(FieldData {
                    place: FieldPlace::of(info, inherited + position)?,
                    name: interned(py, &field.name),
                    converter: field.converter,
                    default: field.default,
                    frozen: field.frozen,
                    kw_only: field.kw_only,
                    init: field.init,
                    repr: field.repr,
                    compare: field.compare,
                    hash: field.hash,
                })
            })
            .collect();
        let plan = Plan {
            own,
            params,
            kw_only,
            init,
            post_init,
        };
        bind::bind(py, cls, info, Some(plan))?;
        Ok(TypeInfoHandle::new(info))
    })
}

/// Makes a class the Python class of a type that was declared natively: fields become
/// properties, and a constructor is added unless the class has its own.
///
/// Raises KeyError for an unknown type key, ValueError if the type already has a class.
#[pyfunction]
pub(crate) fn bind_class(cls: &Bound<'_, PyType>, type_key: &str) -> PyResult<TypeInfoHandle> {
    bind::bind_key(cls, type_key).map(TypeInfoHandle::new)
}

/// The Python class of a type; created on demand for a type declared natively that has
/// none yet.
///
/// Raises KeyError for an unknown type key.
#[pyfunction]
pub(crate) fn class_of<'py>(py: Python<'py>, type_key: &str) -> PyResult<Bound<'py, PyType>> {
    bind::class_by_key(py, type_key)
}

/// The structural kinds of types that can be compared, by name.
#[pyfunction]
pub(crate) fn structural_kinds() -> Vec<&'static str> {
    let kinds = Kind::ALL
        .into_iter()
        .filter(|(kind, _)| *kind != Kind::None);
    kinds.map(|(_, name)| name).collect()
}

/// The names of field flags, each with the usual name of its flag.
#[pyfunction]
pub(crate) fn field_flags() -> Vec<(&'static str, &'static str)> {
    let flags = FieldFlag::ALL.into_iter();
    flags
        .flat_map(|(_, names)| names.iter().map(|name| (*name, names[0])))
        .collect()
}

/// The keys of all registered types, sorted.
#[pyfunction]
pub(crate) fn registered_type_keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = isoform::types::registered_types()
        .into_iter()
        .map(|info| info.key())
        .collect();
    keys.sort_unstable();
    keys
}
