//! Keys of entries, and entries.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use bytes::Bytes;
use isoform::Value;
use isoform::compare::CompareOptions;
use isoform::files::to_bytes;
use isoform_store::{Entry, EntryKey, Name};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};

use crate::convert::untyped;
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;
use crate::onnx::{OnnxModel, program_of};

/// A key of an entry: everything on which a result depends, by name.
///
/// Two keys with the same parts are equal. The digest of a program is the same for programs
/// that are equal up to the names of variables.
///
/// Args:
///     job: the name of the computation, such as "compile".
///     program: a node, a value or an ONNX model; or a digest, as 32 bytes or 64 hexadecimal
///         digits. The store keeps a program that is not given as a digest next to the entry.
///     version: the version of the code that does the job.
///     options: the other influences: text, numbers, bool or None. An option counts by its text,
///         as in Rust, so 2 and "2" are the same option.
///
/// Raises:
///     TypeError: a program or an option of another kind.
///     ValueError: a digest of another length, or a program that has no digest.
#[pyclass(frozen, name = "EntryKey", module = "isoform.store")]
pub(crate) struct KeyHandle {
    pub(super) key: EntryKey,
    /// The program in the binary form.
    pub(super) program: Option<Bytes>,
}

#[pymethods]
impl KeyHandle {
    #[new]
    #[pyo3(signature = (job, /, *, program=None, version=None, **options))]
    fn new(
        job: &str,
        program: Option<&Bound<'_, PyAny>>,
        version: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut key = EntryKey::builder(job);
        let mut kept = None;
        if let Some(program) = program {
            let (digest, bytes) = program_parts(program)?;
            key = key.program(digest);
            kept = bytes;
        }
        if let Some(version) = version {
            key = key.version(plain_text("version", version)?);
        }
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            key = key.option(&name, plain_text(&name, &value)?);
        }
        Ok(KeyHandle {
            key: key.build(),
            program: kept,
        })
    }

    /// The digest of the parts, as 64 hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        self.key.digest().to_string()
    }

    /// The parts by name: "job", "program", "version", and "option." with the name of an
    /// option.
    #[getter]
    fn parts(&self) -> BTreeMap<String, String> {
        self.key.parts().clone()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<KeyHandle>()
            .is_ok_and(|other| other.get().key == self.key)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.key.digest().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let parts = self.key.parts().iter();
        let parts: Vec<String> = parts
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        format!("EntryKey({})", parts.join(", "))
    }
}

/// A result that a store has under a key.
#[pyclass(frozen, name = "Entry", module = "isoform.store")]
pub(crate) struct EntryHandle(pub(super) Entry);

#[pymethods]
impl EntryHandle {
    /// The result.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.value)
    }

    /// Texts that the writer added.
    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.0.metadata.clone()
    }

    /// The parts of the key, by their names.
    #[getter]
    fn key(&self) -> BTreeMap<String, String> {
        self.0.key.clone()
    }

    /// The name under which the store has the program of the key; None without a program.
    #[getter]
    fn program(&self) -> Option<String> {
        self.0.program.map(|name| name.to_string())
    }

    /// The time of the put, in seconds since 1970, by the clock of the writer.
    #[getter]
    fn created(&self) -> u64 {
        self.0.created
    }

    /// True if the value describes a failure.
    #[getter]
    fn is_failure(&self) -> bool {
        self.0.is_failure
    }

    fn __repr__(&self) -> String {
        let bytes = self.0.value.len();
        format!("<Entry of {bytes} bytes, key {:?}>", self.0.key)
    }
}

/// The digest of a program, and its binary form unless it is given as a digest.
fn program_parts(program: &Bound<'_, PyAny>) -> PyResult<(Name, Option<Bytes>)> {
    if let Ok(text) = program.cast_exact::<PyString>() {
        return Ok((text.to_str()?.parse().into_py()?, None));
    }
    if let Ok(bytes) = program.cast_exact::<PyBytes>() {
        let digest: [u8; 32] = bytes.as_bytes().try_into().map_err(|_| {
            let length = bytes.as_bytes().len();
            PyValueError::new_err(format!(
                "program: expected a digest of 32 bytes, got {length} bytes; for the bytes of a \
                 program pass hashlib.sha256(...).digest()"
            ))
        })?;
        return Ok((Name::from_digest(digest), None));
    }
    let value = program_value(program)?;
    let digest = digest_of(program.py(), &value)?;
    Ok((digest, Some(binary(program.py(), &value)?)))
}

/// The value of a node, or the program of an ONNX model.
pub(super) fn program_value(program: &Bound<'_, PyAny>) -> PyResult<Value> {
    if program.is_instance_of::<OnnxModel>() {
        return Ok(program_of(program)?.into());
    }
    untyped(program)
}

/// The structural digest as a name.
pub(super) fn digest_of(py: Python<'_>, value: &Value) -> PyResult<Name> {
    let digest = under_gil(py, || CompareOptions::default().digest(value.clone())).into_py()?;
    Ok(Name::from_digest(*digest.as_bytes()))
}

/// The binary form of a value.
pub(super) fn binary(py: Python<'_>, value: &Value) -> PyResult<Bytes> {
    let bytes = under_gil(py, || to_bytes(value)).into_py()?;
    Ok(bytes.into())
}

/// True if two programs in the binary form are structurally equal.
pub(super) fn are_equal(kept: &[u8], given: &[u8]) -> isoform::Result<bool> {
    // A program that this process cannot read is another program.
    let (Ok(kept), Ok(given)) = (
        isoform::files::from_bytes(kept),
        isoform::files::from_bytes(given),
    ) else {
        return Ok(false);
    };
    CompareOptions::default().equal(kept, given)
}

/// The text of a plain value in a key.
fn plain_text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let is_plain = value.is_none()
        || value.is_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>();
    if is_plain {
        return Ok(value.str()?.to_string());
    }
    Err(PyTypeError::new_err(format!(
        "option {name:?}: expected text, a number, bool or None, got {}; pass the digest of a \
         program, such as structural_digest(value).hex()",
        value.get_type().name()?
    )))
}
