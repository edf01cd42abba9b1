//! Information about registered types, for Python.

use std::borrow::Cow;

use isoform::functions::Function;
use isoform::host::{self, FieldPlace};
use isoform::types::{Kind, TypeIndex, TypeInfo, find_type};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::convert::to_python;
use crate::missing::missing;
use crate::object::bind;
use crate::object::class::{self, Default};
use crate::value_classes::built_in;

/// A registered type: key, parent, fields, structural kind.
#[pyclass(frozen, name = "TypeInfo", module = "isoform._core")]
pub(crate) struct TypeInfoHandle {
    info: &'static TypeInfo,
}

impl TypeInfoHandle {
    pub(crate) fn new(info: &'static TypeInfo) -> Self {
        TypeInfoHandle { info }
    }

    pub(crate) fn index(&self) -> TypeIndex {
        self.info.index()
    }
}

#[pymethods]
impl TypeInfoHandle {
    /// The index of the type in this process.
    #[getter]
    fn type_index(&self) -> u32 {
        self.info.index().get()
    }

    #[getter]
    fn type_key(&self) -> &'static str {
        self.info.key()
    }

    /// The dialect: the type key up to the last dot.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.info.dialect()
    }

    /// The name of the type's visitor methods, after `visit_`.
    #[getter]
    fn visit_name(&self) -> Cow<'static, str> {
        self.info.visit_name()
    }

    #[getter]
    fn doc(&self) -> &'static str {
        self.info.doc()
    }

    /// The parent type; None for a type that only extends `Object`.
    #[getter]
    fn parent_type_info(&self) -> Option<TypeInfoHandle> {
        let parent = self.info.parent()?;
        parent.parent()?;
        Some(TypeInfoHandle { info: parent })
    }

    /// The fields that the type adds to those of its parent.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let inherited = self.info.parent().map_or(0, |parent| parent.fields().len());
        let fields: Vec<_> = (inherited..self.info.fields().len())
            .map(|field| TypeFieldHandle {
                info: self.info,
                field,
            })
            .map(|field| Bound::new(py, field))
            .collect::<PyResult<_>>()?;
        PyTuple::new(py, fields)
    }

    /// The structural kind, as `py_class` spells it.
    #[getter]
    fn kind(&self) -> Option<&'static str> {
        match self.info.kind() {
            Kind::None => None,
            kind => Some(kind.name()),
        }
    }

    #[getter]
    fn scope(&self) -> bool {
        self.info.is_scope()
    }

    /// The names of all fields, those of parents included, in the order of visit.
    #[getter]
    fn visit_order(&self) -> Vec<&'static str> {
        let fields = self.info.fields_as_visited();
        fields.map(|field| field.name()).collect()
    }

    #[getter]
    fn is_builtin(&self) -> bool {
        self.info.is_builtin()
    }

    /// The Python class.
    #[getter]
    fn type_cls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyType>> {
        bind::class_by_key(py, self.info.key())
    }

    /// The names of the constructor's parameters in order, and how many of them may be
    /// positional.
    #[getter]
    fn init_parameters(&self, py: Python<'_>) -> PyResult<(Vec<&'static str>, usize)> {
        bind::class_by_key(py, self.info.key())?;
        Ok(
            class::of_index(py, self.info.index()).map_or((Vec::new(), 0), |data| {
                let name = |&field: &usize| self.info.fields()[field].name();
                (data.params.iter().map(name).collect(), data.positional)
            }),
        )
    }

    /// The function that the constructor calls, if it does not take the fields.
    #[getter]
    fn init_function<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        bind::class_by_key(py, self.info.key())?;
        let data = class::of_index(py, self.info.index());
        let maker = data.and_then(|data| data.maker.as_ref());
        maker.map(|maker| maker.to_python(py)).transpose()
    }

    /// The methods that the class marks with `isoform.method`.
    #[getter]
    fn methods<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let class = bind::class_by_key(py, self.info.key())?;
        let body = class.getattr("__dict__")?;
        let mut methods = Vec::new();
        for entry in body.call_method0("items")?.try_iter()? {
            let (name, attribute) = entry?.extract::<(String, Bound<'py, PyAny>)>()?;
            let inner = attribute.getattr_opt("__func__")?;
            // The mark may be on the function that a static method wraps.
            let mut marked = false;
            for part in [Some(&attribute), inner.as_ref()].into_iter().flatten() {
                marked |= part.getattr_opt("__isoform_method__")?.is_some();
            }
            if !marked {
                continue;
            }
            let is_static = inner.is_some();
            let func = inner.unwrap_or(attribute).unbind();
            methods.push(TypeMethodHandle {
                name,
                func,
                is_static,
            });
        }
        PyTuple::new(py, methods)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<TypeInfoHandle>()
            .is_ok_and(|other| other.get().info.index() == self.info.index())
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.info.index().get())
    }

    fn __repr__(&self) -> String {
        format!(
            "<type {} (index {})>",
            self.info.key(),
            self.info.index().get()
        )
    }
}

/// A field of a registered type.
#[pyclass(frozen, name = "TypeField", module = "isoform._core")]
pub(crate) struct TypeFieldHandle {
    info: &'static TypeInfo,
    field: usize,
}

impl TypeFieldHandle {
    fn data<R>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&'static class::FieldData) -> R,
    ) -> PyResult<Option<R>> {
        bind::class_by_key(py, self.info.key())?;
        Ok(class::of_index(py, self.info.index()).map(|data| read(&data.fields[self.field])))
    }
}

#[pymethods]
impl TypeFieldHandle {
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::intern(py, self.info.fields()[self.field].name())
    }

    #[getter]
    fn doc(&self) -> Option<&'static str> {
        Some(self.info.fields()[self.field].documentation()).filter(|text| !text.is_empty())
    }

    /// The values that the field accepts, as an annotation.
    #[getter]
    fn annotation(&self) -> String {
        self.info.fields()[self.field].schema().to_string()
    }

    /// The role of the field in structural comparison, as `field` spells it.
    #[getter]
    fn structural_eq(&self) -> Option<&'static str> {
        self.info.fields()[self.field].field_flag().name()
    }

    #[getter]
    fn has_default(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self
            .data(py, |data| data.default.is_some())?
            .unwrap_or(false))
    }

    /// The default value, or MISSING.
    #[getter]
    fn default<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let nothing = || Ok(missing(py)?.bind(py).clone().into_any());
        self.data(py, |data| match &data.default {
            Some(Default::Value(value)) => to_python(py, value),
            Some(Default::Convert(value)) => Ok(value.bind(py).clone()),
            _ => nothing(),
        })?
        .unwrap_or_else(nothing)
    }

    /// The default factory, or MISSING.
    #[getter]
    fn default_factory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let nothing = || Ok(missing(py)?.bind(py).clone().into_any());
        self.data(py, |data| match &data.default {
            Some(Default::Factory(make)) => Ok(make.bind(py).clone()),
            Some(Default::Made(definition)) => {
                let definition = *definition;
                let make =
                    Function::new(move |_| Ok(definition.make_default().unwrap_or_default()));
                to_python(py, &make.into())
            }
            _ => nothing(),
        })?
        .unwrap_or_else(nothing)
    }

    #[getter]
    fn frozen(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.frozen)?.unwrap_or(true))
    }

    #[getter]
    fn init(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.init)?.unwrap_or(true))
    }

    #[getter]
    fn kw_only(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.kw_only)?.unwrap_or(false))
    }

    #[getter]
    fn repr(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.repr)?.unwrap_or(true))
    }

    #[getter]
    fn compare(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.compare)?.unwrap_or(true))
    }

    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.data(py, |data| data.hash)?.unwrap_or(true))
    }

    /// The offset of the field, in bytes from the start of the object.
    #[getter]
    fn offset(&self) -> usize {
        FieldPlace::of(self.info, self.field).map_or(0, |place| place.offset())
    }

    /// The size of the field in bytes.
    #[getter]
    fn size(&self) -> usize {
        FieldPlace::of(self.info, self.field).map_or(0, |place| place.storage().size())
    }

    fn __repr__(&self) -> String {
        let field = &self.info.fields()[self.field];
        format!(
            "<field {}: {} of {}>",
            field.name(),
            field.schema(),
            self.info.key()
        )
    }
}

/// A method that a class marks as public for tools.
#[pyclass(frozen, get_all, name = "TypeMethod", module = "isoform._core")]
pub(crate) struct TypeMethodHandle {
    /// The name of the method.
    name: String,
    /// The function itself.
    func: Py<PyAny>,
    /// True if it takes no instance.
    is_static: bool,
}

#[pymethods]
impl TypeMethodHandle {
    #[getter]
    fn doc(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.func.getattr(py, "__doc__")
    }

    fn __repr__(&self) -> String {
        format!("<method {}>", self.name)
    }
}

/// The registration of a type, by its key, its class or one of its objects.
///
/// Raises KeyError for an unknown key, TypeError for anything that does not identify a
/// type.
#[pyfunction]
pub(crate) fn type_info(py: Python<'_>, of: &Bound<'_, PyAny>) -> PyResult<TypeInfoHandle> {
    if let Ok(key) = of.cast::<PyString>() {
        let key = key.to_str()?;
        let info = find_type(key)
            .ok_or_else(|| PyKeyError::new_err(format!("no type is registered as '{key}'")))?;
        return Ok(TypeInfoHandle { info });
    }
    if let Ok(ty) = of.cast::<PyType>() {
        if let Some(data) = class::of_class(py, ty.as_type_ptr()) {
            return Ok(TypeInfoHandle { info: data.info });
        }
        let index = built_in(ty)
            .ok_or_else(|| PyTypeError::new_err(format!("{ty} is not a registered class")))?;
        let info = host::type_info(index);
        return Ok(TypeInfoHandle { info });
    }
    match crate::object::wrapper::unwrap(of)? {
        Some(core) => Ok(TypeInfoHandle {
            info: host::type_info(host::type_index_of(core)),
        }),
        None => Err(PyTypeError::new_err(format!(
            "{of} is no object of a registered type"
        ))),
    }
}
