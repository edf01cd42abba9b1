//! Constructors that types declare themselves: a function of the core instead of the
//! fields.

use isoform::types::TypeInfo;
use isoform::{Obj, Ref, Value, host};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::class::Maker;
use super::construct::MissingArguments;
use crate::convert::{self, to_python};
use crate::error::IntoPyResult;

impl Maker {
    /// The constructor declared by a type, if any.
    ///
    /// # Errors
    ///
    /// `TypeError` for a function with unnamed parameters.
    pub(super) fn of(py: Python<'_>, info: &'static TypeInfo) -> PyResult<Option<Maker>> {
        let Some(function) = info.init() else {
            return Ok(None);
        };
        let parameters = function.signature().map(|signature| signature.parameters());
        let names: Option<Box<[_]>> = parameters.and_then(|parameters| {
            let names = parameters
                .iter()
                .map(|parameter| parameter.name())
                .map(|name| Some(PyString::intern(py, name?).unbind()));
            names.collect()
        });
        let names = names.ok_or_else(|| {
            PyTypeError::new_err(format!(
                "{}.__ffi_init__: expected a function whose parameters have names",
                info.key()
            ))
        })?;
        Ok(Some(Maker {
            info,
            function: function.clone(),
            names,
        }))
    }

    /// The number of required parameters.
    pub(crate) fn required(&self) -> usize {
        self.function
            .signature()
            .map_or(0, |known| known.required())
    }

    /// The number of positional parameters.
    fn positional(&self) -> usize {
        let by_name = |parameter: &&isoform::functions::Parameter| !parameter.is_keyword_only();
        self.parameters().iter().take_while(by_name).count()
    }

    /// The names of the parameters.
    pub(crate) fn names<'a, 'py: 'a>(
        &'a self,
        py: Python<'py>,
    ) -> impl Iterator<Item = &'a Bound<'py, PyString>> {
        self.names.iter().map(move |name| name.bind(py))
    }

    fn key(&self) -> &'static str {
        self.info.key()
    }

    /// Calls the function with arguments, positional arguments first, then named ones.
    ///
    /// # Errors
    ///
    /// `TypeError` for arguments that are too many, missing, unknown, given twice or
    /// not convertible; errors from the function.
    pub(super) fn make<'a, 'py: 'a>(
        &self,
        py: Python<'py>,
        positional: impl ExactSizeIterator<Item = Borrowed<'a, 'py, PyAny>>,
        named: impl Iterator<Item = (Bound<'py, PyAny>, Borrowed<'a, 'py, PyAny>)>,
    ) -> PyResult<Ref<Obj>> {
        let count = self.names.len();
        if positional.len() > self.positional() {
            return Err(self.too_many(positional.len()));
        }
        let mut values: Vec<Option<Value>> = vec![None; count];
        for (position, argument) in positional.enumerate() {
            values[position] = Some(self.convert(py, position, &argument)?);
        }
        for (name, argument) in named {
            let position = self.position(py, &name)?;
            if values[position].is_some() {
                return Err(PyTypeError::new_err(format!(
                    "{}.__init__() got multiple values for argument '{name}'",
                    self.key()
                )));
            }
            values[position] = Some(self.convert(py, position, &argument)?);
        }
        let values = self.complete(py, values)?;
        let result = self.function.call(&values).into_py()?;
        match result.as_object() {
            Some(object) if host::extends(object.type_index(), self.info.index()) => {
                Ok(object.clone())
            }
            _ => Err(PyTypeError::new_err(format!(
                "{0}.__ffi_init__: expected {0} as result, got {1}",
                self.key(),
                result.type_name()
            ))),
        }
    }

    fn parameters(&self) -> &[isoform::functions::Parameter] {
        self.function
            .signature()
            .map_or(&[], |signature| signature.parameters())
    }

    fn convert(
        &self,
        py: Python<'_>,
        position: usize,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<Value> {
        convert::typed(value, self.parameters()[position].schema()).map_err(|error| {
            error.into_python(|message| {
                let name = self.names[position].bind(py);
                format!("{}.__init__() argument '{name}': {message}", self.key())
            })
        })
    }

    fn position(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<usize> {
        for (position, known) in self.names(py).enumerate() {
            if known.is(name) || known.as_any().eq(name)? {
                return Ok(position);
            }
        }
        Err(PyTypeError::new_err(format!(
            "{}.__init__() got an unexpected keyword argument '{name}'",
            self.key()
        )))
    }

    /// Sets omitted parameters to their defaults.
    fn complete(&self, py: Python<'_>, values: Vec<Option<Value>>) -> PyResult<Vec<Value>> {
        let mut missing = MissingArguments::default();
        let mut complete = Vec::with_capacity(values.len());
        for (position, (value, parameter)) in values.into_iter().zip(self.parameters()).enumerate()
        {
            match value.or_else(|| parameter.default().cloned()) {
                Some(value) => complete.push(value),
                None => missing.add(self.names[position].bind(py), parameter.is_keyword_only()),
            }
        }
        missing.check(self.key())?;
        Ok(complete)
    }

    #[cold]
    fn too_many(&self, given: usize) -> PyErr {
        let most = self.positional();
        let required = self.required().min(most);
        let takes = if required == most {
            format!("{required}")
        } else {
            format!("from {required} to {most}")
        };
        PyTypeError::new_err(format!(
            "{}.__init__() takes {takes} positional arguments but {given} were given",
            self.key()
        ))
    }

    /// Converts the function to Python.
    ///
    /// # Errors
    ///
    /// Exceptions from making a class.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.function.clone().into())
    }
}
