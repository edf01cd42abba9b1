//! Rows, groups and numbers of an index as Python objects.

use std::collections::BTreeMap;

use isoform_corpus::{Block, Counts, Group, IndexStatistics, Row, SharedBlock};
use pyo3::prelude::*;

/// A row of an index: one file of a collection.
///
/// A file that could not be read has an `error`; its other attributes are empty.
#[pyclass(frozen, get_all, name = "CorpusRow", module = "isoform.corpus")]
pub(crate) struct CorpusRow {
    /// The path, which begins with the root; an archive counts as a folder.
    path: String,
    /// The size of the file in bytes.
    size: u64,
    /// A number that changes with the file; 0 if the next update reads the file again.
    stamp: u64,
    /// The names of further files that belong to the file: external data, shards.
    files: Vec<String>,
    /// The format: `onnx`, `safetensors`, `gguf`, `json`, ...
    kind: Option<String>,
    /// The digest of the program in hexadecimal digits.
    digest: Option<String>,
    /// The digest of the program without the elements of its tensors.
    architecture: Option<String>,
    /// The number of nodes of a model, or of objects of an IR.
    nodes: Option<u64>,
    /// The number of elements of all weights.
    parameters: Option<u64>,
    /// How often each operator, or type of objects, occurs.
    operators: BTreeMap<String, u64>,
    /// The newest version of each operator set.
    opsets: BTreeMap<String, u64>,
    /// The number of elements of weights by element type.
    elements: BTreeMap<String, u64>,
    /// The inputs, like `x: float32[batch, 3]`.
    inputs: Vec<String>,
    /// The outputs, in the same form.
    outputs: Vec<String>,
    /// The blocks that occur at least twice in the program.
    blocks: Vec<Py<CorpusBlock>>,
    /// The reason why the file could not be read.
    error: Option<String>,
}

impl CorpusRow {
    pub(super) fn new(py: Python<'_>, row: Row) -> PyResult<CorpusRow> {
        let map = |counts: Counts| counts.into_iter().collect();
        let blocks = row.blocks.into_iter();
        let blocks = blocks.map(|block| Py::new(py, CorpusBlock::from(block)));
        Ok(CorpusRow {
            path: row.path,
            size: row.size,
            stamp: row.stamp,
            files: row.files,
            kind: row.kind,
            digest: row.digest,
            architecture: row.architecture,
            nodes: row.nodes,
            parameters: row.parameters,
            operators: map(row.operators),
            opsets: map(row.opsets),
            elements: map(row.elements),
            inputs: row.inputs,
            outputs: row.outputs,
            blocks: blocks.collect::<PyResult<_>>()?,
            error: row.error,
        })
    }
}

#[pymethods]
impl CorpusRow {
    fn __repr__(&self) -> String {
        let path = &self.path;
        match (&self.kind, &self.error) {
            (_, Some(error)) => format!("<CorpusRow {path:?}: {error}>"),
            (Some(kind), None) => format!("<CorpusRow {path:?}: {kind}>"),
            (None, None) => format!("<CorpusRow {path:?}>"),
        }
    }
}

/// A block of nodes that occurs several times in a program, such as a layer.
#[pyclass(frozen, get_all, name = "CorpusBlock", module = "isoform.corpus")]
pub(crate) struct CorpusBlock {
    /// The digest of the block, which the same block of another program has, too.
    digest: String,
    /// The number of nodes.
    nodes: u64,
    /// How often the block occurs.
    count: u64,
}

impl From<Block> for CorpusBlock {
    fn from(block: Block) -> Self {
        CorpusBlock {
            digest: block.digest,
            nodes: block.nodes,
            count: block.count,
        }
    }
}

#[pymethods]
impl CorpusBlock {
    fn __repr__(&self) -> String {
        let (nodes, count) = (self.nodes, self.count);
        format!("<CorpusBlock: {nodes} nodes, {count} times>")
    }
}

/// Rows of an index with the same digest.
#[pyclass(frozen, get_all, name = "CorpusGroup", module = "isoform.corpus")]
pub(crate) struct CorpusGroup {
    /// The digest.
    digest: String,
    /// The rows with path, size, kind and digests, at least two.
    rows: Vec<Py<CorpusRow>>,
}

impl CorpusGroup {
    pub(super) fn new(py: Python<'_>, group: Group) -> PyResult<CorpusGroup> {
        let rows = group.rows.into_iter();
        let rows = rows.map(|row| Py::new(py, CorpusRow::new(py, row)?));
        Ok(CorpusGroup {
            digest: group.digest,
            rows: rows.collect::<PyResult<_>>()?,
        })
    }
}

#[pymethods]
impl CorpusGroup {
    fn __repr__(&self) -> String {
        let digest = self.digest.get(..12).unwrap_or(&self.digest);
        format!("<CorpusGroup {digest}: {} rows>", self.rows.len())
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }
}

/// A block that occurs in several files.
#[pyclass(frozen, get_all, name = "SharedBlock", module = "isoform.corpus")]
pub(crate) struct SharedCorpusBlock {
    /// The digest of the block.
    digest: String,
    /// The number of nodes.
    nodes: u64,
    /// The paths of the files, at least two, and how often the block occurs in each.
    files: Vec<(String, u64)>,
}

impl From<SharedBlock> for SharedCorpusBlock {
    fn from(block: SharedBlock) -> Self {
        SharedCorpusBlock {
            digest: block.digest,
            nodes: block.nodes,
            files: block.files,
        }
    }
}

#[pymethods]
impl SharedCorpusBlock {
    fn __repr__(&self) -> String {
        let (nodes, files) = (self.nodes, self.files.len());
        format!("<SharedBlock: {nodes} nodes in {files} files>")
    }
}

/// An index in numbers.
#[pyclass(frozen, get_all, name = "CorpusStatistics", module = "isoform.corpus")]
pub(crate) struct CorpusStatistics {
    /// The number of rows.
    files: u64,
    /// The number of files that could not be read.
    failed: u64,
    /// The size of all files in bytes.
    bytes: u64,
    /// The number of different programs.
    programs: u64,
    /// The number of different programs without the elements of tensors.
    architectures: u64,
    /// The number of files and their bytes by kind.
    kinds: BTreeMap<String, (u64, u64)>,
    /// The number of elements of all weights by element type.
    elements: BTreeMap<String, u64>,
    /// The number of files with an operator, and how often the operator occurs.
    operators: BTreeMap<String, (u64, u64)>,
    /// The number of files by operator set and version.
    opsets: BTreeMap<(String, u64), u64>,
}

impl From<IndexStatistics> for CorpusStatistics {
    fn from(numbers: IndexStatistics) -> Self {
        CorpusStatistics {
            files: numbers.files,
            failed: numbers.failed,
            bytes: numbers.bytes,
            programs: numbers.programs,
            architectures: numbers.architectures,
            kinds: numbers.kinds,
            elements: numbers.elements,
            operators: numbers.operators,
            opsets: numbers.opsets,
        }
    }
}

#[pymethods]
impl CorpusStatistics {
    fn __repr__(&self) -> String {
        let (files, programs, failed) = (self.files, self.programs, self.failed);
        format!("<CorpusStatistics: {files} files, {programs} programs, {failed} failed>")
    }
}
