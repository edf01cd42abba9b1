//! Keys of entries: everything on which a result depends, by name.

use std::collections::BTreeMap;
use std::fmt;

use crate::name::Name;

/// The context of the digest of a key, which separates keys from all other digests.
const CONTEXT: &str = "isoform-store 2026-11-29 key of an entry, layout 1";

/// The key of an entry: named parts, and their digest of 256 bits.
///
/// Two keys with the same parts are equal, in whatever order the parts were added. The
/// store keeps the parts next to the result, so that a report can tell why a lookup
/// missed.
///
/// ```
/// use isoform_store::{EntryKey, Name};
///
/// let program = Name::of(b"x + x");
/// let key = EntryKey::builder("compile")
///     .program(program)
///     .option("level", "2")
///     .version("1.0")
///     .build();
/// assert_eq!(key.parts()["option.level"], "2");
/// let other = EntryKey::builder("compile")
///     .version("1.0")
///     .option("level", "2")
///     .program(program)
///     .build();
/// assert_eq!(key.digest(), other.digest());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey {
    digest: Name,
    parts: BTreeMap<String, String>,
}

/// Collects the parts of an [`EntryKey`]. A part that is added twice has the last value.
#[derive(Clone, Debug)]
#[must_use]
pub struct EntryKeyBuilder {
    parts: BTreeMap<String, String>,
}

impl EntryKey {
    /// Starts a key for a job, such as `compile`.
    pub fn builder(job: &str) -> EntryKeyBuilder {
        EntryKeyBuilder {
            parts: BTreeMap::new(),
        }
        .part("job", job)
    }

    /// The key with these parts, as [`parts`](Self::parts) returns them. O(parts).
    pub fn of_parts(parts: BTreeMap<String, String>) -> Self {
        EntryKey::from_parts(parts)
    }

    /// The digest of the parts. O(1).
    pub fn digest(&self) -> Name {
        self.digest
    }

    /// The parts by name: `job`, `program`, `version`, and `option.` with the name of
    /// the option.
    pub fn parts(&self) -> &BTreeMap<String, String> {
        &self.parts
    }

    /// Returns a builder with the parts of this key. O(parts).
    pub fn to_builder(&self) -> EntryKeyBuilder {
        EntryKeyBuilder {
            parts: self.parts.clone(),
        }
    }
}

impl fmt::Debug for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EntryKey").field(&self.parts).finish()
    }
}

impl EntryKeyBuilder {
    /// Adds the digest of the program on which the job works.
    pub fn program(self, digest: Name) -> Self {
        self.part("program", &digest.to_string())
    }

    /// Adds an option of the job.
    pub fn option(self, name: &str, value: impl fmt::Display) -> Self {
        self.part(&format!("option.{name}"), &value.to_string())
    }

    /// Adds the version of the code that does the job.
    pub fn version(self, version: impl fmt::Display) -> Self {
        self.part("version", &version.to_string())
    }

    pub(crate) fn part(mut self, name: &str, value: &str) -> Self {
        self.parts.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Computes the digest. O(parts).
    pub fn build(self) -> EntryKey {
        EntryKey::from_parts(self.parts)
    }
}

impl EntryKey {
    pub(crate) fn from_parts(parts: BTreeMap<String, String>) -> EntryKey {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for text in parts.iter().flat_map(|(name, value)| [name, value]) {
            // A length before each text, so that no two lists of texts look the same.
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        EntryKey {
            digest: Name::from_digest(hasher.finalize().into()),
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_parts_are_told_apart() {
        let keys = [
            EntryKey::builder("a").build(),
            EntryKey::builder("a").version("").build(),
            EntryKey::builder("a").version("1").build(),
            EntryKey::builder("a").option("version", "1").build(),
            EntryKey::builder("a").option("x", "yz").build(),
            EntryKey::builder("a").option("xy", "z").build(),
            EntryKey::builder("a")
                .option("x", "1")
                .option("y", "2")
                .build(),
            EntryKey::builder("a").option("x", "1option.y2").build(),
            EntryKey::builder("a").program(Name::of(b"p")).build(),
        ];
        for (at, key) in keys.iter().enumerate() {
            for other in &keys[at + 1..] {
                assert_ne!(key.digest(), other.digest(), "{key:?} {other:?}");
            }
        }
    }

    /// A change of these digits makes every existing entry unreachable.
    #[test]
    fn the_digest_of_a_key_is_fixed() {
        let key = EntryKey::builder("compile")
            .program(Name::of(b"p"))
            .option("level", 2)
            .version("1.0")
            .build();
        let digits = key.digest().to_string();
        assert_eq!(&digits[..16], "000ff2037fbc51da");
    }
}
