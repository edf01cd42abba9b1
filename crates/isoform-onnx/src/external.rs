//! Tensor data stored in files next to the model.

use std::{
    collections::{BTreeSet, HashMap},
    fmt, fs, io,
    path::{Component, Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;

use crate::{
    error::{OnnxError, Result, ResultExt},
    mmap,
    options::{ExternalData, LoadOptions},
    proto::StringStringEntryProto,
};

/// Finds and loads the external data of a model's tensors, each file once.
///
/// A location is a path relative to the model's folder. A location is rejected if it is
/// empty or absolute, if it goes up with `..`, or if a symbolic link leads out of the
/// folder: opening a model never reads unrelated files chosen by the model's author.
/// [`LoadOptions::follow_links`] allows links that lead out of the folder. If the model
/// itself was opened by a link, files missing beside the link are looked up beside the
/// link's target.
///
/// The optional `checksum` of the specification is not verified.
#[derive(Debug)]
pub struct ExternalResolver {
    folders: Vec<PathBuf>,
    /// Reads the files of models that are not in a folder of this machine.
    lookup: Option<Lookup>,
    options: LoadOptions,
    /// Loaded files by their canonical path, or by their location.
    files: Mutex<HashMap<PathBuf, Bytes>>,
    /// The bytes of all unread data.
    stand_in: Mutex<Bytes>,
    /// The locations of the files that were read, as the model gives them.
    locations: Mutex<BTreeSet<String>>,
}

impl ExternalResolver {
    /// A resolver for models that did not come from a file: any external data is an error.
    pub fn none() -> Self {
        Self {
            folders: Vec::new(),
            lookup: None,
            options: LoadOptions::default(),
            files: Mutex::default(),
            stand_in: Mutex::default(),
            locations: Mutex::default(),
        }
    }

    /// A resolver for models in `folder`.
    pub fn in_folder(folder: impl Into<PathBuf>, options: LoadOptions) -> Self {
        Self {
            folders: vec![folder.into()],
            lookup: None,
            options,
            files: Mutex::default(),
            stand_in: Mutex::default(),
            locations: Mutex::default(),
        }
    }

    /// A resolver for models in an archive or on a server: `lookup` reads a file, given
    /// its path relative to the folder of the model.
    pub fn with_lookup(
        lookup: impl Fn(&str) -> io::Result<Bytes> + Send + Sync + 'static,
        options: LoadOptions,
    ) -> Self {
        Self {
            lookup: Some(Lookup(Box::new(lookup))),
            options,
            ..Self::none()
        }
    }

    /// A resolver for the model at this path.
    pub(crate) fn beside(path: &Path, options: LoadOptions) -> Self {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut resolver = Self::in_folder(folder, options);
        if path.is_symlink()
            && let Ok(target) = fs::canonicalize(path)
        {
            resolver.folders.extend(target.parent().map(Path::to_owned));
        }
        resolver
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

    /// Zeros in place of the data described by `entries`, unless the data is to be
    /// read.
    ///
    /// # Errors
    ///
    /// Fails if the location is rejected, or if there are more bytes than addresses.
    pub(crate) fn stand_in(
        &self,
        entries: &[StringStringEntryProto],
        length: usize,
    ) -> Result<Option<Bytes>> {
        let entries = Entries::parse(entries)?;
        let place = || format!("external data file '{}'", entries.location);
        if !self.leaves_out() {
            return Ok(None);
        }
        check_location(entries.location).within(place)?;
        // A broken link is a missing file, too.
        let exists = |folder: &PathBuf| folder.join(entries.location).exists();
        if self.options.external_data == ExternalData::IfPresent && self.folders.iter().any(exists)
        {
            return Ok(None);
        }
        let mut zeros = self.stand_in.lock().unwrap_or_else(PoisonError::into_inner);
        if zeros.len() < length {
            *zeros = mmap::zeros(length).map_err(|error| {
                OnnxError::io(format_args!("cannot stand in for {length} bytes"), error)
                    .within(place())
            })?;
        }
        Ok(Some(zeros.slice(..length)))
    }

    /// The files that were read, by their canonical paths, with their sizes in bytes.
    pub(crate) fn read_files(&self) -> Vec<(PathBuf, u64)> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sizes: Vec<(PathBuf, u64)> = files
            .iter()
            .map(|(file, bytes)| (file.clone(), bytes.len() as u64))
            .collect();
        sizes.sort_unstable();
        sizes
    }

    /// The locations of the files that were read, as the model gives them, sorted.
    pub(crate) fn read_locations(&self) -> Vec<String> {
        let locations = self.locations.lock();
        let locations = locations.unwrap_or_else(PoisonError::into_inner);
        locations.iter().cloned().collect()
    }

    /// True if these bytes are in place of data that was not read.
    pub(crate) fn is_stand_in(&self, bytes: &Bytes) -> bool {
        let zeros = self.stand_in.lock().unwrap_or_else(PoisonError::into_inner);
        !bytes.is_empty() && zeros.as_ptr_range().contains(&bytes.as_ptr())
    }

    /// True if the data of tensors may be left out.
    pub(crate) fn leaves_out(&self) -> bool {
        self.options.external_data != ExternalData::Required
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
        let bytes = self.load_file(location)?;
        let locations = self.locations.lock();
        let mut locations = locations.unwrap_or_else(PoisonError::into_inner);
        if !locations.contains(location) {
            locations.insert(location.to_owned());
        }
        Ok(bytes)
    }

    fn load_file(&self, location: &str) -> Result<Bytes> {
        if let Some(Lookup(lookup)) = &self.lookup {
            check_location(location)?;
            return self.load_once(PathBuf::from(location), || {
                lookup(location)
                    .map_err(|error| OnnxError::io(format_args!("cannot find '{location}'"), error))
            });
        }
        let Some(first) = self.folders.first() else {
            return Err(OnnxError::key(
                "the model was not read from a file, so it has no folder to look in",
            ));
        };
        check_location(location)?;
        let mut folders = self.folders.iter();
        let folder = folders.find(|folder| folder.join(location).exists());
        let folder = canonicalize(folder.unwrap_or(first))?;
        let path = canonicalize(&folder.join(location))?;
        if !path.starts_with(&folder) && !self.options.follow_links {
            return Err(OnnxError::value(format!(
                "a symbolic link leads out of the model's folder, to '{}'; only the option \
                 follow_links (--follow-links of the command) reads it",
                path.display()
            )));
        }
        self.load_once(path.clone(), || self.options.read(&path))
    }

    fn load_once(&self, path: PathBuf, read: impl FnOnce() -> Result<Bytes>) -> Result<Bytes> {
        // A panic while the lock was held cannot have left a half-inserted entry.
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(&path) {
            return Ok(file.clone());
        }
        let file = read()?;
        files.insert(path, file.clone());
        Ok(file)
    }
}

type ReadFile = dyn Fn(&str) -> io::Result<Bytes> + Send + Sync;

struct Lookup(Box<ReadFile>);

impl fmt::Debug for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lookup")
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

/// Looks up a key, and rejects a repeated key, because readers would disagree about the
/// value.
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
