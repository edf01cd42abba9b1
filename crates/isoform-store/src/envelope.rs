//! The form of every file: a header that finds damage, and the payload.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4 | `ISOS` |
//! | 4..6 | the layout version, little-endian: 1 |
//! | 6 | the kind of the file: 1 for a value, 2 for an entry |
//! | 7 | 0 |
//! | 8..16 | the length of the payload in bytes, little-endian |
//! | 16..48 | the BLAKE3 digest of the payload |
//! | 48..56 | the first 8 bytes of the BLAKE3 digest of bytes 0..48 |
//! | 56.. | the payload |
//!
//! The first 56 bytes have this form in every layout version. A reader can thus tell a
//! file of a newer version, which it leaves alone with an error, from a damaged file,
//! which counts as absent.
//!
//! The name of a value is the digest of its payload, so reading a value hashes it once.

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::name::Name;
use crate::place::FileKind;

/// The layout version of the files that this library writes and reads.
pub const LAYOUT_VERSION: u16 = 1;

const MAGIC: &[u8; 4] = b"ISOS";

/// The length of the header in bytes.
pub(crate) const HEADER_SIZE: usize = 56;

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum Envelope {
    /// The payload, with a right checksum.
    Whole(Bytes),
    /// Damage, in words for a report.
    Torn(&'static str),
    /// A file of an unknown layout version.
    Foreign(u16),
}

impl Envelope {
    /// Returns the payload, None for a torn file.
    ///
    /// # Errors
    ///
    /// A `ValueError` for a file of an unknown layout version.
    pub(crate) fn payload(self, place: impl FnOnce() -> String) -> Result<Option<Bytes>> {
        match self {
            Envelope::Whole(payload) => Ok(Some(payload)),
            Envelope::Torn(_) => Ok(None),
            Envelope::Foreign(version) => Err(foreign_version(version, &place())),
        }
    }
}

/// The error about a file of an unknown layout version.
pub(crate) fn foreign_version(version: u16, place: &str) -> Error {
    Error::new(
        ErrorKind::Value,
        format!(
            "{place}: expected a file of layout version {LAYOUT_VERSION}, got version {version}; \
             read it with a newer release of Isoform, or use another store"
        ),
    )
}

/// Returns the whole file for a payload, whose digest is given. O(payload).
pub(crate) fn sealed(kind: FileKind, payload: &[u8], digest: &Name) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEADER_SIZE + payload.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&LAYOUT_VERSION.to_le_bytes());
    file.extend_from_slice(&[kind.number(), 0]);
    file.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    file.extend_from_slice(digest.digest());
    file.extend_from_slice(&header_check(&file));
    file.extend_from_slice(payload);
    file
}

fn header_check(header: &[u8]) -> [u8; 8] {
    let mut check = [0; 8];
    check.copy_from_slice(&blake3::hash(header).as_bytes()[..8]);
    check
}

/// Reads a file of a kind. Copies nothing. O(file).
pub(crate) fn opened(kind: FileKind, file: Vec<u8>) -> Envelope {
    let digest: [u8; 32] = match header(kind, &file) {
        Ok(digest) => digest,
        Err(refused) => return refused,
    };
    if blake3::hash(&file[HEADER_SIZE..]) != digest {
        return Envelope::Torn("the checksum of the payload is wrong");
    }
    Envelope::Whole(Bytes::from(file).slice(HEADER_SIZE..))
}

/// Reads the file of a value with a name. Copies nothing. O(file).
pub(crate) fn opened_value(name: &Name, file: Vec<u8>) -> Envelope {
    match header(FileKind::Value, &file) {
        Ok(digest) if digest != *name.digest() => {
            Envelope::Torn("the file holds a value of another name")
        }
        Ok(_) => opened(FileKind::Value, file),
        Err(refused) => refused,
    }
}

/// Checks everything except the payload, and returns the digest of the payload.
fn header(kind: FileKind, file: &[u8]) -> Result<[u8; 32], Envelope> {
    let torn = |reason| Err(Envelope::Torn(reason));
    let Some((header, payload)) = file.split_at_checked(HEADER_SIZE) else {
        return torn("the file is shorter than its header");
    };
    if &header[..4] != MAGIC {
        return torn("the file does not begin with ISOS");
    }
    if header[48..] != header_check(&header[..48]) {
        return torn("the check of the header is wrong");
    }
    let version = u16::from_le_bytes([header[4], header[5]]);
    if version != LAYOUT_VERSION {
        return Err(Envelope::Foreign(version));
    }
    if header[6] != kind.number() {
        return torn("the file is of another kind");
    }
    if header[8..16] != (payload.len() as u64).to_le_bytes() {
        return torn("the length of the payload is wrong");
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(&header[16..48]);
    Ok(digest)
}
