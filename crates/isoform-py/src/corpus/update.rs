//! Making indexes: on this machine, or with the help of others.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use isoform::{Error, Result};
use isoform_cli::ModelInspector;
use isoform_corpus::{
    FileDescription, Index, Lane, Selection, Task, Update, UpdateReport, read_described,
    update_index,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction, PyDict, PyTuple};

use crate::error::IntoPyResult;

/// How long an update runs between two checks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of files that one call looks at, so that the caller can react to signals.
const MOST_TASKS: usize = 4096;

/// The numbers of an update of an index.
#[pyclass(frozen, get_all, name = "CorpusReport", module = "isoform.corpus")]
pub(crate) struct CorpusReport {
    /// The number of rows.
    rows: u64,
    /// How many files were read.
    read: u64,
    /// How many rows were kept, because their files had not changed.
    kept: u64,
    /// How many rows have an error.
    failed: u64,
    /// The number of bytes of the files that were read.
    bytes: u64,
}

impl From<UpdateReport> for CorpusReport {
    fn from(report: UpdateReport) -> Self {
        CorpusReport {
            rows: report.rows,
            read: report.read,
            kept: report.kept,
            failed: report.failed,
            bytes: report.bytes,
        }
    }
}

impl From<&CorpusReport> for UpdateReport {
    fn from(numbers: &CorpusReport) -> Self {
        let mut report = UpdateReport::default();
        report.rows = numbers.rows;
        report.read = numbers.read;
        report.kept = numbers.kept;
        report.failed = numbers.failed;
        report.bytes = numbers.bytes;
        report
    }
}

/// A function of Python that takes a `CorpusReport`.
pub(crate) fn progress_function(
    py: Python<'_>,
    show: impl Fn(&UpdateReport) + Send + Sync + 'static,
) -> PyResult<Bound<'_, PyCFunction>> {
    let call = move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        let (report,) = arguments.extract::<(Bound<'_, CorpusReport>,)>()?;
        show(&report.get().into());
        Ok::<(), PyErr>(())
    };
    PyCFunction::new_closure(py, None, None, call)
}

#[pymethods]
impl CorpusReport {
    fn __repr__(&self) -> String {
        let CorpusReport {
            rows,
            read,
            kept,
            failed,
            ..
        } = self;
        format!("<CorpusReport: {rows} rows, {read} read, {kept} kept, {failed} failed>")
    }
}

/// Makes or updates an index on this machine. `progress` is called with the numbers so far,
/// several times a second; an exception of it, and Ctrl-C, end the update.
#[pyfunction]
#[pyo3(signature = (roots, index, *, jobs, follow_links, progress))]
pub(super) fn update_corpus(
    py: Python<'_>,
    roots: Vec<String>,
    index: PathBuf,
    jobs: usize,
    follow_links: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<CorpusReport> {
    let is_stopped = Arc::new(AtomicBool::new(false));
    let numbers = Arc::new(Mutex::new(UpdateReport::default()));
    let (sender, mut receiver) = channel();
    let worker = {
        let (is_stopped, numbers) = (Arc::clone(&is_stopped), Arc::clone(&numbers));
        move || {
            let inspector = ModelInspector::default().follow_links(follow_links);
            let report = update_index(&roots, &index, &inspector, jobs, |report| {
                *numbers.lock().unwrap_or_else(PoisonError::into_inner) = *report;
                if is_stopped.load(Ordering::Relaxed) {
                    Err(Error::value_error("interrupted"))
                } else {
                    Ok(())
                }
            });
            // Without a receiver, nobody needs the result.
            let _ = sender.send(report);
        }
    };
    thread::spawn(worker);
    let mut interruption = None;
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        match received {
            Ok(report) => {
                // The index is as the update left it, also after an interruption.
                return match interruption {
                    Some(error) => Err(error),
                    None => report.into_py().map(CorpusReport::from),
                };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("an update of an index panicked"));
            }
        }
        if interruption.is_some() {
            continue;
        }
        let numbers = *numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let told = match &progress {
            Some(progress) => progress.call1(py, (CorpusReport::from(numbers),)).map(drop),
            None => Ok(()),
        };
        if let Err(error) = py.check_signals().and(told) {
            is_stopped.store(true, Ordering::Relaxed);
            interruption = Some(error);
        }
    }
}

/// A file as root, path, size, stamp and selection.
type Description = (String, String, u64, u64, u8);

fn description(file: FileDescription) -> Description {
    let selection = match file.selection {
        Selection::User => 0,
        Selection::Name => 1,
        Selection::Content => 2,
    };
    (file.root, file.path, file.size, file.stamp, selection)
}

/// Reads described files, and returns their rows as the bytes of a Parquet file.
#[pyfunction]
#[pyo3(signature = (files, *, follow_links))]
pub(super) fn read_corpus_files<'py>(
    py: Python<'py>,
    files: Vec<Description>,
    follow_links: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let files = files
        .into_iter()
        .map(|(root, path, size, stamp, selection)| FileDescription {
            root,
            path,
            size,
            stamp,
            selection: match selection {
                0 => Selection::User,
                1 => Selection::Name,
                _ => Selection::Content,
            },
        });
    let files: Vec<FileDescription> = files.collect();
    let bytes = crate::store::interruptible(py, move || {
        let inspector = ModelInspector::default().follow_links(follow_links);
        read_described(&files, &inspector)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// An update whose files are read elsewhere.
#[pyclass(frozen, name = "CorpusUpdate", module = "isoform.corpus")]
pub(crate) struct CorpusUpdate(Mutex<Option<OpenUpdate>>);

struct OpenUpdate {
    update: Update,
    tasks: Box<dyn Iterator<Item = Task> + Send>,
    /// The rows of files that are not read.
    kept: Lane,
    /// The rows that come from elsewhere.
    read: Lane,
    /// The files and bytes of the batches whose rows have not come, the oldest first.
    batches: VecDeque<(u64, u64)>,
    report: UpdateReport,
}

/// The inspector of all updates, which only decides about names here.
static INSPECTOR: std::sync::LazyLock<ModelInspector> =
    std::sync::LazyLock::new(ModelInspector::default);

impl CorpusUpdate {
    fn with_open<T: Send>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut OpenUpdate) -> Result<T> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *open {
                Some(open) => action(open),
                None => Err(Error::value_error("the update is finished")),
            }
        });
        result.into_py()
    }
}

#[pymethods]
impl CorpusUpdate {
    #[new]
    fn new(roots: Vec<String>, index: PathBuf) -> PyResult<Self> {
        let mut update = Update::begin(&roots, &index).into_py()?;
        let open = OpenUpdate {
            tasks: Box::new(update.tasks(&*INSPECTOR).fuse()),
            kept: update.lane("kept"),
            read: update.lane("read"),
            batches: VecDeque::new(),
            report: UpdateReport::default(),
            update,
        };
        Ok(CorpusUpdate(Mutex::new(Some(open))))
    }

    /// Return the next batch of files to read, at most `count` files and not many more than
    /// `size` bytes. None at the end of the collection; empty if many files in a row had not
    /// changed, and more files may follow.
    fn next_files(
        &self,
        py: Python<'_>,
        count: usize,
        size: u64,
    ) -> PyResult<Option<Vec<Description>>> {
        self.with_open(py, |open| {
            let mut files = Vec::new();
            let (mut bytes, mut tasks) = (0, 0);
            while files.len() < count && bytes < size && tasks < MOST_TASKS {
                let Some(task) = open.tasks.next() else {
                    if files.is_empty() {
                        return Ok(None);
                    }
                    break;
                };
                tasks += 1;
                match task {
                    Task::Read(file) => {
                        bytes = bytes.saturating_add(file.size);
                        files.push(description(FileDescription::from(&file)));
                    }
                    Task::Kept(row) | Task::Failed(row) => {
                        open.report.kept += u64::from(row.error.is_none());
                        open.report.failed += u64::from(row.error.is_some());
                        open.report.rows += 1;
                        open.kept.push(*row)?;
                    }
                }
            }
            open.kept.settle()?;
            if !files.is_empty() {
                open.batches.push_back((files.len() as u64, bytes));
            }
            Ok(Some(files))
        })
    }

    /// Add the rows of the oldest batch whose rows have not been added.
    fn push(&self, py: Python<'_>, rows: Vec<u8>) -> PyResult<CorpusReport> {
        self.with_open(py, |open| {
            let Some((files, bytes)) = open.batches.pop_front() else {
                let message = "push: expected a batch of files without rows, got rows only";
                return Err(Error::value_error(message));
            };
            for row in Index::of_bytes(rows)?.rows() {
                let row = row?;
                open.report.rows += 1;
                open.report.failed += u64::from(row.error.is_some());
                open.read.push(row)?;
            }
            open.report.read += files;
            open.report.bytes = open.report.bytes.saturating_add(bytes);
            open.read.settle()?;
            Ok(open.report.into())
        })
    }

    /// Return the numbers of the update so far.
    fn report(&self, py: Python<'_>) -> PyResult<CorpusReport> {
        self.with_open(py, |open| Ok(open.report.into()))
    }

    /// Write the index.
    fn finish(&self, py: Python<'_>) -> PyResult<CorpusReport> {
        let report = self.with_open(py, |open| {
            if let Some((files, _)) = open.batches.front() {
                return Err(Error::value_error(format!(
                    "finish: expected the rows of all files, got none of a batch of {files}"
                )));
            }
            open.kept.close()?;
            open.read.close()?;
            Ok(open.report)
        })?;
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(open) = open {
            py.detach(|| open.update.finish()).into_py()?;
        }
        Ok(report.into())
    }

    /// End the update; the next update goes on with its rows.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match open {
            Some(mut open) => py
                .detach(|| open.kept.close().and(open.read.close()))
                .into_py(),
            None => Ok(()),
        }
    }
}
