//! Names of bytes: their BLAKE3 digests.

use std::fmt;
use std::str::FromStr;

use isoform::{Error, Result};
use serde::{Deserialize, Serialize};

/// The name of bytes: their BLAKE3 digest of 256 bits, the same on every machine.
///
/// A name prints as 64 hexadecimal digits and parses from them.
///
/// ```
/// use isoform_store::Name;
///
/// let name = Name::of(b"a program");
/// let parsed: Name = name.to_string().parse()?;
/// assert_eq!(parsed, name);
/// assert!("a program".parse::<Name>().is_err());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name([u8; 32]);

impl Name {
    /// Returns the name of the bytes. O(bytes).
    pub fn of(bytes: &[u8]) -> Self {
        Name(blake3::hash(bytes).into())
    }

    /// The name with these 32 bytes of digest.
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Name(digest)
    }

    /// The 32 bytes of the digest.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Name({self})")
    }
}

impl FromStr for Name {
    type Err = Error;

    /// # Errors
    ///
    /// A `ValueError` if the text is not 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self> {
        let digest = blake3::Hash::from_hex(text).map_err(|_| {
            // A long text would hide the message.
            let start: String = text.chars().take(80).collect();
            Error::value_error(format!(
                "expected a name of 64 hexadecimal digits, got {start:?}"
            ))
        })?;
        Ok(Name(digest.into()))
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.to_string()
    }
}
