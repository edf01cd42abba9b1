//! The interface between a store and the place of its files.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use isoform::errors::ErrorKind;
use isoform::{Error, Result};

/// A place that keeps files: a folder, memory or a server.
///
/// A [`Store`](crate::Store) decides on the contents of files and on their paths, which
/// consist of lower-case ASCII letters, digits and `/`. An engine keeps the files, and
/// guarantees that every file appears under its path completely or not at all, except
/// after a loss of power: a store finds torn files by their checksums.
///
/// Every method may be called from many threads at the same time, and other processes
/// may use the same place.
pub trait Engine: Send + Sync {
    /// Returns the contents of a file, None if there is no such file.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place and the file, if the file cannot be read.
    fn read(&self, path: &str) -> Result<Option<FileContents>>;

    /// Creates a file with these contents. Returns false, and changes nothing, if the
    /// file exists.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place and the file; the file does not exist then.
    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool>;

    /// Creates a file with these contents, or replaces the file: a reader gets the old
    /// contents or the new contents.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place and the file, which is unchanged then.
    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()>;

    /// Removes a file. Returns false if there is no such file.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place and the file, if the file cannot be removed.
    fn remove(&self, path: &str) -> Result<bool>;

    /// Iterates over the files in a top folder. Files that are created or removed in the
    /// meantime may appear or not.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place, if the folder cannot be listed. A missing
    /// folder has no files.
    fn list(&self, folder: &str) -> Result<FileList<'_>>;

    /// Sets the time of the last use of a file, in seconds since 1970, if the engine can. By
    /// default nothing changes, as on servers, which know the time of the last change alone.
    fn mark_used(&self, path: &str, time: u64) {
        let _ = (path, time);
    }

    /// Waits for a lock that excludes every other holder of the same name in all
    /// processes that use the place. The end of a process frees its locks.
    ///
    /// Returns None if the deadline passes.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place, if the place has no locks: nobody waits then, and
    /// everybody goes on without the lock.
    ///
    /// By default the place has no locks, as servers have none.
    fn lock(&self, name: &str, deadline: Duration) -> Result<Option<LockGuard>> {
        let _ = deadline;
        let place = self.description();
        let message = format!("store {place}: cannot lock {name}: the place has no locks");
        Err(Error::new(ErrorKind::Io, message))
    }

    /// Removes the remains of writers that died, and returns the number of removed
    /// files. `now` is the time in seconds since 1970.
    fn sweep(&self, now: u64) -> usize {
        let _ = now;
        0
    }

    /// The local folder for the index of the files, if the engine has one.
    fn index_folder(&self) -> Option<&Path> {
        None
    }

    /// True if other processes can change the files: an index in memory is then compared
    /// with the files before every query.
    fn is_shared(&self) -> bool {
        true
    }

    /// True if the files must not be changed: the store is read-only then.
    fn is_read_only(&self) -> bool {
        false
    }

    /// The place as messages name it, without credentials.
    fn description(&self) -> String;
}

/// The files of [`Engine::list`].
pub type FileList<'e> = Box<dyn Iterator<Item = Result<FileInfo>> + 'e>;

/// The contents of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileContents {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The time of the last use or change, in seconds since 1970, if the engine knows it.
    pub used: Option<u64>,
}

/// A file in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// The path in the store, with `/` between its parts.
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// The time of the last use or change, in seconds since 1970.
    pub used: u64,
}

/// A held lock, which is free again when the guard is dropped.
pub struct LockGuard(Option<Box<dyn FnOnce() + Send>>);

impl LockGuard {
    /// A guard that calls a function at its end.
    pub fn new(release: impl FnOnce() + Send + 'static) -> Self {
        LockGuard(Some(Box::new(release)))
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

impl fmt::Debug for LockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockGuard")
    }
}
