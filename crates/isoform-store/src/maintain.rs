//! Lists, queries, and the index of a store.

use std::collections::BTreeMap;

use isoform::Result;

use crate::engine::FileInfo;
use crate::entries::value_paths;
use crate::entry::Description;
use crate::envelope::{self, Envelope};
use crate::index::{Numbers, Row};
use crate::name::Name;
use crate::place::{FileKind, parse_path};
use crate::store::Store;

/// A file of a store, in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StoredFile {
    /// The kind of the file.
    pub kind: FileKind,
    /// The name of a value, or the digest of the key of an entry.
    pub name: Name,
    /// The size of the file in bytes.
    pub size: u64,
    /// The time of the last recorded use, in seconds since 1970.
    pub used: u64,
}

impl Store {
    /// Iterates over all files, values first, in the order of their names. Files that
    /// are written or removed in the meantime may appear or not.
    ///
    /// # Errors
    ///
    /// An `OSError` if the files cannot be listed.
    pub fn list(&self) -> Result<impl Iterator<Item = Result<StoredFile>> + '_> {
        let engine = &self.inner.engine;
        let mut lists = Vec::new();
        for kind in FileKind::ALL {
            lists.push(engine.list(kind.folder())?);
        }
        Ok(lists.into_iter().flatten().filter_map(|file| {
            let file = match file {
                Ok(file) => file,
                Err(error) => return Some(Err(error)),
            };
            let (kind, name) = parse_path(&file.path)?;
            Some(Ok(StoredFile {
                kind,
                name,
                size: file.size,
                used: file.used,
            }))
        }))
    }

    /// Returns the keys of the entries that have all these parts, as name and value,
    /// newest first: the digest and the parts of each key.
    ///
    /// ```
    /// use isoform_store::{EntryKey, NewEntry, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// for level in 0..3 {
    ///     let key = EntryKey::builder("compile").option("level", level).build();
    ///     store.put_entry(&key, &NewEntry::new("code"))?;
    /// }
    /// assert_eq!(store.find_entries(&[("job", "compile")])?.len(), 3);
    /// let found = store.find_entries(&[("option.level", "2")])?;
    /// assert_eq!(found[0].1["job"], "compile");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An `OSError` if the index cannot be read or built.
    pub fn find_entries(
        &self,
        parts: &[(&str, &str)],
    ) -> Result<Vec<(Name, BTreeMap<String, String>)>> {
        self.complete_index()?;
        let found = self.index().find(parts)?;
        let keys = found.into_iter().filter_map(|(path, key)| {
            let (_, name) = parse_path(&path)?;
            Some((name, serde_json::from_str(&key).ok()?))
        });
        Ok(keys.collect())
    }

    /// Builds the index again from the files.
    ///
    /// O(files): lists all files and reads all entries.
    ///
    /// # Errors
    ///
    /// An `OSError` if the files cannot be listed, or the index cannot be written.
    pub fn rebuild_index(&self) -> Result<()> {
        self.check_writable()?;
        self.index().clear()?;
        self.compare_index()
    }

    /// Makes sure that the index has seen all files once.
    pub(crate) fn complete_index(&self) -> Result<()> {
        match self.complete_numbers() {
            Some(_) => Ok(()),
            None => self.reconcile_index(),
        }
    }

    /// The numbers of an index that has seen all files; None if the files are to be listed.
    pub(crate) fn complete_numbers(&self) -> Option<Numbers> {
        let index = self.index();
        let numbers = index.numbers().ok().filter(|numbers| numbers.is_complete)?;
        // An index in memory sees no writes of others.
        let sees_all = index.is_shared() || !self.inner.engine.is_shared();
        sees_all.then_some(numbers)
    }

    /// Makes the index agree with the files, and replaces a broken index.
    pub(crate) fn reconcile_index(&self) -> Result<()> {
        let index = self.index();
        self.compare_index()
            .or_else(|_| {
                index.clear()?;
                self.compare_index()
            })
            .or_else(|_| {
                // A folder that cannot be written still has sizes.
                index.use_memory();
                self.compare_index()
            })
    }

    fn compare_index(&self) -> Result<()> {
        let started = self.inner.options.clock.now();
        let mut files = Vec::new();
        for kind in FileKind::ALL {
            for file in self.inner.engine.list(kind.folder())? {
                files.push(file?);
            }
        }
        let describe = |file: &FileInfo, kind| Some(self.described(file, kind));
        self.index().reconcile(files, started, describe)
    }

    /// The row of a file. A damaged entry has a row without a key, so that eviction sees
    /// its size.
    fn described(&self, file: &FileInfo, kind: FileKind) -> Row {
        let mut row = Row {
            path: file.path.clone(),
            kind,
            size: file.size,
            created: file.used,
            used: file.used,
            key: None,
            values: Vec::new(),
        };
        if kind == FileKind::Entry
            && let Some(description) = self.description_of(&file.path)
        {
            row.key = serde_json::to_string(&description.key).ok();
            row.created = description.created;
            row.values = value_paths(&description);
        }
        row
    }

    fn description_of(&self, path: &str) -> Option<Description> {
        let found = self.inner.engine.read(path).ok()??;
        match envelope::opened(FileKind::Entry, found.bytes) {
            Envelope::Whole(payload) => Some(Description::parse(&payload)?.0),
            _ => None,
        }
    }
}
