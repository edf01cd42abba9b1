//! Options for opening files and loading models.

use std::fs::{self, File};
use std::path::Path;

use bytes::Bytes;

use crate::{
    error::{OnnxError, Result},
    mmap,
};

/// Options for reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// True if model files and external data are mapped instead of read; the default.
    ///
    /// Mapping can open models larger than the memory, and reads only the parts in use. In
    /// return, **a file must be neither changed nor truncated while anything read from it
    /// is alive**: changes to the file become visible, and touching a truncated part kills
    /// the process. Switch mapping off for files that other programs may write.
    pub mmap: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { mmap: true }
    }
}

impl LoadOptions {
    /// Sets whether files are mapped; see [`LoadOptions::mmap`].
    #[must_use]
    pub fn mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }

    /// Brings a file into memory, refusing anything that is not a regular file.
    pub(crate) fn read(self, path: &Path) -> Result<Bytes> {
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

/// Options for loading a model, and for what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// True if files are mapped instead of read; the default. See [`LoadOptions::mmap`]
    /// for the requirements on the files.
    pub mmap: bool,
    /// True if the names of the main graph's inputs and outputs belong to the program. By
    /// default they do not, so models that differ only in these names are equal.
    pub io_names: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            mmap: true,
            io_names: false,
        }
    }
}

impl ImportOptions {
    /// Sets [`ImportOptions::mmap`].
    #[must_use]
    pub fn mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }

    /// Sets [`ImportOptions::io_names`].
    #[must_use]
    pub fn io_names(mut self, io_names: bool) -> Self {
        self.io_names = io_names;
        self
    }
}
