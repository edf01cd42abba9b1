//! Entries: results under keys, with the parts of the key kept readable.
//!
//! The payload of the file of an entry consists of the length of the description in
//! bytes (4 bytes, little-endian), the description as a JSON object, and the value if it
//! lies in the file. The description has these fields:
//!
//! | field | contents |
//! |---|---|
//! | `key` | an object with the parts of the key |
//! | `created` | the time of the put, in seconds since 1970 |
//! | `value` | the name of the value; absent if the value follows the description |
//! | `metadata` | an object with further texts; absent if empty |
//! | `program` | the name of the program of the key; absent without a program |
//! | `failure` | true if the value describes a failure; absent otherwise |

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::key::EntryKey;
use crate::name::Name;

/// The size in bytes up to which a value lies in the file of its entry.
pub const INLINE_LIMIT: usize = 64 * 1024;

/// A result that a store has under a key.
///
/// Cloning an entry copies the texts, but not the value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The result.
    pub value: Bytes,
    /// Texts that the writer added.
    pub metadata: BTreeMap<String, String>,
    /// The parts of the key, by their names.
    pub key: BTreeMap<String, String>,
    /// The name under which the store has the program of the key.
    pub program: Option<Name>,
    /// The time of the put, in seconds since 1970, by the clock of the writer.
    pub created: u64,
    /// True if the value describes a failure.
    pub is_failure: bool,
}

/// The contents of an entry before a put.
///
/// ```
/// use isoform_store::{EntryKey, NewEntry, Store};
///
/// let store = Store::open("memory:")?;
/// let key = EntryKey::builder("compile").option("level", "2").build();
/// store.put_entry(&key, &NewEntry::new("machine code").metadata("host", "a"))?;
/// let entry = store.entry(&key)?.expect("the entry is in the store");
/// assert_eq!(entry.value, "machine code");
/// assert_eq!(entry.metadata["host"], "a");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct NewEntry {
    pub(crate) value: Bytes,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) program: Option<Bytes>,
    pub(crate) is_failure: bool,
}

impl NewEntry {
    /// An entry with a value and nothing else.
    pub fn new(value: impl Into<Bytes>) -> Self {
        NewEntry {
            value: value.into(),
            ..NewEntry::default()
        }
    }

    /// Adds a text. A second text under the same name replaces the first text.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), text.into());
        self
    }

    /// Keeps the program from which the key was computed, so that a reader can
    /// [confirm](crate::Store::entry_confirmed) a hit.
    #[must_use]
    pub fn program(mut self, bytes: impl Into<Bytes>) -> Self {
        self.program = Some(bytes.into());
        self
    }

    /// Marks the value as the description of a failure.
    #[must_use]
    pub fn failure(mut self) -> Self {
        self.is_failure = true;
        self
    }

    /// The name of the value, if the value gets a file of its own.
    pub(crate) fn value_name(&self) -> Option<Name> {
        (self.value.len() > INLINE_LIMIT).then(|| Name::of(&self.value))
    }
}

/// The description in the file of an entry.
#[derive(Serialize, Deserialize, PartialEq, Eq, Debug)]
pub(crate) struct Description {
    pub(crate) key: BTreeMap<String, String>,
    pub(crate) created: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Name>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) metadata: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<Name>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) failure: bool,
}

impl Description {
    /// The values that the entry needs.
    pub(crate) fn named(&self) -> impl Iterator<Item = Name> {
        self.value.into_iter().chain(self.program)
    }

    /// Returns the payload of the file, with the value unless it has a name.
    ///
    /// # Errors
    ///
    /// A text for a message, if the description is larger than 4 GiB.
    pub(crate) fn payload(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        let json = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let length =
            u32::try_from(json.len()).map_err(|_| "the description is larger than 4 GiB")?;
        let inline = if self.value.is_some() { &[] } else { value };
        Ok([&length.to_le_bytes()[..], &json, inline].concat())
    }

    /// Reads a payload: the description, and the bytes after the description. None if
    /// the payload is not an entry.
    pub(crate) fn parse(payload: &Bytes) -> Option<(Description, Bytes)> {
        let (length, rest) = payload.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let json = rest.get(..length)?;
        let description = serde_json::from_slice(json).ok()?;
        Some((description, payload.slice(4 + length..)))
    }

    /// The digest of the key.
    pub(crate) fn digest(&self) -> Name {
        EntryKey::from_parts(self.key.clone()).digest()
    }

    /// True if the entry belongs to the key: keys with other parts but the same digest
    /// are found here.
    pub(crate) fn has_key(&self, key: &EntryKey) -> bool {
        self.key == *key.parts()
    }
}
