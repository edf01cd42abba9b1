//! The portable name of a value.

use std::fmt;
use std::str::FromStr;

use crate::kernel::error::{Error, Result};

/// A 32-byte name of a value: equal values have the same name, everywhere.
///
/// Printed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The version of the format; digests are comparable only within one
    /// version.
    pub const FORMAT_VERSION: u8 = super::portable::DIGEST_VERSION;

    pub(super) fn new(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = || Error::value_error(format!("expected 64 hexadecimal digits, got {text:?}"));
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(fail());
        }
        let mut bytes = [0; 32];
        for (position, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * position..2 * position + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| fail())?;
        }
        Ok(Digest(bytes))
    }
}
