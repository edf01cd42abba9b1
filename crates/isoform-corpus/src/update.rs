//! Making an index, and bringing it up to date.
//!
//! The new rows go to parts in the folder `INDEX.partial`, which are complete files, and
//! at the end become the index by a rename. All sequences of rows have the order of the
//! walk: the rows of the index, of earlier runs that were interrupted, and of this run. So
//! the row of an unchanged file is found by merging, in constant memory.

use std::fs::{self, File};
use std::io;
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::file::{Index, RowWriter, Rows};
use crate::ordered::{Event, in_order};
use crate::places::public_root;
use crate::row::{Row, path_order};
use crate::source::{SourceFile, stamp_with};
use crate::walk::{Inspector, Walk, WalkItem, check_root, outermost};

/// The number of rows of a part.
const PART_ROWS: u64 = 4096;
/// The time after which a part is completed, so that a kill costs little work.
const PART_TIME: Duration = Duration::from_secs(5);

/// The numbers of an update.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct UpdateReport {
    /// The number of rows.
    pub rows: u64,
    /// How many files were read.
    pub read: u64,
    /// How many rows were kept, because their files had not changed.
    pub kept: u64,
    /// How many rows have an error.
    pub failed: u64,
    /// The number of bytes of the files that were read.
    pub bytes: u64,
}

/// A file to be read, or a row that needs no reading.
pub enum Task {
    /// A file that is new, has changed, or could not be read before.
    Read(SourceFile),
    /// The row of a file that has not changed.
    Kept(Box<Row>),
    /// The row of a file or folder that cannot be reached.
    Failed(Box<Row>),
}

/// An update of an index, between its begin and its end.
///
/// [`update_index`] does everything on this machine. Others, who read the files elsewhere,
/// take the [tasks](Update::tasks), push all rows in the order of the tasks to one
/// [`Lane`] or to several, and [finish](Update::finish).
pub struct Update {
    index: PathBuf,
    partial: PathBuf,
    roots: Vec<String>,
    run: u32,
    old: Vec<Peekable<Rows>>,
    /// Held until the end.
    _lock: File,
}

/// Reads the files below roots and makes their index, or updates the index: files that
/// have not changed are not read. Without roots, those of the index count. Returns the
/// numbers of the update.
///
/// Roots are files, folders, archives (`.zip`, `.whl`), stores after `store:`, and folders
/// on servers such as `s3:bucket/prefix`. `progress` is called for every row, and every
/// tenth of a second; an error of `progress` ends the update. An update that ended early
/// continues where it was.
///
/// O(n) for n files, and memory for a thousand rows, a row group, and the files that the
/// threads read.
///
/// # Errors
///
/// An `OSError` if a root is not there, or if the index cannot be written; a `ValueError`
/// if the index has other roots, if the file is not an index, or if another process updates
/// the index.
pub fn update_index(
    roots: &[String],
    index: &Path,
    inspector: &dyn Inspector,
    threads: usize,
    mut progress: impl FnMut(&UpdateReport) -> Result<()>,
) -> Result<UpdateReport> {
    let mut update = Update::begin(roots, index)?;
    let tasks = update.tasks(inspector);
    let mut lane = update.lane("rows");
    let mut report = UpdateReport::default();
    let read = |task: &Task| match task {
        Task::Read(file) => read_row(file, inspector),
        Task::Kept(row) | Task::Failed(row) => Some(Row::clone(row)),
    };
    let flow = in_order(tasks, threads, read, |event| {
        let step = || {
            if let Event::Done(task, row) = event {
                report.count(&task, row.as_ref());
                row.map_or(Ok(()), |row| lane.push(row))?;
            }
            lane.settle()?;
            progress(&report)
        };
        match step() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    });
    lane.close()?;
    match flow {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => {
            update.finish()?;
            Ok(report)
        }
    }
}

/// The row of a file; None if the file does not belong to the collection. A panic of the
/// inspector is a row with an error, so that one file does not end the work on a million.
pub fn read_row(file: &SourceFile, inspector: &dyn Inspector) -> Option<Row> {
    let begin = SystemTime::now();
    let row = catch_unwind(AssertUnwindSafe(|| inspector.row(file)));
    let mut row = row.unwrap_or_else(|_| {
        let error = "isoform panicked while it read this file, which is a bug; please report it";
        Some(Row::failed("", error))
    })?;
    row.path.clone_from(&file.path);
    row.size = file.size;
    row.stamp = match row.error {
        // Another try may succeed, for example when a missing file is there.
        Some(_) => 0,
        None => stamp_with(file, &row.files, begin),
    };
    Some(row)
}

/// The number of files below roots, or of those found until `is_done`. Lists the folders,
/// and reads no files.
pub fn count_files(roots: &[String], inspector: &dyn Inspector, is_done: &dyn Fn() -> bool) -> u64 {
    let files = Walk::new(roots, inspector).take_while(|_| !is_done());
    files.count() as u64
}

impl UpdateReport {
    /// Counts a task and its row.
    pub fn count(&mut self, task: &Task, row: Option<&Row>) {
        match task {
            Task::Read(file) => {
                self.read += 1;
                self.bytes = self.bytes.saturating_add(file.size);
            }
            Task::Kept(_) => self.kept += 1,
            Task::Failed(_) => {}
        }
        if let Some(row) = row {
            self.rows += 1;
            self.failed += u64::from(row.error.is_some());
        }
    }
}

impl Update {
    /// Begins an update.
    ///
    /// # Errors
    ///
    /// As [`update_index`].
    pub fn begin(roots: &[String], index: &Path) -> Result<Update> {
        let place = index.display();
        let existing = existing_index(index)?;
        let mut roots = outermost(roots);
        if let Some(existing) = &existing {
            let known = existing.roots()?;
            if roots.is_empty() {
                check_folder(existing, &known)?;
                roots.clone_from(&known);
            }
            let public = public_roots(&roots);
            if public != known {
                return Err(Error::value_error(format!(
                    "{place}: expected the roots of the index, {known:?}, got {public:?}; \
                     choose another file for the index of these roots, or remove this one"
                )));
            }
        }
        if roots.is_empty() {
            return Err(Error::value_error(format!(
                "{place}: expected a folder or file to index, got none"
            )));
        }
        // Without this check, a disk that is not there would empty the index.
        roots.iter().try_for_each(|root| check_root(root))?;
        let mut partial = index.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let failed = |error: &std::io::Error| {
            let message = format!("{}: cannot write the index: {error}", partial.display());
            Error::new(ErrorKind::Io, message)
        };
        match fs::create_dir(&partial) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(&error));
            }
            _ => {}
        }
        let lock = File::create(partial.join("lock")).map_err(|error| failed(&error))?;
        let is_taken = matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock));
        // An update that just ended removed the file, and the next one locks another file.
        if is_taken || !is_still(&partial.join("lock"), &lock) {
            return Err(Error::value_error(format!(
                "{place}: another process updates the index; wait for its end"
            )));
        }
        let public = public_roots(&roots);
        let (old_parts, run) = parts_of_runs(&partial, &public).map_err(|error| failed(&error))?;
        let current = existing.filter(|index| index.has_current_digests().unwrap_or(false));
        let old = old_parts.into_iter().chain(current);
        Ok(Update {
            index: index.to_owned(),
            old: old.map(|index| index.rows().peekable()).collect(),
            partial,
            roots,
            run,
            _lock: lock,
        })
    }

    /// The roots of the collection.
    pub fn roots(&self) -> &[String] {
        &self.roots
    }

    /// Iterates over the tasks in the order of an index. The second call of an update finds
    /// no rows to keep.
    pub fn tasks<'i>(
        &mut self,
        inspector: &'i dyn Inspector,
    ) -> impl Iterator<Item = Task> + Send + use<'i> {
        let mut old = std::mem::take(&mut self.old);
        Walk::new(&self.roots, inspector).map(move |item| match item {
            WalkItem::Failed(row) => Task::Failed(row),
            WalkItem::File(file) => match kept_row(&mut old, &file) {
                Some(row) => Task::Kept(Box::new(row)),
                None => Task::Read(file),
            },
        })
    }

    /// Starts a sequence of rows, which have to come in the order of an index.
    pub fn lane(&self, name: &str) -> Lane {
        Lane {
            folder: self.partial.clone(),
            prefix: format!("{:06}-{name}", self.run),
            roots: public_roots(&self.roots),
            part: None,
            count: 0,
        }
    }

    /// Merges the rows of all lanes of this update, which are closed, into the index.
    /// Returns the number of rows.
    ///
    /// # Errors
    ///
    /// An `OSError` if the index cannot be written; the old index is there then.
    pub fn finish(self) -> Result<u64> {
        let lanes = lanes_of(&self.partial, Some(self.run));
        let lanes = lanes.map_err(|error| self.failed(&error))?;
        let mut lanes: Vec<Peekable<Box<dyn Iterator<Item = Result<Row>>>>> = lanes
            .into_iter()
            .map(|(_, parts)| {
                let rows = parts.into_iter().flat_map(|part| match Index::open(part) {
                    Ok(part) => Box::new(part.rows()) as Box<dyn Iterator<Item = Result<Row>>>,
                    Err(error) => Box::new(std::iter::once(Err(error))),
                });
                (Box::new(rows) as Box<dyn Iterator<Item = Result<Row>>>).peekable()
            })
            .collect();
        let temporary = self.partial.join("index");
        let file = File::create(&temporary).map_err(|error| self.failed(&error))?;
        let sync = file.try_clone().map_err(|error| self.failed(&error))?;
        let mut writer = RowWriter::new(
            file,
            self.index.display().to_string(),
            &public_roots(&self.roots),
        )?;
        loop {
            let mut first: Option<(usize, &str)> = None;
            for (position, lane) in lanes.iter_mut().enumerate() {
                match lane.peek() {
                    None => {}
                    Some(Err(_)) => {
                        first = Some((position, ""));
                        break;
                    }
                    Some(Ok(row)) => {
                        let is_first = first.is_none_or(|(_, path)| {
                            path_order(&row.path, path) == std::cmp::Ordering::Less
                        });
                        if is_first {
                            first = Some((position, &row.path));
                        }
                    }
                }
            }
            let Some((position, _)) = first else {
                break;
            };
            if let Some(row) = lanes[position].next() {
                writer.push(row?)?;
            }
        }
        let count = writer.finish()?;
        sync.sync_all().map_err(|error| self.failed(&error))?;
        fs::rename(&temporary, &self.index).map_err(|error| self.failed(&error))?;
        // What remains costs space, and the next update removes it.
        let _ = fs::remove_dir_all(&self.partial);
        Ok(count)
    }

    #[track_caller]
    fn failed(&self, error: &std::io::Error) -> Error {
        let message = format!("{}: cannot write the index: {error}", self.index.display());
        Error::new(ErrorKind::Io, message)
    }
}

/// True if a path still leads to an open file.
fn is_still(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (named, open) = (fs::metadata(path), file.metadata());
        matches!((named, open), (Ok(named), Ok(open)) if named.ino() == open.ino() && named.dev() == open.dev())
    }
    // Other systems keep the name of a file that is open.
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// The roots as an index keeps them.
fn public_roots(roots: &[String]) -> Vec<String> {
    roots.iter().map(|root| public_root(root)).collect()
}

/// Checks that relative roots of an index mean the same folders as they did when the index
/// was made.
///
/// # Errors
///
/// A `ValueError` in another folder.
fn check_folder(index: &Index, roots: &[String]) -> Result<()> {
    let is_relative = |root: &String| Path::new(root).is_relative() && !root.contains(':');
    if !roots.iter().any(is_relative) || index.is_of_this_folder()? {
        return Ok(());
    }
    Err(Error::value_error(format!(
        "{}: the roots {roots:?} of the index are relative to another folder; update the index \
         there, or give the roots",
        index.place()
    )))
}

/// The index that exists.
///
/// # Errors
///
/// A `ValueError` if there is another file, or an index of several files.
fn existing_index(index: &Path) -> Result<Option<Index>> {
    let place = index.display();
    if index.is_dir() {
        return Err(Error::value_error(format!(
            "{place}: expected the name of a file, got a folder"
        )));
    }
    if !index.exists() {
        return Ok(None);
    }
    if !Index::is_index(index) {
        return Err(Error::value_error(format!(
            "{place}: expected an index or no file, got another file, which stays as it is"
        )));
    }
    Index::open(index).map(Some)
}

/// The parts of a folder by run and lane, newest run first; those of one run only if asked.
fn lanes_of(partial: &Path, run: Option<u32>) -> std::io::Result<Vec<(u32, Vec<PathBuf>)>> {
    let mut lanes: std::collections::BTreeMap<(std::cmp::Reverse<u32>, String), Vec<PathBuf>> =
        std::collections::BTreeMap::new();
    for entry in fs::read_dir(partial)? {
        let path = entry?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut words = name.split('-');
        let (Some(first), Some(lane), Some(_), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let is_part = path
            .extension()
            .is_some_and(|extension| extension == "parquet");
        if let Ok(number) = first.parse()
            && is_part
            && run.is_none_or(|run| run == number)
        {
            let key = (std::cmp::Reverse(number), lane.to_owned());
            lanes.entry(key).or_default().push(path);
        }
    }
    let sorted = lanes
        .into_iter()
        .map(|((std::cmp::Reverse(run), _), mut parts)| {
            parts.sort();
            (run, parts)
        });
    Ok(sorted.collect())
}

/// The rows of earlier runs for the same roots, and the number of the next run.
fn parts_of_runs(partial: &Path, roots: &[String]) -> std::io::Result<(Vec<Index>, u32)> {
    let lanes = lanes_of(partial, None)?;
    let next = lanes.first().map_or(0, |(run, _)| run.saturating_add(1));
    let mut old = Vec::new();
    for (_, parts) in lanes {
        let is_usable = |part: &Index| {
            part.roots().is_ok_and(|known| known == roots)
                && part.has_current_digests().unwrap_or(false)
        };
        // A damaged part ends the sequence; its files are read again.
        let parts = parts.iter().map_while(|part| Index::open_part(part).ok());
        let usable: Vec<Index> = parts.take_while(is_usable).collect();
        old.extend(Index::joined(usable));
    }
    Ok((old, next))
}

/// The row of an unchanged file. Drops the rows before the file from all sequences, which
/// belong to files that are gone.
fn kept_row(old: &mut [Peekable<Rows>], file: &SourceFile) -> Option<Row> {
    let mut kept = None;
    for rows in old {
        let is_before = |row: &Result<Row>| {
            row.as_ref()
                .is_ok_and(|row| path_order(&row.path, &file.path) == std::cmp::Ordering::Less)
        };
        while rows.next_if(is_before).is_some() {}
        let is_same = |row: &Result<Row>| row.as_ref().is_ok_and(|row| row.path == file.path);
        let Some(Ok(row)) = rows.next_if(is_same) else {
            continue;
        };
        let is_unchanged = row.stamp != 0
            && row.size == file.size
            && row.stamp == stamp_with(file, &row.files, SystemTime::now());
        if kept.is_none() && is_unchanged {
            kept = Some(row);
        }
    }
    kept
}

/// A sequence of rows of an update, in files of some thousand rows.
pub struct Lane {
    folder: PathBuf,
    prefix: String,
    roots: Vec<String>,
    part: Option<Part>,
    count: u32,
}

struct Part {
    writer: RowWriter<File>,
    rows: u64,
    begin: Instant,
}

impl Lane {
    /// Adds a row, which comes after all rows of the lane.
    ///
    /// # Errors
    ///
    /// An `OSError` if the part cannot be written.
    pub fn push(&mut self, row: Row) -> Result<()> {
        if self.part.is_none() {
            let path = self.temporary();
            let place = path.display().to_string();
            let file = File::create(&path).map_err(|error| {
                Error::new(
                    ErrorKind::Io,
                    format!("{place}: cannot write the index: {error}"),
                )
            })?;
            self.part = Some(Part {
                writer: RowWriter::new(file, place, &self.roots)?,
                rows: 0,
                begin: Instant::now(),
            });
        }
        let Some(part) = &mut self.part else {
            return Ok(());
        };
        part.writer.push(row)?;
        part.rows += 1;
        self.settle()
    }

    /// Completes the part that is being written if it is old or large enough.
    ///
    /// # Errors
    ///
    /// An `OSError` if the part cannot be written.
    pub fn settle(&mut self) -> Result<()> {
        let is_due = |part: &Part| part.rows >= PART_ROWS || part.begin.elapsed() >= PART_TIME;
        if self.part.as_ref().is_some_and(is_due) {
            self.close()
        } else {
            Ok(())
        }
    }

    /// Completes the part that is being written.
    ///
    /// # Errors
    ///
    /// An `OSError` if the part cannot be written.
    pub fn close(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else {
            return Ok(());
        };
        part.writer.finish()?;
        let path = self
            .folder
            .join(format!("{}-{:06}.parquet", self.prefix, self.count));
        self.count += 1;
        fs::rename(self.temporary(), &path).map_err(|error| {
            let message = format!("{}: cannot write the index: {error}", path.display());
            Error::new(ErrorKind::Io, message)
        })
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join(format!("{}.tmp", self.prefix))
    }
}
