//! The methods of a store for entries.

use isoform::{Error, Result};

use crate::entry::{Description, Entry, NewEntry};
use crate::envelope;
use crate::key::EntryKey;
use crate::name::Name;
use crate::place::FileKind;
use crate::store::{ATTEMPTS, Store};

/// A comparison of the program of an entry with the program at hand.
type Comparison<'c> = dyn Fn(&[u8], &[u8]) -> Result<bool> + 'c;

/// The file of an entry, before a put.
struct EntryFile {
    bytes: Vec<u8>,
    key: Option<String>,
    values: Vec<String>,
}

impl Store {
    /// Stores an entry under a key, unless the key has an entry. Returns true if the
    /// store has this entry now, and false if it keeps an earlier entry.
    ///
    /// A value larger than [`INLINE_LIMIT`](crate::INLINE_LIMIT) and the program of the
    /// key are stored under their names first. O(bytes).
    ///
    /// # Errors
    ///
    /// An `OSError` if the entry cannot be stored, and in a read-only store. A
    /// `ValueError` if the entry in the store has a newer layout.
    pub fn put_entry(&self, key: &EntryKey, new: &NewEntry) -> Result<bool> {
        let file = self.entry_file(key, new)?;
        let path = FileKind::Entry.path(&key.digest());
        let engine = &self.inner.engine;
        for _ in 0..ATTEMPTS {
            if engine.write_once(&path, &file.bytes)? {
                self.note_entry(&path, file);
                return Ok(true);
            }
            // The lock keeps a reader from removing an entry whose value has just come
            // back, after this put relied on the entry.
            let guard = self.lock_changes();
            let Some(found) = engine.read(&path)? else {
                continue;
            };
            if self.is_usable(key, &path, found.bytes)? {
                self.inner.counters.repeated_puts.add(1);
                return Ok(false);
            }
            engine.replace(&path, &file.bytes)?;
            drop(guard);
            self.note_entry(&path, file);
            return Ok(true);
        }
        Err(self.too_many_changes(&path))
    }

    /// Stores an entry under a key, also in place of an earlier entry.
    ///
    /// # Errors
    ///
    /// As [`put_entry`](Self::put_entry).
    pub fn replace_entry(&self, key: &EntryKey, new: &NewEntry) -> Result<()> {
        let file = self.entry_file(key, new)?;
        let path = FileKind::Entry.path(&key.digest());
        let guard = self.lock_changes();
        if let Some(found) = self.inner.engine.read(&path)? {
            // Fails for an entry of a newer layout.
            envelope::opened(FileKind::Entry, found.bytes)
                .payload(|| format!("{}, file {path}", self.description()))?;
        }
        self.inner.engine.replace(&path, &file.bytes)?;
        drop(guard);
        self.note_entry(&path, file);
        Ok(())
    }

    /// Stores the values that an entry needs, and returns the file of the entry.
    fn entry_file(&self, key: &EntryKey, new: &NewEntry) -> Result<EntryFile> {
        self.check_writable()?;
        let (value, program) = (new.value_name(), new.program.as_deref().map(Name::of));
        let description = Description {
            key: key.parts().clone(),
            created: self.inner.options.clock.now(),
            value,
            metadata: new.metadata.clone(),
            program,
            failure: new.is_failure,
        };
        let payload = description
            .payload(&new.value)
            .map_err(|reason| Error::value_error(format!("entry {}: {reason}", key.digest())))?;
        let large = value.zip(Some(&new.value));
        let kept = large.into_iter().chain(program.zip(new.program.as_ref()));
        for (name, bytes) in kept {
            self.put_named(&name, bytes)?;
        }
        Ok(EntryFile {
            bytes: envelope::sealed(FileKind::Entry, &payload, &Name::of(&payload)),
            key: serde_json::to_string(&description.key).ok(),
            values: value_paths(&description),
        })
    }

    fn note_entry(&self, path: &str, file: EntryFile) {
        self.inner.counters.puts.add(1);
        let size = file.bytes.len();
        self.note_file(path, FileKind::Entry, size, file.key, file.values);
    }

    /// True if the file is an entry of the key, and its values are in the store.
    fn is_usable(&self, key: &EntryKey, path: &str, file: Vec<u8>) -> Result<bool> {
        let place = || format!("{}, file {path}", self.description());
        let payload = envelope::opened(FileKind::Entry, file).payload(place)?;
        let Some((description, _)) = payload.as_ref().and_then(Description::parse) else {
            self.inner.counters.torn.add(1);
            return Ok(false);
        };
        Ok(description.has_key(key) && self.has_values(&description)?)
    }

    pub(crate) fn has_values(&self, description: &Description) -> Result<bool> {
        for name in description.named() {
            let path = FileKind::Value.path(&name);
            let found = self.inner.engine.read(&path)?;
            let whole = found.map(|found| envelope::opened_value(&name, found.bytes));
            if !matches!(whole, Some(envelope::Envelope::Whole(_))) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the entry of a key; None if the store does not have one. An entry whose
    /// value is gone is removed.
    ///
    /// O(bytes): a small value costs one read, a large value two.
    ///
    /// # Errors
    ///
    /// An `OSError` if a file cannot be read. A `ValueError` if a newer release of
    /// Isoform wrote the entry in a newer layout.
    pub fn entry(&self, key: &EntryKey) -> Result<Option<Entry>> {
        let entry = self.lookup(key)?;
        self.count_lookup(entry.as_ref().map(|entry| &entry.value));
        Ok(entry)
    }

    /// As [`entry`](Self::entry), for an entry that keeps the program of its key: the
    /// program must be the given program, or `is_same` must return true for the kept
    /// program and the given one. A lookup that is not confirmed is a miss, and counts as
    /// [`unconfirmed`](crate::Statistics::unconfirmed).
    ///
    /// A hit thus depends neither on a digest nor on the fields that a key forgot, but on
    /// the comparison.
    ///
    /// ```
    /// use isoform_store::{EntryKey, Name, NewEntry, Store};
    ///
    /// let store = Store::open("memory:")?;
    /// // A key that forgets on which program it depends.
    /// let key = EntryKey::builder("compile").build();
    /// store.put_entry(&key, &NewEntry::new("code of f").program("f"))?;
    /// let is_same = |kept: &[u8], given: &[u8]| Ok(kept.eq_ignore_ascii_case(given));
    /// assert!(store.entry_confirmed(&key, b"F", is_same)?.is_some());
    /// assert!(store.entry_confirmed(&key, b"g", is_same)?.is_none());
    /// assert_eq!(store.statistics().unconfirmed, 1);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry), and the errors of `is_same`.
    pub fn entry_confirmed(
        &self,
        key: &EntryKey,
        program: &[u8],
        is_same: impl Fn(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<Option<Entry>> {
        let mut entry = self.lookup(key)?;
        if let Some(found) = &entry
            && !self.is_confirmed(found, program, &is_same)?
        {
            self.inner.counters.unconfirmed.add(1);
            entry = None;
        }
        self.count_lookup(entry.as_ref().map(|entry| &entry.value));
        Ok(entry)
    }

    fn is_confirmed(
        &self,
        entry: &Entry,
        program: &[u8],
        is_same: &Comparison<'_>,
    ) -> Result<bool> {
        let Some(name) = entry.program else {
            return Ok(false);
        };
        if Name::of(program) == name {
            return Ok(true);
        }
        match self.value(&name)? {
            Some(kept) => is_same(&kept, program),
            None => Ok(false),
        }
    }

    fn lookup(&self, key: &EntryKey) -> Result<Option<Entry>> {
        let path = FileKind::Entry.path(&key.digest());
        let open = |file| envelope::opened(FileKind::Entry, file);
        let Some(payload) = self.payload(&path, open)? else {
            return Ok(None);
        };
        let Some((description, inline)) = Description::parse(&payload) else {
            self.inner.counters.torn.add(1);
            return Ok(None);
        };
        if !description.has_key(key) {
            self.inner.counters.unconfirmed.add(1);
            return Ok(None);
        }
        let value = match &description.value {
            None => inline,
            Some(name) => match self.value(name)? {
                Some(value) => value,
                None => {
                    self.discard(&path, |file| {
                        !self.is_usable(key, &path, file).unwrap_or(true)
                    });
                    return Ok(None);
                }
            },
        };
        Ok(Some(Entry {
            value,
            metadata: description.metadata,
            key: description.key,
            program: description.program,
            created: description.created,
            is_failure: description.failure,
        }))
    }

    /// Returns the entry whose key has this digest, as lists name it; None if the store
    /// does not have one. Counts neither a hit nor a miss.
    ///
    /// # Errors
    ///
    /// As [`entry`](Self::entry).
    pub fn entry_named(&self, digest: &Name) -> Result<Option<Entry>> {
        let path = FileKind::Entry.path(digest);
        let open = |file| envelope::opened(FileKind::Entry, file);
        let Some(payload) = self.payload(&path, open)? else {
            return Ok(None);
        };
        match Description::parse(&payload) {
            Some((found, _)) if found.digest() == *digest => {
                self.lookup(&EntryKey::from_parts(found.key))
            }
            _ => Ok(None),
        }
    }

    /// Removes the entry whose key has this digest, as
    /// [`remove_entry`](Self::remove_entry).
    ///
    /// # Errors
    ///
    /// As [`remove_entry`](Self::remove_entry).
    pub fn remove_entry_named(&self, digest: &Name) -> Result<bool> {
        self.remove_path(&FileKind::Entry.path(digest))
    }

    /// Removes the entry of a key, but not its values. Returns false if there is no entry.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be removed, and in a read-only store.
    pub fn remove_entry(&self, key: &EntryKey) -> Result<bool> {
        self.remove_entry_named(&key.digest())
    }
}

/// The paths of the values that an entry needs.
pub(crate) fn value_paths(description: &Description) -> Vec<String> {
    let named = description.named();
    named.map(|name| FileKind::Value.path(&name)).collect()
}
