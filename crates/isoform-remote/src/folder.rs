//! Files of a server that is not a store: models in a bucket.

use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use isoform_store::{Engine, RemoteEntry, RemoteFiles};
use opendal::Metadata;

use crate::engine::{RemoteEngine, RemoteOptions};
use crate::settings::Settings;

/// The number of bytes of one request. A large file takes many requests, each of which has
/// to finish within the timeout.
const CHUNK: u64 = 16 << 20;

/// A folder on a server whose files are read: a bucket, or a prefix in a bucket.
///
/// The folder is named and reached like a [store](crate#urls-and-variables), but has any
/// files. Servers of Redis have no folders.
///
/// ```no_run
/// # fn main() -> isoform::Result<()> {
/// use isoform_remote::{RemoteFolder, RemoteOptions};
///
/// if let Some(folder) = RemoteFolder::open("s3:models/2026", RemoteOptions::default())? {
///     for entry in folder.entries("")? {
///         println!("{} {:?}", entry.name, entry.size);
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct RemoteFolder {
    pub(crate) engine: RemoteEngine,
}

impl RemoteFiles for RemoteFolder {
    fn entries(&self, folder: &str) -> Result<Vec<RemoteEntry>> {
        RemoteFolder::entries(self, folder)
    }

    fn read(&self, file: &str) -> Result<Vec<u8>> {
        RemoteFolder::read(self, file)
    }
}

impl RemoteFolder {
    /// Opens the folder at a URL, and connects when a file is read; None if the URL names
    /// no server.
    ///
    /// # Errors
    ///
    /// A `ValueError` for a wrong or a missing setting.
    pub fn open(url: &str, options: RemoteOptions) -> Result<Option<RemoteFolder>> {
        let Some(settings) = Settings::read(url)? else {
            return Ok(None);
        };
        let engine = options.engine(settings)?;
        Ok(Some(RemoteFolder { engine }))
    }

    /// Returns the files and folders in a folder, sorted by name. The top folder is empty;
    /// the parts of others are separated by `/`. One request for a thousand entries.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the server, if the folder cannot be listed.
    pub fn entries(&self, folder: &str) -> Result<Vec<RemoteEntry>> {
        let place = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let listed = self.engine.run("list", folder, |operator| {
            let place = place.clone();
            async move { operator.list(&place).await }
        })?;
        let listed = listed.map_err(|error| self.engine.failed("list", folder, &error))?;
        let entries = listed.into_iter().filter_map(|entry| {
            let name = entry.path().strip_prefix(&place)?.trim_end_matches('/');
            // Some servers list the folder in itself.
            if name.is_empty() || name.contains('/') {
                return None;
            }
            let metadata = entry.metadata();
            Some(RemoteEntry {
                name: name.to_owned(),
                size: metadata.is_file().then(|| metadata.content_length()),
                version: version(metadata),
            })
        });
        let mut entries: Vec<RemoteEntry> = entries.collect();
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    /// Returns the contents of a file. Every request reads 16 MiB, after a first request for
    /// the size.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the server, if the file cannot be read, or changes meanwhile.
    pub fn read(&self, file: &str) -> Result<Vec<u8>> {
        let metadata = self.metadata(file)?;
        let size = metadata.content_length();
        let mut contents = Vec::new();
        while (contents.len() as u64) < size {
            let start = contents.len() as u64;
            let range = start..size.min(start + CHUNK);
            let path = file.to_owned();
            let part = self.engine.run("read", file, |operator| async move {
                operator.read_with(&path).range(range).await
            })?;
            let part = part.map_err(|error| self.engine.failed("read", file, &error))?;
            if part.is_empty() {
                return Err(self.changed(file));
            }
            contents.extend_from_slice(&part.to_vec());
        }
        // The parts of two versions make no file.
        if size > CHUNK && version(&self.metadata(file)?) != version(&metadata) {
            return Err(self.changed(file));
        }
        Ok(contents)
    }

    fn metadata(&self, file: &str) -> Result<Metadata> {
        let path = file.to_owned();
        let metadata = self.engine.run("read", file, |operator| async move {
            operator.stat(&path).await
        })?;
        metadata.map_err(|error| self.engine.failed("read", file, &error))
    }

    #[track_caller]
    fn changed(&self, file: &str) -> Error {
        let place = self.description();
        let message = format!("{place}: '{file}' changed while it was read; try again");
        Error::new(ErrorKind::Io, message)
    }

    /// The server and the folder as messages name them, without credentials.
    pub fn description(&self) -> String {
        self.engine.description()
    }
}

/// A text that changes with the file; empty if the server does not tell.
fn version(metadata: &Metadata) -> String {
    let changed = metadata.last_modified().map(|time| time.to_string());
    let tag = metadata.etag().map(str::to_owned);
    tag.or(changed).unwrap_or_default()
}
