//! The arguments of a call as parts of a key.

use isoform::Value;
use isoform_store::{EntryKeyBuilder, Name};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString, PyTuple};

use super::entry::{digest_of, program_value};
use crate::convert::untyped;

/// The length in bytes up to which a key contains a text itself.
const MAX_TEXT: usize = 200;

/// The number of bits up to which a key contains an integer itself.
const MAX_BITS: u64 = 1024;

/// The parameters of a function.
pub(super) struct Signature {
    parameters: Vec<Parameter>,
    /// The number of parameters that may be passed by position, or None for a function with
    /// variable arguments.
    positional: Option<usize>,
    /// Returns the names and values of the arguments of any call, or raises TypeError.
    bind: Py<PyAny>,
}

struct Parameter {
    name: Py<PyString>,
    text: String,
    has_keyword: bool,
    default: Option<Py<PyAny>>,
    ignored: bool,
}

/// Numbers of the kinds of `inspect.Parameter`.
const POSITIONAL_ONLY: u8 = 0;
const POSITIONAL_OR_KEYWORD: u8 = 1;
const KEYWORD_ONLY: u8 = 3;

/// A parameter as Python describes it: name, kind, a tuple with the default, and true if the
/// parameter is ignored.
pub(super) type Described = (Py<PyString>, u8, Option<(Py<PyAny>,)>, bool);

/// The key of a call, and its arguments if hits are confirmed.
pub(super) struct Parts {
    pub(super) key: EntryKeyBuilder,
    pub(super) values: Option<Vec<Value>>,
}

impl Signature {
    pub(super) fn new(
        py: Python<'_>,
        described: Vec<Described>,
        bind: Py<PyAny>,
    ) -> PyResult<Self> {
        let by_position = |kind: &u8| matches!(*kind, POSITIONAL_ONLY | POSITIONAL_OR_KEYWORD);
        let kinds = || described.iter().map(|(_, kind, ..)| kind);
        let is_simple = kinds().all(|kind| *kind <= POSITIONAL_OR_KEYWORD || *kind == KEYWORD_ONLY);
        let positional = kinds().filter(|kind| by_position(kind)).count();
        let parameter = |(name, kind, default, ignored): Described| {
            let text = name.bind(py).to_str()?.to_owned();
            Ok(Parameter {
                name,
                text,
                has_keyword: kind != POSITIONAL_ONLY,
                default: default.map(|(default,)| default),
                ignored,
            })
        };
        Ok(Signature {
            positional: is_simple.then_some(positional),
            parameters: described
                .into_iter()
                .map(parameter)
                .collect::<PyResult<_>>()?,
            bind,
        })
    }

    /// Adds the arguments of a call to a key.
    pub(super) fn add(
        &self,
        parts: &mut Parts,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let py = args.py();
        if let Some(values) = self.bound(args, kwargs)? {
            for (parameter, value) in self.parameters.iter().zip(values) {
                if !parameter.ignored {
                    parts.add(&parameter.text, &value)?;
                }
            }
            return Ok(());
        }
        let bound = self.bind.bind(py).call1((args, kwargs))?;
        for (parameter, value) in self.parameters.iter().zip(bound.try_iter()?) {
            if !parameter.ignored {
                parts.add(&parameter.text, &value?)?;
            }
        }
        Ok(())
    }

    /// The values of the parameters in order; None for a call that Python has to bind.
    fn bound<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let (py, given) = (args.py(), args.len());
        if self.positional.is_none_or(|positional| given > positional) {
            return Ok(None);
        }
        let mut used = 0;
        let mut values = Vec::with_capacity(self.parameters.len());
        for (position, parameter) in self.parameters.iter().enumerate() {
            if position < given {
                values.push(args.get_item(position)?);
                continue;
            }
            let named = match kwargs {
                Some(kwargs) if parameter.has_keyword => kwargs.get_item(&parameter.name)?,
                _ => None,
            };
            match (named, &parameter.default) {
                (Some(value), _) => {
                    used += 1;
                    values.push(value);
                }
                (None, Some(default)) => values.push(default.bind(py).clone()),
                (None, None) => return Ok(None),
            }
        }
        // Unknown names, and arguments that are given twice, are errors of Python.
        Ok((used == kwargs.map_or(0, PyDictMethods::len)).then_some(values))
    }
}

impl Parts {
    /// Adds an argument to the key.
    pub(super) fn add(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (text, program) = match plain_text(value)? {
            Some(text) => (text, None),
            None => {
                let (program, digest) = program_digest(name, value)?;
                (format!("digest {digest}"), Some(program))
            }
        };
        if let Some(values) = &mut self.values {
            values.push(program.map_or_else(|| untyped(value), Ok)?);
        }
        let key = std::mem::replace(&mut self.key, isoform_store::EntryKey::builder(""));
        self.key = key.option(name, text);
        Ok(())
    }
}

/// The text of a plain value, in which values of two types differ; None for other values.
fn plain_text(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        let text = text.to_str()?;
        return Ok(Some(if text.len() > MAX_TEXT {
            format!("text {}", Name::of(text.as_bytes()))
        } else {
            format!("{text:?}")
        }));
    }
    if let Ok(bytes) = value.cast_exact::<PyBytes>() {
        return Ok(Some(format!("bytes {}", Name::of(bytes.as_bytes()))));
    }
    let is_plain = value.is_none()
        || value.is_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>();
    if !is_plain {
        return Ok(None);
    }
    if let Ok(number) = value.cast_exact::<PyInt>()
        && number.extract::<i64>().is_err()
    {
        // Python refuses to write longer integers in decimal digits.
        let bits: u64 = number
            .call_method0(intern!(value.py(), "bit_length"))?
            .extract()?;
        if bits > MAX_BITS {
            let digits = number.call_method1(intern!(value.py(), "__format__"), ("x",))?;
            let digits = Name::of(digits.str()?.to_str()?.as_bytes());
            return Ok(Some(format!("integer {digits}")));
        }
    }
    Ok(Some(value.repr()?.to_string()))
}

fn program_digest(name: &str, value: &Bound<'_, PyAny>) -> PyResult<(Value, Name)> {
    let py = value.py();
    let class = || value.get_type().name().map(|name| name.to_string());
    if value.hasattr(intern!(py, "__fspath__"))? {
        return Err(PyTypeError::new_err(format!(
            "argument {name:?}: a path does not tell the contents of its file; pass the contents, \
             path.read_bytes(), or leave the argument out of the key with ignore=({name:?},)"
        )));
    }
    let found = program_value(value).and_then(|value| {
        let digest = digest_of(py, &value)?;
        Ok((value, digest))
    });
    found.map_err(|error| {
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let class = class().unwrap_or_default();
        let told = PyTypeError::new_err(format!(
            "argument {name:?}: an object of {class} cannot be part of a key: {}; pass nodes and \
             plain values, or isoform.interop.from_fields(object) for a dataclass and other objects \
             with fields, compute a key with key=function, or leave the argument out with \
             ignore=({name:?},)",
            error.value(py)
        ));
        told.set_cause(py, Some(error));
        told
    })
}
