//! Files that are found on one machine and read on another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::archive::{Archive, is_archive};
use crate::file::RowWriter;
use crate::places::open_root;
use crate::row::Row;
use crate::source::{Container, Place, Selection, SourceFile};
use crate::update::read_row;
use crate::walk::Inspector;

/// The description of a file that any machine understands which reaches the same roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDescription {
    /// [`SourceFile::root`].
    pub root: String,
    /// [`SourceFile::path`].
    pub path: String,
    /// [`SourceFile::size`].
    pub size: u64,
    /// [`SourceFile::stamp`].
    pub stamp: u64,
    /// [`SourceFile::selection`].
    pub selection: Selection,
}

impl From<&SourceFile> for FileDescription {
    fn from(file: &SourceFile) -> Self {
        FileDescription {
            root: file.root.to_string(),
            path: file.path.clone(),
            size: file.size,
            stamp: file.stamp,
            selection: file.selection,
        }
    }
}

/// Reads described files, and returns their rows as the bytes of an index. A file that is
/// not there has a row with the error.
///
/// # Errors
///
/// An `OSError` if the rows cannot be written to memory.
pub fn read_described(files: &[FileDescription], inspector: &dyn Inspector) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(&mut bytes, "memory", &[])?;
    let mut places = Places::default();
    for description in files {
        let row = match places.file(description, inspector) {
            Ok(file) => read_row(&file, inspector),
            Err(error) => {
                let mut row = Row::failed(&*description.path, error.message());
                row.size = description.size;
                Some(row)
            }
        };
        if let Some(row) = row {
            writer.push(row)?;
        }
    }
    writer.finish()?;
    Ok(bytes)
}

/// The roots and archives opened last: files of one batch mostly have the same.
#[derive(Default)]
struct Places {
    root: Option<(String, OpenRoot)>,
    archive: Option<(PathBuf, Arc<dyn Container>)>,
}

/// The path of a root in the index, and its container; None for a root of this machine.
type OpenRoot = Option<(String, Arc<dyn Container>)>;

impl Places {
    fn file(&mut self, file: &FileDescription, inspector: &dyn Inspector) -> Result<SourceFile> {
        Ok(SourceFile {
            root: Arc::from(&*file.root),
            path: file.path.clone(),
            size: file.size,
            stamp: file.stamp,
            selection: file.selection,
            place: self.place(file, inspector)?,
        })
    }

    fn place(&mut self, file: &FileDescription, inspector: &dyn Inspector) -> Result<Place> {
        if self
            .root
            .as_ref()
            .is_none_or(|(root, _)| *root != file.root)
        {
            self.root = Some((file.root.clone(), open_root(&file.root)?));
        }
        if let Some((_, Some((path, container)))) = &self.root {
            let inner = file.path.strip_prefix(&**path);
            let inner = inner.and_then(|inner| inner.strip_prefix('/'));
            let (inner, container) = (inner.unwrap_or_default().to_owned(), Arc::clone(container));
            return match archive_in(&inner) {
                None => Ok(Place::Inside(container, inner)),
                Some((archive, rest)) => {
                    let place = PathBuf::from(format!("{path}/{archive}"));
                    self.in_archive(place, rest, || container.read(archive))
                }
            };
        }
        let path = Path::new(&file.path);
        if path.exists() {
            return Ok(Place::Local(path.to_owned()));
        }
        match archive_above(path) {
            Some((archive, rest)) => {
                let open = archive.clone();
                self.in_archive(archive, &rest, || inspector.open(&open))
            }
            None => Err(Error::new(ErrorKind::Io, "No such file on this machine")),
        }
    }

    /// A file of an archive, which is opened unless it was the last one.
    fn in_archive(
        &mut self,
        archive: PathBuf,
        inner: &str,
        read: impl FnOnce() -> Result<Bytes>,
    ) -> Result<Place> {
        let inner = inner.to_owned();
        if let Some((open, container)) = &self.archive
            && *open == archive
        {
            return Ok(Place::Inside(Arc::clone(container), inner));
        }
        // The stamps of the files are those of the descriptions.
        let open = Archive::open(&archive.to_string_lossy(), read()?, 0)?;
        let container: Arc<dyn Container> = Arc::new(open);
        self.archive = Some((archive, Arc::clone(&container)));
        Ok(Place::Inside(container, inner))
    }
}

/// The path of the archive in a path of a server, and the rest of the path.
fn archive_in(path: &str) -> Option<(&str, &str)> {
    let ends = path.match_indices('/').map(|(end, _)| end);
    let mut parts = ends.map(|end| (&path[..end], &path[end + 1..]));
    parts.find(|(above, _)| {
        let name = above.rsplit_once('/').map_or(*above, |(_, name)| name);
        is_archive(name)
    })
}

/// The archive that contains a path, and the rest of the path.
fn archive_above(path: &Path) -> Option<(PathBuf, String)> {
    let archive = path.ancestors().skip(1).find(|above| above.is_file())?;
    let inner = path.strip_prefix(archive).ok()?;
    Some((archive.to_owned(), inner.to_str()?.to_owned()))
}
