//! The record of a miss, which `isoform cache why` reads.

use std::env;
use std::path::PathBuf;

use isoform::{Error, Result};
use isoform_store::{EntryKey, NewEntry, Store};

use super::key::Run;

/// The names of metadata of the entries of runs and misses.
pub(super) const FILES: &str = "files";
pub(super) const FOLDER: &str = "folder";

/// The entry of a run.
pub(super) fn entry_of(run: &Run, value: Vec<u8>) -> NewEntry {
    let folder = folder().map_or_else(|_| String::new(), |folder| folder.display().to_string());
    NewEntry::new(value)
        .metadata(FILES, &*run.files)
        .metadata(FOLDER, folder)
        .program(run.programs.clone())
}

/// Records a miss under its folder, and under its folder and its key files.
pub(super) fn miss(run: &Run, store: &Store) -> Result<()> {
    let parts = serde_json::to_vec(run.key.parts());
    let parts = parts.map_err(|error| Error::value_error(error.to_string()))?;
    for files in [None, Some(&*run.files)] {
        store.replace_entry(&key_of_miss(files)?, &entry_of(run, parts.clone()))?;
    }
    Ok(())
}

/// The key of the record of the last miss in this folder, for certain key files.
pub(super) fn key_of_miss(files: Option<&str>) -> Result<EntryKey> {
    let mut key = EntryKey::builder("last miss").option("folder", folder()?.display());
    if let Some(files) = files {
        key = key.option("files", files);
    }
    Ok(key.build())
}

fn folder() -> Result<PathBuf> {
    env::current_dir().map_err(Error::from)
}
