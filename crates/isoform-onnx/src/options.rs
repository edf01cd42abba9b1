//! Options for opening files and loading models.

use std::fs::{self, File};
use std::path::Path;

use bytes::Bytes;

use crate::{
    error::{OnnxError, Result},
    mmap,
};
use isoform::__setters as setters;

/// Options for reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// True if model files and external data are mapped instead of read; the default.
    ///
    /// Mapping can open models larger than the memory, and reads only the parts in use.
    /// In return, **a file must be neither changed nor truncated while anything read
    /// from it is alive**: changes to the file become visible, and touching a truncated
    /// part kills the process. Switch mapping off for files that other programs may
    /// write.
    pub mmap: bool,
    /// True if external data may be a symbolic link that leads out of the model's folder.
    ///
    /// By default a link out of the folder is refused: the author of a model could
    /// otherwise make it read any file of the user. Caches of downloaded models consist
    /// of links like this.
    pub follow_links: bool,
    /// The external data to be read.
    pub external_data: ExternalData,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            mmap: true,
            follow_links: false,
            external_data: ExternalData::Required,
        }
    }
}

/// The external data to be read when a model is loaded.
///
/// The elements of a tensor with unread data are all zero;
/// [`Model::lacks_contents`](crate::Model::lacks_contents) tells such a tensor from
/// real zeros. The zeros take no memory, whatever size the file claims. Sparse tensors
/// always need their data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExternalData {
    /// All external data; a missing file is an error.
    #[default]
    Required,
    /// The data of existing files.
    IfPresent,
    /// None, as if all files were missing.
    Skipped,
}

impl LoadOptions {
    setters! {
        /// Sets whether files are mapped; see [`LoadOptions::mmap`].
        mmap: bool,
        /// Sets whether links out of the model's folder are followed; see
        /// [`LoadOptions::follow_links`].
        follow_links: bool,
        /// Sets [`LoadOptions::external_data`].
        external_data: ExternalData,
    }

    /// Brings a file into memory, refusing everything except regular files. O(1) if
    /// files are mapped.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, or is a folder, a pipe or a device; the error names
    /// the file.
    pub fn read(self, path: &Path) -> Result<Bytes> {
        let shown = path.display();
        // Opening a named pipe would wait for a writer, so the kind is looked at first.
        let metadata = fs::metadata(path)
            .map_err(|error| OnnxError::io(format_args!("cannot open '{shown}'"), error))?;
        if !metadata.is_file() {
            let kind = if metadata.is_dir() {
                "a folder"
            } else {
                "not a regular file"
            };
            return Err(OnnxError::value(format!(
                "cannot read '{shown}': it is {kind}"
            )));
        }
        let read = if self.mmap {
            File::open(path).and_then(|file| mmap::map_file(&file))
        } else {
            fs::read(path).map(Bytes::from)
        };
        read.map_err(|error| OnnxError::io(format_args!("cannot read '{shown}'"), error))
    }
}

/// Options for loading a model, and for the parts to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// True if files are mapped instead of read; the default. See [`LoadOptions::mmap`]
    /// for the requirements on the files.
    pub mmap: bool,
    /// True if the names of the main graph's inputs and outputs belong to the program.
    /// False by default: models that differ only in these names are then equal.
    pub io_names: bool,
    /// True if external data may be a symbolic link that leads out of the model's folder; see
    /// [`LoadOptions::follow_links`].
    pub follow_links: bool,
    /// The external data to be read.
    pub external_data: ExternalData,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            mmap: true,
            io_names: false,
            follow_links: false,
            external_data: ExternalData::Required,
        }
    }
}

impl ImportOptions {
    setters! {
        /// Sets [`ImportOptions::mmap`].
        mmap: bool,
        /// Sets [`ImportOptions::io_names`].
        io_names: bool,
        /// Sets [`ImportOptions::follow_links`].
        follow_links: bool,
        /// Sets [`ImportOptions::external_data`].
        external_data: ExternalData,
    }

    /// The options for the files of a model.
    pub fn files(self) -> LoadOptions {
        LoadOptions {
            mmap: self.mmap,
            follow_links: self.follow_links,
            external_data: self.external_data,
        }
    }
}
