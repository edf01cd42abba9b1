//! The extension module `isoform_remote` of the Python package `isoform-remote`: the client
//! with which the package `isoform` reaches stores and collections on servers.
//!
//! The classes serve the package `isoform` of the same version; users open stores with
//! `isoform.store.Store.open`.

use isoform::Error;
use isoform::errors::ErrorKind;
use isoform_remote::{RemoteFolder, RemoteOptions};
use isoform_store::{Engine, FileInfo};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The module.
#[pymodule(gil_used = false)]
#[pyo3(name = "isoform_remote")]
fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<EngineHandle>()?;
    module.add_class::<FolderHandle>()?;
    module.add_function(wrap_pyfunction!(engine, module)?)?;
    module.add_function(wrap_pyfunction!(folder, module)?)
}

/// Returns the engine of the store at the URL of a server. Raises ValueError for a wrong or a
/// missing setting.
#[pyfunction]
fn engine(py: Python<'_>, url: &str) -> PyResult<EngineHandle> {
    let engine = py.detach(|| isoform_remote::engine(url)).map_err(raised)?;
    Ok(EngineHandle { engine })
}

/// Returns the folder at the URL of a server. Raises ValueError for a wrong or a missing
/// setting.
#[pyfunction]
fn folder(py: Python<'_>, url: &str) -> PyResult<FolderHandle> {
    let opened = py.detach(|| RemoteFolder::open(url, RemoteOptions::default()));
    let folder = opened.map_err(raised)?;
    let folder = folder.ok_or_else(|| PyValueError::new_err("expected the URL of a server"))?;
    Ok(FolderHandle { folder })
}

/// The exception of an error.
fn raised(error: Error) -> PyErr {
    match error.kind() {
        ErrorKind::Value => PyValueError::new_err(error.message().to_owned()),
        _ => PyOSError::new_err(error.message().to_owned()),
    }
}

/// The files of a store on a server. Every method raises OSError that names the server, if
/// the server fails.
#[pyclass(frozen, name = "Engine", module = "isoform_remote")]
struct EngineHandle {
    engine: Box<dyn Engine>,
}

#[pymethods]
impl EngineHandle {
    /// The contents of a file, or None.
    fn read<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| self.engine.read(path)).map_err(raised)?;
        Ok(found.map(|contents| PyBytes::new(py, &contents.bytes)))
    }

    /// Creates a file. Returns False if the file exists.
    fn write_once(&self, py: Python<'_>, path: &str, bytes: &[u8]) -> PyResult<bool> {
        py.detach(|| self.engine.write_once(path, bytes))
            .map_err(raised)
    }

    /// Creates or replaces a file.
    fn replace(&self, py: Python<'_>, path: &str, bytes: &[u8]) -> PyResult<()> {
        py.detach(|| self.engine.replace(path, bytes))
            .map_err(raised)
    }

    /// Removes a file. Returns False if there is no such file.
    fn remove(&self, py: Python<'_>, path: &str) -> PyResult<bool> {
        py.detach(|| self.engine.remove(path)).map_err(raised)
    }

    /// The files in a top folder, as (path, bytes, time of the last change in seconds since
    /// 1970).
    fn list(&self, py: Python<'_>, folder: &str) -> PyResult<Vec<(String, u64, u64)>> {
        let files = py.detach(|| {
            self.engine
                .list(folder)?
                .collect::<isoform::Result<Vec<_>>>()
        });
        let row = |file: FileInfo| (file.path, file.size, file.used);
        Ok(files.map_err(raised)?.into_iter().map(row).collect())
    }

    /// True if the files must not be changed.
    #[getter]
    fn is_read_only(&self) -> bool {
        self.engine.is_read_only()
    }

    /// The place as messages name it, without credentials.
    #[getter]
    fn description(&self) -> String {
        self.engine.description()
    }
}

/// A name, the size of a file in bytes, and a text that changes with the file.
type Row = (String, Option<u64>, String);

/// A folder on a server. Every method raises OSError that names the server, if the server
/// fails.
#[pyclass(frozen, name = "Folder", module = "isoform_remote")]
struct FolderHandle {
    folder: RemoteFolder,
}

#[pymethods]
impl FolderHandle {
    /// The files and folders in a folder, sorted by name: the name, the size in bytes or None
    /// for a folder, and a text that changes with the file.
    fn entries(&self, py: Python<'_>, folder: &str) -> PyResult<Vec<Row>> {
        let entries = py.detach(|| self.folder.entries(folder)).map_err(raised)?;
        let entries = entries.into_iter();
        Ok(entries
            .map(|entry| (entry.name, entry.size, entry.version))
            .collect())
    }

    /// The contents of a file.
    fn read<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.folder.read(file)).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }
}
