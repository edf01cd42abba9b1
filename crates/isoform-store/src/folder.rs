//! Files in a local folder, which any number of processes use at the same time.
//!
//! | path in the folder | contents |
//! |---|---|
//! | `values/ab/cdef…`, `entries/ab/cdef…` | the files of the store |
//! | `tmp/` | files that a writer has not finished |
//! | `locks/` | a file for each held lock |
//! | `index.sqlite` | the index, which the module `index` describes |
//!
//! A writer fills a file in `tmp/` and then gives the file its name, which the file
//! system does at once or not at all. Locks are locks of the operating system on open
//! files, which end with the process that holds them. A writer locks its unfinished
//! file, too, so an unlocked file in `tmp/` belongs to a process that died.

use std::fs::{self, File, FileTimes, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use tempfile::{Builder, NamedTempFile};

use crate::engine::{Engine, FileContents, FileInfo, FileList, LockGuard};

const UNFINISHED: &str = "tmp";
const LOCKS: &str = "locks";

/// How long an unlocked file in `tmp/` stays, in seconds: a writer may be about to lock it.
const YOUNG: u64 = 60;

/// How long a file in `tmp/` stays where the file system has no locks, in seconds.
const OLD: u64 = 3600;

/// The engine of a folder.
#[derive(Debug)]
pub struct FolderEngine {
    root: PathBuf,
    durable: bool,
}

impl FolderEngine {
    /// The engine of a folder, which is created on demand.
    ///
    /// # Errors
    ///
    /// An `OSError` if the path is not a folder, or if the folder cannot be created.
    pub fn open(root: &Path) -> Result<Self> {
        FolderEngine::open_or_create(root, true)
    }

    /// The engine of a folder that exists.
    ///
    /// # Errors
    ///
    /// An `OSError` if the path is not a folder.
    pub fn open_existing(root: &Path) -> Result<Self> {
        FolderEngine::open_or_create(root, false)
    }

    /// With `durable`, a written file survives a loss of power.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    fn open_or_create(root: &Path, creates: bool) -> Result<Self> {
        let refused = |error: io::Error, hint: &str| {
            let message = format!("store folder {}: {error}; {hint}", root.display());
            Error::new(ErrorKind::Io, message).caused_by(error)
        };
        match fs::metadata(root) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                let error = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(refused(error, "give the path of a folder"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && creates => {
                fs::create_dir_all(root)
                    .map_err(|error| refused(error, "create the folder first"))?;
            }
            Err(error) => return Err(refused(error, "give the path of a store folder")),
        }
        // Later changes of the working directory do not move the store.
        let root = fs::canonicalize(root)
            .map_err(|error| refused(error, "give the path of a store folder"))?;
        Ok(FolderEngine {
            root,
            durable: false,
        })
    }

    #[track_caller]
    fn error(&self, verb: &str, path: &str, error: io::Error) -> Error {
        let hint = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "; free space or evict files of the store"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "; open the store with `read_only`, or give yourself the permission"
            }
            _ => "",
        };
        let root = self.root.display();
        let message = format!("store folder {root}: cannot {verb} {path}: {error}{hint}");
        Error::new(ErrorKind::Io, message).caused_by(error)
    }

    fn written(&self, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let folder = self.root.join(UNFINISHED);
        let mut file = match unfinished().tempfile_in(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&folder)?;
                unfinished().tempfile_in(&folder)?
            }
            result => result?,
        };
        // The lock tells other processes that the writer lives; a file system without
        // locks makes them wait for an hour instead.
        let _ = file.as_file().try_lock();
        file.as_file_mut().write_all(bytes)?;
        if self.durable {
            file.as_file().sync_all()?;
        }
        Ok(file)
    }

    /// Writes a file and gives it its name. Returns false if the name is taken and the
    /// file must not be replaced.
    fn place(&self, path: &str, bytes: &[u8], replaces: bool) -> io::Result<bool> {
        let target = self.root.join(path);
        let folder = target.parent().unwrap_or(&self.root);
        let mut attempts = 0..3;
        loop {
            let named = match renamed(self.written(bytes)?, &target, replaces) {
                Err((error, file)) if error.kind() == io::ErrorKind::NotFound => {
                    create_folder(folder, self.durable)?;
                    renamed(file, &target, replaces)
                }
                named => named,
            };
            match named {
                Ok(()) => break,
                Err((error, _)) if error.kind() == io::ErrorKind::AlreadyExists && !replaces => {
                    return Ok(false);
                }
                // Somebody removed the unfinished file or the folder.
                Err((error, _))
                    if error.kind() == io::ErrorKind::NotFound && attempts.next().is_some() => {}
                Err((error, _)) => return Err(error),
            }
        }
        if self.durable {
            sync_folder(folder)?;
        }
        Ok(true)
    }
}

/// The form of unfinished files. Other users of a shared folder may read the files, as far
/// as the mask of the process permits.
fn unfinished() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix("write-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

fn renamed(
    file: NamedTempFile,
    target: &Path,
    replaces: bool,
) -> Result<(), (io::Error, NamedTempFile)> {
    let named = if replaces {
        file.persist(target)
    } else {
        file.persist_noclobber(target)
    };
    named
        .map(drop)
        .map_err(|refused| (refused.error, refused.file))
}

fn create_folder(folder: &Path, durable: bool) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    if durable {
        for parent in folder.ancestors().skip(1).take(2) {
            sync_folder(parent)?;
        }
    }
    Ok(())
}

/// Makes the names in a folder survive a loss of power.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder, and write names by themselves.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The time of the last change, in seconds since 1970.
fn changed(metadata: &Metadata) -> Option<u64> {
    let time = metadata.modified().ok()?;
    // A time before 1970 is older than everything else.
    Some(
        time.duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    )
}

fn absent_is_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn whole_file(path: &Path) -> io::Result<Option<FileContents>> {
    let Some(file) = absent_is_none(File::open(path))? else {
        return Ok(None);
    };
    let metadata = file.metadata()?;
    let mut bytes = Vec::new();
    let size = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    bytes.try_reserve_exact(size)?;
    // Files never grow, and the limit saves the system call that would find the end.
    file.take(metadata.len()).read_to_end(&mut bytes)?;
    Ok(Some(FileContents {
        bytes,
        used: changed(&metadata),
    }))
}

impl Engine for FolderEngine {
    fn read(&self, path: &str) -> Result<Option<FileContents>> {
        whole_file(&self.root.join(path)).map_err(|error| self.error("read", path, error))
    }

    fn write_once(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        let target = self.root.join(path);
        let written = || {
            // Most repeated writes end here, without a temporary file.
            if target.symlink_metadata().is_err() && self.place(path, bytes, false)? {
                return Ok(true);
            }
            if self.durable {
                // The writer of the file may have been less careful.
                if let Some(file) = absent_is_none(File::open(&target))? {
                    file.sync_all()?;
                }
                sync_folder(target.parent().unwrap_or(&self.root))?;
            }
            Ok(false)
        };
        written().map_err(|error| self.error("write", path, error))
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.place(path, bytes, true)
            .map(drop)
            .map_err(|error| self.error("write", path, error))
    }

    fn remove(&self, path: &str) -> Result<bool> {
        let removed = absent_is_none(fs::remove_file(self.root.join(path)));
        let removed = removed.map_err(|error| self.error("remove", path, error))?;
        Ok(removed.is_some())
    }

    fn list(&self, folder: &str) -> Result<FileList<'_>> {
        let tops = names_in(&self.root.join(folder));
        let tops = tops.map_err(|error| self.error("list", folder, error))?;
        let folder = folder.to_owned();
        Ok(Box::new(tops.into_iter().flat_map(move |top| {
            let inner = format!("{folder}/{top}");
            match self.files_in(&inner) {
                Ok(files) => files.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(self.error("list", &inner, error))],
            }
        })))
    }

    fn mark_used(&self, path: &str, time: u64) {
        let Some(time) = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time)) else {
            return;
        };
        // Only the owner may set the time, which other users cannot help.
        let opened = File::options()
            .read(true)
            .write(cfg!(windows))
            .open(self.root.join(path));
        if let Ok(file) = opened {
            let _ = file.set_times(FileTimes::new().set_modified(time));
        }
    }

    fn lock(&self, name: &str, deadline: Duration) -> Result<Option<LockGuard>> {
        let folder = self.root.join(LOCKS);
        let path = folder.join(name);
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match lock_file(&folder, &path) {
                Ok(Some(file)) => {
                    return Ok(Some(LockGuard::new(move || {
                        if cfg!(unix) {
                            // A waiting process sees that its open file lost the name.
                            let _ = fs::remove_file(&path);
                        }
                        let _ = file.unlock();
                    })));
                }
                Ok(None) => {}
                // A file system without locks, or a folder that cannot be written.
                Err(error) => return Err(self.error("lock", name, error)),
            }
            let Some(left) = deadline.checked_sub(start.elapsed()) else {
                return Ok(None);
            };
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn sweep(&self, now: u64) -> usize {
        let mut removed = 0;
        for (folder, patience) in [(UNFINISHED, YOUNG), (LOCKS, OLD)] {
            let folder = self.root.join(folder);
            for name in names_in(&folder).unwrap_or_default() {
                removed += usize::from(removed_remains(&folder.join(name), now, patience));
            }
        }
        removed
    }

    fn index_folder(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn description(&self) -> String {
        self.root.display().to_string()
    }
}

impl FolderEngine {
    fn files_in(&self, folder: &str) -> io::Result<Vec<FileInfo>> {
        let place = self.root.join(folder);
        let mut files = Vec::new();
        for name in names_in(&place)? {
            // Another process may have removed the file.
            if let Some(metadata) = absent_is_none(place.join(&name).symlink_metadata())?
                && metadata.is_file()
            {
                files.push(FileInfo {
                    path: format!("{folder}/{name}"),
                    size: metadata.len(),
                    used: changed(&metadata).unwrap_or(0),
                });
            }
        }
        Ok(files)
    }
}

/// The names in a folder in order; none if there is no such folder.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        // A name that is not UTF-8 belongs to somebody else.
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Opens and locks the file of a lock; None if somebody else holds the lock.
fn lock_file(folder: &Path, path: &Path) -> io::Result<Option<File>> {
    let open = || {
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
    };
    let file = match absent_is_none(open())? {
        Some(file) => file,
        None => {
            fs::create_dir_all(folder)?;
            open()?
        }
    };
    match file.try_lock() {
        Ok(()) if names_file(path, &file) => Ok(Some(file)),
        // The last holder removed the file between the two calls.
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// True if the path leads to this open file.
#[cfg(unix)]
fn names_file(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (path.symlink_metadata(), file.metadata()) {
        (Ok(named), Ok(opened)) => (named.dev(), named.ino()) == (opened.dev(), opened.ino()),
        _ => false,
    }
}

/// True: on other systems, an open file keeps its name.
#[cfg(not(unix))]
fn names_file(_: &Path, _: &File) -> bool {
    true
}

/// Removes a file that no process locks, unless the file is young.
fn removed_remains(path: &Path, now: u64, patience: u64) -> bool {
    let Ok(file) = File::options().write(true).open(path) else {
        return false;
    };
    let Some(changed) = file.metadata().ok().and_then(|metadata| changed(&metadata)) else {
        return false;
    };
    // A time in the future tells that a clock went back.
    let age = now.abs_diff(changed);
    let abandoned = match file.try_lock() {
        Ok(()) => age > patience,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => now.saturating_sub(changed) > OLD,
    };
    abandoned && names_file(path, &file) && fs::remove_file(path).is_ok()
}
