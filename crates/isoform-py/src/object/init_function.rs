//! The generated constructor as a function of the instance: `__init__` and
//! `__ffi_init__` of a class.

use std::ptr;

use isoform::types::TypeInfo;
use isoform::{Value, host};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use smallvec::SmallVec;

use super::class::{self, ClassData, Maker};
use super::construct::{
    Slots, convert_field, default_of, fill_defaults, finish, given_twice, parameter, staged,
    too_many,
};
use super::wrapper;
use crate::error::IntoPyResult;
use crate::missing;

/// The generated constructor of a class as a function of the instance.
#[pyclass(frozen, dict, module = "isoform._core")]
pub(crate) struct InitFunction {
    data: &'static ClassData,
}

impl InitFunction {
    pub(super) fn new(data: &'static ClassData) -> Self {
        InitFunction { data }
    }
}

#[pymethods]
impl InitFunction {
    #[getter]
    fn __name__(&self) -> &'static str {
        "__init__"
    }

    #[getter]
    fn __qualname__(&self) -> String {
        format!("{}.__init__", self.data.info.key())
    }

    fn __get__<'py>(
        this: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if instance.is_none() {
            return Ok(this.clone().into_any());
        }
        method(this, instance)
    }

    /// Sets the fields of an instance from arguments; unset fields without argument get
    /// their defaults.
    ///
    /// Names and values may alternate after the marker `KWARGS`. Without arguments,
    /// only defaults are set while a constructor of a subclass runs, to let the
    /// subclass set the other fields itself.
    #[pyo3(signature = (instance, /, *args, **kwargs))]
    fn __call__(
        &self,
        instance: &Bound<'_, PyAny>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let py = instance.py();
        let data = self.data;
        let (args, kwargs) = &with_named(data, args, kwargs)?;
        let kwargs = kwargs.as_ref();
        let nothing = args.is_empty() && kwargs.is_none_or(|kwargs| kwargs.is_empty());
        let own = class::nearest(py, instance.get_type_ptr());
        let later = nothing && own.is_some_and(|own| !own.init);
        let complete = wrapper::core_of(instance).cloned();
        if later && (complete.is_some() || data.maker.is_some()) {
            return Ok(());
        }
        let mut slots = match &data.maker {
            _ if later => SmallVec::from_elem(None, data.fields.len()),
            Some(maker) => made_slots(py, maker, args, kwargs)?,
            None => given_slots(py, data, args, kwargs)?,
        };
        if complete.is_some() {
            self.overwrite(instance, slots)?;
        } else {
            let unset = |values: &mut Vec<Option<Value>>| -> Vec<usize> {
                (0..slots.len())
                    .filter(|&field| slots[field].is_none() && values[field].is_none())
                    .collect()
            };
            let Some(unset) = staged(instance, data.info, unset) else {
                // Perhaps another thread completed the object meanwhile.
                return self.overwrite(instance, slots);
            };
            for field in unset {
                slots[field] = default_of(py, data, field)?;
            }
            let stored = staged(instance, data.info, |values| {
                for (place, value) in values.iter_mut().zip(&mut slots) {
                    if value.is_some() {
                        // The old value is dropped with the slots, after the closure,
                        // since that may run Python code.
                        std::mem::swap(place, value);
                    }
                }
            });
            if stored.is_none() {
                return self.overwrite(instance, slots);
            }
            finish_if_set(instance, data.info)?;
        }
        if later {
            return Ok(());
        }
        if data.post_init && own.is_some_and(|own| ptr::eq(own, data)) {
            instance.call_method0(intern!(py, "__post_init__"))?;
            finish_if_set(instance, data.info)?;
        }
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<constructor of {}>", self.data.info.key())
    }
}

impl InitFunction {
    /// Sets fields of a complete object.
    fn overwrite(&self, instance: &Bound<'_, PyAny>, slots: Slots) -> PyResult<()> {
        let complete = wrapper::core_of(instance)
            .filter(|core| host::extends(host::type_index_of(core), self.data.info.index()));
        let Some(core) = complete else {
            return Err(self.foreign(instance));
        };
        for (field, value) in slots.into_iter().enumerate() {
            if let Some(value) = value {
                isoform::objects::overwrite_field_at(core, field, value).into_py()?;
            }
        }
        Ok(())
    }

    fn foreign(&self, instance: &Bound<'_, PyAny>) -> PyErr {
        let name = instance.get_type().name();
        PyTypeError::new_err(format!(
            "the constructor of {} cannot initialise {}",
            self.data.info.key(),
            name.map_or_else(|_| "this object".to_owned(), |name| name.to_string())
        ))
    }
}

/// Completes a staged object of a type if all its fields are set.
fn finish_if_set(instance: &Bound<'_, PyAny>, info: &'static TypeInfo) -> PyResult<()> {
    let is_set = |values: &mut Vec<Option<Value>>| values.iter().all(Option::is_some);
    match staged(instance, info, is_set) {
        Some(true) => finish(instance),
        _ => Ok(()),
    }
}

/// The arguments of a constructor by position and by name; names and values after the
/// marker `KWARGS` also count as named arguments.
fn with_named<'py>(
    data: &'static ClassData,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>)> {
    let Some(marker) = args
        .iter()
        .position(|argument| missing::is_kwargs(&argument))
    else {
        return Ok((args.clone(), kwargs.cloned()));
    };
    let fail = |what: String| {
        let key = data.info.key();
        Err(PyTypeError::new_err(format!("{key}.__init__(): {what}")))
    };
    let flat = args.get_slice(marker + 1, args.len());
    if !flat.len().is_multiple_of(2) {
        let count = flat.len();
        return fail(format!(
            "expected names and values in turn after KWARGS, got {count} arguments"
        ));
    }
    let named = match kwargs {
        Some(kwargs) => kwargs.copy()?,
        None => PyDict::new(args.py()),
    };
    for position in (0..flat.len()).step_by(2) {
        let (name, value) = (flat.get_item(position)?, flat.get_item(position + 1)?);
        if !name.is_instance_of::<PyString>() {
            let got = name.get_type().name()?;
            return fail(format!(
                "expected a str as name of an argument after KWARGS, got {got}"
            ));
        }
        if named.contains(&name)? {
            return fail(format!("got multiple values for argument '{name}'"));
        }
        named.set_item(name, value)?;
    }
    Ok((args.get_slice(0, marker), Some(named)))
}

/// The field values in the arguments of a constructor.
fn given_slots(
    py: Python<'_>,
    data: &'static ClassData,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Slots> {
    if args.len() > data.positional {
        return Err(too_many(data, args.len()));
    }
    let mut slots: Slots = SmallVec::from_elem(None, data.fields.len());
    for (argument, &field) in args.iter().zip(&data.params) {
        slots[field] = Some(convert_field(data, field, &argument)?);
    }
    for (name, argument) in kwargs.into_iter().flatten() {
        let field = parameter(data, &name)?;
        if slots[field].is_some() {
            return Err(given_twice(data, field));
        }
        slots[field] = Some(convert_field(data, field, &argument)?);
    }
    fill_defaults(py, data, &mut slots)?;
    Ok(slots)
}

/// The fields of the object that a function makes from the arguments, for an instance
/// of a subclass.
fn made_slots(
    py: Python<'_>,
    maker: &Maker,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Slots> {
    let named: Vec<_> = kwargs.into_iter().flatten().collect();
    let named = named
        .iter()
        .map(|(name, value)| (name.clone(), value.as_borrowed()));
    let given: Vec<_> = args.iter().collect();
    let positional = given.iter().map(|value| value.as_borrowed());
    let made = maker.make(py, positional, named)?;
    // The function may return an object of a subtype, whose own fields come last.
    let fields = host::field_values(&made).into_iter();
    Ok(fields.take(maker.info.fields().len()).map(Some).collect())
}

/// Binds a callable to an instance, as a method.
fn method<'py>(
    callable: &Bound<'py, InitFunction>,
    instance: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = METHOD.import(instance.py(), "types", "MethodType")?;
    class.call1((callable, instance))
}
