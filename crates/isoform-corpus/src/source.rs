//! Files of a collection, wherever they are.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use isoform::Result;

/// A time longer than the steps of the clocks of file systems.
const GRAIN: Duration = Duration::from_secs(3);

/// A file of a collection.
#[derive(Clone)]
pub struct SourceFile {
    /// The root below which the file is, as the user gave it.
    pub root: Arc<str>,
    /// The path in the index; see [`Row::path`](crate::Row::path).
    pub path: String,
    /// The size in bytes.
    pub size: u64,
    /// A number that changes with the file; 0 if a change might not show.
    pub stamp: u64,
    /// Why the file is a candidate.
    pub selection: Selection,
    pub(crate) place: Place,
}

/// Why a file is a candidate for an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The user named the file, which is read whatever its name and contents.
    User,
    /// The file has a name that the [inspector](crate::Inspector) wants.
    Name,
    /// The file has no telling name, like the values of a store: the contents decide.
    Content,
}

/// Where a file or a folder is.
#[derive(Clone)]
pub(crate) enum Place {
    /// On this machine.
    Local(PathBuf),
    /// In a container, under a path that is empty for the container itself.
    Inside(Arc<dyn Container>, String),
}

impl Place {
    pub(crate) fn is_in_archive(&self) -> bool {
        match self {
            Place::Local(_) => false,
            Place::Inside(container, _) => container.is_archive(),
        }
    }
}

/// A tree of files other than a folder of this machine: an archive, a bucket, a store.
pub(crate) trait Container: Send + Sync {
    /// Returns the entries of a folder, in any order.
    fn entries(&self, folder: &str) -> Result<Vec<Entry>>;

    /// Returns the contents of a file.
    fn read(&self, file: &str) -> Result<Bytes>;

    /// True for an archive, whose own archives are not entered: an archive may contain
    /// itself.
    fn is_archive(&self) -> bool {
        false
    }
}

/// An entry of a folder of a container.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
}

pub(crate) enum EntryKind {
    Folder,
    File { size: u64, stamp: u64 },
}

impl SourceFile {
    /// The path on this machine, if the file is not in an archive or on a server.
    pub fn local_path(&self) -> Option<&Path> {
        match &self.place {
            Place::Local(path) => Some(path),
            Place::Inside(..) => None,
        }
    }

    /// Returns the contents.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be read.
    pub fn read(&self) -> Result<Bytes> {
        match &self.place {
            Place::Local(path) => Ok(std::fs::read(path)?.into()),
            Place::Inside(container, path) => container.read(path),
        }
    }

    /// Returns the contents of a file in the same folder.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be read, a `ValueError` for a name that leads out of
    /// the folder.
    pub fn read_beside(&self, name: &str) -> Result<Bytes> {
        let leads_out = name.is_empty()
            || name.contains('\\')
            || name.split('/').any(|part| matches!(part, "" | "." | ".."));
        if leads_out {
            return Err(isoform::Error::value_error(format!(
                "expected the name of a file in the same folder, got {name:?}"
            )));
        }
        match &self.place {
            Place::Local(path) => Ok(std::fs::read(path.with_file_name(name))?.into()),
            Place::Inside(container, path) => {
                let folder = path.rsplit_once('/').map(|(folder, _)| folder);
                match folder {
                    Some(folder) => container.read(&format!("{folder}/{name}")),
                    None => container.read(name),
                }
            }
        }
    }
}

/// Returns a number that changes when a file of this machine is written, from its size
/// and its times; 0 for a file that changed so shortly before `time` that a later change
/// might not show, because the clocks of file systems advance in steps.
pub fn file_stamp(metadata: &Metadata, time: SystemTime) -> u64 {
    let modified = metadata.modified().ok();
    let age = modified.and_then(|modified| time.duration_since(modified).ok());
    if age.is_none_or(|age| age <= GRAIN) {
        return 0;
    }
    let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let modified = modified.and_then(since).map_or(0, |time| time.as_nanos());
    #[cfg(unix)]
    let changed = {
        use std::os::unix::fs::MetadataExt;
        // The number of the file shows that files of the same size and times were swapped.
        (metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
    };
    #[cfg(not(unix))]
    let changed = ();
    stamp_of(&format!("{} {modified} {changed:?}", metadata.len()))
}

/// A stamp from a text that changes with the file; never 0.
pub(crate) fn stamp_of(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let start = hash.as_bytes().first_chunk().copied();
    u64::from_le_bytes(start.unwrap_or_default()).max(1)
}

/// The stamp of a file together with the files that belong to it; 0 if a change of them,
/// after `time`, might not show.
pub(crate) fn stamp_with(file: &SourceFile, names: &[String], time: SystemTime) -> u64 {
    if names.is_empty() || file.stamp == 0 {
        return file.stamp;
    }
    let path = match &file.place {
        Place::Local(path) => path,
        // The files of an archive change with the archive.
        place if place.is_in_archive() => return file.stamp,
        Place::Inside(..) => return 0,
    };
    let mut text = file.stamp.to_string();
    for name in names {
        let metadata = std::fs::metadata(path.with_file_name(name));
        let stamp = metadata.map_or(0, |metadata| file_stamp(&metadata, time));
        if stamp == 0 {
            return 0;
        }
        text += &format!(" {stamp}");
    }
    stamp_of(&text)
}
