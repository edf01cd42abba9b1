//! Tensor data stored in files next to the model.

use std::{
    collections::HashMap,
    fs,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

use crate::{
    error::{OnnxError, Result, ResultExt},
    options::LoadOptions,
    proto::StringStringEntryProto,
};

/// Finds and loads the external data of a model's tensors, each file once.
///
/// A location is a path relative to the model's folder. It is rejected if it is empty or
/// absolute, if it goes up with `..`, or if a symbolic link leads it out of the folder,
/// so that opening a model never reads files that its author has no business with.
///
/// The optional `checksum` of the specification is not verified.
#[derive(Debug)]
pub struct ExternalResolver {
    folder: Option<PathBuf>,
    options: LoadOptions,
    /// Loaded files by their canonical path.
    files: Mutex<HashMap<PathBuf, Bytes>>,
}

impl ExternalResolver {
    /// A resolver for models that did not come from a file: any external data is an error.
    pub fn none() -> Self {
        Self {
            folder: None,
            options: LoadOptions::default(),
            files: Mutex::default(),
        }
    }

    /// A resolver for models in `folder`.
    pub fn in_folder(folder: impl Into<PathBuf>, options: LoadOptions) -> Self {
        Self {
            folder: Some(folder.into()),
            options,
            files: Mutex::default(),
        }
    }

    /// The bytes that `entries` (the `external_data` of a tensor) describe.
    ///
    /// # Errors
    ///
    /// Fails if the entries are malformed, the location is rejected, the file cannot be
    /// read, or the range is outside of it.
    pub fn resolve(&self, entries: &[StringStringEntryProto]) -> Result<Bytes> {
        let entries = Entries::parse(entries)?;
        self.resolve_entries(&entries)
            .within(|| format!("external data file '{}'", entries.location))
    }

    fn resolve_entries(&self, entries: &Entries<'_>) -> Result<Bytes> {
        let file = self.load(entries.location)?;
        let available = file.len();
        let outside = |what: &str| {
            OnnxError::value(format!(
                "{what} lies outside of the file, which has {available} bytes"
            ))
        };
        let start = usize::try_from(entries.offset)
            .ok()
            .filter(|&start| start <= available)
            .ok_or_else(|| outside(&format!("offset {}", entries.offset)))?;
        let end = match entries.length {
            None => available,
            Some(length) => usize::try_from(length)
                .ok()
                .and_then(|length| start.checked_add(length))
                .filter(|&end| end <= available)
                .ok_or_else(|| outside(&format!("offset {start} with length {length}")))?,
        };
        Ok(file.slice(start..end))
    }

    fn load(&self, location: &str) -> Result<Bytes> {
        let Some(folder) = &self.folder else {
            return Err(OnnxError::key(
                "the model was not read from a file, so it has no folder to look in",
            ));
        };
        check_location(location)?;
        let folder = canonicalize(folder)?;
        let path = canonicalize(&folder.join(location))?;
        if !path.starts_with(&folder) {
            return Err(OnnxError::value(
                "a symbolic link leads out of the model's folder",
            ));
        }
        // A panic while the lock was held cannot have left a half-inserted entry.
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&path) {
            return Ok(file.clone());
        }
        let file = self.options.read(&path)?;
        files.insert(path, file.clone());
        Ok(file)
    }
}

fn canonicalize(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path)
        .map_err(|error| OnnxError::io(format_args!("cannot find '{}'", path.display()), error))
}

/// Rejects locations that are wrong regardless of the file system.
pub(crate) fn check_location(location: &str) -> Result<()> {
    if location.is_empty() {
        return Err(OnnxError::value("the location is empty"));
    }
    for component in Path::new(location).components() {
        match component {
            Component::Normal(_) | Component::CurDir => {}
            Component::ParentDir => {
                return Err(OnnxError::value("the location contains '..'"));
            }
            Component::RootDir | Component::Prefix(_) => {
                return Err(OnnxError::value("the location is not relative"));
            }
        }
    }
    Ok(())
}

/// The recognised keys of `external_data`.
struct Entries<'a> {
    location: &'a str,
    offset: u64,
    length: Option<u64>,
}

impl<'a> Entries<'a> {
    fn parse(entries: &'a [StringStringEntryProto]) -> Result<Self> {
        let location = find(entries, "location")?
            .ok_or_else(|| OnnxError::key("the external data has no location"))?;
        Ok(Self {
            location,
            offset: find_number(entries, "offset")?.unwrap_or(0),
            length: find_number(entries, "length")?,
        })
    }
}

/// Looks up a key, and rejects a second value for it, on which readers would disagree.
fn find<'a>(entries: &'a [StringStringEntryProto], key: &str) -> Result<Option<&'a str>> {
    let mut values = entries.iter().filter(|entry| entry.key == key);
    let first = values.next().map(|entry| entry.value.as_str());
    if values.next().is_some() {
        return Err(OnnxError::value(format!(
            "the external data has more than one {key}"
        )));
    }
    Ok(first)
}

fn find_number(entries: &[StringStringEntryProto], key: &str) -> Result<Option<u64>> {
    let Some(text) = find(entries, key)? else {
        return Ok(None);
    };
    text.trim().parse().map(Some).map_err(|_| {
        OnnxError::value(format!(
            "the {key} of the external data must be a non-negative integer, got '{text}'"
        ))
    })
}

#[cfg(test)]
mod tests;
