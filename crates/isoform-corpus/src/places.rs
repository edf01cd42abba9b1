//! Buckets and stores as trees of files.

use std::sync::Arc;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use isoform_store::{
    FileKind, Name, RemoteFiles, Store, StoreOptions, open_remote_folder, without_credentials,
};

use crate::source::{Container, Entry, EntryKind, stamp_of};

/// The beginning of a root that is a store.
const STORE: &str = "store:";

/// Opens a root that is not a folder or file of this machine: a store after `store:`, or a
/// folder on a server. Returns the path of the root in the index, and the files; None for a
/// root of another kind.
///
/// # Errors
///
/// A `ValueError` for a wrong URL, an `OSError` for a store that does not exist.
pub(crate) fn open_root(root: &str) -> Result<Option<(String, Arc<dyn Container>)>> {
    if let Some(url) = root.strip_prefix(STORE) {
        let options = StoreOptions::default().read_only(true);
        let store = options.open(url)?;
        let path = format!("{STORE}{}", place_of(url));
        return Ok(Some((path, Arc::new(StoreValues { store }))));
    }
    let Some(folder) = open_remote_folder(root)? else {
        return Ok(None);
    };
    Ok(Some((place_of(root), Arc::new(Bucket { folder }))))
}

/// A root as messages and indexes name it, without credentials.
pub(crate) fn public_root(root: &str) -> String {
    match root.strip_prefix(STORE) {
        Some(url) => format!("{STORE}{}", without_credentials(url)),
        None => without_credentials(root),
    }
}

/// A URL without credentials and options.
fn place_of(url: &str) -> String {
    let public = without_credentials(url);
    let place = public.split_once('?').map_or(&*public, |(place, _)| place);
    place.trim_end_matches('/').to_owned()
}

/// The values of a store, as files that never change.
struct StoreValues {
    store: Store,
}

impl Container for StoreValues {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        if folder.is_empty() {
            for file in self.store.list()? {
                let file = file?;
                if file.kind == FileKind::Value {
                    let name = file.name.to_string();
                    let (size, stamp) = (file.size, stamp_of(&name));
                    let kind = EntryKind::File { size, stamp };
                    entries.push(Entry { name, kind });
                }
            }
        }
        Ok(entries)
    }

    fn read(&self, file: &str) -> Result<Bytes> {
        let name: Name = file.parse()?;
        self.store.get(&name)?.ok_or_else(|| {
            let place = self.store.description();
            Error::new(
                ErrorKind::Io,
                format!("{place}: the value {file} was removed"),
            )
        })
    }
}

/// A folder on a server.
struct Bucket {
    folder: Box<dyn RemoteFiles>,
}

impl Container for Bucket {
    fn entries(&self, folder: &str) -> Result<Vec<Entry>> {
        let entries = self.folder.entries(folder)?.into_iter().map(|entry| {
            let kind = match entry.size {
                None => EntryKind::Folder,
                Some(size) => {
                    let stamp = match &*entry.version {
                        "" => 0,
                        version => stamp_of(&format!("{size} {version}")),
                    };
                    EntryKind::File { size, stamp }
                }
            };
            let name = entry.name;
            Entry { name, kind }
        });
        Ok(entries.collect())
    }

    fn read(&self, file: &str) -> Result<Bytes> {
        Ok(self.folder.read(file)?.into())
    }
}
