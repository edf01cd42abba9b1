//! Indexes as Python objects.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use isoform::Error;
use isoform_corpus::{Column, Index, Rows};
use pyo3::prelude::*;

use super::rows::{CorpusGroup, CorpusRow, CorpusStatistics, SharedCorpusBlock};
use crate::error::IntoPyResult;
use crate::store::interruptible;

/// The index of a collection: a Parquet file, or a folder of Parquet files.
///
/// Args:
///     path: the file or folder, as `isoform index` or `isoform.corpus.index` wrote it.
///
/// Raises:
///     OSError: if the file is missing or damaged.
///     ValueError: if the file is not an index, or has a newer version.
#[pyclass(frozen, name = "CorpusIndex", module = "isoform.corpus")]
pub(crate) struct CorpusIndexHandle {
    index: Index,
    path: PathBuf,
}

#[pymethods]
impl CorpusIndexHandle {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let index = Index::open(&path).into_py()?;
        Ok(CorpusIndexHandle { index, path })
    }

    /// The path of the file or folder.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The roots of the collection; empty for an index of several files.
    #[getter]
    fn roots(&self) -> PyResult<Vec<String>> {
        self.index.roots().into_py()
    }

    fn __len__(&self) -> PyResult<usize> {
        let count = self.index.count().into_py()?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Iterate over the rows in the order of their paths. Needs memory for one group of rows.
    fn __iter__(&self) -> RowIterator {
        RowIterator(Mutex::new(self.index.rows()))
    }

    /// Return the groups of rows with the same program, largest first. O(n log n) for n rows.
    ///
    /// Args:
    ///     by: `"digest"` for equal programs, `"architecture"` for programs that differ in the
    ///         elements of tensors at most.
    ///
    /// Raises:
    ///     ValueError: for another column.
    ///     OSError: if the index is damaged.
    #[pyo3(signature = (by = "digest"))]
    fn duplicates(&self, py: Python<'_>, by: &str) -> PyResult<Vec<CorpusGroup>> {
        let column = match by {
            "digest" => Column::Digest,
            "architecture" => Column::Architecture,
            other => {
                let message = format!("by: expected 'digest' or 'architecture', got {other:?}");
                return Err(Error::value_error(message)).into_py();
            }
        };
        let index = self.index.clone();
        let groups = interruptible(py, move || index.duplicates(column))?;
        groups
            .into_iter()
            .map(|group| CorpusGroup::new(py, group))
            .collect()
    }

    /// Return the blocks that occur in several files, the largest savings first.
    ///
    /// Raises:
    ///     OSError: if the index is damaged.
    fn shared_blocks(&self, py: Python<'_>) -> PyResult<Vec<SharedCorpusBlock>> {
        let index = self.index.clone();
        let blocks = interruptible(py, move || index.shared_blocks())?;
        Ok(blocks.into_iter().map(SharedCorpusBlock::from).collect())
    }

    /// Return the rows whose digest, digest of the architecture, or digest of a block begins
    /// with these digits. O(n) for n rows.
    ///
    /// Args:
    ///     digits: the first 8 to 64 hexadecimal digits of a digest.
    ///
    /// Raises:
    ///     ValueError: for another text.
    ///     OSError: if the index is damaged.
    fn find(&self, py: Python<'_>, digits: String) -> PyResult<Vec<CorpusRow>> {
        let index = self.index.clone();
        let rows = interruptible(py, move || index.find(&digits))?;
        rows.into_iter()
            .map(|row| CorpusRow::new(py, row))
            .collect()
    }

    /// Return the numbers of the index: files, programs, operators, operator sets.
    ///
    /// Raises:
    ///     OSError: if the index is damaged.
    fn statistics(&self, py: Python<'_>) -> PyResult<CorpusStatistics> {
        let index = self.index.clone();
        Ok(interruptible(py, move || index.statistics())?.into())
    }

    fn __repr__(&self) -> String {
        format!("CorpusIndex({:?})", self.path.display().to_string())
    }
}

/// An iterator over the rows of an index.
#[pyclass(frozen, name = "CorpusRows", module = "isoform.corpus")]
pub(crate) struct RowIterator(Mutex<Rows>);

#[pymethods]
impl RowIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<CorpusRow>> {
        let row = py.detach(|| {
            let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            rows.next().transpose()
        });
        row.into_py()?
            .map(|row| CorpusRow::new(py, row))
            .transpose()
    }
}
