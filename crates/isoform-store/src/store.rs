//! The store: values under their names.
//!
//! The methods of a store for entries are in `entries`, and those for all files in
//! `maintain`, `evict` and `verify`.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::engine::{Engine, LockGuard};
use crate::envelope::{self, Envelope};
use crate::flights::Flights;
use crate::gate;
use crate::index::{Index, Row, Sizes};
use crate::name::Name;
use crate::options::StoreOptions;
use crate::per_process::PerProcess;
use crate::place::FileKind;
use crate::statistics::{Counters, Statistics};

/// The time after which a further use of a file is recorded, in seconds.
const USE_INTERVAL: u64 = 3600;

/// The lock of everybody who removes or replaces a file.
///
/// A reader removes a damaged file only while nobody can replace the file by a whole one.
const CHANGES: &str = "changes";

/// How often a put starts again because others remove the file that it found.
pub(crate) const ATTEMPTS: usize = 100;

/// How long a change waits for the lock. Changes take milliseconds.
const CHANGES_DEADLINE: Duration = Duration::from_secs(5);

/// Bytes under their digests, and results under keys, for any number of processes.
///
/// A store never returns wrong bytes: a damaged file counts as absent. Clones of a handle
/// share the place and the statistics. A handle works in a forked child, too.
///
/// ```
/// use isoform_store::{Name, Store};
///
/// let store = Store::open("memory:")?;
/// let name = store.put(b"bytes")?;
/// assert_eq!(name, Name::of(b"bytes"));
/// assert_eq!(store.get(&name)?.unwrap(), "bytes");
/// assert_eq!(store.get(&Name::of(b"other"))?, None);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

/// The stores whose indexes this process uses.
static OPEN: PerProcess<Mutex<Vec<Weak<Inner>>>> = PerProcess::new();

fn open_stores() -> MutexGuard<'static, Vec<Weak<Inner>>> {
    let open = OPEN.get(Mutex::default);
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Inner {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) options: StoreOptions,
    pub(crate) counters: Counters,
    pub(crate) flights: PerProcess<Arc<Flights>>,
    index: PerProcess<Index>,
}

impl Store {
    /// Opens the store at a URL with the default options: the path of a folder, which is
    /// created on demand, `file:` with a path, or `memory:`.
    ///
    /// # Errors
    ///
    /// As [`StoreOptions::open`].
    pub fn open(url: &str) -> Result<Store> {
        Store::options().open(url)
    }

    /// The default options.
    pub fn options() -> StoreOptions {
        StoreOptions::default()
    }

    pub(crate) fn with_engine(engine: Box<dyn Engine>, options: StoreOptions) -> Store {
        let is_read_only = options.is_read_only() || engine.is_read_only();
        let options = options.read_only(is_read_only);
        if !options.is_read_only() {
            engine.sweep(options.clock.now());
        }
        Store {
            inner: Arc::new(Inner {
                engine,
                options,
                counters: Counters::default(),
                flights: PerProcess::new(),
                index: PerProcess::new(),
            }),
        }
    }

    /// Stores bytes, and returns their name. Storing the same bytes again keeps the file
    /// and repairs a damaged file.
    ///
    /// O(bytes): a hash of the bytes, and a write or a comparison.
    ///
    /// # Errors
    ///
    /// An `OSError` if the bytes cannot be stored, as on a full disk or in a read-only
    /// store; there is no partial file then. A `ValueError` if a newer release of Isoform
    /// wrote the bytes in a newer layout.
    pub fn put(&self, bytes: &[u8]) -> Result<Name> {
        let name = Name::of(bytes);
        self.put_named(&name, bytes)?;
        Ok(name)
    }

    pub(crate) fn put_named(&self, name: &Name, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        let inner = &*self.inner;
        let path = FileKind::Value.path(name);
        let file = envelope::sealed(FileKind::Value, bytes, name);
        inner.counters.puts.add(1);
        // A file that others remove all the time is not written forever.
        for _ in 0..ATTEMPTS {
            let mut written = inner.engine.write_once(&path, &file)?;
            if !written {
                let Some(found) = inner.engine.read(&path)? else {
                    continue;
                };
                if found.bytes == file {
                    inner.counters.repeated_puts.add(1);
                    self.note_use(&path, found.used);
                    return Ok(());
                }
                written = self.mend(&path, &file, |found| envelope::opened_value(name, found))?;
            }
            if written {
                self.note_file(&path, FileKind::Value, file.len(), None, Vec::new());
                return Ok(());
            }
        }
        Err(self.too_many_changes(&path))
    }

    /// The error about a file that comes and goes faster than a put can follow.
    pub(crate) fn too_many_changes(&self, path: &str) -> Error {
        let place = self.description();
        let message = format!(
            "store {place}: {path} appeared and disappeared {ATTEMPTS} times during a put; \
             see who removes the file"
        );
        Error::new(ErrorKind::Io, message)
    }

    /// Replaces a damaged file. Returns false if the file is gone or whole now.
    pub(crate) fn mend(
        &self,
        path: &str,
        file: &[u8],
        open: impl Fn(Vec<u8>) -> Envelope,
    ) -> Result<bool> {
        let engine = &self.inner.engine;
        // Without a lock, two writers may both mend the file, which is harmless.
        let _guard = self.lock_changes();
        let Some(found) = engine.read(path)? else {
            return Ok(false);
        };
        match open(found.bytes) {
            Envelope::Whole(_) => Ok(false),
            Envelope::Foreign(version) => Err(self.foreign(path, version)),
            Envelope::Torn(_) => {
                self.inner.counters.torn.add(1);
                engine.replace(path, file)?;
                Ok(true)
            }
        }
    }

    /// Returns the bytes with a name; None if the store does not have them, or has them
    /// in a damaged file, which is removed.
    ///
    /// O(bytes): one read and one hash, without copies.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be read. A `ValueError` if a newer release of
    /// Isoform wrote the file in a newer layout.
    pub fn get(&self, name: &Name) -> Result<Option<Bytes>> {
        let value = self.value(name)?;
        self.count_lookup(value.as_ref());
        Ok(value)
    }

    pub(crate) fn count_lookup(&self, value: Option<&Bytes>) {
        let counters = &self.inner.counters;
        match value {
            Some(value) => {
                counters.hits.add(1);
                counters.bytes_read.add(value.len());
            }
            None => counters.misses.add(1),
        }
    }

    /// As [`get`](Self::get), without counting a hit or a miss.
    pub(crate) fn value(&self, name: &Name) -> Result<Option<Bytes>> {
        let open = |file| envelope::opened_value(name, file);
        self.payload(&FileKind::Value.path(name), open)
    }

    /// Reads a file, records its use, and removes a damaged file.
    pub(crate) fn payload(
        &self,
        path: &str,
        open: impl Fn(Vec<u8>) -> Envelope,
    ) -> Result<Option<Bytes>> {
        let inner = &*self.inner;
        let Some(found) = inner.engine.read(path)? else {
            return Ok(None);
        };
        match open(found.bytes) {
            Envelope::Whole(payload) => {
                self.note_use(path, found.used);
                Ok(Some(payload))
            }
            Envelope::Foreign(version) => Err(self.foreign(path, version)),
            Envelope::Torn(_) => {
                inner.counters.torn.add(1);
                self.discard(path, |file| matches!(open(file), Envelope::Torn(_)));
                Ok(None)
            }
        }
    }

    /// Removes a file that is of no use, if it still is: never a file that somebody
    /// replaced in the meantime. Failing to remove the file is harmless.
    pub(crate) fn discard(&self, path: &str, is_useless: impl Fn(Vec<u8>) -> bool) -> bool {
        if self.inner.options.is_read_only() {
            return false;
        }
        match self.lock_changes() {
            Some(_guard) => self.discard_now(path, is_useless),
            None => false,
        }
    }

    /// As [`discard`](Self::discard), under a lock that the caller holds.
    pub(crate) fn discard_now(&self, path: &str, is_useless: impl Fn(Vec<u8>) -> bool) -> bool {
        let engine = &self.inner.engine;
        let found = engine.read(path).ok().flatten();
        let removed = found.is_some_and(|found| is_useless(found.bytes))
            && engine.remove(path).is_ok_and(|removed| removed);
        if removed {
            let _ = self.index().remove(&[path.to_owned()]);
        }
        removed
    }

    /// True if [`get`](Self::get) returns the bytes now. O(bytes), because the file is
    /// checked. Counts neither a hit nor a miss.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn contains(&self, name: &Name) -> Result<bool> {
        Ok(self.value(name)?.is_some())
    }

    /// Removes the bytes with a name. Returns false if the store does not have them.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be removed, and in a read-only store.
    pub fn remove(&self, name: &Name) -> Result<bool> {
        self.remove_path(&FileKind::Value.path(name))
    }

    pub(crate) fn remove_path(&self, path: &str) -> Result<bool> {
        self.check_writable()?;
        let _guard = self.lock_changes();
        let removed = self.inner.engine.remove(path)?;
        if removed {
            // The next comparison with the files repeats a failed removal.
            let _ = self.index().remove(&[path.to_owned()]);
        }
        Ok(removed)
    }

    /// The counts of this handle and its clones.
    pub fn statistics(&self) -> Statistics {
        self.inner.counters.statistics()
    }

    /// The place of the store as messages name it.
    pub fn description(&self) -> String {
        self.inner.engine.description()
    }

    pub(crate) fn check_writable(&self) -> Result<()> {
        if !self.inner.options.is_read_only() {
            return Ok(());
        }
        let place = self.description();
        let message = format!("store {place} is read-only; open it without `read_only` to write");
        Err(Error::new(ErrorKind::Io, message))
    }

    pub(crate) fn lock_changes(&self) -> Option<LockGuard> {
        let held = self.inner.engine.lock(CHANGES, CHANGES_DEADLINE);
        held.ok().flatten()
    }

    pub(crate) fn foreign(&self, path: &str, version: u16) -> Error {
        let place = format!("{}, file {path}", self.description());
        envelope::foreign_version(version, &place)
    }

    /// Records the use of a file, at most once an hour.
    pub(crate) fn note_use(&self, path: &str, used: Option<u64>) {
        let options = &self.inner.options;
        let Some(used) = used.filter(|_| !options.is_read_only()) else {
            return;
        };
        // A time in the future is a clock that went back.
        let now = options.clock.now();
        if now.abs_diff(used) > USE_INTERVAL {
            self.inner.engine.mark_used(path, now);
        }
    }

    /// Tells the index about a written file, and evicts files over the limits.
    pub(crate) fn note_file(
        &self,
        path: &str,
        kind: FileKind,
        size: usize,
        key: Option<String>,
        values: Vec<String>,
    ) {
        self.inner.counters.bytes_written.add(size);
        let now = self.inner.options.clock.now();
        let row = Row {
            path: path.to_owned(),
            kind,
            size: size as u64,
            created: now,
            used: now,
            key,
            values,
        };
        if self.inner.options.limits.is_empty() {
            self.index().add(row);
        } else {
            let written = row.values.clone();
            let mut written: Vec<&str> = written.iter().map(String::as_str).collect();
            written.push(path);
            let numbers = self.index().add(row);
            self.evict_if_needed(numbers, &written);
        }
    }

    pub(crate) fn index(&self) -> &Index {
        let inner = &*self.inner;
        inner.index.get(|| {
            let mut open = open_stores();
            open.retain(|store| store.strong_count() > 0);
            open.push(Arc::downgrade(&self.inner));
            let folder = inner.engine.index_folder();
            Index::new(folder.filter(|_| !inner.options.is_read_only()))
        })
    }

    /// Writes the rows of all stores of this process that wait for their indexes, as the end
    /// of the last handle does: for programs that end without dropping their handles, such as
    /// those of Python. A failing index finds the files later.
    pub fn finish_all() {
        let open: Vec<Arc<Inner>> = open_stores().iter().filter_map(Weak::upgrade).collect();
        for inner in open {
            Store { inner }.index().finish();
        }
    }

    /// Prepares a fork of this process while other threads use stores: waits until no thread
    /// holds a lock that the child would find locked forever, up to five seconds, and keeps
    /// the threads out until [`after_fork`](Self::after_fork) in the parent. The child needs
    /// no call. In Python, `os.fork` does so by itself.
    pub fn before_fork() {
        gate::close();
    }

    /// Lets the threads of the parent go on after a fork.
    pub fn after_fork() {
        gate::open();
    }

    /// The sizes of all files.
    ///
    /// O(1) with a complete index, which a folder has after its first call; the first call
    /// lists all files and reads all entries. A read-only store and a server have an index
    /// in memory, and list all files in every call. The last files of another process that
    /// runs, or was killed, may be missing.
    ///
    /// # Errors
    ///
    /// An `OSError` if there is no complete index, and the files cannot be listed.
    pub fn sizes(&self) -> Result<Sizes> {
        if let Some(numbers) = self.complete_numbers() {
            return Ok(numbers.sizes);
        }
        self.reconcile_index()?;
        Ok(self.index().numbers()?.sizes)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("place", &self.description())
            .field("options", &self.inner.options)
            .finish_non_exhaustive()
    }
}
