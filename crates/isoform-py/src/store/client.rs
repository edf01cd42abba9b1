//! Servers, which the Python package `isoform-remote` reaches: its client of many protocols
//! is as large as the rest of a wheel.

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use isoform_store::{
    Engine, FileContents, FileInfo, FileList, RemoteClient, RemoteEntry, RemoteFiles,
    set_remote_client,
};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::from_python;

/// The version of both packages: they are released together.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Lets stores and collections on servers be opened by the package `isoform-remote`.
pub(crate) fn install() {
    set_remote_client(PackageClient);
}

/// The classes of the package `isoform-remote`.
struct PackageClient;

impl RemoteClient for PackageClient {
    fn engine(&self, url: &str) -> Result<Box<dyn Engine>> {
        let engine = attached(|py| {
            let object = package(py)?.call_method1("engine", (url,))?;
            Ok(PackageEngine {
                description: object.getattr("description")?.extract()?,
                is_read_only: object.getattr("is_read_only")?.extract()?,
                object: object.unbind(),
            })
        })?;
        Ok(Box::new(engine))
    }

    fn folder(&self, url: &str) -> Result<Box<dyn RemoteFiles>> {
        let object = attached(|py| Ok(package(py)?.call_method1("folder", (url,))?.unbind()))?;
        Ok(Box::new(PackageFolder { object }))
    }
}

/// The module of the package, of the same version.
fn package(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let advice = "pip install 'isoform[remote]'";
    let module = py.import("isoform_remote").map_err(|error| {
        if !error.is_instance_of::<PyImportError>(py) {
            return error;
        }
        let message =
            format!("stores on servers need the package isoform-remote; run {advice} ({error})");
        PyImportError::new_err(message)
    })?;
    let version: String = module.getattr("__version__")?.extract()?;
    if version != VERSION {
        let message = format!(
            "isoform {VERSION} needs isoform-remote {VERSION}, got {version}; run {advice}"
        );
        return Err(PyImportError::new_err(message));
    }
    Ok(module)
}

/// Calls Python from any thread. At the end of the process Python is gone before the threads.
fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let called = Python::try_attach(|py| call(py).map_err(from_python));
    called.unwrap_or_else(|| Err(Error::new(ErrorKind::Io, "store: Python has ended")))
}

/// An engine of the package.
struct PackageEngine {
    object: Py<PyAny>,
    description: String,
    is_read_only: bool,
}

impl PackageEngine {
    fn call<T>(
        &self,
        method: &str,
        call: impl FnOnce(Python<'_>, Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        attached(|py| call(py, self.object.bind(py).getattr(method)?))
    }
}

impl Engine for PackageEngine {
    fn read(&self, path: &str) -> Result<Option<FileContents>> {
        self.call("read", |_, read| {
            let bytes: Option<Bound<'_, PyBytes>> = read.call1((path,))?.extract()?;
            Ok(bytes.map(|bytes| FileContents {
                bytes: bytes.as_bytes().to_vec(),
                used: None,
            }))
        })
    }

    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.call("write_once", |py, write| {
            write.call1((path, PyBytes::new(py, bytes)))?.extract()
        })
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.call("replace", |py, replace| {
            replace.call1((path, PyBytes::new(py, bytes))).map(drop)
        })
    }

    fn remove(&self, path: &str) -> Result<bool> {
        self.call("remove", |_, remove| remove.call1((path,))?.extract())
    }

    fn list(&self, folder: &str) -> Result<FileList<'_>> {
        let files: Vec<(String, u64, u64)> =
            self.call("list", |_, list| list.call1((folder,))?.extract())?;
        let files = files.into_iter();
        Ok(Box::new(files.map(|(path, size, used)| {
            Ok(FileInfo { path, size, used })
        })))
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}

/// A folder of the package.
struct PackageFolder {
    object: Py<PyAny>,
}

impl RemoteFiles for PackageFolder {
    fn entries(&self, folder: &str) -> Result<Vec<RemoteEntry>> {
        let entries: Vec<(String, Option<u64>, String)> = attached(|py| {
            let entries = self.object.call_method1(py, "entries", (folder,))?;
            entries.extract(py)
        })?;
        let entries = entries.into_iter();
        Ok(entries
            .map(|(name, size, version)| RemoteEntry {
                name,
                size,
                version,
            })
            .collect())
    }

    fn read(&self, file: &str) -> Result<Vec<u8>> {
        attached(|py| {
            let bytes = self.object.call_method1(py, "read", (file,))?;
            Ok(bytes.bind(py).cast::<PyBytes>()?.as_bytes().to_vec())
        })
    }
}
