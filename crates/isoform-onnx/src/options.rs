//! How files are opened and models are loaded.

use std::fs::{self, File};
use std::path::Path;

use bytes::Bytes;

use crate::{
    error::{OnnxError, Result},
    mmap,
};

/// How files are brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Whether model files and external data are mapped instead of read; true by default.
    ///
    /// Mapping opens models larger than the memory and touches only what is used. In
    /// return, **a file must be neither changed nor truncated while anything read from it
    /// is alive**: a changed file shows through, and touching a part that was cut off
    /// ends the process. Switch it off for files other programs may be writing.
    pub mmap: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self { mmap: true }
    }
}

impl LoadOptions {
    /// The default options: files are mapped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether files are mapped; see [`LoadOptions::mmap`].
    #[must_use]
    pub fn with_mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }

    /// Brings a file into memory, refusing anything that is not a regular file.
    pub(crate) fn load(self, path: &Path) -> Result<Bytes> {
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
        let loaded = if self.mmap {
            File::open(path).and_then(|file| mmap::map_file(&file))
        } else {
            fs::read(path).map(Bytes::from)
        };
        loaded.map_err(|error| OnnxError::io(format_args!("cannot read '{shown}'"), error))
    }
}

/// How a model is loaded, and what of it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportOptions {
    /// Whether files are mapped instead of read; true by default. See
    /// [`LoadOptions::mmap`] for what that asks of the files.
    pub mmap: bool,
    /// Whether the names of the main graph's inputs and outputs belong to the program;
    /// false by default, so that models that differ in them alone are equal.
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
    /// The default options: files are mapped, and names of inputs and outputs are not
    /// compared.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`ImportOptions::mmap`].
    #[must_use]
    pub fn with_mmap(mut self, mmap: bool) -> Self {
        self.mmap = mmap;
        self
    }

    /// Sets [`ImportOptions::io_names`].
    #[must_use]
    pub fn with_io_names(mut self, io_names: bool) -> Self {
        self.io_names = io_names;
        self
    }
}
